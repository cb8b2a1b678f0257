/**
 * Days, times of day and lengths of time as people write them. A time from one to six without "am" or "pm" is in the
 * afternoon, because offices are closed at night; the draft shows how it was understood.
 */
import { byWord } from "../../../domain/text.ts"
import { isoDate } from "../../../domain/values.ts"
import { CARDINALS, MONTHS, WEEKDAYS } from "../lexicon.ts"
import { addDays } from "../readTime.ts"
import type { Token } from "../tokenize.ts"

type Tokens = ReadonlyArray<Token>

/** Today, and whether 12/4 is December 4. */
export interface Calendar {
  readonly today: string
  readonly monthFirst: boolean
}

/** Something at the beginning of the words, and its length in words. */
export interface At<A> {
  readonly value: A
  readonly length: number
}

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

const weekdayOf = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay()

/** The day at the beginning of the words, its preposition excluded. */
export const dayAt = (tokens: Tokens, calendar: Calendar): At<string> | undefined => {
  const [first = "", second = "", third = "", fourth = ""] = tokens.map(({ word }) => word)
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
  const [first = "", second = "", third = "", fourth = ""] = tokens.map(({ word }) => word)
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

const hourOf = (word: string): number | undefined =>
  /^\d{1,2}$/.test(word) ? Number(word) : (CARDINALS[word] ?? byWord<number>({ eleven: 11, twelve: 12 })[word])

/** "in the morning". */
const partOfDay = (tokens: Tokens): { readonly half: string; readonly length: number } | undefined => {
  const [first, second, third] = tokens.map(({ word }) => word)
  if (first === "in" && second === "the" && third !== undefined) {
    if (third === "morning") return { half: "am", length: 3 }
    if (third === "afternoon" || third === "evening") return { half: "pm", length: 3 }
  }
  return undefined
}

const UNITS = byWord<number>({
  minute: 1,
  minutes: 1,
  min: 1,
  mins: 1,
  m: 1,
  hour: 60,
  hours: 60,
  hr: 60,
  hrs: 60,
  h: 60,
  day: 1440,
  days: 1440,
  week: 10_080,
  weeks: 10_080
})
const NUMBERS = byWord<number>({
  ...CARDINALS,
  a: 1,
  an: 1,
  fifteen: 15,
  thirty: 30,
  forty: 40,
  "forty-five": 45,
  fifty: 50,
  sixty: 60,
  ninety: 90,
  eleven: 11,
  twelve: 12
})

const numberOf = (word: string): number | undefined => {
  const [, whole, over, under] = /^(\d{1,4}(?:\.\d{1,2})?)$|^(\d)\/(\d)$/.exec(word) ?? []
  return whole !== undefined ? Number(whole) : over !== undefined ? Number(over) / Number(under) : NUMBERS[word]
}

/** The length of time at the beginning of the words, in minutes. */
export const lengthAt = (tokens: Tokens): At<number> | undefined => {
  // "90-minute", "half-hour" and "hour-long" are one word each in the text, and several here.
  const words = tokens
    .slice(0, 8)
    .flatMap(({ quoted, word }: Token & { readonly quoted?: true }, index) =>
      quoted === true ? [{ word: "", index }] : hyphenated(word).map((part) => ({ word: part, index }))
    )
  const of = (at: number) => words[at]?.word ?? ""
  const done = (value: number, at: number): At<number> | undefined => {
    const last = words[at - 1]
    // A length ends where a word of the text ends.
    return last === undefined || words[at]?.index === last.index || !Number.isInteger(value) || value <= 0
      ? undefined
      : { value, length: last.index + 1 }
  }
  const long = (value: number, at: number) => done(value, /^(long|worth)$/.test(of(at)) ? at + 1 : at)
  let at = 0
  if (of(0) === "half") {
    at = /^(a|an)$/.test(of(1)) ? 2 : 1
    const unit = UNITS[of(at)]
    return unit === undefined ? undefined : long(unit / 2, at + 1)
  }
  if (of(0) === "a" && of(1) === "half") {
    const unit = UNITS[of(2)]
    return unit === undefined ? undefined : long(unit / 2, 3)
  }
  if (/^(a|one)$/.test(of(0)) && of(1) === "quarter" && of(2) === "of" && of(3) === "an" && of(4) === "hour")
    return long(15, 5)
  if (of(0) === "quarter" && of(1) === "of" && of(2) === "an" && of(3) === "hour") return long(15, 4)
  if (/^hour$/.test(of(0)) && of(1) === "long") return done(60, 2)
  if (of(0) === "hour" && of(1) === "and" && /^(a|one)$/.test(of(2)) && of(3) === "half") return long(90, 4)
  const joined = /^(\d{1,2})h(\d{2})(?:m|min)?$/.exec(of(0))
  if (joined !== null) return done(Number(joined[1]) * 60 + Number(joined[2]), 1)
  let number = numberOf(of(0))
  if (number === undefined) return undefined
  at = 1
  // "1 1/2 hours", "one and a half hours", "a couple of hours".
  if (/^\d\/\d$/.test(of(1))) number += numberOf(of(at++))!
  else if (of(1) === "and" && /^(a|one)$/.test(of(2)) && of(3) === "half" && UNITS[of(4)] !== undefined) {
    number += 0.5
    at = 4
  } else if (of(0) === "a" && of(1) === "couple") {
    number = 2
    at = of(2) === "of" ? 3 : 2
  }
  const unit = UNITS[of(at)]
  if (unit === undefined) return undefined
  at += 1
  if (of(at) === "and" && /^(a|one)$/.test(of(at + 1)) && of(at + 2) === "half")
    return long((number + 0.5) * unit, at + 3)
  const more = of(at) === "and" ? at + 1 : at
  const second = numberOf(of(more))
  const smaller = UNITS[of(more + 1)]
  if (second !== undefined && smaller !== undefined && smaller < unit && of(more) !== "a")
    return long(number * unit + second * smaller, more + 2)
  return long(number * unit, at)
}

const hyphenated = (word: string): ReadonlyArray<string> => {
  if (word === "forty-five") return [word]
  const parts = word.split("-")
  const split = parts.length > 1 && parts.some((part) => UNITS[part] !== undefined) ? parts : [word]
  return split.flatMap((part) => {
    const [, number, unit] = /^(\d{1,4}(?:\.\d{1,2})?)(minutes?|mins?|hours?|hrs?|h|m|d|days?)$/.exec(part) ?? []
    return number === undefined || unit === undefined ? [part] : [number, unit]
  })
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

/** A day and a time that take up all the words, in either order. */
export const momentOf = (tokens: Tokens, calendar: Calendar): Moment | undefined => {
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
