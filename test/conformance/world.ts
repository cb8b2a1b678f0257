/**
 * Random organizations in memory, for the oracle and for the database. Search keys are written by hand beside their values,
 * so that a fault in `domain/keys.ts` can't affect both sides alike.
 */

import { instantIn } from "./clock.ts"

export type TypeName = "people" | "companies" | "meetings" | "deals"
export const TYPE_NAMES: ReadonlyArray<TypeName> = ["people", "companies", "meetings", "deals"]

export type Kind =
  | "text"
  | "phone"
  | "email"
  | "integer"
  | "number"
  | "boolean"
  | "date"
  | "timestamp"
  | "list"
  | "one"
  | "many"

export interface ColumnShape {
  readonly kind: Kind
  readonly target?: TypeName
  /** The physical column, or the link table of a relation to many. */
  readonly physical: string
  readonly key?: string
}

const text = (physical: string): ColumnShape => ({ kind: "text", physical, key: `${physical}_k` })
const one = (physical: string, target: TypeName): ColumnShape => ({ kind: "one", physical, target })
const contact = {
  phone: { kind: "phone", physical: "phone", key: "phone_k" },
  email: { kind: "email", physical: "email", key: "email_k" }
} satisfies Record<string, ColumnShape>

/** The types of this suite, by slug; the suite creates `deals`, with every kind of column. */
export const SHAPES: Readonly<Record<TypeName, Readonly<Record<string, ColumnShape>>>> = {
  people: {
    name: text("name"),
    status: text("status"),
    owner: one("owner_id", "people"),
    company: one("company_id", "companies"),
    ...contact
  },
  companies: { name: text("name"), status: text("status"), owner: one("owner_id", "people"), ...contact },
  meetings: {
    name: text("name"),
    status: text("status"),
    start: { kind: "timestamp", physical: "start_at" },
    end: { kind: "timestamp", physical: "end_at" },
    owner: one("owner_id", "people"),
    company: one("company_id", "companies"),
    attendees: { kind: "many", physical: "meeting_attendees", target: "people" }
  },
  deals: {
    name: text("name"),
    status: text("status"),
    note: text("note"),
    amount: { kind: "number", physical: "amount" },
    level: { kind: "integer", physical: "level" },
    secret: { kind: "boolean", physical: "secret" },
    due: { kind: "date", physical: "due" },
    at: { kind: "timestamp", physical: "at" },
    tags: { kind: "list", physical: "tags", key: "tags_k" },
    person: one("person_id", "people"),
    company: one("company_id", "companies"),
    watchers: { kind: "many", physical: "t_deal_watchers", target: "people" }
  }
}

/** How a derived column is computed from stored columns of its row. */
interface DerivedShape extends ColumnShape {
  readonly kind: "number"
  readonly form: string
  readonly of: readonly [string, string]
  readonly value: (left: string, right: string, timeZone: string) => string
}

const derived = (form: string, of: readonly [string, string], value: DerivedShape["value"]): DerivedShape => ({
  kind: "number",
  physical: "",
  form,
  of,
  value
})

/** Ten thousandths as decimal text. */
const fourPlaces = (units: bigint): string => {
  const digits = (units < 0n ? -units : units).toString().padStart(5, "0")
  const text = `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, "")
  return units < 0n ? `-${text}` : text
}

/** Milliseconds in units of `unit`, rounded half away from zero. */
const elapsed = (millis: number, unit: number): string => {
  const [scaled, divisor] = [BigInt(Math.abs(millis)) * 10_000n, BigInt(unit)]
  const rounded = (2n * scaled + divisor) / (2n * divisor)
  return fourPlaces(millis < 0 ? -rounded : rounded)
}

const product = (left: string, right: string): string => {
  const places = (text: string) => text.split(".")[1]?.length ?? 0
  const digits = (text: string) => BigInt(text.replace(".", ""))
  const scale = places(left) + places(right)
  const result = digits(left) * digits(right)
  const text = (result < 0n ? -result : result).toString().padStart(scale + 1, "0")
  const decimal = scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, "")
  return result < 0n ? `-${decimal}` : decimal
}

/** The derived columns that the suite declares. */
export const DERIVED: Readonly<Record<TypeName, Readonly<Record<string, DerivedShape>>>> = {
  people: {},
  companies: {},
  meetings: {
    lasts: derived("hours between start and end", ["start", "end"], (start, end) =>
      elapsed(Date.parse(end) - Date.parse(start), 3_600_000)
    )
  },
  deals: {
    wait: derived("days between due and at", ["due", "at"], (due, at, timeZone) =>
      elapsed(Date.parse(at) - instantIn(`${due}T00:00:00`, timeZone), 86_400_000)
    ),
    worth: derived("amount times level", ["amount", "level"], product)
  }
}

/** Stored and derived columns. */
export const READABLE: Readonly<Record<TypeName, Readonly<Record<string, ColumnShape>>>> = {
  people: SHAPES.people,
  companies: SHAPES.companies,
  meetings: { ...SHAPES.meetings, ...DERIVED.meetings },
  deals: { ...SHAPES.deals, ...DERIVED.deals }
}

/** A row with its derived cells. */
export const computed = (type: TypeName, { cells, id }: Entity, timeZone: string): Entity => ({
  id,
  cells: {
    ...cells,
    ...Object.fromEntries(
      Object.entries(DERIVED[type]).map(([name, { of, value }]) => {
        const [left, right] = of.map((source) => cells[source] as string | null)
        return [name, left == null || right == null ? null : value(left, right, timeZone)]
      })
    )
  }
})

export const TABLES: Readonly<Record<TypeName, string>> = {
  people: "people",
  companies: "companies",
  meetings: "meetings",
  deals: "t_deals"
}

/** Numbers are decimal text, timestamps ISO text in UTC, references ids. */
export type Cell = null | string | boolean | bigint | ReadonlyArray<string>

export interface Entity {
  readonly id: bigint
  readonly cells: Readonly<Record<string, Cell>>
}

export interface Organization {
  readonly slug: string
  readonly country: "US" | "DE"
  readonly timeZone: string
  readonly entities: Readonly<Record<TypeName, ReadonlyMap<bigint, Entity>>>
  /** Link rows by relation, as pairs of ids; the named rows may be missing. */
  readonly links: Readonly<Record<"attendees" | "watchers", ReadonlyArray<readonly [bigint, bigint]>>>
}

/** A random number generator with a seed (mulberry32). */
export const random = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Text with its search key: case pairs, wildcards of LIKE, empty text, folding that changes the length. */
export const TEXTS: ReadonlyArray<readonly [text: string, key: string]> = [
  ["Atlas", "atlas"],
  ["ATLAS", "atlas"],
  ["atlas", "atlas"],
  ["Ａｔｌａｓ", "atlas"],
  ["vip", "vip"],
  ["VIP", "vip"],
  ["100%_\\ off", "100%_\\ off"],
  ["100% off", "100% off"],
  ["100x_y off", "100x_y off"],
  ["_", "_"],
  ["%", "%"],
  ["\\", "\\"],
  ["a", "a"],
  ["Ab", "ab"],
  ["abc", "abc"],
  ["", ""],
  ["  two   spaces ", "two spaces"],
  ["Straße 7", "strasse 7"],
  ["STRASSE 7", "strasse 7"],
  ["Łukasz Żak", "lukasz zak"],
  ["İstanbul", "istanbul"],
  ["ﬁne", "fine"],
  ["O'Brien", "o'brien"],
  ["😀 smile", "😀 smile"],
  ["日本", "日本"],
  ["$me", "$me"],
  ["null", "null"],
  ["-1", "-1"]
]
export const TEXT_KEYS = new Map(TEXTS)

/** Phones with their normal form in each country; most typed texts have none. */
export const PHONES: ReadonlyArray<
  readonly [text: string, keys: { readonly US: string | null; readonly DE: string | null }]
> = [
  ["+49 30 901820", { US: "+4930901820", DE: "+4930901820" }],
  ["+4930901820", { US: "+4930901820", DE: "+4930901820" }],
  ["030 901820", { US: null, DE: "+4930901820" }],
  ["+1 (415) 555-0100", { US: "+14155550100", DE: "+14155550100" }],
  ["(415) 555-0100", { US: "+14155550100", DE: "+494155550100" }],
  ["+1 415 555 0100 ext. 5", { US: "+14155550100#5", DE: "+14155550100#5" }],
  ["call me", { US: null, DE: null }],
  ["12", { US: null, DE: null }],
  ["", { US: null, DE: null }]
]
export const PHONE_KEYS = new Map(PHONES)

export const EMAILS: ReadonlyArray<readonly [text: string, key: string | null]> = [
  ["Ada@Example.com", "ada@example.com"],
  ["ada@example.com", "ada@example.com"],
  [" ada@example.com ", "ada@example.com"],
  ["a_b%c@example.com", "a_b%c@example.com"],
  ["bob@sub.example.com", "bob@sub.example.com"],
  ["not an email", null],
  ["", null]
]
export const EMAIL_KEYS = new Map(EMAILS)

export const INTEGERS = ["0", "5", "6", "-3", "9007199254740993"]
export const NUMBERS = ["0", "5", "5.0", "5.5", "-1.25", "0.1", "123456789012345678901234567890.5"]
export const DATES = ["2026-02-28", "2026-03-01", "2026-03-31", "2026-12-31", "2027-01-01"]
/** Around midnights and the daylight-saving changes in New York (8 March) and Berlin (29 March). */
export const TIMESTAMPS = [
  "2026-02-28T23:30:00.000Z",
  "2026-03-01T04:59:59.000Z",
  "2026-03-01T05:00:00.000Z",
  "2026-03-08T06:59:00.000Z",
  "2026-03-08T07:01:00.000Z",
  "2026-03-29T00:59:00.000Z",
  "2026-03-29T01:01:00.000Z",
  "2026-03-31T22:00:00.000Z",
  "2026-12-31T23:00:00.000Z",
  "2027-01-01T05:00:00.000Z"
]
export const TAGS = ["red", "Red", "blue", "100%", ""]
const TAG_KEYS: Readonly<Record<string, string>> = { red: "red", Red: "red", blue: "blue", "100%": "100%", "": "" }

/** The first id of every type, so that one id names a person, a company, a meeting and a deal in every organization. */
export const FIRST_ID = 30n
const SIZES: Readonly<Record<TypeName, number>> = { people: 22, companies: 8, meetings: 16, deals: 18 }
/** Persons who exist in every organization: the callers' anchors. */
export const ANCHORS = [FIRST_ID, FIRST_ID + 1n, FIRST_ID + 2n]

/** Random cells; a third are NULL, and some references dangle. */
export const cellMaker = (next: () => number) => {
  const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(next() * from.length)]!
  const nullable = <A>(make: () => A): A | null => (next() < 0.35 ? null : make())
  const reference = (target: TypeName): bigint =>
    next() < 0.1 ? FIRST_ID + 900n : FIRST_ID + BigInt(Math.floor(next() * next() * SIZES[target]))
  const cell = (column: string, { kind, target }: ColumnShape): Cell => {
    switch (kind) {
      case "text": {
        const make = () => (column === "status" && next() < 0.6 ? pick(["vip", "VIP", "a", ""]) : pick(TEXTS)[0])
        return column === "name" ? make() : nullable(make)
      }
      case "phone":
        return nullable(() => pick(PHONES)[0])
      case "email":
        return nullable(() => pick(EMAILS)[0])
      case "integer":
        return nullable(() => pick(INTEGERS))
      case "number":
        return nullable(() => pick(NUMBERS))
      case "boolean":
        return nullable(() => next() < 0.5)
      case "date":
        return nullable(() => pick(DATES))
      case "timestamp":
        return nullable(() => pick(TIMESTAMPS))
      case "list":
        return nullable(() => TAGS.filter(() => next() < 0.4))
      case "one":
        return nullable(() => reference(target!))
      case "many":
        return null
    }
  }
  const row = (type: TypeName, id: bigint): Entity => ({
    id,
    cells: Object.fromEntries(
      Object.entries(SHAPES[type])
        .filter(([, shape]) => shape.kind !== "many")
        .map(([name, shape]) => [name, cell(name, shape)])
    )
  })
  return { pick, reference, cell, row }
}

const makeOrganization = (next: () => number, slug: string, country: "US" | "DE", timeZone: string): Organization => {
  const { reference, row } = cellMaker(next)
  const table = (type: TypeName): ReadonlyMap<bigint, Entity> => {
    const rows = new Map<bigint, Entity>()
    for (let index = 0n; index < BigInt(SIZES[type]); index++) {
      const id = FIRST_ID + index
      const isAnchor = type === "people" && ANCHORS.includes(id)
      if (!isAnchor && next() < 0.1) continue
      rows.set(id, computed(type, row(type, id), timeZone))
    }
    return rows
  }
  const links = (from: TypeName, each: number) => {
    const pairs = new Map<string, readonly [bigint, bigint]>()
    for (let count = 0; count < SIZES[from] * each; count++) {
      const pair = [reference(from), reference("people")] as const
      pairs.set(pair.join(), pair)
    }
    // One cell with more people than a page shows.
    for (let index = 0n; index < 13n; index++)
      pairs.set(`${FIRST_ID},${FIRST_ID + index}`, [FIRST_ID, FIRST_ID + index])
    return [...pairs.values()]
  }
  return {
    slug,
    country,
    timeZone,
    entities: {
      people: table("people"),
      companies: table("companies"),
      meetings: table("meetings"),
      deals: table("deals")
    },
    links: { attendees: links("meetings", 2), watchers: links("deals", 1) }
  }
}

export const emptyOrganization = (slug: string): Organization => ({
  slug,
  country: "US",
  timeZone: "America/New_York",
  links: { attendees: [], watchers: [] },
  entities: { people: new Map(), companies: new Map(), meetings: new Map(), deals: new Map() }
})

/** Two organizations over the same ids, with different rows behind them. */
export const makeWorld = (seed: number): ReadonlyArray<Organization> => {
  const next = random(seed)
  return [
    makeOrganization(next, `here-${seed}`, "US", "America/New_York"),
    makeOrganization(next, `there-${seed}`, "DE", "Europe/Berlin")
  ]
}

/** The search key of a cell, in the importer's form. */
export const keyOf = (kind: Kind, cell: Cell, country: "US" | "DE"): Cell => {
  switch (kind) {
    case "text":
      return cell === null ? null : (TEXT_KEYS.get(cell as string) ?? missingKey(cell))
    case "phone":
      return cell === null ? null : (PHONE_KEYS.get(cell as string) ?? missingKey(cell))[country]
    case "email":
      return cell === null ? null : EMAIL_KEYS.has(cell as string) ? EMAIL_KEYS.get(cell as string)! : missingKey(cell)
    case "list":
      return cell === null ? null : (cell as ReadonlyArray<string>).map((tag) => TAG_KEYS[tag] ?? missingKey(tag))
    default:
      return null
  }
}

const missingKey = (cell: Cell): never => {
  throw new Error(`The vocabulary has no key for ${String(cell)}`)
}
