/** Names of people and companies in the benchmarks' world: from many languages, with accents, common ones first. */
const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

export const FIRST_NAMES = words(`
  Maria James Anna Michael José Sarah Peter Lucía Thomas Emma Müjde Jürgen Zoë François Søren Łukasz Chloé Björn Inês
  Nguyễn Ólafur Siân Renée André Mónica Ana João Beyoncé Günther Åsa Øyvind Þóra Dvořák Šárka Živa Ñusta Élodie Anaïs
  Noël Joëlle Raúl Íñigo Ángel Begoña Concepción Jesús Tomáš Jiří Zdeněk Věra Małgorzata Paweł Agnieszka Bożena Ștefan
  Ioana Călin Gábor Zsófia Eszter György Kateřina Ľubica Çağla Gökhan Işıl Ömer Şebnem Yağmur Đorđe Ćiro Željko Niña
  Robert Linda David Elizabeth William Barbara Richard Susan Joseph Jessica Charles Karen Daniel Nancy Matthew Lisa
  Anthony Betty Mark Sandra Steven Ashley Paul Kimberly Andrew Donna Kenneth Michelle Joshua Carol Kevin Amanda Brian
  Melissa George Deborah Edward Stephanie Ronald Rebecca Timothy Laura Jason Sharon Jeffrey Cynthia Ryan Kathleen Jacob
  Amy Gary Angela Nicholas Shirley Eric Brenda Jonathan Pamela Stephen Nicole Larry Katherine Justin Samantha Scott
  Christine Brandon Debra Benjamin Rachel Samuel Carolyn Gregory Janet Alexander Ruth Patrick Olivia Frank Heather
  Raymond Diane Jack Virginia Dennis Julie Jerry Joyce Tyler Victoria Aaron Kelly Henry Christina Adam Lauren Douglas
  Joan Nathan Evelyn Zachary Judith Kyle Megan Walter Cheryl Harold Andrea Jeremy Hannah Ethan Jacqueline Carl Martha
  Keith Gloria Roger Teresa Gerald Sara Christian Janice Terry Madison Sean Julia Arthur Kathryn Austin Grace Noah Judy
  Priya Arjun Aisha Omar Fatima Yusuf Mei Hiroshi Yuki Kenji Sakura Wei Xiaoming Ji-woo Min-jun Amara Chidi Ngozi Kwame
  Zainab Tariq Leila Reza Nadia Ivan Olga Dmitri Svetlana Andrei Natalia Boris Tatiana Katarzyna Elias Freja Lars Ingrid
`)

export const LAST_NAMES = words(`
  Smith García Müller Johnson Nguyễn Silva Martínez Schmidt Kowalski Novák Svensson Rossi Dubois Papadopoulos Yılmaz
  Lovelace Hopper Turing Noether Gödel Erdős Ramanujan Curie Skłodowska Schrödinger Poincaré Hölder Bézout Çelik Őry
  Williams Brown Jones Miller Davis Rodríguez Hernández López González Wilson Anderson Thomas Taylor Moore Jackson Martin
  Lee Pérez Thompson White Harris Sánchez Clark Ramírez Lewis Robinson Walker Young Allen King Wright Scott Torres Hill
  Flores Green Adams Nelson Baker Hall Rivera Campbell Mitchell Carter Roberts Gómez Phillips Evans Turner Díaz Parker
  Cruz Edwards Collins Reyes Stewart Morris Morales Murphy Cook Rogers Gutiérrez Ortiz Morgan Cooper Peterson Bailey Reed
  Howard Ramos Kim Cox Ward Richardson Watson Brooks Chávez Wood Bennett Gray Mendoza Ruiz Hughes Price Álvarez Castillo
  Sanders Patel Myers Long Ross Foster Jiménez Powell Jenkins Perry Russell Sullivan Bell Coleman Butler Henderson Barnes
  Gonzáles Fisher Vásquez Simmons Romero Jordan Patterson Alexander Hamilton Graham Reynolds Griffin Wallace Moreno West
  Cole Hayes Bryant Herrera Gibson Ellis Tran Medina Aguilar Stevens Murray Ford Castro Marshall Owens Harrison Fernández
  Woods Washington Kennedy Wells Vargas Henry Chen Freeman Webb Tucker Guzmán Burns Crawford Olson Simpson Porter Hunter
  Gordon Méndez Silverman Shaw Snyder Mason Dixon Muñoz Hunt Hicks Holmes Palmer Wagner Black Robertson Boyd Rose Stone
  Salazar Fox Warren Mills Meyer Rice Schäfer Weiß Groß Böhm Krüger Jäger Lindström Åkesson Sjöberg Øster Kjær Nørgaard
  Bjørnstad Þorvaldsson Guðmundsdóttir Mäkelä Hämäläinen Wójcik Wiśniewski Zieliński Dąbrowski Łuczak Żak Dvořák Černý
  Horák Němec Kučera Růžička Kovács Szabó Tóth Kiss Horváth Popescu Ionescu Stănescu Țurcanu Đurić Kovačić Šarić Žižek
  O'Brien O'Neill D'Angelo L'Écuyer Côté Bélanger Gagné Lefèvre Hébert Benoît Garçon Münch Özdemir Şahin Aydın Doğan
  Tanaka Satō Suzuki Itō Yamamoto Kobayashi Zhang Wang Liu Huang Zhao Park Choi Jung Singh Kumar Sharma Gupta Reddy Iyer
  Okafor Adeyemi Mensah Diallo Traoré Koné Ibrahim Hassan Haddad Khalil Nasser Rahimi Karimi Ivanov Petrov Smirnova
`)

export const COMPANY_NAMES = words(`
  Northwind Atlas Harbor Crédit Café Bäckerei Ocean Summit Analytical Blue Red Evergreen Orion Vector Quantum Lumière
  Sociedad Têxtil Ångström Nordsjö Øresund Fábrica Nuevo Alpine Delta Pioneer Liberty Union Global Pacific Atlantic Metro
  Granite Falcon Phoenix Zenith Apex Nova Stellar Crystal Silver Golden Iron Copper Cedar Maple Willow Birch Juniper
`)

export const COMPANY_KINDS = words(`
  Logistics Foods Systems Partners Holdings Industries Energy Textiles Software Consulting Médias Énergie Maschinenbau
  Verkehr Transportes Servicios Tecnología Construções Ingeniería Bank Insurance Clinics Schools Robotics Materials Paper
`)

export const COMPANY_FORMS = words(`GmbH Ltd Inc S.A. SARL AB Oy A/S s.r.o. LLC`)

export const MEETING_NAMES = [
  "Kick-off",
  "Review",
  "Demo",
  "Café chat",
  "Planning",
  "Negotiation",
  "Onboarding",
  "Check-in"
]
