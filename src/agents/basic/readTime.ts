/** Parses time expressions and resolves them against today, as half-open ranges of days. */
import { byWord } from "../../domain/text.ts"
import { MONTHS, WEEKDAYS } from "../english.ts"
import { DAY_PARTS } from "./lexicon.ts"
import { isoDate } from "../../domain/values.ts"
import { YEAR } from "./partOfYear.ts"
export { addDays } from "./spans.ts"
import { addDays, days, pad, type Span, spanAt, unit } from "./spans.ts"
import { type Token, written } from "./tokenize.ts"

export interface When {
  /** YYYY-MM-DD, included; with a time for a part of a day. */
  readonly from?: string
  /** The same, excluded. */
  readonly to?: string
  /** The original text. */
  readonly said: string
  /** The end, or the beginning, is this moment: "so far this month", "later today". */
  readonly now?: "to" | "from"
  /** Only these days of it: "Mondays in October". */
  readonly days?: ReadonlyArray<string>
  /** Ends on a day of the week that is ahead: "until Friday". */
  readonly ahead?: true
  /** Begins then and goes on until now. */
  readonly since?: true
}

/** A time at the beginning of the tokens, and its length in tokens. */
export interface Timed {
  readonly when: When
  readonly length: number
}

/** Words that the longest time has: "for the rest of the week starting the 3rd of December 2026". */
const LONGEST = 16

interface Known {
  readonly tokens: ReadonlyArray<Token>
  readonly today: string
  readonly time: Timed | undefined
}
/** The times at tokens that were asked for: patterns ask for the same ones again and again. */
const known = new WeakMap<Token, Array<Known>>()

/** The time at the beginning of the tokens, including its preposition. */
export const timeAt = (tokens: ReadonlyArray<Token>, today: string): Timed | undefined => {
  const [first] = tokens
  if (first === undefined || !mayBeTime(tokens)) return undefined
  const near = tokens.slice(0, LONGEST)
  const asked = known.get(first) ?? []
  known.set(first, asked)
  const isSame = (each: Known) =>
    each.today === today && each.tokens.length === near.length && near.every((token, at) => token === each.tokens[at])
  const before = asked.find(isSame)
  if (before !== undefined) return before.time
  const time = readTime(near, first.word, today)
  asked.push({ tokens: near, today, time })
  return time
}

const readTime = (tokens: ReadonlyArray<Token>, lead: string, today: string): Timed | undefined => {
  const ahead = AHEAD.find((words) => words.every((word, at) => tokens[at]?.word === word))
  if (ahead !== undefined) return { when: { from: today, said: "coming up" }, length: ahead.length }
  const now = untilNow(tokens, today)
  if (now !== undefined) return now
  const range = rangeAt(tokens, today)
  if (range !== undefined) return timed(tokens, range, within(range))
  if (lead === "between") return undefined
  const preposition = PREPOSITIONS[lead]
  const read = spanAt(preposition === undefined ? tokens : tokens.slice(1), today)
  // "Since Monday" is since the last one.
  const isBehind = lead === "since" && read?.weekday === true && read.from > today
  const span = isBehind ? { ...read, from: addDays(read.from, -7), to: addDays(read.to, -7) } : read
  if (span === undefined || (span.days !== undefined && preposition !== undefined && preposition !== within))
    return undefined
  return timed(
    tokens,
    { ...span, length: span.length + (preposition === undefined ? 0 : 1) },
    (preposition ?? within)(span)
  )
}

/** Words of which every time has one, besides digits. */
const TIME_WORDS = new Set([
  ...Object.keys({ ...MONTHS, ...WEEKDAYS, ...DAY_PARTS }),
  ..."today tomorrow yesterday tonight day days week weeks weekend month months quarter year years half upcoming future coming now come ahead".split(
    " "
  )
])
/** The longest time has such a word among its first ones: "for the rest of the first quarter". */
const FIRST_WORDS = 8

/** Whether a time can begin here: it is asked at most words of a message, so most are told apart at once. */
const mayBeTime = (tokens: ReadonlyArray<Token>): boolean => {
  for (let at = 0; at < FIRST_WORDS && at < tokens.length; at++) {
    const { word } = tokens[at]!
    if (TIME_WORDS.has(word) || /\d/.test(word)) return true
  }
  return false
}

const timed = (tokens: ReadonlyArray<Token>, span: Span, when: Omit<When, "said">): Timed => {
  const said = written(tokens.slice(0, span.length))
  // The answer says which year was meant if the question does not.
  const year =
    span.yearless === true
      ? `${/\d$/.test(said) ? "," : ""} ${(span.to.includes("T") ? span.to : addDays(span.to, -1)).slice(0, 4)}`
      : ""
  const date = span.weekday === true && !said.includes("(") ? ` (${dayAndMonth(span.from)})` : ""
  const days = span.days === undefined ? {} : { days: span.days }
  const ahead = span.weekday === true && when.from === undefined ? { ahead: true as const } : {}
  return { when: { ...when, ...days, ...ahead, said: said + year + date }, length: span.length }
}

/** Words before and after a time that is going on: the part of it that is over, or that is left. */
const NOW: ReadonlyArray<readonly [words: ReadonlyArray<string>, now: "to" | "from"]> = (
  [
    ["so far", "to"],
    ["thus far", "to"],
    ["to date", "to"],
    ["until now", "to"],
    ["up to now", "to"],
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
  return span?.timed === true || span?.days !== undefined ? undefined : span
}

const DAY_AND_MONTH = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "long", day: "numeric" })
const dayAndMonth = (date: string): string => DAY_AND_MONTH.format(new Date(`${date.slice(0, 10)}T00:00:00Z`))

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
  since: new Set(["to", "until", "till", "through"]),
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
  if (first.days !== undefined || second.days !== undefined) return undefined
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
  const year = tokens[1]?.word ?? ""
  // "December 4 to 8 2023": the year is that of both.
  if (yearless === true && YEAR.test(year)) return { ...days(`${year}${text.slice(4)}`, 1, 2) }
  return { ...days(text, 1, 1), ...(yearless === true ? { yearless } : {}) }
}

const within = ({ from, to }: Pick<Span, "from" | "to">) => ({ from, to })
const PREPOSITIONS = byWord<(span: Span) => Omit<When, "said">>({
  on: within,
  in: within,
  during: within,
  for: within,
  of: within,
  since: ({ from }) => ({ from, since: true }),
  // "from 2024" means within that year; "from May 3" means since that day.
  from: (span) => (span.to > addDays(span.from, 1) ? within(span) : { from: span.from }),
  after: ({ to }) => ({ from: to }),
  before: ({ from }) => ({ to: from }),
  until: ({ to }) => ({ to }),
  till: ({ to }) => ({ to }),
  by: ({ to }) => ({ to })
})
