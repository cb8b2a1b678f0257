/** Fictional passengers with unusual column names, and introductions written after the code (a holdout set). */
import type { Introduction } from "./introductions.ts"

const PEOPLE = `
1|Aarav Bhatt|aarav.bhatt@example.net|+1 480-555-0301|85281|Tempe|AZ|aarav_bhatt_2231
2|Aarav Bhatt|a.bhatt@example.net|+1 520-555-0302|85701|Tucson|AZ|aarav_bhatt_9042
3|Ingrid Solheim|ingrid.solheim@example.net|+1 701-555-0303|58102|Fargo|ND|ingrid_solheim_1120
4|Mohammed Ben Ali|mo.benali@example.net|+1 313-555-0304|48126|Dearborn|MI|mohammed_ben_5512
5|Sofia Papadopoulos|sofia.p@example.net|+1 727-555-0305|34689|Tarpon Springs|FL|sofia_papadopoulos_77
6|Sofia Papadopoulos|papasofia@example.net|+1 718-555-0306|11105|Queens|NY|sofia_papadopoulos_91
7|Jean-Luc Moreau|jl.moreau@example.net|+1 504-555-0307|70130|New Orleans|LA|jean_moreau_3310
8|Maria de Souza|maria.souza@example.net|+1 973-555-0308|07105|Newark|NJ|maria_souza_6023
9|Maria de Souza|mdesouza@example.net|+1 508-555-0309|02740|New Bedford|MA|maria_souza_6024
10|Tyrone Jackson|tyrone.j@example.net|+1 901-555-0310|38103|Memphis|TN|tyrone_jackson_4
11|Chloe O'Connor|chloe.oconnor@example.net|+1 617-555-0311|02127|Boston|MA|chloe_oconnor_871
12|Hannah Berg|hannah.berg@example.net|+1 612-555-0312|55401|Minneapolis|MN|hannah_berg_18
13|Hannah Berger|hannah.berger@example.net|+1 651-555-0313|55101|Saint Paul|MN|hannah_berger_18
14|Raj Kumar Singh|rajks@example.net|+1 732-555-0314|08817|Edison|NJ|raj_singh_2208
15|Lily Nguyen|lily.nguyen@example.net|+1 714-555-0315|92683|Westminster|CA|lily_nguyen_6001
16|Lily Nguyen|lnguyen@example.net|+1 408-555-0316|95122|San Jose|CA|lily_nguyen_6002
17|Björn Åkesson|bjorn@example.net|+1 206-555-0317|98107|Seattle|WA|bjorn_akesson_55
18|Diego Morales Ruiz|diego.mr@example.net|+1 915-555-0318|79901|El Paso|TX|diego_morales_73
19|Grace Kim|grace.kim@example.net|+1 213-555-0319|90005|Los Angeles|CA|grace_kim_3
20|Grace Kim|gracekim88@example.net|+1 201-555-0320|07024|Fort Lee|NJ|grace_kim_4
21|Samuel Adeleke|s.adeleke@example.net|+1 832-555-0321|77036|Houston|TX|samuel_adeleke_10
22|Noa Cohen-Levy|noa.cl@example.net|+1 305-555-0322|33160|Aventura|FL|noa_cohen_8
23|Evelyn Wood|evelyn.wood@example.net|+1 802-555-0323|05401|Burlington|VT|evelyn_wood_12
24|Omar Haddad|omar.haddad@example.net|+1 419-555-0324|43604|Toledo|OH|omar_haddad_99
`

export const PASSENGERS = PEOPLE.trim()
  .split("\n")
  .map((line) => {
    const [id, name, email, mobile, zip_code, town, state, user_id] = line.split("|")
    return { id: `f${id!}`, name, email, mobile, zip_code, town, state, user_id }
  })

export const AIRLINE: ReadonlyArray<Introduction> = [
  ["Hello, I would like to change my flight to Denver. My user id is ingrid_solheim_1120.", "f3"],
  ["Aarav Bhatt here, zip 85701, I'd like a seat upgrade on my flight to Paris", "f2"],
  ["My passenger is Aarav Bhatt of Tempe; he lost his suitcase", "f1"],
  ["Mohammed Ben Ali, 48126. Two checked bags, travel insurance, departing May 20.", "f4"],
  ["I'm looking after Sofia Papadopoulos in Queens. She needs a wheelchair at the gate.", "f6"],
  ["You are Sofia Papadopoulos, your zip code is 34689. You are reactive to the agent and will not say anything that isn't asked.", "f5"],
  ["Bonjour! Jean-Luc Moreau from New Orleans, I want to know if my refund went through", "f7"],
  ["maria de souza in newark wants to know how many free bags she has", "f8"],
  ["I am Maria De Souza, New Bedford MA", "f9"],
  ["It is Tyrone from Memphis, can you move me to an earlier flight", "f10"],
  ["chloe o'connor, boston: flight cancelled, wants compensation", "f11"],
  ["Chloe OConnor's zip is 02127", "f11"],
  ["Could you pull up Hannah Berg? Zip is 55401.", "f12"],
  ["hannah berger 55101", "f13"],
  ["Raj Singh, 08817, wants to book a one-way trip from JFK to SEA", "f14"],
  ["My name is Lily Nguyen, I live in San Jose and I'd like to use my gift card ending in 7019", "f16"],
  ["The caller gave the email lily.nguyen@example.net and the name Lily Nguyen", "f15"],
  ["bjorn akesson wants basic economy. lives in seattle.", "f17"],
  ["Diego Morales (El Paso) would like to cancel reservation 4WQ150", "f18"],
  ["Good evening, Grace Kim, L.A., want to add a passenger named Peter Kim to my booking", "f19"],
  ["Grace Kim; Fort Lee, New Jersey; asks about certificates", "f20"],
  ["i'm samuel adeleke and i'm in houston texas, why was my card charged $332.10 twice", "f21"],
  ["Noa Cohen Levy - Aventura - wants kosher meal", "f22"],
  ["evelyn wood from burlington vt says hi", "f23"],
  ["Phone: (419) 555-0324. He wants to fly to Toledo from LAX.", "f24"],
  ["Passenger Omar Haddad, zip code 43604-2210, needs an invoice", "f24"],
  ["On behalf of Ms. Evelyn Wood (05401): please cancel everything", "f23"],
  ["My mother, Ingrid Solheim, lives in Fargo and cannot find her boarding pass", "f3"],
  ["this is hannah from minneapolis, i booked with my sister anna lee", "f12"],
  ["Reach me at 832 555 0321 please, it's about my flight HAT039", "f21"],
  ["Customer name: Omar Haddad\nCity: Toledo\nState: OH\nProblem: double booking", "f24"],
  ["Lily Nguyen in California wants to speak with a human", "f15", "f16"],
  ["I'm Aarav Bhatt from Arizona, I need to change my return flight", "f1", "f2"],
  ["My name is Grace Kim and I want to remove a passenger", "f19", "f20"],
  ["I'm Grace Kim, zip code 90210"],
  ["Samuel Adeleke from El Paso wants a refund"],
  ["My user id is maria_souza_6023 and my name is Tyrone Jackson"],
  ["Ingrid Solheim, Memphis, TN, lost luggage"],
  ["This is Harold Finch, zip 10001"],
  ["evelyn wood, evelyn.woods@example.net"]
] // prettier-ignore
