/**
 * The oracle for queries: filters, order, pages and totals over the rows that the policy oracle shows to the caller. Hidden
 * data is not in its input at all.
 */
import { encodeId } from "../../src/domain/ids.ts"
import { instantIn, localIn, related, shownCell, visibleRelated, type Views } from "./oracle.ts"
import {
  type Entity,
  keyOf,
  type Kind,
  type Organization,
  PHONE_KEYS,
  EMAIL_KEYS,
  TEXT_KEYS,
  type TypeName,
  READABLE
} from "./world.ts"

export interface Filter {
  readonly columnId: string
  readonly op: "eq" | "ilike" | "gte" | "lt"
  readonly value: string
}

export interface Query {
  readonly type: TypeName
  readonly filters: ReadonlyArray<Filter>
  readonly select: ReadonlyArray<string>
  readonly limit: number
}

/** Typed texts and their folds, written by hand. */
export const NEEDLES: ReadonlyArray<readonly [text: string, folded: string]> = [
  ["Atlas", "atlas"],
  ["aTLAS", "atlas"],
  ["tla", "tla"],
  ["at", "at"],
  ["A", "a"],
  ["ab", "ab"],
  ["vip", "vip"],
  ["VI", "vi"],
  ["Vip ", "vip"],
  ["%", "%"],
  ["_", "_"],
  ["\\", "\\"],
  ["%_", "%_"],
  ["0%_", "0%_"],
  ["00%", "00%"],
  ["x_y", "x_y"],
  ["%_\\", "%_\\"],
  ["100%_\\ off", "100%_\\ off"],
  ["___", "___"],
  ["%%%", "%%%"],
  ["ß", "ss"],
  ["STRASSE", "strasse"],
  ["Żak", "zak"],
  ["two   spaces", "two spaces"],
  ["istanbul", "istanbul"],
  ["ﬁ", "fi"],
  ["O’B", "o'b"],
  ["😀", "😀"],
  ["😀 s", "😀 s"],
  ["日", "日"],
  ["日本", "日本"],
  ["$me", "$me"],
  ["-1", "-1"],
  ["red", "red"],
  ["RED", "red"],
  ["Red", "red"],
  ["blue", "blue"],
  ["100%", "100%"],
  ["ada@", "ada@"],
  ["EXAMPLE", "example"],
  ["a_b", "a_b"],
  ["b%c", "b%c"],
  ["@", "@"],
  ["nothing like it", "nothing like it"]
]
const FOLDED = new Map(NEEDLES)

export const PHONE_NEEDLES = ["+49", "+1", "4", "49", "(415) 555", "5550100", "+4930901820", "call me", "3090"]
/** Periods, and instants for timestamps. */
export const PERIODS = ["2026", "2027", "2026-03", "2026-12", "2026-02-28", "2026-03-01", "2026-03-31", "2027-01-01"]
export const POINTS = [
  "2026-03-01T05:00:00Z",
  "2026-03-08T07:01Z",
  "2026-03-29T03:01:00+02:00",
  "2026-03-01 00:00",
  "2026-12-31T18:00:00.000"
]

/** The operators of each kind, with readable values; all others are refused. */
export const ASKABLE: Readonly<Record<Kind, ReadonlyArray<Filter["op"]>>> = {
  text: ["eq", "ilike"],
  list: ["eq"],
  phone: ["eq", "ilike"],
  email: ["eq", "ilike"],
  boolean: ["eq"],
  integer: ["eq", "gte", "lt"],
  number: ["eq", "gte", "lt"],
  date: ["eq", "gte", "lt"],
  timestamp: ["eq", "gte", "lt"],
  one: ["eq", "ilike"],
  many: ["eq", "ilike"]
}

export const decimal = (text: string): bigint => {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text.trim())!
  return BigInt(`${sign}${whole}${fraction.padEnd(20, "0")}`)
}

/** The fold of a text. */
export const folded = (text: string): string => {
  const found = FOLDED.get(text) ?? TEXT_KEYS.get(text)
  if (found === undefined) throw new Error(`The vocabulary doesn't say how ${text} is folded`)
  return found
}

/** Three or more characters match anywhere, fewer at the start. */
const contains = (key: string | null, needle: string): boolean =>
  key !== null && needle !== "" && ([...needle].length >= 3 ? key.includes(needle) : key.startsWith(needle))

/** The first date of a period. */
const beginning = (period: string): string => `${period}${"-01-01".slice(period.length - 4)}`

export const instant = (value: string, organization: Organization): number =>
  /Z$|[+-]\d\d:\d\d$/.test(value.slice(10))
    ? Date.parse(value)
    : instantIn(
        value.length <= 10 ? `${beginning(value)}T00:00:00` : value.replace(" ", "T").padEnd(19, ":00"),
        organization.timeZone
      )

/** A cell in orderable form. */
export const rank = (kind: Kind, cell: string): bigint | number | string =>
  kind === "timestamp" ? Date.parse(cell) : kind === "date" ? cell : decimal(cell)

const bound = (kind: Kind, value: string, organization: Organization): bigint | number | string =>
  kind === "timestamp" ? instant(value, organization) : kind === "date" ? beginning(value) : decimal(value)

/** The fold of a name; ids, which the vocabulary lacks, fold to themselves. */
const wholeName = (value: string): string => (/^[a-z]+$/.test(value) ? value : folded(value))

export const matches = (
  { columnId, op, value }: Filter,
  type: TypeName,
  entity: Entity,
  views: Views,
  organization: Organization
): boolean => {
  if (!views[type].get(entity.id)!.has(columnId)) return false
  const { kind, target } = READABLE[type][columnId]!
  const cell = entity.cells[columnId] ?? null
  if (kind === "one" || kind === "many") {
    if (kind === "one" && cell === null) return false
    return visibleRelated(type, columnId, entity, views, organization).some(
      (reference) =>
        op === "eq"
          ? reference.id === value ||
            (reference.name !== undefined && keyOf("text", reference.name, organization.country) === wholeName(value))
          : reference.name !== undefined &&
            contains(keyOf("text", reference.name, organization.country) as string, folded(value)),
      target
    )
  }
  if (cell === null) return false
  const key = keyOf(kind, cell, organization.country)
  switch (op) {
    case "gte":
      return rank(kind, cell as string) >= bound(kind, value, organization)
    case "lt":
      return rank(kind, cell as string) < bound(kind, value, organization)
    case "ilike":
      return contains(
        key as string | null,
        kind === "phone" ? value.replace(/ ext\. (?=\d+$)/, "#").replace(/[^\d+#]/g, "") : folded(value)
      )
    case "eq":
      switch (kind) {
        case "text":
          return key === folded(value)
        case "list":
          return (key as ReadonlyArray<string>).includes(folded(value))
        case "phone":
          return key !== null && key === PHONE_KEYS.get(value)![organization.country]
        case "email":
          return key !== null && key === EMAIL_KEYS.get(value)
        case "boolean":
          return String(cell) === value
        case "integer":
        case "number":
          return decimal(cell as string) === decimal(value)
        case "date":
          return (cell as string).startsWith(value)
        default:
          return value.length <= 10
            ? localIn(Date.parse(cell as string), organization.timeZone).startsWith(value)
            : Date.parse(cell as string) === instant(value, organization)
      }
  }
}

/** All rows that a query finds, in order. */
export const answer = (query: Query, views: Views, organization: Organization): ReadonlyArray<Entity> => {
  const { filters, type } = query
  const rows = [...organization.entities[type].values()].filter(
    (entity) =>
      views[type].has(entity.id) && filters.every((filter) => matches(filter, type, entity, views, organization))
  )
  const range = filters.find(({ op }) => op === "gte" || op === "lt")
  const value = (entity: Entity) =>
    range === undefined ? 0 : rank(READABLE[type][range.columnId]!.kind, entity.cells[range.columnId] as string)
  const ascending = (a: Entity, b: Entity) => {
    const [left, right] = [value(a), value(b)]
    return left < right ? -1 : left > right ? 1 : a.id < b.id ? -1 : 1
  }
  return rows.sort((a, b) => (range?.op === "lt" ? ascending(b, a) : ascending(a, b)))
}

/** An entity as a page shows it. */
export const shownEntity = (query: Query, entity: Entity, views: Views, organization: Organization): unknown => {
  const cell = (column: string) => shownCell(query.type, column, entity, views, organization)
  const named = (name: string, column: string) => (cell(column) === undefined ? {} : { [name]: cell(column) })
  return {
    entityId: encodeId(entity.id),
    ...named("displayName", "name"),
    ...named("status", "status"),
    ...(query.select.length === 0
      ? {}
      : {
          columns: Object.fromEntries(
            query.select.flatMap((column) => (cell(column) === undefined ? [] : [[column, cell(column)]]))
          )
        })
  }
}

/** The view of a caller who sees everything. */
export const everything = (organization: Organization): Views => {
  const all = (type: TypeName) =>
    new Map([...organization.entities[type].keys()].map((id) => [id, new Set(Object.keys(READABLE[type]))]))
  return { people: all("people"), companies: all("companies"), meetings: all("meetings"), deals: all("deals") }
}

/** A filter that matches an existing row, visible or not, by one of its cells. */
export const aimed = (type: TypeName, organization: Organization, next: () => number): Filter | undefined => {
  const pick = <A>(from: ReadonlyArray<A>): A | undefined => from[Math.floor(next() * from.length)]
  const entity = pick([...organization.entities[type].values()])
  const [columnId, shape] = pick(Object.entries(READABLE[type]))!
  if (entity === undefined) return undefined
  const { kind, target } = shape
  const cell = entity.cells[columnId] ?? null
  if (target !== undefined) {
    const ids =
      kind === "many" ? related(columnId as "attendees", target, entity.id, organization).map(({ id }) => id) : [cell]
    const id = pick(ids.filter((one) => one !== null)) as bigint | undefined
    const name =
      id === undefined ? undefined : (organization.entities[target].get(id)?.cells["name"] as string | undefined)
    if (id === undefined) return undefined
    return name === undefined || folded(name) === "" || next() < 0.3
      ? { columnId, op: "eq", value: encodeId(id) }
      : { columnId, op: "ilike", value: name }
  }
  const value =
    kind === "list"
      ? pick(cell === null ? [] : (cell as ReadonlyArray<string>))
      : cell === null
        ? undefined
        : String(cell)
  if (value === undefined || value.trim() === "") return undefined
  const ops = kind === "email" || kind === "phone" ? (["eq"] as const) : ASKABLE[kind]
  return { columnId, op: pick(ops)!, value }
}
