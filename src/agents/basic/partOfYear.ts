/** Quarters and halves of a year, and halves of a month, in words. */
import { byWord } from "../../domain/text.ts"
import { MONTHS } from "../english.ts"
import type { Token } from "./tokenize.ts"

interface PartOfYear {
  readonly from: string
  readonly to: string
  readonly length: number
  readonly yearless?: true
}

export const day = (year: number, month: number, date = 1): string =>
  new Date(Date.UTC(year, month - 1, date)).toISOString().slice(0, 10)

export const YEAR = /^(19|20)\d{2}$/

const PARTS_OF_YEAR = byWord<readonly [first: number, months: number]>({
  "first quarter": [1, 3],
  "1st quarter": [1, 3],
  q1: [1, 3],
  "second quarter": [4, 3],
  "2nd quarter": [4, 3],
  q2: [4, 3],
  "third quarter": [7, 3],
  "3rd quarter": [7, 3],
  q3: [7, 3],
  "fourth quarter": [10, 3],
  "4th quarter": [10, 3],
  "last quarter": [10, 3],
  q4: [10, 3],
  "first half": [1, 6],
  "1st half": [1, 6],
  h1: [1, 6],
  "second half": [7, 6],
  "2nd half": [7, 6],
  h2: [7, 6]
})

/** "Q3 2026", "first half of 2024"; "the last quarter" without a year is the one before this one. */
export const partOfYear = (tokens: ReadonlyArray<Token>, thisYear: number): PartOfYear | undefined => {
  const words = tokens.map(({ word }) => word)
  for (const length of [1, 2]) {
    const found = PARTS_OF_YEAR[words.slice(0, length).join(" ")]
    if (found === undefined) continue
    const [first, months] = found
    const joint = /^(of|in)$/.test(words[length] ?? "") ? 1 : 0
    const year = words[length + joint] ?? ""
    const halfMonth = months === 6 && joint === 1 ? MONTHS[year] : undefined
    if (halfMonth !== undefined) return halfOfMonth(first > 1, halfMonth, words.slice(length + 2), length + 2, thisYear)
    const span = (of: number) => ({ from: day(of, first), to: day(of, first + months) })
    if (YEAR.test(year)) return { ...span(Number(year)), length: length + joint + 1 }
    // "The first half of November" is another time.
    return words[0] === "last" || joint === 1 || months === 6
      ? undefined
      : { ...span(thisYear), length, yearless: true }
  }
  return undefined
}

export const ORDER = byWord<number>({
  first: 0,
  "1st": 0,
  second: 1,
  "2nd": 1,
  third: 2,
  "3rd": 2,
  fourth: 3,
  "4th": 3
})

/** "The first week of November 2023" is its first seven days, and the last week its last seven. */
export const weekOfMonth = (tokens: ReadonlyArray<Token>, thisYear: number): PartOfYear | undefined => {
  const [which = "", unit, joint = "", name = "", year = ""] = tokens.map(({ word }) => word)
  const month = MONTHS[name]
  const at = ORDER[which]
  if (unit !== "week" || !/^(of|in)$/.test(joint) || month === undefined || (at === undefined && which !== "last"))
    return undefined
  const of = YEAR.test(year) ? Number(year) : thisYear
  const end = new Date(`${day(of, month + 1)}T00:00:00Z`)
  const first = at === undefined ? Math.round(end.getTime() / 86_400_000) - 7 : undefined
  const span =
    first === undefined
      ? { from: day(of, month, 1 + 7 * at!), to: day(of, month, 8 + 7 * at!) }
      : { from: new Date(first * 86_400_000).toISOString().slice(0, 10), to: day(of, month + 1) }
  return YEAR.test(year) ? { ...span, length: 5 } : { ...span, length: 4, yearless: true }
}

/** "The second half of November 2023" begins on the 16th. */
const halfOfMonth = (
  isSecond: boolean,
  month: number,
  [year = ""]: ReadonlyArray<string>,
  length: number,
  thisYear: number
): PartOfYear => {
  const of = YEAR.test(year) ? Number(year) : thisYear
  const span = isSecond
    ? { from: day(of, month, 16), to: day(of, month + 1) }
    : { from: day(of, month), to: day(of, month, 16) }
  return YEAR.test(year) ? { ...span, length: length + 1 } : { ...span, length, yearless: true }
}
