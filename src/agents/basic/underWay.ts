/** Rows under way at a time: one without an end can't be told to be over, so the answer doesn't leave it out silently. */
import { uncapitalized } from "../english.ts"
import type { ListedColumn, Named } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import { startAndEnd } from "./dateFilters.ts"
import { Condition, type Lookup } from "./Lookup.ts"
import { called } from "./replies.ts"
import { count, type Script } from "./script.ts"

type Time = Extract<Condition, { _tag: "Time" }>

const underWayOf = ({ conditions }: Lookup): Time | undefined =>
  conditions.find((one): one is Time => one._tag === "Time" && one.overlaps === true)

const MINUTE = 60_000
const isMoment = ({ when: { from = "", to = "" } }: Time): boolean =>
  from.includes("T") && to.includes("T") && Date.parse(`${to}Z`) - Date.parse(`${from}Z`) === MINUTE

/** "What do I have at 10": what is under way then, whenever it began. */
export const atMoment = (lookup: Lookup): Lookup => ({
  ...lookup,
  conditions: lookup.conditions.map((one) => (one._tag === "Time" && isMoment(one) ? { ...one, overlaps: true } : one))
})

/** How many rows begin on these days before the end of the time and have no end; 0 if the question isn't about such rows. */
export function* endless(
  lookup: Lookup,
  filters: ReadonlyArray<Filter>,
  columns: ReadonlyArray<Named & Pick<ListedColumn, "holds">>
): Script<number> {
  const { end, start } = startAndEnd(columns)
  const time = underWayOf(lookup)
  if (time?.when.from === undefined || start === undefined || end === undefined) return 0
  const others = filters.filter(({ columnId, op }) => !(columnId === end && op === "gte"))
  const page = yield* count({
    entityTypeId: lookup.noun.type.id,
    filters: [
      ...others,
      { columnId: start, op: "gte", value: time.when.from.slice(0, 10) },
      { columnId: end, op: "ne", value: "*" }
    ]
  })
  return page?.total ?? 0
}

/** Whether the time is of whole days: then what begins on them is meant. */
export const isWholeDays = (lookup: Lookup): boolean => underWayOf(lookup)?.when.from?.includes("T") === false

/** The lookup for what begins at the time. */
export const beginning = (lookup: Lookup): Lookup => ({
  ...lookup,
  conditions: lookup.conditions.map((one) =>
    one._tag === "Time" ? Condition.Time({ when: one.when, ...(one.by === undefined ? {} : { by: one.by }) }) : one
  )
})

export const withoutEnd = (lookup: Lookup, total: number): string =>
  `${total} ${called(lookup.noun.type.plural, lookup.noun.type, total)} of that day before then ${total === 1 ? "has" : "have"} no end, so I can't tell whether ${total === 1 ? "it is" : "they are"} over: ask for the ${uncapitalized(lookup.noun.type.plural)} of the day.`
