/** Fictional customers of a shop: namesakes in several towns and zip codes, names of many forms. */
const PEOPLE = `
1|Mara Ellison|mara.ellison4021@example.com|617-555-0101|18 Alder Street|Boston|MA|02139|Gold
2|Mara Ellison|mara.e@example.com|512-555-0102|4 Cedar Lane|Austin|TX|78701|Basic
3|Mara Ellison|ellison.mara@example.com|617-555-0103|77 Birch Road|Boston|MA|02118|Gold
4|Tomás Ferreira|tomas.ferreira@example.com|215-555-0104|592 Elm Avenue|Philadelphia|PA|19122|Basic
5|Tomás Ferreira|tferreira9@example.com|303-555-0105|11 Oak Court|Denver|CO|80218|Gold
6|Anne-Marie Dubois-Clark|am.dubois@example.com|206-555-0106|9 Pike Place|Seattle|WA|98101|Basic
7|Pieter van der Berg|pieter.vdb@example.com|616-555-0107|33 Tulip Drive|Grand Rapids|MI|49503|Gold
8|Jan van Dijk|jan@example.com|212-555-0108|1 Broadway|New York|NY|10004|Basic
9|Siobhán O'Leary|sioleary@example.com|312-555-0109|808 Lake Shore Drive|Chicago|IL|60611|Basic
10|Kwame Osei Mensah|kwame.mensah@example.com|404-555-0110|12 Peachtree Street|Atlanta|GA|30303|Gold
11|Priya Raghunathan|priya_r@example.com|408-555-0111|5 Almaden Way|San Jose|CA|95112|Basic
12|Lucía Gómez|lucia.gomez@example.com|305-555-0112|21 Flagler Street|Miami|FL|33101|Gold
13|Lucia Gomez|lgomez77@example.com|210-555-0113|8 Alamo Plaza|San Antonio|TX|78205|Basic
14|Ethan Brooks|ethan.brooks@example.com|615-555-0114|40 Music Row|Nashville|TN|37203|Basic
15|Ethan Brooks|ebrooks@example.com|615-555-0115|2 Broadway Avenue|Nashville|TN|37211|Gold
16|Grace Long|grace.long@example.com|503-555-0116|6 Rose Lane|Portland|OR|97201|Basic
17|Grace Long|glong@example.com|207-555-0117|90 Harbor Road|Portland|ME|04101|Gold
18|Nia Okonkwo|nia.okonkwo@example.com|202-555-0118|3 Dupont Circle|Washington|DC|20036|Basic
19|Hiro Tanaka|hiro.tanaka@example.com|808-555-0119|55 Palm Street|Honolulu|HI|96813|Basic
20|Yusuf Karaca|yusuf.karaca8871@example.com|313-555-0120|70 Motor Avenue|Detroit|MI|48226|Gold
21|Yusuf Karaca|ykaraca@example.com|214-555-0121|14 Lone Star Drive|Dallas|TX|75201|Basic
22|Ivy Chen|ivy.chen@example.com|702-555-0122|100 Strip Boulevard|Las Vegas|NV|89101|Gold
23|Ivy Chen|ivychen2@example.com|702-555-0123|44 Desert Way|Las Vegas|NV|89109|Basic
24|Noor de la Cruz|noor.dlc@example.com|505-555-0124|17 Mesa Trail|Santa Fe|NM|87501|Basic
25|Mei Lin|mei.lin@example.com|415-555-0125|230 Grant Avenue|San Francisco|CA|94108|Basic
26|Olu Adeyemi|olu.adeyemi@example.com|713-555-0126|64 Bayou Street|Houston|TX|77002|Gold
27|Sven Lindqvist|sven.lindqvist@example.com|612-555-0127|31 Nicollet Avenue|Minneapolis|MN|55403|Basic
28|Harriet Young|harriet.young@example.com|704-555-0128|7 Tryon Street|Charlotte|NC|28202|Basic
29|Rosa Márquez|rosa.marquez@example.com|619-555-0129|12 Harbor Drive|San Diego|CA|92101|Gold
30|Rosa Márquez|rmarquez@example.com|602-555-0130|900 Camelback Road|Phoenix|AZ|85012|Basic
31|Ben Whitfield|ben.whitfield@example.com|614-555-0131|25 High Street|Columbus|OH|43215|Basic
32|Amelia Rossi|amelia.rossi@example.com|317-555-0132|3 Meridian Street|Indianapolis|IN|46204|Gold
33|Carlos Rossi|carlos.rossi@example.com|317-555-0133|3 Meridian Street|Indianapolis|IN|46204|Basic
34|Fatima Al Sayed|fatima.alsayed@example.com|904-555-0134|8 River Road|Jacksonville|FL|32202|Basic
35|Dmitri Volkov|dmitri.volkov@example.com|718-555-0135|41 Ocean Avenue|Brooklyn|NY|11226|Gold
36|Élodie Marchand|elodie@example.com|504-555-0136|15 Bourbon Street|New Orleans|LA|70112|Basic
37|Wei Zhang|wei.zhang@example.com|626-555-0137|10 Colorado Boulevard|Pasadena|CA|91101|Basic
38|Wei Zhang|weizhang3@example.com|626-555-0138|88 Lake Avenue|Pasadena|CA|91106|Gold
39|Joan Baxter|joan.baxter@example.com|816-555-0139|19 Main Street|Kansas City|MO|64105|Basic
40|Joan Baxter-Hill|joan.bh@example.com|913-555-0140|2 State Avenue|Kansas City|KS|66101|Basic
41|Will Park|will.park@example.com|503-555-0141|50 Division Street|Portland|OR|97202|Gold
42|Sara Novak|sara_novak@example.com|216-555-0142|5 Euclid Avenue|Cleveland|OH|44114-1203|Basic
`

export const CUSTOMERS = PEOPLE.trim()
  .split("\n")
  .map((line) => {
    const [id, name, email, phone, address1, city, state, zip, tier] = line.split("|")
    return { id: `c${id!}`, name, email, phone, address1, city, state, zip, tier }
  })

/** Fictional clients with addresses abroad and other column names. */
const ABROAD = `
1|Oliver Hughes|oliver.hughes@example.co.uk|London|SW1A 1AA
2|Oliver Hughes|ohughes@example.co.uk|Leeds|LS1 4DY
3|Sanne de Vries|sanne@example.nl|Amsterdam|1012 AB
4|Jonas Weiß|jonas.weiss@example.de|Berlin|10115
5|Camille Lefèvre|camille@example.fr|Lyon|69002
6|Liam Tremblay|liam.tremblay@example.ca|Toronto|M5V 2T6
7|Urs Ammann|urs@example.ch|Zürich|8001
8|Yuki Mori|yuki.mori@example.jp|Sapporo|060-0001
9|Max Müller|max.mueller@example.de|München|80331
10|Max Müller|m.mueller@example.de|Köln|50667
`

export const CLIENTS = ABROAD.trim()
  .split("\n")
  .map((line) => {
    const [id, name, email, town, postal_code] = line.split("|")
    return { id: `a${id!}`, name, email, town, postal_code }
  })
