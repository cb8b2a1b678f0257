/** Relative dates in English text: `tomorrow`, `last week`, `in three days`, `two months ago`. */
import { byWord } from "../../domain/text.ts"
import type { DateRange } from "../../domain/values.ts"
import { CARDINALS } from "../english.ts"

const UNITS = ["day", "week", "month", "year"] as const
type Unit = (typeof UNITS)[number]

const NAMED = /\b(day after tomorrow|day before yesterday|today|tonight|tomorrow|yesterday)\b/gi
const DAYS = byWord<number>({ "day after tomorrow": 2, tomorrow: 1, yesterday: -1, "day before yesterday": -2 })
const PERIOD = /\b(this|next|last|coming|previous|past)\s+(week|month|year)(?:end)?\b/gi
const NUMBERS = byWord<number>({ ...CARDINALS, a: 1, an: 1 })
const COUNT = "(\\d{1,3}|[a-z]{1,9})\\s+(day|week|month|year)s?"
const AHEAD = new RegExp(`\\bin\\s+${COUNT}\\b`, "gi")
const AGO = new RegExp(`\\b${COUNT}\\s+ago\\b`, "gi")

const iso = (date: Date): string => date.toISOString().slice(0, 10)

const shift = (day: string, count: number, unit: Unit): string => {
  const date = new Date(`${day}T00:00:00Z`)
  if (unit === "day" || unit === "week") date.setUTCDate(date.getUTCDate() + count * (unit === "week" ? 7 : 1))
  if (unit === "month") date.setUTCMonth(date.getUTCMonth() + count)
  if (unit === "year") date.setUTCFullYear(date.getUTCFullYear() + count)
  return iso(date)
}

/** The week (from Monday), month or year that contains a day. */
const periodOf = (day: string, unit: Unit): DateRange => {
  const from =
    unit === "week"
      ? shift(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7), "day")
      : unit === "month"
        ? `${day.slice(0, 7)}-01`
        : unit === "year"
          ? `${day.slice(0, 4)}-01-01`
          : day
  return { from, to: shift(from, 1, unit) }
}

export interface RelativeDate {
  readonly start: number
  readonly end: number
  readonly range: DateRange
}

/** Finds the relative dates of a text and resolves them against today. */
export const relativeDates = (text: string, today: string): ReadonlyArray<RelativeDate> => {
  const found: Array<RelativeDate> = []
  const add = (match: RegExpMatchArray, range: DateRange) =>
    found.push({ start: match.index!, end: match.index! + match[0].length, range })
  for (const match of text.matchAll(NAMED)) {
    add(match, periodOf(shift(today, DAYS[match[1]!.toLowerCase()] ?? 0, "day"), "day"))
  }
  for (const match of text.matchAll(PERIOD)) {
    const which = match[1]!.toLowerCase()
    const unit = match[2]!.toLowerCase() as Unit
    const count = which === "this" ? 0 : which === "next" || which === "coming" ? 1 : -1
    add(match, periodOf(shift(periodOf(today, unit).from, count, unit), unit))
  }
  for (const [pattern, sign] of [
    [AHEAD, 1],
    [AGO, -1]
  ] as const) {
    for (const match of text.matchAll(pattern)) {
      const unit = match[2]!.toLowerCase() as Unit
      const count = NUMBERS[match[1]!.toLowerCase()] ?? Number(match[1])
      if (!Number.isNaN(count)) add(match, periodOf(shift(today, sign * count, unit), unit))
    }
  }
  return found
}
