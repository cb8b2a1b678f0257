/** Generates the sample organization from a fixed seed: the data is the same every time, except that meetings are dated around today. */

const FIRST = (
  "Ada Agnes Aiko Alejandra Amara Amélie Andrés Anika Anton Aroha Arjun Astrid Awa Beatriz Bence Björn Camila Caroline Chidi " +
  "Chiara Clara Daniel Darius Deepa Diego Dmitri Elena Elif Emeka Emil Émile Esra Farah Felix Fiona Gabriel Georg Giulia " +
  "Grace Greta Hana Hannah Hassan Helga Hugo Ibrahim Ida Ilse Imani Ingrid Isak Ivana Jakub Jana Javier Jeong João Joana " +
  "Jonas José Julia Kai Katarína Keiko Kofi Krzysztof Laila Lars Laura Leila Léa Leon Lina Linh Lucía Luka Maja Malik Marco " +
  "María Mateo Maya Mei Mikael Mina Miriam Nadia Naomi Nia Niels Nikola Noah Noor Nora Olga Olu Oskar Paolo Petra Priya Rafael " +
  "Rania Ravi Renée René Rosa Ruth Samir Sana Sean Selma Siobhán Sofía Søren Stefan Sunil Svetlana Tariq Teresa Thi Thomas Tomás " +
  "Ursula Valentina Vera Víctor Wanjiru Wei Xavier Yara Yuki Yusuf Zainab Zoë"
).split(" ")

const LAST = (
  "Abebe Adeyemi Ahmed Almeida Andersson Baptiste Barros Bauer Beaumont Becker Bianchi Blanc Brennan Campos Cárdenas Castillo Çelik " +
  "Chen Costa Cruz Dahl Delgado Diallo Dubois Eriksen Fernández Ferrari Fischer Fontaine Fraser García Gupta Haddad Hansen Hartmann " +
  "Hoang Horvat Ibarra Ito Iyer Jansen Jensen Johansson Kamau Kaplan Khan Kim Kowalski Kruger Laurent Lefèvre Lindqvist Lopes " +
  "Lovelace Maier Malik Mancini Marković Martin Mbeki Mendes Meyer Molina Moreau Müller Mwangi Nakamura Ndiaye Nguyễn Nielsen Novák " +
  "Nowak Núñez O'Brien Okafor Okonkwo Olsen Oliveira Ortega Öztürk Park Patel Pereira Petrović Pham Popescu Quinn Ramos Rao Ribeiro " +
  "Ricci Richter Rivera Rossi Roux Sato Schmidt Schneider Schröder Silva Singh Sørensen Sousa Stein Suzuki Szabó Tanaka Torres Tran " +
  "Vargas Vasquez Vogel Wagner Walker Weber Weiß Wójcik Wong Yamamoto Yıldız Zhang Ziegler"
).split(" ")

const COMPANY = [
  [
    "Alder",
    "Amber",
    "Arrow",
    "Beacon",
    "Birch",
    "Blue Harbor",
    "Bright",
    "Cedar",
    "Cobalt",
    "Copper",
    "Delta",
    "Ember",
    "Falcon",
    "Field",
    "Granite",
    "Green",
    "Hazel",
    "Heron",
    "Indigo",
    "Iron",
    "Juniper",
    "Kite",
    "Lark",
    "Lunar",
    "Maple",
    "Meridian",
    "North",
    "Oak",
    "Opal",
    "Orchard",
    "Pine",
    "Quartz",
    "Raven",
    "River",
    "Sable",
    "Silver",
    "Slate",
    "Sparrow",
    "Stone",
    "Summit",
    "Tidal",
    "Umber",
    "Vale",
    "Willow",
    "Winter",
    "Zephyr"
  ],
  ["Foods", "Logistics", "Labs", "Textiles", "Energy", "Optics", "Dental", "Studios", "Marine"]
] as const

const TITLES = [
  "Kick-off",
  "Quarterly review",
  "Contract renewal",
  "Product demo",
  "Pricing call",
  "Site visit",
  "Check-in",
  "Training"
]
const STATUSES = ["lead", "lead", "lead", "customer", "customer", "customer", "customer", "paused", "lost"]

/** Deterministic pseudo-random numbers in [0, 1) (mulberry32). */
const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

const ascii = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace("ß", "ss")
    .replace("ø", "o")
    .replace("ı", "i")
    .replace(/[^a-z]/g, "")

export interface Sample {
  readonly companies: ReadonlyArray<Record<string, string>>
  readonly people: ReadonlyArray<Record<string, string>>
  readonly meetings: ReadonlyArray<Record<string, string>>
}

export const STAFF = [
  { name: "Rosa Delgado", email: "rosa.delgado@harbor.example", role: "rep" },
  { name: "Samir Haddad", email: "samir.haddad@harbor.example", role: "rep" },
  { name: "Ingrid Dahl", email: "ingrid.dahl@harbor.example", role: "manager" },
  { name: "Yuki Tanaka", email: "yuki.tanaka@harbor.example", role: "admin" }
] as const

/** Generates `size` people (staff included), their companies, and meetings within three months of `today`. */
export const generate = (today: Date, size = 2000): Sample => {
  const random = seeded(20_26)
  const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(random() * from.length)]!
  const phone = makePhone(random)
  const companies = COMPANY[0].flatMap((first) =>
    COMPANY[1].map((second) => ({
      id: `co-${ascii(first)}-${ascii(second)}`,
      name: `${first} ${second}`,
      status: pick(STATUSES),
      owner: pick(STAFF.slice(0, 2)).email,
      phone: phone(),
      email: `hello@${ascii(first)}${ascii(second)}.example`
    }))
  )
  const staff = STAFF.map((person, index) => ({
    id: `staff-${index + 1}`,
    name: person.name,
    status: "staff",
    email: person.email,
    phone: phone(),
    owner: "",
    company: ""
  }))
  const taken = new Set<string>(staff.map((person) => person.email))
  const people: Array<Record<string, string>> = [...staff]
  while (people.length < size) {
    const [first, last, company] = [pick(FIRST), pick(LAST), pick(companies)]
    let email = `${ascii(first)}.${ascii(last)}@${company.email.split("@")[1]!}`
    if (taken.has(email)) email = email.replace("@", `${people.length}@`)
    taken.add(email)
    people.push({
      id: `p-${people.length + 1}`,
      name: `${first} ${last}`,
      status: pick(STATUSES),
      email,
      phone: random() < 0.9 ? phone() : "",
      owner: pick(STAFF.slice(0, 2)).email,
      company: company.id
    })
  }
  const meetings = Array.from({ length: Math.floor(size * 0.6) }, (_, index) => {
    const customer = people[staff.length + Math.floor(random() * (people.length - staff.length))]!
    const day = new Date(today.getTime() + Math.floor((random() - 0.5) * 182) * 86_400_000).toISOString().slice(0, 10)
    const hour = 9 + Math.floor(random() * 8)
    return {
      id: `m-${index + 1}`,
      name: pick(TITLES),
      status: day < today.toISOString().slice(0, 10) ? "held" : "planned",
      start: `${day}T${String(hour).padStart(2, "0")}:00`,
      end: `${day}T${String(hour).padStart(2, "0")}:45`,
      owner: customer["owner"]!,
      company: customer["company"]!,
      attendees: `${customer["email"]!};${customer["owner"]!}`
    }
  })
  return { companies, people, meetings }
}

/** Unique fictitious phone numbers (exchange 555). */
const makePhone = (random: () => number) => {
  const used = new Set<string>()
  const next = (): string => {
    const number = `${AREAS[Math.floor(random() * AREAS.length)]!}-555-${String(Math.floor(random() * 10_000)).padStart(4, "0")}`
    if (used.has(number)) return next()
    used.add(number)
    return number
  }
  return next
}

const AREAS = [
  "202",
  "206",
  "212",
  "303",
  "312",
  "404",
  "415",
  "503",
  "512",
  "602",
  "617",
  "702",
  "713",
  "801",
  "808",
  "919"
]
