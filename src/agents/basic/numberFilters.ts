/** Candidate filters of numbers: a comparison as said, and columns that hold how long something takes. */
import { PER_MINUTE, perMinuteIn } from "../durations.ts"
import type { Choice, Columns } from "./Choice.ts"
import { COMPARATORS } from "./lexicon.ts"

/** How many of a unit the value of a column is, of columns that hold how long something takes; undefined without such a unit. */
export const convertedTo = (unit: string, perMinute: number): number | undefined =>
  PER_MINUTE[unit] === undefined ? undefined : PER_MINUTE[unit] / perMinute

/** Whether a column holds how long something takes in a unit. */
export const isIn = (unit: string, column: Columns[number]): boolean =>
  timed([column])[0]?.perMinute === PER_MINUTE[unit]

/** The columns that hold how long something takes, by the unit in their label. */
export const timed = (columns: Columns): ReadonlyArray<{ readonly id: string; readonly perMinute: number }> =>
  columns
    .filter(({ holds }) => holds === "number")
    .flatMap(({ id, name }) => {
      const perMinute = perMinuteIn(name) ?? perMinuteIn(id)
      return perMinute === undefined ? [] : [{ id, perMinute }]
    })

const COMPARISONS = Object.keys(COMPARATORS).sort((a, b) => b.length - a.length)

/** The comparison at the beginning of a text, after a verb, and what follows it. */
export const comparison = (text: string): { readonly how: string; readonly value: string } | undefined => {
  const plain = text.toLowerCase().replace(/^(?:is|are|was|were) /, "")
  const how = COMPARISONS.find((words) => plain.startsWith(`${words} `))
  return how === undefined ? undefined : { how, value: plain.slice(how.length + 1) }
}

/** A comparison with a number. "Over 60" excludes 60: the next number depends on whether the column holds whole numbers. */
export const comparedTo = (columnId: string, how: string, value: string): ReadonlyArray<Choice> => {
  const more = (value: string): Choice => [{ columnId, op: "gte", value }]
  const less = (value: string): Choice => [{ columnId, op: "lt", value }]
  const next = [`${value}${value.includes(".") ? "" : "."}0000001`, String(Number(value) + 1)]
  switch (COMPARATORS[how]) {
    case "least":
      return [more(value)]
    case "less":
      return [less(value)]
    case "more":
      return next.map(more)
    default:
      return next.map(less)
  }
}
