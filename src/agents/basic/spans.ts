/** Parses days, weeks, months and parts of them, without what stands before them, as half-open ranges of days. */
import { byWord } from "../../domain/text.ts"
import { CARDINALS, MONTHS, WEEKDAYS } from "../english.ts"
import { DAY_PARTS } from "./lexicon.ts"
import { day, ORDER, partOfYear, weekOfMonth, YEAR } from "./partOfYear.ts"
import { MAX_ALTERNATIVES } from "../../domain/Query.ts"
import { isoDate } from "../../domain/values.ts"
import { folded, type Token } from "./tokenize.ts"

export interface Span {
  readonly from: string
  readonly to: string
  readonly length: number
  /** A calendar date or month whose year is implied. */
  readonly yearless?: true
  /** A day of the week: the answer says its date. */
  readonly weekday?: true
  /** A part of a day: `from` or `to` has a time. */
  readonly timed?: true
  /** Only these days of it. */
  readonly days?: ReadonlyArray<string>
}

export const addDays = (date: string, days: number): string => {
  const shifted = new Date(`${date}T00:00:00Z`)
  shifted.setUTCDate(shifted.getUTCDate() + days)
  return shifted.toISOString().slice(0, 10)
}

export const pad = (value: number) => String(value).padStart(2, "0")
const weekday = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay()
/** Weeks begin on Monday. */
const monday = (date: string): string => addDays(date, -((weekday(date) + 6) % 7))

/** One word more than the longest time: `3 of May 2026`. */
const MAX_SPAN = 5

export const spanAt = (all: ReadonlyArray<Token>, today: string, year?: number): Span | undefined => {
  const recurring = recurringAt(all, today, year)
  if (recurring !== undefined) return recurring
  const named = WEEKDAYS[all[0]?.word ?? ""]
  if (
    named !== undefined &&
    (/^\d/.test(all[1]?.word ?? "") ||
      /^(the|of)$/.test(all[1]?.word ?? "") ||
      MONTHS[all[1]?.word ?? ""] !== undefined)
  ) {
    // "Monday, October 9": the date has to be such a day.
    const date = spanAt(all.slice(1), today, year)
    return date === undefined || !isDay(date) || weekday(date.from) !== named
      ? undefined
      : { ...date, length: date.length + 1 }
  }
  const article = all[0]?.word === "the" ? 1 : 0
  const tokens = all.slice(article, article + MAX_SPAN)
  const [first, second] = tokens
  const led = LED.exec(folded(tokens.slice(0, 2)))?.[1]
  if (led !== undefined) return ledBy(led, spanAt(all.slice(article + 2), today, year), 2 + article)
  if (first?.word === "tonight") return partOf(days(today, 1, 1), "evening", 1)
  if (first?.word === "this" && DAY_PARTS[second?.word ?? ""] !== undefined)
    return partOf(days(today, 1, 2), second!.word, 2 + article)
  const found =
    weekOfMonth(tokens, year ?? Number(today.slice(0, 4))) ?? relative(tokens, today) ?? calendar(tokens, today, year)
  if (found === undefined) return undefined
  const span = { ...found, length: found.length + article }
  const rest = all.slice(span.length)
  const lead = rest[0]?.word === "in" && rest[1]?.word === "the" ? 2 : 0
  const part = DAY_PARTS[rest[lead]?.word ?? ""] === undefined ? undefined : rest[lead]!.word
  return part === undefined || addDays(span.from, 1) !== span.to ? span : partOf(span, part, span.length + lead + 1)
}

/** Whether a time is one day, or a part of it. */
const isDay = ({ from, to }: Span): boolean =>
  to === addDays(from.slice(0, 10), 1) || to.slice(0, 10) === from.slice(0, 10)

const MAX_DAYS = MAX_ALTERNATIVES
const WEEKEND = [0, 6]

/** Such days of a time: one more than a filter has alternatives, at most. */
const eachOf = (named: ReadonlyArray<number>, { from, to }: Span): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let day = from; day < to && found.length <= MAX_DAYS; day = addDays(day, 1))
    if (named.includes(weekday(day))) found.push(day)
  return found
}

/** "Mondays in October 2023", "every Friday this month", "weekends in November": such days of a longer time. */
const recurringAt = (all: ReadonlyArray<Token>, today: string, year?: number): Span | undefined => {
  const first = all[0]?.word === "the" ? 1 : 0
  const nth = ORDER[all[first]?.word ?? ""] ?? (all[first]?.word === "last" ? -1 : undefined)
  const only = nth === undefined ? undefined : WEEKDAYS[all[first + 1]?.word ?? ""]
  if (nth !== undefined && only !== undefined && /^(of|in)$/.test(all[first + 2]?.word ?? "")) {
    const within = spanAt(all.slice(first + 3), today, year)
    if (within === undefined || within.timed === true || within.days !== undefined) return undefined
    const such = eachOf([only], within)
    const day = such.at(nth)
    return day === undefined || such.length > MAX_DAYS
      ? undefined
      : { ...within, ...days(day, 1, within.length + first + 3) }
  }
  const each = /^(every|each)$/.test(all[0]?.word ?? "") ? 1 : 0
  const word = all[each]?.word ?? ""
  const one = each === 0 ? /^(.{6,})s$/.exec(word)?.[1] : word
  const named = one === "weekend" ? WEEKEND : one === undefined || WEEKDAYS[one] === undefined ? [] : [WEEKDAYS[one]]
  if (named.length === 0) return undefined
  const lead = each + 1 + (/^(in|of|during)$/.test(all[each + 1]?.word ?? "") ? 1 : 0)
  const span = spanAt(all.slice(lead), today, year)
  if (span === undefined || span.timed === true || span.days !== undefined) return undefined
  const found = eachOf(named, span)
  // More days than a filter has alternatives can't be asked for.
  return found.length === 0 || found.length > MAX_DAYS
    ? undefined
    : { ...span, days: found, length: span.length + lead }
}

/** "the week of December 11", "the week starting Monday", "the morning of August 1". */
const LED = /^(week|morning|afternoon|evening|night) (?:of|starting|beginning)$/

const ledBy = (lead: string, span: Span | undefined, more: number): Span | undefined => {
  if (span === undefined || span.timed === true || addDays(span.from, 1) !== span.to) return undefined
  const length = span.length + more
  return lead === "week" ? { ...span, ...days(monday(span.from), 7, length) } : partOf(span, lead, length)
}

const partOf = ({ from, ...span }: Span, part: string, length: number): Span => {
  const [start, end] = DAY_PARTS[part]!
  return {
    ...span,
    from: `${from}T${start}`,
    to: end === undefined ? addDays(from, 1) : `${from}T${end}`,
    length,
    timed: true
  }
}

export const days = (from: string, count: number, length: number): Span => ({ from, to: addDays(from, count), length })

const relative = (tokens: ReadonlyArray<Token>, today: string): Span | undefined => {
  const [first, second, third] = tokens.map(({ word }) => word)
  switch (first) {
    case "today":
      return days(today, 1, 1)
    case "tomorrow":
      return days(addDays(today, 1), 1, 1)
    case "yesterday":
      return days(addDays(today, -1), 1, 1)
    case "day":
      if (second === "after" && third === "tomorrow") return days(addDays(today, 2), 1, 3)
      if (second === "before" && third === "yesterday") return days(addDays(today, -2), 1, 3)
  }
  const twice = /^(before last|after next)$/.test(`${second} ${third}`)
    ? unit(first ?? "", second === "before" ? -2 : 2, today)
    : undefined
  if (twice !== undefined) return { ...twice, length: 3 }
  const step = STEPS[first ?? ""]
  if (step !== undefined && second !== undefined) {
    const whole = unit(second, step, today)
    if (whole !== undefined) return { ...whole, length: 2 }
    const named = WEEKDAYS[second]
    if (named !== undefined) return { ...days(nearest(named, step, today), 1, 2), weekday: true }
    const number = CARDINALS[second] ?? (/^\d{1,3}$/.test(second) ? Number(second) : undefined)
    const size = { day: 1, days: 1, week: 7, weeks: 7, month: 30, months: 30, year: 365, years: 365 }[third ?? ""]
    if (number !== undefined && size !== undefined && step !== 0) {
      return step > 0
        ? { from: today, to: addDays(today, number * size + 1), length: 3 }
        : { from: addDays(today, -number * size), to: addDays(today, 1), length: 3 }
    }
  }
  const named = first === undefined ? undefined : WEEKDAYS[first]
  return named === undefined || (first !== undefined && first.length < 4 && tokens.length > 1)
    ? undefined
    : { ...days(nearest(named, 0, today), 1, 1), weekday: true }
}

const STEPS = byWord<number>({ this: 0, current: 0, next: 1, coming: 1, last: -1, past: -1, previous: -1 })

export const unit = (word: string, step: number, today: string): { from: string; to: string } | undefined => {
  const [year, month] = today.split("-").map(Number) as [number, number]
  switch (word) {
    case "week": {
      const from = addDays(monday(today), 7 * step)
      return { from, to: addDays(from, 7) }
    }
    case "weekend": {
      const from = addDays(monday(today), 7 * step + 5)
      return { from, to: addDays(from, 2) }
    }
    case "month":
      return { from: day(year, month + step), to: day(year, month + step + 1) }
    case "quarter": {
      const first = month - ((month - 1) % 3) + 3 * step
      return { from: day(year, first), to: day(year, first + 3) }
    }
    case "year":
      return { from: day(year + step, 1), to: day(year + step + 1, 1) }
    default:
      return undefined
  }
}

/** Such a weekday: the last one before today, the coming one, which can be today, or the next one, which can't. */
const nearest = (named: number, step: number, today: string): string => {
  if (step < 0) return addDays(today, -((weekday(today) - named + 6) % 7) - 1)
  const ahead = (named - weekday(today) + 7) % 7
  return addDays(today, step > 0 && ahead === 0 ? 7 : ahead)
}

const calendar = (tokens: ReadonlyArray<Token>, today: string, implied?: number): Span | undefined => {
  const [first = "", second = "", third = "", fourth = ""] = tokens.map(({ word }) => word)
  if (isoDate(first) !== undefined) return days(first, 1, 1)
  const written = numeric(first)
  if (written !== undefined) return days(written, 1, 1)
  const yearMonth = /^(\d{4})-(\d{2})$/.exec(first)
  if (yearMonth !== null) return month(Number(yearMonth[1]), Number(yearMonth[2]), 1)
  if (YEAR.test(first)) return { from: day(Number(first), 1), to: day(Number(first) + 1, 1), length: 1 }
  const thisYear = implied ?? Number(today.slice(0, 4))
  const part = partOfYear(tokens, thisYear) ?? weekOfMonth(tokens, thisYear)
  if (part !== undefined) return part
  const ordinal = (word: string) => (/^\d{1,2}(st|nd|rd|th)?$/.test(word) ? Number.parseInt(word, 10) : undefined)
  const date = (dayOf: number, name: string, year: string, length: number): Span | undefined => {
    const number = MONTHS[name]
    const hasYear = YEAR.test(year)
    const text = `${hasYear ? year : thisYear}-${pad(number ?? 0)}-${pad(dayOf)}`
    if (number === undefined || isoDate(text) === undefined) return undefined
    return hasYear ? days(text, 1, length + 1) : { ...days(text, 1, length), yearless: true }
  }
  const named = MONTHS[first]
  if (named !== undefined) {
    const dayOf = ordinal(second)
    if (dayOf !== undefined) return date(dayOf, first, third, 2)
    if (YEAR.test(second)) return month(Number(second), named, 2)
    const whole = month(thisYear, named, 1)
    return whole && { ...whole, yearless: true }
  }
  const dayOf = ordinal(first)
  if (dayOf === undefined) return undefined
  // "The 5th of next month".
  const step = second === "of" && fourth === "month" ? STEPS[third] : undefined
  if (step !== undefined) {
    const text = `${unit("month", step, today)!.from.slice(0, 8)}${pad(dayOf)}`
    return isoDate(text) === undefined ? undefined : days(text, 1, 4)
  }
  return second === "of" ? date(dayOf, third, fourth, 3) : date(dayOf, second, third, 2)
}

/** "12/21/2023", "21/12/2023", "21.12.2023"; "3/4/2023" can be two days. */
const numeric = (text: string): string | undefined => {
  const [, first, mark, second, year] = /^(\d{1,2})([/.])(\d{1,2})\2(\d{4})$/.exec(text) ?? []
  if (year === undefined) return undefined
  const [one, two] = [Number(first), Number(second)]
  if (mark === "/" && one <= 12 && two <= 12 && one !== two) return undefined
  const [monthOf, dayOf] = mark === "." || one > 12 ? [two, one] : [one, two]
  return isoDate(`${year}-${pad(monthOf)}-${pad(dayOf)}`)
}

const month = (year: number, number: number, length: number): Span | undefined =>
  number < 1 || number > 12 ? undefined : { from: day(year, number), to: day(year, number + 1), length }
