/** Parses time expressions and resolves them against today, as half-open ranges of days. */
import { CARDINALS, MONTHS, WEEKDAYS } from "../english.ts"
import { DAY_PARTS } from "./lexicon.ts"
import { day, partOfYear, YEAR } from "./partOfYear.ts"
import { byWord } from "../../domain/text.ts"
import { isoDate } from "../../domain/values.ts"
import { folded, type Token, written } from "./tokenize.ts"

export interface When {
  /** YYYY-MM-DD, included; with a time for a part of a day. */
  readonly from?: string
  /** The same, excluded. */
  readonly to?: string
  /** The original text. */
  readonly said: string
  /** The end, or the beginning, is this moment: "so far this month", "later today". */
  readonly now?: "to" | "from"
}

/** A time at the beginning of the tokens, and its length in tokens. */
export interface Timed {
  readonly when: When
  readonly length: number
}

interface Span {
  readonly from: string
  readonly to: string
  readonly length: number
  /** A calendar date or month whose year is implied. */
  readonly yearless?: true
  /** A day of the week: the answer says its date. */
  readonly weekday?: true
  /** A part of a day: `from` or `to` has a time. */
  readonly timed?: true
}

export const addDays = (date: string, days: number): string => {
  const shifted = new Date(`${date}T00:00:00Z`)
  shifted.setUTCDate(shifted.getUTCDate() + days)
  return shifted.toISOString().slice(0, 10)
}

const pad = (value: number) => String(value).padStart(2, "0")
const weekday = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay()
/** Weeks begin on Monday. */
const monday = (date: string): string => addDays(date, -((weekday(date) + 6) % 7))

/** The time at the beginning of the tokens, including its preposition. */
export const timeAt = (tokens: ReadonlyArray<Token>, today: string): Timed | undefined => {
  const lead = tokens[0]?.word
  if (lead === undefined) return undefined
  const ahead = AHEAD.find((words) => words.every((word, at) => tokens[at]?.word === word))
  if (ahead !== undefined) return { when: { from: today, said: "coming up" }, length: ahead.length }
  const now = untilNow(tokens, today)
  if (now !== undefined) return now
  const range = rangeAt(tokens, today)
  if (range !== undefined) return timed(tokens, range, within(range))
  if (lead === "between") return undefined
  const preposition = PREPOSITIONS[lead]
  const span = spanAt(preposition === undefined ? tokens : tokens.slice(1), today)
  if (span === undefined) return undefined
  return timed(
    tokens,
    { ...span, length: span.length + (preposition === undefined ? 0 : 1) },
    (preposition ?? within)(span)
  )
}

const timed = (tokens: ReadonlyArray<Token>, span: Span, when: Omit<When, "said">): Timed => {
  const said = written(tokens.slice(0, span.length))
  // The answer says which year was meant if the question does not.
  const year =
    span.yearless === true
      ? `${/\d$/.test(said) ? "," : ""} ${(span.to.includes("T") ? span.to : addDays(span.to, -1)).slice(0, 4)}`
      : ""
  const date = span.weekday === true && !said.includes("(") ? ` (${dayAndMonth(span.from)})` : ""
  return { when: { ...when, said: said + year + date }, length: span.length }
}

/** Words before and after a time that is going on: the part of it that is over, or that is left. */
const NOW: ReadonlyArray<readonly [words: ReadonlyArray<string>, now: "to" | "from"]> = (
  [
    ["so far", "to"],
    ["earlier", "to"],
    ["for the rest of", "from"],
    ["over the rest of", "from"],
    ["in the rest of", "from"],
    ["the rest of", "from"],
    ["rest of", "from"],
    ["later", "from"],
    ["left", "from"],
    ["remaining", "from"]
  ] as const
).map(([text, now]) => [text.split(" "), now])

/** "So far this month", "this year so far", "later today", "the rest of the week". */
const untilNow = (tokens: ReadonlyArray<Token>, today: string): Timed | undefined => {
  const starts = (from: number, words: ReadonlyArray<string>) =>
    words.every((word, at) => tokens[from + at]?.word === word)
  const lead = NOW.find(([words]) => starts(0, words))
  const begin = lead?.[0].length ?? 0
  const joint = begin + (/^(in|during|for|on)$/.test(tokens[begin]?.word ?? "") ? 1 : 0)
  const span = goingOn(tokens.slice(joint), today)
  if (span === undefined || span.from > today || span.to <= today) return undefined
  const end = joint + span.length
  const trail = lead === undefined ? NOW.find(([words]) => starts(end, words)) : undefined
  const now = lead?.[1] ?? trail?.[1]
  if (now === undefined) return undefined
  const length = end + (trail?.[0].length ?? 0)
  const said = written(tokens.slice(0, length))
  return {
    when:
      now === "to" ? { from: span.from, to: addDays(today, 1), now, said } : { from: today, to: span.to, now, said },
    length
  }
}

/** A time that can include today: "this month", or in "the rest of the week" the week. */
const goingOn = (tokens: ReadonlyArray<Token>, today: string): Pick<Span, "from" | "to" | "length"> | undefined => {
  const article = tokens[0]?.word === "the" ? 1 : 0
  const word = tokens[article]?.word ?? ""
  if (word === "day") return days(today, 1, 1 + article)
  const whole = unit(word, 0, today)
  if (whole !== undefined) return { ...whole, length: 1 + article }
  const span = spanAt(tokens, today)
  return span?.timed === true ? undefined : span
}

const dayAndMonth = (date: string): string =>
  new Date(`${date.slice(0, 10)}T00:00:00Z`).toLocaleDateString("en-US", {
    timeZone: "UTC",
    month: "long",
    day: "numeric"
  })

/** From now on. */
const AHEAD = [
  "upcoming",
  "future",
  "coming up",
  "in the future",
  "from now on",
  "from today on",
  "still to come",
  "ahead of me"
].map((text) => text.split(" "))

/** Words between the two ends of a range, by the word that begins it. */
const RANGES = byWord<ReadonlySet<string>>({
  between: new Set(["and"]),
  from: new Set(["to", "until", "till", "through"]),
  "": new Set(["to", "until", "till", "through"])
})

/** "between January 1 and January 15 2027": an end without a year has that of the other end. */
const rangeAt = (tokens: ReadonlyArray<Token>, today: string): Span | undefined => {
  const lead = RANGES[tokens[0]!.word] === undefined ? 0 : 1
  const joints = RANGES[lead === 0 ? "" : tokens[0]!.word]!
  const start = tokens.slice(lead)
  const first = spanAt(start, today) ?? sameMonthAs(start, joints, today)
  const joint = first && start[first.length]?.word
  if (first === undefined || joint === undefined || !joints.has(joint)) return undefined
  const rest = start.slice(first.length + 1)
  const second = spanAt(rest, today) ?? dayOfSameMonth(first, rest)
  if (second === undefined || first.timed === true || second.timed === true) return undefined
  const length = lead + first.length + 1 + second.length
  const yearOf = ({ from }: Span, more = 0) => Number(from.slice(0, 4)) + more
  const again = (span: ReadonlyArray<Token>, year: number) => spanAt(span, today, year) ?? first
  let [from, to] = [first, second]
  if (first.yearless === true && second.yearless !== true) {
    from = again(start, yearOf(second))
    if (from.from >= to.to) from = again(start, yearOf(second, -1))
  } else if (second.yearless === true) {
    to = spanAt(rest, today, yearOf(first)) ?? second
    if (to.to <= from.from) to = spanAt(rest, today, yearOf(first, 1)) ?? to
  }
  if (to.to <= from.from) return undefined
  const yearless = first.yearless === true && second.yearless === true ? { yearless: true as const } : {}
  return { from: from.from, to: to.to, length, ...yearless }
}

/** "1 to 3 December", "between the 1st and the 15th of October 2023": the month is that of the other end. */
const sameMonthAs = (start: ReadonlyArray<Token>, joints: ReadonlySet<string>, today: string): Span | undefined => {
  const tokens = start[0]?.word === "the" ? start.slice(1) : start
  const number = /^(\d{1,2})(st|nd|rd|th)?$/.exec(tokens[0]?.word ?? "")?.[1]
  if (number === undefined || !joints.has(tokens[1]?.word ?? "")) return undefined
  const end = spanAt(tokens.slice(2), today)
  if (end === undefined || end.timed === true || addDays(end.from, 1) !== end.to) return undefined
  const text = `${end.from.slice(0, 8)}${pad(Number(number))}`
  if (isoDate(text) === undefined || text > end.from) return undefined
  const yearless = end.yearless === true ? { yearless: true as const } : {}
  return { ...days(text, 1, 1 + start.length - tokens.length), ...yearless }
}

/** "December 1 to 3". */
const dayOfSameMonth = ({ from, to, yearless }: Span, tokens: ReadonlyArray<Token>): Span | undefined => {
  const number = /^(\d{1,2})(st|nd|rd|th)?$/.exec(tokens[0]?.word ?? "")?.[1]
  const text = `${from.slice(0, 8)}${pad(Number(number ?? 0))}`
  if (isoDate(text) === undefined || addDays(from, 1) !== to) return undefined
  return { ...days(text, 1, 1), ...(yearless === true ? { yearless } : {}) }
}

const within = ({ from, to }: Pick<Span, "from" | "to">) => ({ from, to })
const PREPOSITIONS = byWord<(span: Span) => Omit<When, "said">>({
  on: within,
  in: within,
  during: within,
  for: within,
  of: within,
  since: ({ from }) => ({ from }),
  // "from 2024" means within that year; "from May 3" means since that day.
  from: (span) => (span.to > addDays(span.from, 1) ? within(span) : { from: span.from }),
  after: ({ to }) => ({ from: to }),
  before: ({ from }) => ({ to: from }),
  until: ({ to }) => ({ to }),
  till: ({ to }) => ({ to }),
  by: ({ to }) => ({ to })
})

/** One word more than the longest time: `3 of May 2026`. */
const MAX_SPAN = 5

const spanAt = (all: ReadonlyArray<Token>, today: string, year?: number): Span | undefined => {
  const article = all[0]?.word === "the" ? 1 : 0
  const tokens = all.slice(article, article + MAX_SPAN)
  const [first, second] = tokens
  const led = LED.exec(folded(tokens.slice(0, 2)))?.[1]
  if (led !== undefined) return ledBy(led, spanAt(all.slice(article + 2), today, year), 2 + article)
  if (first?.word === "tonight") return partOf(days(today, 1, 1), "evening", 1)
  if (first?.word === "this" && DAY_PARTS[second?.word ?? ""] !== undefined)
    return partOf(days(today, 1, 2), second!.word, 2 + article)
  const found = relative(tokens, today) ?? calendar(tokens, today, year)
  if (found === undefined) return undefined
  const span = { ...found, length: found.length + article }
  const rest = all.slice(span.length)
  const lead = rest[0]?.word === "in" && rest[1]?.word === "the" ? 2 : 0
  const part = DAY_PARTS[rest[lead]?.word ?? ""] === undefined ? undefined : rest[lead]!.word
  return part === undefined || addDays(span.from, 1) !== span.to ? span : partOf(span, part, span.length + lead + 1)
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

const days = (from: string, count: number, length: number): Span => ({ from, to: addDays(from, count), length })

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
  const step = { this: 0, current: 0, next: 1, coming: 1, last: -1, past: -1, previous: -1 }[first ?? ""]
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

const unit = (word: string, step: number, today: string): { from: string; to: string } | undefined => {
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

/** The next such weekday, including today, or the last one before today. */
const nearest = (named: number, step: number, today: string): string =>
  step < 0 ? addDays(today, -((weekday(today) - named + 6) % 7) - 1) : addDays(today, (named - weekday(today) + 7) % 7)

const calendar = (tokens: ReadonlyArray<Token>, today: string, implied?: number): Span | undefined => {
  const [first = "", second = "", third = "", fourth = ""] = tokens.map(({ word }) => word)
  if (isoDate(first) !== undefined) return days(first, 1, 1)
  const yearMonth = /^(\d{4})-(\d{2})$/.exec(first)
  if (yearMonth !== null) return month(Number(yearMonth[1]), Number(yearMonth[2]), 1)
  if (YEAR.test(first)) return { from: day(Number(first), 1), to: day(Number(first) + 1, 1), length: 1 }
  const thisYear = implied ?? Number(today.slice(0, 4))
  const part = partOfYear(tokens, implied ?? thisYear)
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
  return second === "of" ? date(dayOf, third, fourth, 3) : date(dayOf, second, third, 2)
}

const month = (year: number, number: number, length: number): Span | undefined =>
  number < 1 || number > 12 ? undefined : { from: day(year, number), to: day(year, number + 1), length }
