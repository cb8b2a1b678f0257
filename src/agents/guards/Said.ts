/** What a person has said in a conversation, as words, claims, numbers and days that a value of a draft can be compared with. */
import { foldText } from "../../domain/keys.ts"
import { byWord } from "../../domain/text.ts"
import type { DateRange } from "../../domain/values.ts"
import { CARDINALS } from "../english.ts"
import { type Claim, claims, dayKeys, type Locale } from "./claims.ts"
import { normalize, wordsOf } from "./normalize.ts"

const NUMBER_WORDS = byWord<number>({ ...CARDINALS, half: 0.5, quarter: 0.25 })
const TIME_WORDS: Readonly<Record<string, string>> = { noon: "12:00", midday: "12:00", midnight: "00:00" }

const UNIT = /^(?:hour|day|week|minute|half|quarter)/

/** Words that are compared one after the other. */
const MAX_PHRASE = 12

/** Days around today that a weekday can mean. */
const NEAR = 14
/** Numbers and times that are kept. */
const MOST = 60

const DAY_MS = 86_400_000

/** The word and what it may be without a plural or genitive ending. */
const forms = (word: string): ReadonlyArray<string> =>
  word.length < 4
    ? [word]
    : [word, word.replace(/ies$/, "y"), word.replace(/es$/, ""), word.replace(/s$/, ""), word.replace(/(?:n|en)$/, "")]

const NUMBER = /\d+(?:[.,]\d+)?/g
const TEMPORAL = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2}))?/

/** Minutes since 1970 of a local time. */
const minutesOf = (day: string, hour = "00", minute = "00"): number =>
  Date.parse(`${day}T${hour}:${minute}:00Z`) / 60_000

/** Minutes since 1970 of a date or time as values write it; undefined for other texts. */
export const temporal = (
  text: string
): { readonly day: string; readonly time?: string; readonly minutes: number } | undefined => {
  const [, day, hour, minute] = TEMPORAL.exec(text) ?? []
  if (day === undefined) return undefined
  const minutes = minutesOf(day, hour, minute)
  return Number.isNaN(minutes)
    ? undefined
    : { day, minutes, ...(hour === undefined ? {} : { time: `${hour}:${minute}` }) }
}

export class Said {
  readonly locale: Locale
  readonly #forms = new Set<string>()
  readonly #keys = new Set<string>()
  readonly #ranges: Array<DateRange> = []
  readonly #numbers = new Set<number>()
  readonly #times = new Set<string>()
  #text = ""
  /** The forms of each word, by message. */
  readonly #messages: Array<ReadonlyArray<ReadonlyArray<string>>> = []

  constructor(locale: Locale) {
    this.locale = locale
  }

  add(text: string): this {
    const clean = normalize(text)
    const words = wordsOf(clean)
    this.#text += ` ${foldText(clean)} `
    this.#messages.push(words.map(forms))
    for (const [at, word] of words.entries()) {
      if ((word === "a" || word === "an") && UNIT.test(words[at + 1] ?? "")) this.#number(1)
      for (const form of forms(word)) this.#forms.add(form)
      const number = NUMBER_WORDS[word]
      if (number !== undefined) this.#number(number)
      const time = TIME_WORDS[word]
      if (time !== undefined) this.#times.add(time)
    }
    for (const [number] of clean.matchAll(NUMBER)) this.#number(Number(number.replace(",", ".")))
    for (const claim of claims(clean, this.locale)) {
      for (const key of claim.keys) {
        this.#keys.add(key)
        if (key.startsWith("time ") && this.#times.size < MOST) this.#times.add(key.slice(5))
      }
      if (claim.range !== undefined) this.#ranges.push(claim.range)
    }
    return this
  }

  #number(number: number) {
    if (this.#numbers.size < MOST) this.#numbers.add(number)
  }

  /** The share of a value's words that the person has said, between 0 and 1; 0 for a value without words. */
  share(value: string): number {
    const words = wordsOf(normalize(value))
    if (words.length === 0) return 0
    return words.filter((word) => this.#saidWord(word)).length / words.length
  }

  #saidWord(word: string): boolean {
    return (
      forms(word).some((form) => this.#forms.has(form)) ||
      (!/[\p{Script=Latin}\p{N}]/u.test(word) && this.#text.includes(word))
    )
  }

  /** Whether any word of a name was said. */
  mentions(name: string): boolean {
    return this.share(name) > 0
  }

  /** Whether all of a text was said, in the person's words or as another spelling of the same value. */
  has(value: string): boolean {
    const clean = normalize(value).trim()
    if (this.#hasPhrase(clean)) return true
    const found = claims(clean, this.locale)
    const rest = wordsOf(withoutClaims(clean, found))
    return (
      found.length > 0 && found.every((claim) => this.#hasClaim(claim)) && rest.every((word) => this.#saidWord(word))
    )
  }

  /** Whether the words were said one after the other; of a longer text, whether all were said. */
  #hasPhrase(text: string): boolean {
    if (this.share(text) < 1) return false
    const wanted = wordsOf(text)
    if (
      wanted.length === 1 ||
      wanted.length > MAX_PHRASE ||
      wanted.some((word) => !/[\p{Script=Latin}\p{N}]/u.test(word))
    )
      return true
    const all = wanted.map(forms)
    return this.#messages.some((said) =>
      said.some((_, from) => all.every((some, at) => said[from + at]?.some((form) => some.includes(form)) === true))
    )
  }

  #hasClaim({ keys }: Claim): boolean {
    return keys.some((key) => this.#keys.has(key) || (key.startsWith("day ") && this.hasDay(key.slice(4))))
  }

  /** Whether a number was said, or is one in minutes or hours. */
  hasNumber(value: string): boolean {
    const number = Number(value.replace(/[\s_]/g, "").replace(",", "."))
    return this.has(value) || [...this.#numbers].some((said) => [said, said * 60, said / 60].includes(number))
  }

  /** Whether a day was said: by its date, as a weekday near today, or by a period that is it or begins or ends with it. */
  hasDay(day: string): boolean {
    const distance = Math.abs(Date.parse(`${day}T00:00:00Z`) - Date.parse(`${this.locale.today}T00:00:00Z`)) / DAY_MS
    const exact = dayKeys(day).filter(
      (key) => /^(?:day|month-day) /.test(key) || (key.startsWith("weekday ") && distance <= NEAR)
    )
    return (
      exact.some((key) => this.#keys.has(key)) ||
      this.#ranges.some(
        ({ from, to }) => from === day || lastOf(to) === day || (from <= day && day < to && spanOf({ from, to }) <= 7)
      )
    )
  }

  /** Whether a time was said, in the morning or in the afternoon. */
  #hasTime(time: string): boolean {
    const [hour = "", minute = ""] = time.split(":")
    const either = [Number(hour), (Number(hour) + 12) % 24]
    return either.some(
      (one) =>
        this.#times.has(`${String(one).padStart(2, "0")}:${minute}`) ||
        (minute === "00" && one > 0 && this.#numbers.has(one))
    )
  }

  /** Whether a date or time was said, or follows from one that was said or is in a row by a number that was said. */
  hasTemporal(value: string, inRows: ReadonlyArray<number>): boolean {
    const found = temporal(value.trim())
    if (found === undefined) return this.has(value)
    const { day, minutes, time } = found
    if (this.hasDay(day) && (time === undefined || time === "00:00" || this.#hasTime(time))) return true
    const rows = inRows.slice(0, MOST)
    const dayOf = (one: number) => new Date(one * 60_000).toISOString().slice(0, 10)
    // The day stays that of the row, or the time does.
    if (time !== undefined && this.#hasTime(time) && rows.some((one) => dayOf(one) === day)) return true
    if (this.hasDay(day) && rows.some((one) => (one - minutes) % 1440 === 0)) return true
    const times = [
      ...this.#times,
      ...[...this.#numbers]
        .filter((one) => one > 0 && one < 24)
        .map((one) => `${String(Math.floor(one)).padStart(2, "0")}:00`)
    ]
    const saidAt = times.flatMap((one) => {
      const [hour, minute] = one.split(":")
      const start = minutesOf(day, hour, minute)
      return [start, start + 720]
    })
    const bases = [...rows, ...(this.hasDay(day) ? saidAt : [])]
    const steps = [...this.#numbers].flatMap((one) => [1, 60, 1440, 10_080].map((unit) => one * unit))
    return bases.some((base) => steps.includes(Math.abs(minutes - base)))
  }
}

const lastOf = (to: string): string => new Date(Date.parse(`${to}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10)
const spanOf = ({ from, to }: DateRange): number => (Date.parse(to) - Date.parse(from)) / DAY_MS

/** A text without its claims. */
const withoutClaims = (text: string, found: ReadonlyArray<Claim>): string => {
  let rest = ""
  let at = 0
  for (const { end, start } of found.toSorted((one, other) => one.start - other.start)) {
    rest += text.slice(at, Math.max(at, start))
    at = Math.max(at, end)
  }
  return rest + text.slice(at)
}
