/** What the words of a question for figures mean here: columns, paths, and the rows that are left. */
import { uncapitalized } from "../../english.ts"
import { foldText } from "../../../domain/keys.ts"
import type { Figure, Filter } from "../../../domain/Query.ts"
import { columnsLabelled } from "../conceptColumns.ts"
import { DATE_VERBS } from "../lexicon.ts"
import { convertedTo, isIn, timed } from "../numberFilters.ts"
import type { Lookup } from "../Lookup.ts"
import type { Said } from "../phrases.ts"
import type { Context, ContextType } from "../readConversation.ts"
import { and, called } from "../replies.ts"
import { columnsOf, inParallel, type Script } from "../script.ts"
import { folded, written } from "../tokenize.ts"
import type { Asked, Words } from "./Asked.ts"
import { figureName } from "./numerals.ts"
import { asOwner, bucketIn, type Columns, datesFor, measuredBy, type Spot, spotsFor, targetOf } from "./columns.ts"

/** Types whose columns are looked up for paths. */
const MAX_TARGETS = 6

/** A question whose rows are known. */
export interface Found {
  readonly asked: Asked
  readonly lookup: Lookup
  readonly said: Said
  readonly filters: ReadonlyArray<Filter>
  readonly columns: Columns
  readonly type: ContextType
  /** The asker, whose own group is left out. */
  readonly own?: string | undefined
}

/** A question that can't be answered, with one that can. */
export class Declined {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export const plural = (type: ContextType): string => called(type.plural, type, 2)

/** A column to group by, for an example. */
export const example = (type: ContextType, columns: Columns): string => {
  const fit = (one: Columns[number]) =>
    one.id !== "name" && one.holds !== "list" && one.holds !== "number" && one.id !== "attendees"
  const date = columns.find(({ holds }) => holds === "date" || holds === "time")
  const [column] = [
    ...columns.filter(({ id }) => id === "status"),
    ...columns.filter((one) => targetOf(one) !== undefined && fit(one)),
    ...columns.filter(
      (one) => fit(one) && /status|stage|type|category|country|city|kind|priority|product|title/.test(one.id)
    )
  ]
  if (column !== undefined) return `“${plural(type)} by ${column.name.toLowerCase()}”`
  return date === undefined ? `“how many ${plural(type)}”` : `“${plural(type)} by month of ${date.name.toLowerCase()}”`
}

export const choices = (spots: ReadonlyArray<Spot>): string =>
  and([...new Set(spots.map(({ label }) => `“${label}”`))].slice(0, 4), "or")

/** The columns of the types that references lead to, for paths. */
function* targets(columns: Columns, known: ReadonlyMap<string, Columns>): Script<ReadonlyMap<string, Columns>> {
  const ids = [...new Set(columns.flatMap((column) => targetOf(column) ?? []))]
    .filter((id) => !known.has(id))
    .slice(0, MAX_TARGETS)
  if (ids.length === 0) return known
  const found = yield* inParallel(ids.map((id) => columnsOf(id)))
  return new Map([...known, ...ids.map((id, index) => [id, found[index]!] as const)])
}

/** The columns that a type's references lead to, up to two hops away. */
export function* around(
  type: ContextType,
  columns: Columns,
  isFar: (known: ReadonlyMap<string, Columns>) => boolean
): Script<ReadonlyMap<string, Columns>> {
  const own = new Map([[type.id, columns]])
  if (!isFar(own)) return own
  const near = yield* targets(columns, own)
  return isFar(near) ? yield* targets([...near.values()].flat(), near) : near
}

/** Moments are grouped by their days. */
const byDay = (spot: Spot): Spot =>
  spot.column.holds === "date" || spot.column.holds === "time" ? { ...spot, bucket: "day" } : spot

/** The columns that words for groups mean. */
export const spotsOf = (
  words: Words,
  type: ContextType,
  columns: Columns,
  known: ReadonlyMap<string, Columns>,
  context: Context,
  firmly = false
): ReadonlyArray<Spot> => {
  const own = spotsFor(words, columns, new Map(), context, 0)
  if (own.some(({ label }) => label === folded(words))) return own.map(byDay)
  const period = bucketIn(words)
  if (period !== undefined) {
    const { bucket, rest } = period
    const spot = (column: Columns[number], before = "", after = ""): Spot => ({
      path: `${before}${column.id}`,
      label: `${column.name.toLowerCase()}${after}`,
      column,
      bucket
    })
    const dates = datesFor(rest, columns, type).map((column) => spot(column))
    if (dates.length > 0) return dates
    return columns.flatMap((reference) => {
      const target = targetOf(reference)
      return target === undefined
        ? []
        : datesFor(rest, known.get(target) ?? [], { name: reference.name }).map((column) =>
            spot(column, `${reference.id}.`, ` of the ${reference.name.toLowerCase()}`)
          )
    })
  }
  // A column that is called so, even of what the rows refer to, comes before one that is only about the same.
  const ways = [words, asOwner(words)].flatMap((said) => [
    () => spotsFor(said, columns, known, context, 2, false),
    ...(firmly ? [] : [() => spotsFor(said, columns, known, context, 0), () => spotsFor(said, columns, known, context)])
  ])
  for (const way of ways) {
    const found = way()
    if (found.length > 0) return found.map(byDay)
  }
  return []
}

export const stepOf = ({ bucket, label }: Spot): string => (bucket === undefined ? label : `${bucket} of ${label}`)

/** The one column that is meant: of several dates, the one that the question's time is about. */
export const chosen = (spots: ReadonlyArray<Spot>, filters: ReadonlyArray<Filter>): Spot | undefined =>
  spots.length === 1
    ? spots[0]
    : spots.find(({ bucket, path }) => bucket !== undefined && filters.some(({ columnId }) => columnId === path))

/** The measured column; undefined for a count. */
export const measureIn = (found: Found): Spot | undefined | Declined => {
  const { asked, columns, lookup, type } = found
  const { measure } = asked
  if (measure.figure === "count") return undefined
  const spots =
    measure.figure === "distinct"
      ? spotsFor(measure.of!, columns, new Map(), { today: "", types: [] }, 0)
      : (asked.rows === undefined ? measuredBy(measure, columns) : sortable(wordsOf(measure.of), measure, columns)).map(
          (column): Spot => ({ path: column.id, label: column.name.toLowerCase(), column })
        )
  const [only] = spots
  const isOther = spots.length === 1 && measure.unit !== undefined && !isIn(measure.unit, only!.column)
  if (spots.length === 1 && !isOther) return only
  const converted = spots.length < 2 ? inUnitOf(measure, found) : undefined
  if (converted !== undefined) return converted
  const what = measure.of === undefined ? (measure.revenue === true ? "revenue" : "amount") : written(measure.of)
  if (spots.length > 1)
    return new Declined(
      `I can't tell which ${what} you mean: ${choices(spots)}. Try “${measure.figure === "distinct" ? "different" : "average"} ${spots[0]!.label} of ${plural(type)}”.`
    )
  if (isOther)
    return new Declined(
      `I can't turn ${only!.label} into ${measure.unit!}. Try “${figureName(measure.figure as Figure, only!.label)} of ${plural(type)}”.`
    )
  const numbers = columns.filter(({ holds }) => holds === "number").map(({ name }) => name.toLowerCase())
  const step =
    numbers.length === 0
      ? `Try ${example(type, columns)}.`
      : `Try “average ${numbers[0]!} of ${plural(lookup.noun.type)}”.`
  return new Declined(`I can't find “${what}” as a number on ${uncapitalized(type.plural)}. ${step}`)
}

/** The one column that holds how long something takes, for a figure in another unit: "how many hours of meetings". */
const inUnitOf = (measure: Asked["measure"], { asked, columns }: Found): Spot | undefined => {
  const [only, ...others] = timed(columns)
  const unit = measure.unit ?? wordsOf(measure.of)
  const times = only && convertedTo(unit, only.perMinute)
  if (
    times === undefined ||
    !/^(?:hours|minutes|seconds)$/.test(unit) ||
    others.length > 0 ||
    asked.rows !== undefined ||
    asked.having !== undefined
  )
    return undefined
  return { path: only!.id, label: unit, column: columns.find(({ id }) => id === only!.id)!, times }
}

const wordsOf = (of: Words | undefined): string => (of === undefined ? "amount" : folded(of))

/** A number or a date to sort by. */
const sortable = (words: string, measure: Asked["measure"], columns: Columns): Columns => {
  const isDate = ({ holds }: Columns[number]) => holds === "date" || holds === "time"
  const labelled = columns.filter(
    (column) => isDate(column) && [column.name, column.id].some((one) => foldText(one.replaceAll("_", " ")) === words)
  )
  const dated = columnsLabelled(DATE_VERBS[words] ?? [], columns)
  const dates = labelled.length > 0 ? labelled : columns.filter((one) => isDate(one) && dated.includes(one.id))
  const shorter = words.replaceAll("-", " ").replace(/ (dates?|days?)$/, "")
  return dates.length > 0 || shorter === words
    ? dates.length > 0
      ? dates
      : measuredBy(measure, columns)
    : sortable(shorter, measure, columns)
}
