/** English words for numbers, months and days of the week, and word forms in replies and examples. */
import { byWord } from "../domain/text.ts"

/** From zero to nineteen; the index is the number. */
export const UNITS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " "
  )
/** From twenty to ninety. */
export const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
export const CARDINALS = byWord<number>(
  Object.fromEntries([
    ...UNITS.map((word, number) => [word, number] as const).slice(1),
    ...TENS.map((word, index) => [word, 10 * (index + 2)] as const)
  ])
)

/** January first. */
export const MONTH_NAMES =
  "january february march april may june july august september october november december".split(" ")
/** Sunday first. */
export const WEEKDAY_NAMES = "sunday monday tuesday wednesday thursday friday saturday".split(" ")
const withShort = (names: ReadonlyArray<string>, first: number): ReadonlyArray<readonly [string, number]> =>
  names.flatMap((name, index) => [[name, index + first] as const, [name.slice(0, 3), index + first] as const])
/** The number of a month by its name or abbreviation, from 1. */
export const MONTHS = byWord<number>({ ...Object.fromEntries(withShort(MONTH_NAMES, 1)), sept: 9 })
/** The number of a day of the week by its name or abbreviation, from 0 for Sunday. */
export const WEEKDAYS = byWord<number>({ ...Object.fromEntries(withShort(WEEKDAY_NAMES, 0)), tues: 2, thurs: 4 })

/** A word inside a sentence: "Deals" → "deals", "VAT" stays. */
export const uncapitalized = (word: string): string =>
  /^\p{Lu}\p{Lu}/u.test(word) ? word : word.slice(0, 1).toLowerCase() + word.slice(1)

export const possessive = (name: string): string => (name.endsWith("s") ? `${name}'` : `${name}'s`)
