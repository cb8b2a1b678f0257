/** Reads times of day beside a day ("before 2", "between 2 and 4"), and spans up to today ("in 4 weeks", "over a month ago"). */
import { byWord } from "../../domain/text.ts"
import { MAX_ALTERNATIVES } from "../../domain/Query.ts"
import { CARDINALS } from "../english.ts"
import { clock, timeOfDayAt } from "./deeds/moments.ts"
import { timeAt, type When } from "./readTime.ts"
import { addDays } from "./spans.ts"
import { folded, type Token, written } from "./tokenize.ts"

type Tokens = ReadonlyArray<Token>

/** Times of day, in minutes; `to` is excluded. */
interface Hours {
  readonly from?: number
  readonly to?: number
  /** The first minute is excluded: "after 2". */
  readonly after?: true
}

const whole = (tokens: Tokens): number | undefined => {
  const time = timeOfDayAt(tokens, true)
  return time?.length === tokens.length ? time.value : undefined
}

/** A time of day that takes up all the tokens, with the word that says on which side of it. */
const hoursOf = (tokens: Tokens): Hours | undefined => {
  const [first] = tokens
  const rest = tokens.slice(1)
  switch (first?.word) {
    case "at": {
      const from = whole(rest)
      return from === undefined ? undefined : { from, to: from + 1 }
    }
    case "before":
    case "until":
    case "till": {
      const to = whole(rest)
      return to === undefined ? undefined : { to }
    }
    case "after": {
      const from = whole(rest)
      return from === undefined ? undefined : { from, after: true }
    }
    case "between":
    case "from": {
      const at = rest.findIndex(({ word }) =>
        first.word === "between" ? word === "and" : /^(to|until|till)$/.test(word)
      )
      const [start, to] = at < 0 ? [whole(rest)] : [whole(rest.slice(0, at)), whole(rest.slice(at + 1))]
      const from = inHalfOf(start, to, rest.slice(0, at), rest.slice(at + 1))
      if (at < 0) return first.word === "between" || from === undefined ? undefined : { from }
      return from === undefined || to === undefined || to <= from ? undefined : { from, to }
    }
    default:
      return undefined
  }
}

/** "Between 8 and 10 pm" begins at 8 pm, "between 10 and 2 pm" in the morning. */
const inHalfOf = (from: number | undefined, to: number | undefined, words: Tokens, last: Tokens): number | undefined =>
  from !== undefined && to !== undefined && from + NOON < to && /p\.?m/.test(folded(last)) && !HALF.test(folded(words))
    ? from + NOON
    : from
const HALF = /[ap]\.?m|noon|midday|midnight/
const NOON = 720

export const isHours = (tokens: Tokens): boolean => hoursOf(tokens) !== undefined

const eachDay = (from: string, to: string): ReadonlyArray<string> => {
  const all: Array<string> = []
  for (let day = from; day < to && all.length <= MAX_ALTERNATIVES; day = addDays(day, 1)) all.push(day)
  return all
}

/** The hours of each day; undefined if the time isn't a few whole days. */
export const hoursOn = (when: Tokens, hours: Tokens, today: string): When | undefined => {
  const day = timeAt(when, today)?.when
  const at = hoursOf(hours)
  if (day?.from === undefined || day.to === undefined || at === undefined || day.from.includes("T")) return undefined
  const days = day.days ?? eachDay(day.from, day.to)
  if (days.length > MAX_ALTERNATIVES || day.now !== undefined) return undefined
  // "At 2" is in the afternoon, which the answer says.
  const bare = hours.some(({ word }, index) => /^\d{1,2}$/.test(word) && !HALF.test(hours[index + 1]?.word ?? ""))
  const ends = [at.from, hours[0]!.word === "at" ? undefined : at.to].filter((time) => time !== undefined)
  const parts = [...new Set(ends.map((time) => (time < NOON ? "morning" : "afternoon")))].join(" to ")
  const said = `${day.said} ${written(hours)}${bare ? ` (${parts})` : ""}`
  if (day.days !== undefined || day.to !== addDays(day.from, 1)) {
    // Both ends of a range are in it.
    const first = at.from === undefined ? "00:00" : clock(at.from + (at.after === true ? 1 : 0))
    const last = clock((at.to ?? 1440) - 1)
    return { from: day.from, to: day.to, days: days.map((one) => `${one}T${first}..${one}T${last}`), said }
  }
  return {
    from: at.from === undefined ? day.from : `${day.from}T${clock(at.from)}${at.after === true ? ":01" : ""}`,
    to: at.to === undefined ? day.to : `${day.from}T${clock(at.to)}`,
    said
  }
}

/** A time that takes up all the words, with or without hours: "tomorrow", "at 2 tomorrow", "Friday after 3 pm". */
export const whenOf = (tokens: Tokens, today: string): When | undefined => {
  const time = timeAt(tokens, today)
  if (time !== undefined && time.length === tokens.length) return time.when
  for (let at = 1; at < tokens.length; at++) {
    const [first, second] = [tokens.slice(0, at), tokens.slice(at)]
    const [day, hours] = isHours(first) ? [second, first] : [first, second]
    if (!isHours(hours) || timeAt(day, today)?.length !== day.length) continue
    const when = hoursOn(day, hours, today)
    if (when !== undefined) return when
  }
  return undefined
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ["day", 1],
  ["week", 7],
  ["fortnight", 14],
  ["month", 30],
  ["year", 365]
])
const LEADS = new Set("the last past over more than at least about a whole full good previous".split(" "))
const NUMBERS = byWord<number>({ ...CARDINALS, a: 1, an: 1 })

/** The days of "the last 3 weeks", "over a month" or "a fortnight", which take up all the tokens. */
export const daysIn = (tokens: Tokens): number | undefined => {
  const unit = UNITS.get(tokens.at(-1)?.word.replace(/s$/, "") ?? "")
  const number = tokens.at(-2)?.word ?? "one"
  const count = /^\d{1,3}$/.test(number) ? Number(number) : NUMBERS[number]
  const lead = tokens.slice(0, count === undefined ? -1 : -2)
  if (unit === undefined || tokens.length > 6 || !lead.every(({ word }) => LEADS.has(word))) return undefined
  return count === undefined ? (lead.length > 0 ? unit : undefined) : count * unit
}

/** Everything before so many days ago. */
export const longAgo = (tokens: Tokens, today: string): When | undefined => {
  const days = daysIn(tokens)
  return days === undefined ? undefined : { to: addDays(today, -days), said: `more than ${written(tokens)} ago` }
}

/** Verbs of contact, after "did we" and "have we". */
export const TOUCHED =
  "(contact|contacted|speak to|speak with|spoke to|spoke with|spoken to|spoken with|talk to|talk with|talked to|talked with|reach|reached)"
export const CONTACTED = [
  "last contact",
  "last contacted",
  "contacted",
  "last contact date",
  "last reply",
  "last activity"
]
/** A negation and a verb of contact, before "in 4 weeks". */
export const SILENT =
  "(we|i|you)? (haven't|hasn't|havent|hasnt|have not|has not|didn't|did not|not) (been)? (responded|replied|answered|reacted|contacted|spoken to|spoken with|talked to|talked with|heard from|reached|reached out to|been in touch with|in touch with|written to|gotten back|got back)"

/** Without contact for a span, or since a time. */
export const silentFor = (
  span: Tokens | undefined,
  since: Tokens | undefined,
  today: string
): { readonly when: When; readonly by: ReadonlyArray<string>; readonly latest?: string } | undefined => {
  const start = since === undefined ? undefined : timeAt(since, today)?.when
  const when =
    span === undefined ? start?.from && { to: start.from, said: `without contact ${start.said}` } : longAgo(span, today)
  return when ? { when, by: CONTACTED, ...(start?.to === undefined ? {} : { latest: start.to }) } : undefined
}
