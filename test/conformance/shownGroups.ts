/**
 * The oracle of groups and figures: folds the table that is shown to the caller in JavaScript, exactly. A request is generated
 * as a structure, and its words are written from it.
 */
import * as fc from "fast-check"
import { encodeId } from "../../src/domain/ids.ts"
import { localIn, visibleRelated, type Views } from "./oracle.ts"
import { found, type Question, question } from "./shownTable.ts"
import { type Entity, type Kind, type Organization, type TypeName, READABLE } from "./world.ts"

interface Column {
  readonly hops: ReadonlyArray<string>
  readonly end: TypeName
  readonly name: string
  readonly kind: Kind
}

interface By {
  readonly column: Column
  readonly bucket: string | undefined
}

interface Figure {
  readonly figure: "sum" | "avg" | "min" | "max" | "distinct"
  readonly column: Column
}

export interface Request {
  readonly question: Question
  readonly by: ReadonlyArray<By>
  readonly figures: ReadonlyArray<Figure>
  readonly having: { readonly of: "count" | 0; readonly op: "gte" | "lt" | "eq"; readonly value: string } | undefined
  readonly limit: number
}

const pathOf = ({ hops, name }: Column): string => [...hops, name].join(".")
export const headingsOf = ({ by, figures }: Pick<Request, "by" | "figures">): ReadonlyArray<string> => [
  ...by.map(({ bucket, column }) => ["by", ...(bucket === undefined ? [] : [bucket]), pathOf(column)].join(" ")),
  ...figures.map(({ column, figure }) => `${figure} ${pathOf(column)}`)
]

/** Columns of the type and of what its references lead to, two dots at most, with one value each; a list of references is only a group. */
const columnsOf = (type: TypeName, hops: ReadonlyArray<string> = [], lists = false): ReadonlyArray<Column> =>
  Object.entries(READABLE[type]).flatMap(([name, { kind, target }]): ReadonlyArray<Column> =>
    (kind === "many" && !lists) || kind === "list"
      ? []
      : [
          { hops, end: type, name, kind },
          ...(target === undefined || kind === "many" || hops.length === 2 ? [] : columnsOf(target, [...hops, name]))
        ]
  )

const near = (columns: ReadonlyArray<Column>): fc.Arbitrary<Column> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...columns.filter(({ hops }) => hops.length === 0)) },
    { weight: 2, arbitrary: fc.constantFrom(...columns) }
  )

const isTime = ({ kind }: Column) => kind === "date" || kind === "timestamp"
const isNumber = ({ kind }: Column) => kind === "number" || kind === "integer"
const BUCKETS = ["weekday", "day", "week", "month", "quarter", "year"]

const byOf = (type: TypeName): fc.Arbitrary<By> => {
  const columns = columnsOf(type, [], true)
  const plain = near(columns).map((column): By => ({ column, bucket: undefined }))
  const times = columns.filter((column) => isTime(column) && column.hops.length === 0)
  return times.length === 0
    ? plain
    : fc.oneof(
        { weight: 3, arbitrary: plain },
        {
          weight: 1,
          arbitrary: fc
            .constantFrom(...times)
            .chain((column) =>
              fc
                .constantFrom(...BUCKETS, ...(column.kind === "timestamp" ? ["hour"] : []))
                .map((bucket): By => ({ column, bucket }))
            )
        }
      )
}

const figureOf = (type: TypeName): fc.Arbitrary<Figure> => {
  const columns = columnsOf(type)
  const of = (names: ReadonlyArray<Figure["figure"]>, fit: (column: Column) => boolean) => {
    const fitting = columns.filter(fit)
    return fitting.filter(({ hops }) => hops.length === 0).length === 0
      ? []
      : [fc.tuple(fc.constantFrom(...names), near(fitting)).map(([figure, column]): Figure => ({ figure, column }))]
  }
  return fc.oneof(
    ...of(["sum", "avg", "min", "max"], isNumber),
    ...of(["min", "max"], isTime),
    ...of(["distinct"], () => true)
  )
}

const same = (one: Figure | By): string =>
  JSON.stringify(["figure" in one ? one.figure : one.bucket, pathOf(one.column)])

export const request: fc.Arbitrary<Request> = question.chain((asked) =>
  fc
    .record({
      question: fc.boolean().map((filtered) => (filtered ? asked : { ...asked, asked: [] })),
      by: fc.oneof(
        { weight: 5, arbitrary: fc.array(byOf(asked.type), { minLength: 1, maxLength: 1 }) },
        { weight: 1, arbitrary: fc.uniqueArray(byOf(asked.type), { maxLength: 2, selector: same }) }
      ),
      figures: fc.uniqueArray(figureOf(asked.type), { maxLength: 3, selector: same }),
      having: fc.oneof(
        { weight: 3, arbitrary: fc.constant(undefined) },
        fc.record({
          of: fc.constant("count" as const),
          op: fc.constantFrom("gte" as const, "lt" as const, "eq" as const),
          value: fc.constantFrom("1", "2", "3", "5")
        })
      ),
      limit: fc.constantFrom(2, 25, 25)
    })
    .map((one): Request => (one.by.length + one.figures.length === 0 ? { ...one, figures: [], by: [] } : one))
    .filter(({ by, figures }) => by.length + figures.length > 0)
)

/** The value that the caller sees at the end of a path; a reference is the id of a row that the caller sees. */
const shown = (column: Column, type: TypeName, entity: Entity, views: Views, organization: Organization) => {
  let at = type
  let row: Entity | undefined = entity
  const follow = (name: string): void => {
    const { target } = READABLE[at][name]!
    const id: unknown = row !== undefined && views[at].get(row.id)?.has(name) === true ? row.cells[name] : null
    row = typeof id === "bigint" && views[target!].has(id) ? organization.entities[target!].get(id) : undefined
    at = target!
  }
  for (const hop of column.hops) follow(hop)
  if (row === undefined) return null
  if (column.kind === "one") {
    follow(column.name)
    return row === undefined ? null : row.id
  }
  if (views[at].get(row.id)?.has(column.name) !== true) return null
  const cell = row.cells[column.name] ?? null
  return typeof cell === "string" && cell.trim() === "" ? null : (cell as string | boolean | null)
}

const SCALE = 6
/** Exact decimals as integers. */
const scaled = (text: string): bigint => {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!
  return BigInt(`${sign}${whole}${fraction.padEnd(SCALE, "0").slice(0, SCALE)}`)
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

const periodOf = (cell: string, bucket: string, kind: Kind, timeZone: string): string => {
  const local = kind === "date" ? `${cell}T00:00:00` : localIn(Date.parse(cell), timeZone)
  const [year, month] = [local.slice(0, 4), local.slice(5, 7)]
  const day = new Date(`${local.slice(0, 10)}T00:00:00Z`)
  switch (bucket) {
    case "hour":
      return `${local.slice(11, 13)}:00`
    case "weekday":
      return WEEKDAYS[day.getUTCDay()]!
    case "day":
      return local.slice(0, 10)
    case "month":
      return local.slice(0, 7)
    case "quarter":
      return `${year}-Q${Math.floor((Number(month) - 1) / 3) + 1}`
    case "year":
      return year
    default: {
      // The week of the nearest Thursday, counted from the first of January.
      const thursday = new Date(day.getTime() + (4 - (day.getUTCDay() || 7)) * 86_400_000)
      const start = new Date(Date.UTC(thursday.getUTCFullYear(), 0, 1))
      const week = Math.ceil(((thursday.getTime() - start.getTime()) / 86_400_000 + 1) / 7)
      return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, "0")}`
    }
  }
}

const keyOf = ({ bucket, column }: By, value: string | boolean | bigint | null, timeZone: string): string | null => {
  if (value === null) return null
  if (bucket !== undefined) return periodOf(value as string, bucket, column.kind, timeZone)
  if (typeof value === "bigint") return encodeId(value)
  if (column.kind === "number" || column.kind === "integer") return String(scaled(value as string))
  return column.kind === "timestamp" ? minute(value as string, timeZone) : String(value)
}

/** The keys of the groups that a row is in: one for each row that a list of references shows, or the empty one. */
const keysOf = (
  by: ReadonlyArray<By>,
  type: TypeName,
  row: Entity,
  views: Views,
  organization: Organization
): ReadonlyArray<ReadonlyArray<string | null>> =>
  by.reduce<ReadonlyArray<ReadonlyArray<string | null>>>(
    (all, one) => {
      const { column } = one
      const values =
        column.kind === "many"
          ? shownList(type, column.name, row, views, organization)
          : [shown(column, type, row, views, organization)]
      return all.flatMap((keys) => values.map((value) => [...keys, keyOf(one, value, organization.timeZone)]))
    },
    [[]]
  )

const shownList = (type: TypeName, name: string, row: Entity, views: Views, organization: Organization) => {
  const rows = views[type].get(row.id)?.has(name) === true ? visibleRelated(type, name, row, views, organization) : []
  return rows.length === 0 ? [null] : rows.map(({ id }) => id)
}

/** A time as it is shown: local, without seconds if there are none. */
const minute = (value: string, timeZone: string): string => localIn(Date.parse(value), timeZone).replace(/:00$/, "")

export interface FoldedGroup {
  readonly keys: ReadonlyArray<string | null>
  readonly count: number
  readonly figures: ReadonlyArray<{ readonly value: string; readonly of: number } | undefined>
}

/** Every group that the request has, in any order, and the number of rows. */
export const folded = (
  { by, figures, having, question: asked }: Request,
  views: Views,
  organization: Organization
): { readonly total: number; readonly groups: ReadonlyArray<FoldedGroup> } => {
  const { type } = asked
  const rows = found(asked, views, organization)
  const groups = new Map<string, { keys: ReadonlyArray<string | null>; rows: Array<Entity> }>()
  for (const row of rows)
    for (const keys of keysOf(by, type, row, views, organization)) {
      const key = JSON.stringify(keys)
      const group = groups.get(key) ?? { keys, rows: [] }
      group.rows.push(row)
      groups.set(key, group)
    }
  const made = [...groups.values()].map((group): FoldedGroup => ({
    keys: group.keys,
    count: group.rows.length,
    figures: figures.map(({ column, figure }) => {
      const values = group.rows
        .map((row) => shown(column, type, row, views, organization))
        .filter((value) => value !== null)
      if (figure === "distinct") {
        const different = new Set(
          values.map((value) => (isNumber(column) ? String(scaled(value as string)) : String(value)))
        )
        return { value: String(different.size), of: values.length }
      }
      if (values.length === 0) return undefined
      const of = values.length
      if (isTime(column)) {
        const sorted = (values as Array<string>).toSorted()
        const value = figure === "min" ? sorted[0]! : sorted.at(-1)!
        return { value: column.kind === "date" ? value : minute(value, organization.timeZone), of }
      }
      const numbers = (values as Array<string>).map(scaled)
      const sum = numbers.reduce((a, b) => a + b, 0n)
      const least = numbers.reduce((a, b) => (a < b ? a : b))
      const most = numbers.reduce((a, b) => (a > b ? a : b))
      const value = figure === "sum" ? sum : figure === "avg" ? sum / BigInt(of) : figure === "min" ? least : most
      return { value: String(value), of }
    })
  }))
  const meets = ({ count }: FoldedGroup) =>
    having === undefined ||
    (having.op === "gte"
      ? count >= Number(having.value)
      : having.op === "lt"
        ? count < Number(having.value)
        : count === Number(having.value))
  return { total: rows.length, groups: made.filter(meets) }
}

/** The keys and figures of an answer in the form of `FoldedGroup`. */
export const readGroup = (
  group: {
    readonly keys: ReadonlyArray<{ readonly value?: string; readonly id?: string }>
    readonly count: number
    readonly figures?: ReadonlyArray<ReadonlyArray<{ readonly value: string; readonly of: number }>>
  },
  { by, figures }: Request
): FoldedGroup => ({
  keys: group.keys.map(({ id, value }, index) =>
    id !== undefined ? id : value === undefined ? null : isNumber(by[index]!.column) ? String(scaled(value)) : value
  ),
  count: group.count,
  figures: figures.map(({ column, figure }, index) => {
    const cell = group.figures?.[index]?.[0]
    if (cell === undefined) return figure === "distinct" ? { value: "0", of: 0 } : undefined
    return { value: figure === "distinct" || isTime(column) ? cell.value : String(scaled(cell.value)), of: cell.of }
  })
})
