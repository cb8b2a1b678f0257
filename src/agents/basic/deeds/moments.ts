/**
 * Days and times of day as people write them. A time from one to six without "am" or "pm" is in the
 * afternoon, because offices are closed at night; the draft shows how it was understood.
 */
import { byWord } from "../../../domain/text.ts"
import { isoDate } from "../../../domain/values.ts"
import { CARDINALS, MONTHS, WEEKDAYS } from "../../english.ts"
import { addDays } from "../readTime.ts"
import type { At } from "./lengths.ts"
import type { Context } from "../readConversation.ts"
import type { Token } from "../tokenize.ts"

type Tokens = ReadonlyArray<Token>

/** Today, and whether 12/4 is December 4. */
export interface Calendar {
  readonly today: string
  readonly monthFirst: boolean
}

export const calendarOf = ({ timeZone, today }: Context): Calendar => ({
  today,
  monthFirst: timeZone === undefined || timeZone.startsWith("America/")
})

/** A day, a time of day in minutes, or both; `until` ends a range of times. */
export interface Moment {
  readonly day?: string
  readonly time?: number
  readonly until?: number
}

const pad = (value: number) => String(value).padStart(2, "0")
export const clock = (minutes: number): string => `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`

const ORDINAL = /^(\d{1,2})(st|nd|rd|th)?$/
const YEAR = /^(19|20)\d{2}$/
/** A date without a year is the next such day, unless it lies at most so many days back. */
const MAX_BACK = 90

const dated = (year: string | undefined, month: number, day: number, { today }: Calendar): string | undefined => {
  if (year !== undefined) return isoDate(`${year}-${pad(month)}-${pad(day)}`)
  const own = Number(today.slice(0, 4))
  const texts = [own, own + 1].map((each) => isoDate(`${each}-${pad(month)}-${pad(day)}`))
  return texts.find((text) => text !== undefined && text >= addDays(today, -MAX_BACK))
}

/** "13", "13th" as a day of this or the next month. */
const ofMonth = (day: number, calendar: Calendar): string | undefined => {
  const [year, month] = calendar.today.split("-").map(Number) as [number, number]
  const text = isoDate(`${year}-${pad(month)}-${pad(day)}`)
  return text !== undefined && text >= calendar.today
    ? text
    : isoDate(month === 12 ? `${year + 1}-01-${pad(day)}` : `${year}-${pad(month + 1)}-${pad(day)}`)
}

/** The words that one part of a time can have. */
const firstWords = (tokens: Tokens): ReadonlyArray<string> => tokens.slice(0, 4).map(({ word }) => word)

const weekdayOf = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay()

/** The day at the beginning of the words, its preposition excluded. */
export const dayAt = (tokens: Tokens, calendar: Calendar): At<string> | undefined => {
  const [first = "", second = "", third = "", fourth = ""] = firstWords(tokens)
  const { monthFirst, today } = calendar
  const at = (value: string | undefined, length: number) => (value === undefined ? undefined : { value, length })
  if (first === "the") {
    const inner = dayAt(tokens.slice(1), calendar)
    if (inner !== undefined) return { ...inner, length: inner.length + 1 }
    const [, day, suffix] = ORDINAL.exec(second) ?? []
    return suffix === undefined ? undefined : at(ofMonth(Number(day), calendar), 2)
  }
  if (first === "today" || first === "tonight") return at(today, 1)
  if (first === "tomorrow") return at(addDays(today, 1), 1)
  if (first === "yesterday") return at(addDays(today, -1), 1)
  if (first === "day" && second === "after" && third === "tomorrow") return at(addDays(today, 2), 3)
  if (isoDate(first) !== undefined) return at(first, 1)
  const [, a, b, c] = /^(\d{1,2})[/.-](\d{1,2})(?:[/.-](\d{4}|\d{2}))?$/.exec(first) ?? []
  if (a !== undefined && b !== undefined && (first.includes("/") || c !== undefined)) {
    const [month, day] = monthFirst ? [Number(a), Number(b)] : [Number(b), Number(a)]
    return at(dated(c?.length === 2 ? `20${c}` : c, month, day, calendar), 1)
  }
  const weekday = WEEKDAYS[first]
  if (weekday !== undefined) {
    // "Wednesday, December 13th": the weekday must be the date's own.
    if (second === "next" && third === "week") return at(inNextWeek(weekday, today), 3)
    const rest = dayAt(tokens.slice(1), calendar)
    if (rest !== undefined && !/^(this|next|today|tomorrow)/.test(second)) {
      return weekdayOf(rest.value) === weekday ? { value: rest.value, length: rest.length + 1 } : undefined
    }
    return first.length === 3 && /^(sun|sat|mar)$/.test(first) && tokens[0]!.capital === false
      ? undefined
      : at(addDays(today, (weekday - weekdayOf(today) + 7) % 7), 1)
  }
  const named = second === "" ? undefined : WEEKDAYS[second]
  if (named !== undefined && /^(this|coming)$/.test(first))
    return at(addDays(today, (named - weekdayOf(today) + 7) % 7), 2)
  // "next Wednesday" is said of the coming one, too; only where both are the same is it one day.
  if (named !== undefined && first === "next") {
    // "next Thursday, December 7th": the date says which.
    const date = tokens[2] === undefined ? undefined : datedAt(tokens.slice(2), calendar)
    if (date !== undefined && weekdayOf(date.value) === named) return { value: date.value, length: 2 + date.length }
    const coming = comingDay(named, today)
    return coming === inNextWeek(named, today) ? at(coming, 2) : undefined
  }
  const distant = distantDayAt([first, second, third, fourth], today)
  if (distant !== undefined) return distant
  const month = MONTHS[first]
  if (month !== undefined) {
    const [, day] = ORDINAL.exec(second) ?? []
    if (day === undefined) return undefined
    return YEAR.test(third)
      ? at(dated(third, month, Number(day), calendar), 3)
      : at(dated(undefined, month, Number(day), calendar), 2)
  }
  const [, day] = ORDINAL.exec(first) ?? []
  if (day === undefined) return undefined
  const [name, year, length] = second === "of" ? [third, fourth, 3] : [second, third, 2]
  const number = MONTHS[name]
  if (number === undefined) return undefined
  return YEAR.test(year)
    ? at(dated(year, number, Number(day), calendar), length + 1)
    : at(dated(undefined, number, Number(day), calendar), length)
}

/** "December 7", "the 7th", "12/7": a date, and no other day. */
const datedAt = (tokens: Tokens, calendar: Calendar): At<string> | undefined =>
  /^\d|^the$/.test(tokens[0]!.word) || MONTHS[tokens[0]!.word] !== undefined ? dayAt(tokens, calendar) : undefined

/** The next day after today with this weekday. */
const comingDay = (weekday: number, today: string): string => addDays(today, ((weekday - weekdayOf(today) + 6) % 7) + 1)

/** The weekday in the week after this one; weeks begin on Monday. */
const inNextWeek = (weekday: number, today: string): string => {
  const monday = addDays(today, 7 - ((weekdayOf(today) + 6) % 7))
  return addDays(monday, (weekday + 6) % 7)
}

/** The two days that "next Friday" can mean, if it is all that is said. */
export const eitherDay = (tokens: Tokens, { today }: Calendar): readonly [string, string] | undefined => {
  const [first, second, ...more] = firstWords(tokens)
  const weekday = first === "next" && second !== undefined && more.length === 0 ? WEEKDAYS[second] : undefined
  if (weekday === undefined) return undefined
  const coming = comingDay(weekday, today)
  const later = inNextWeek(weekday, today)
  return coming === later ? undefined : [coming, later]
}

const UNITS = byWord<number>({ day: 1, days: 1, week: 7, weeks: 7, fortnight: 14 })

/** "in two weeks", "a week from today", "end of the month". */
const distantDayAt = (words: ReadonlyArray<string>, today: string): At<string> | undefined => {
  const isIn = words[0] === "in"
  const [count = "", unit = "", from = "", to = ""] = isIn ? words.slice(1) : words
  const number = /^\d{1,2}$/.test(count) ? Number(count) : /^an?$/.test(count) ? 1 : CARDINALS[count]
  const days = UNITS[unit]
  if (number !== undefined && days !== undefined && isIn) return { value: addDays(today, number * days), length: 3 }
  if (number !== undefined && days !== undefined && from === "from" && /^(today|now)$/.test(to))
    return { value: addDays(today, number * days), length: 4 }
  return endAt(words, today)
}

/** "End of the month", "the end of next week", "end of December": the last working day of a week, the last day of a month. */
const endAt = (
  [end, of = "", third = "", fourth = ""]: ReadonlyArray<string>,
  today: string
): At<string> | undefined => {
  const short = /^eo[wm]$/.test(end ?? "") ? lastOf(end === "eow" ? "week" : "month", 0, today) : undefined
  if (short !== undefined) return { value: short, length: 1 }
  if (end !== "end" || of === "") return undefined
  const [unit, from] = of === "of" ? [third, 2] : [of, 1]
  const month = of === "of" ? MONTHS[third] : undefined
  if (month !== undefined) {
    const [year, now] = today.split("-").map(Number) as [number, number]
    return { value: lastOf("month", month - now + (month < now ? 12 : 0), `${year}-${pad(now)}-01`)!, length: 3 }
  }
  const isNext = unit === "next"
  const own = /^(the|this|next)$/.test(unit) ? (from === 2 ? fourth : third) : unit
  const value = lastOf(own, isNext ? 1 : 0, today)
  return value === undefined ? undefined : { value, length: from + (own === unit ? 1 : 2) }
}

/** The last day of this week, month or year, or of one that is so many later. */
const lastOf = (unit: string, later: number, today: string): string | undefined => {
  const [year, month] = today.split("-").map(Number) as [number, number]
  switch (unit) {
    case "week": {
      const days = 4 - ((weekdayOf(today) + 6) % 7) + later * 7
      return days < 0 ? undefined : addDays(today, days)
    }
    case "month": {
      const next = month + later
      return addDays(`${year + Math.floor(next / 12)}-${pad((next % 12) + 1)}-01`, -1)
    }
    case "year":
      return `${year + later}-12-31`
    default:
      return undefined
  }
}

const WRITTEN_TIMES = byWord<number>({ noon: 720, midday: 720, midnight: 0, lunchtime: 720 })
const HALVES = /^(am|pm|a\.m|p\.m|a\.m\.|p\.m\.)$/

const minutesOf = (hour: number, minute: number, half: string | undefined): number | undefined => {
  if (minute > 59) return undefined
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined
    return ((hour % 12) + (half.startsWith("p") ? 12 : 0)) * 60 + minute
  }
  if (hour > 23) return undefined
  return (hour >= 1 && hour <= 6 ? hour + 12 : hour) * 60 + minute
}

/** The time of day at the beginning of the words. A bare number is a time only where `bare` says that one is expected. */
export const timeOfDayAt = (tokens: Tokens, bare: boolean): At<number> | undefined => {
  const [first = "", second = "", third = "", fourth = ""] = firstWords(tokens)
  const at = (value: number | undefined, length: number) => (value === undefined ? undefined : { value, length })
  const written = WRITTEN_TIMES[first]
  if (written !== undefined) return at(written, 1)
  const past = third === "past" || second === "past" ? 1 : third === "to" || second === "to" ? -1 : 0
  if (past !== 0) {
    const lead = first === "half" ? 30 : first === "quarter" || (first === "a" && second === "quarter") ? 15 : undefined
    const hour = hourOf(first === "a" ? fourth : third)
    if (lead !== undefined && hour !== undefined) {
      const base = minutesOf(hour, 0, undefined)!
      return at(base + past * lead, first === "a" ? 4 : 3)
    }
  }
  const [, hours, , minutes, half] =
    /^(\d{1,2})(([:.h])(\d{2}))?(am|pm|a\.m\.?|p\.m\.?)?$/
      .exec(first)
      ?.flatMap((part, index) => (index === 3 ? [] : [part])) ?? []
  const hour = hours === undefined ? (bare || second === "o'clock" ? hourOf(first) : undefined) : Number(hours)
  if (hour === undefined) return undefined
  const clockWord = second === "o'clock" || second === "oclock" ? 1 : 0
  const after = tokens[1 + clockWord]?.word ?? ""
  const spoken = half ?? (HALVES.test(after) ? after : undefined)
  const length = 1 + clockWord + (half === undefined && spoken !== undefined ? 1 : 0)
  const part = partOfDay(tokens.slice(length))
  const meant = spoken ?? part?.half
  if (!bare && minutes === undefined && meant === undefined && clockWord === 0) return undefined
  // "in the evening" moves 8 to 20; "in the morning" keeps 6 at 6.
  if (part !== undefined && spoken === undefined && hour > 12) return undefined
  return at(minutesOf(hour, Number(minutes ?? 0), meant), length + (part?.length ?? 0))
}

const hourOf = (word: string): number | undefined => (/^\d{1,2}$/.test(word) ? Number(word) : CARDINALS[word])

/** "in the morning". */
const partOfDay = (tokens: Tokens): { readonly half: string; readonly length: number } | undefined => {
  const [first, second, third] = firstWords(tokens)
  if (first === "in" && second === "the" && third !== undefined) {
    if (third === "morning") return { half: "am", length: 3 }
    if (third === "afternoon" || third === "evening") return { half: "pm", length: 3 }
  }
  return undefined
}

const DAY_LEADS = new Set(["on", "for", "of", "from", "dated"])
const TIME_LEADS = new Set(["at", "@", "from", "between", "for", "starting", "beginning", "around", "to", "until"])

/** The day or the time at the beginning of the words, with its prepositions. A bare number needs one. */
export const momentAt = (tokens: Tokens, calendar: Calendar, bare = false): At<Moment> | undefined => {
  let lead = 0
  let expected = bare
  while (lead < 2 && (DAY_LEADS.has(tokens[lead]?.word ?? "") || TIME_LEADS.has(tokens[lead]?.word ?? ""))) {
    expected ||= /^(at|@|from|between|starting|beginning|to|until)$/.test(tokens[lead]!.word)
    lead += 1
  }
  const rest = tokens.slice(lead)
  const day = dayAt(rest, calendar)
  if (day !== undefined) return { value: { day: day.value }, length: lead + day.length }
  const range = rangeOf(rest[0])
  const start = range?.[0] ?? timeOfDayAt(rest, expected)
  if (start === undefined) return undefined
  const length = lead + (range === undefined ? start.length : 1)
  const joint = tokens[length]?.word
  const ranged = /^(from|between)$/.test(tokens[lead - 1]?.word ?? "")
  const end =
    range?.[1] ??
    (joint === "to" || joint === "until" || joint === "till" || (joint === "and" && ranged)
      ? timeOfDayAt(tokens.slice(length + 1), true)
      : undefined)
  if (end === undefined) return { value: { time: start.value }, length }
  return {
    value: { time: start.value, until: end.value },
    length: range === undefined ? length + 1 + end.length : length
  }
}

/** "11-12:30": a range of times in one word. */
const rangeOf = (token: Token | undefined): readonly [At<number>, At<number>] | undefined => {
  const [from, to, more] = (token?.word ?? "").split(/[-–]/)
  if (from === undefined || to === undefined || more !== undefined || !/^\d/.test(from) || !/^\d/.test(to))
    return undefined
  const half = /(am|pm)$/.exec(to)?.[0]
  const times = [/(am|pm)$/.test(from) || half === undefined ? from : `${from}${half}`, to].map((word) =>
    timeOfDayAt([{ text: word, word, after: "", capital: false }], true)
  )
  const [start, end] = times
  return start === undefined || end === undefined ? undefined : [start, end]
}

/** Words of the longest day and time: "at half past three in the afternoon on Wednesday the 13th of December 2026". */
const MAX_MOMENT = 16

/** A day and a time that take up all the words, in either order. */
export const momentOf = (tokens: Tokens, calendar: Calendar): Moment | undefined => {
  if (tokens.length > MAX_MOMENT) return undefined
  let found: Moment = {}
  for (let at = 0; at < tokens.length;) {
    const next = momentAt(tokens.slice(at), calendar, found.time === undefined)
    if (next === undefined) return undefined
    if (
      (next.value.day !== undefined && found.day !== undefined) ||
      (next.value.time !== undefined && found.time !== undefined)
    )
      return undefined
    found = { ...found, ...next.value }
    at += next.length
  }
  return tokens.length === 0 ? undefined : found
}

/** A local time moved by minutes, as texts of a day and a time. */
export const shifted = (local: string, minutes: number): string => {
  const time = new Date(`${local.slice(0, 10)}T${local.slice(11, 19) || "00:00:00"}Z`)
  time.setTime(time.getTime() + minutes * 60_000)
  return time.toISOString().slice(0, 19).replace("T", " ")
}
