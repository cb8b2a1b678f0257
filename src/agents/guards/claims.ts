/**
 * Extracts the verifiable claims of a text: e-mail addresses, links, phone numbers, dates, times and amounts, each with
 * normalized keys. Replies, results and people's messages share this one extractor, so different spellings of one value
 * compare equal.
 */
import { emailKey, phoneKey } from "../../domain/keys.ts"
import { type DateRange, isoDate } from "../../domain/values.ts"
import { asciiDigits } from "./normalize.ts"
import { relativeDates } from "./relativeDates.ts"

/** The context in which phone numbers and relative dates are parsed. */
export interface Locale {
  readonly country: string
  /** YYYY-MM-DD. */
  readonly today: string
}

export interface Claim {
  readonly kind: "url" | "email" | "phone" | "date" | "relative" | "time" | "amount"
  readonly start: number
  readonly end: number
  /** The claim is grounded if any of these keys is. */
  readonly keys: ReadonlyArray<string>
  /** The days that a relative date covers. */
  readonly range?: DateRange
}

const URL = /(?:[a-z][a-z0-9+.-]{1,20}:\/\/|www\.|(?:mailto|tel|data|javascript|file):(?=\S))[^\s<>"]+/gi
/** A host name: clients turn it into a link, even without a scheme. */
const HOST =
  /(?<![\p{L}\p{N}@._-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,24}(?![\p{L}\p{N}@])(?:[/?#][^\s<>"]*)?/gu
const EMAIL = /[^\s@<>()[\]{},;:"']+@[^\s@<>()[\]{},;:"']+/g
const PHONE = /(?<!\p{N})(?:\+|\()?\d(?:[\s().\-/]{0,3}\d){6,14}(?!\p{N})/gu
const TIME = /(?<![\d:.])(\d{1,2})(?::(\d{2})(?::\d{2})?(?:\s?([ap])\.?m\b\.?)?|\s?([ap])\.?m\b\.?)/gi
const CURRENCY =
  "[$€£¥₹₽₩₪฿₺]|\\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|SEK|NOK|DKK|PLN|CZK|BRL|MXN|ZAR|dollars?|euros?|pounds?|yen|francs?)\\b"
const NUMBER = "\\d{1,3}(?: \\d{3})+(?!\\d)|\\d+(?:[.,\\u2019']\\d+)*"
const AMOUNT = new RegExp(
  `(?:(${CURRENCY})\\s?)?(?<!\\p{N})(${NUMBER})(?!\\p{N})(?:\\s?(k|m|bn|million|billion|thousand|percent|%)(?!\\p{L}))?(?:\\s?(${CURRENCY}))?`,
  "giu"
)

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const MONTH =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?"
const MONTH_FIRST = new RegExp(`\\b(${MONTH})\\s+(\\d{1,2})(?:st|nd|rd|th)?\\b(?!:)(?:,?\\s+(\\d{4})\\b)?`, "gi")
const DAY_FIRST = new RegExp(
  `\\b(\\d{1,2})(?:st|nd|rd|th|\\.)?\\s+(?:of\\s+)?(${MONTH})(?![a-z])(?:,?\\s+(\\d{4})\\b)?`,
  "gi"
)
const MONTH_YEAR = new RegExp(`\\b(${MONTH})\\s+(\\d{4})\\b`, "gi")
const LONE_MONTH = /\b(?:January|February|April|June|July|August|September|October|November|December)\b/g
const ISO = /(?<!\d)(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?(?!\d)/g
const NUMERIC_DATE = /(?<![\d/.])(\d{1,2})([/.])(\d{1,2})\2(\d{4}|\d{2})(?![\d/])/g
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
const WEEKDAY = /\b(?:sun|mon|tues|wednes|thurs|fri|satur)day\b/gi

const pad = (value: string | number): string => String(value).padStart(2, "0")
const monthOf = (word: string): string => pad(MONTHS.indexOf(word.slice(0, 3).toLowerCase()) + 1)

/** The keys of every way to name a day. */
export const dayKeys = (day: string): ReadonlyArray<string> => [
  `day ${day}`,
  `month-day ${day.slice(5)}`,
  `year-month ${day.slice(0, 7)}`,
  `month ${day.slice(5, 7)}`,
  `number ${day.slice(0, 4)}`,
  `weekday ${new Date(`${day}T00:00:00Z`).getUTCDay()}`
]

/** The decimal forms of a number without its separators: two when the separators are ambiguous. */
const numberKeys = (text: string): ReadonlyArray<string> => {
  const bare = text.replace(/[\s'’]/g, "")
  const plain = (digits: string) =>
    digits
      .replace(/^0+(?=\d)/, "")
      .replace(/(\.\d*?)0+$/, "$1")
      .replace(/\.$/, "")
  const commas = plain(bare.replace(/,/g, ""))
  const points = plain(bare.replace(/\./g, "").replace(",", "."))
  return [...new Set([commas, points])]
    .filter((digits) => /^\d+(\.\d+)?$/.test(digits))
    .map((digits) => `number ${digits}`)
}

const CURRENCIES: Readonly<Record<string, string>> = {
  $: "usd",
  "€": "eur",
  "£": "gbp",
  "¥": "jpy",
  "₹": "inr",
  dollar: "usd",
  euro: "eur",
  pound: "gbp",
  yen: "jpy",
  franc: "chf"
}
const currencyOf = (word: string): string => {
  const lower = word.toLowerCase()
  return CURRENCIES[lower] ?? CURRENCIES[lower.replace(/s$/, "")] ?? lower
}

const trimmed = (text: string): string => text.replace(/[.,;:!?'"”’)\]}>*_]+$/u, "")

/** The claims of a text, unordered and without overlap. */
export const claims = (original: string, locale: Locale): ReadonlyArray<Claim> => {
  const found: Array<Claim> = []
  let text = asciiDigits(original)
  const take = (pattern: RegExp, read: (match: RegExpMatchArray) => Omit<Claim, "start" | "end"> | undefined) => {
    for (const match of text.matchAll(pattern)) {
      const claim = read(match)
      if (claim === undefined) continue
      const [start, end] = [match.index!, match.index! + match[0].length]
      found.push({ ...claim, start, end })
      text = text.slice(0, start) + "\u0001".repeat(end - start) + text.slice(end)
    }
  }
  const day = (year: string | undefined, month: string, date: string): ReadonlyArray<string> | undefined => {
    const [monthDay, known] = [`${month}-${pad(date)}`, year !== undefined]
    if (isoDate(`${known ? year : "2024"}-${monthDay}`) === undefined) return undefined
    return known ? [`day ${year}-${monthDay}`] : [`month-day ${monthDay}`]
  }
  const dated = (keys: ReadonlyArray<string> | undefined): Omit<Claim, "start" | "end"> | undefined =>
    keys === undefined ? undefined : { kind: "date", keys }

  take(URL, ([match]) => ({ kind: "url", keys: [`url ${match}`, `url ${trimmed(match)}`] }))
  take(EMAIL, ([match]) => {
    const key = emailKey(trimmed(match))
    return key === undefined ? undefined : { kind: "email", keys: [`email ${key}`] }
  })
  take(HOST, ([match]) => ({ kind: "url", keys: [`host ${trimmed(match).toLowerCase()}`, `url ${trimmed(match)}`] }))
  take(ISO, ([, date, time]) =>
    isoDate(date!) === undefined
      ? undefined
      : { kind: "date", keys: [`day ${date}`, ...(time === undefined ? [] : [`time ${time}`])] }
  )
  take(NUMERIC_DATE, ([, a, , b, year]) => {
    const full = year!.length === 2 ? `20${year}` : year!
    const either = [day(full, pad(a!), b!), day(full, pad(b!), a!)].flatMap((keys) => keys ?? [])
    return either.length === 0 ? undefined : { kind: "date", keys: either }
  })
  take(MONTH_FIRST, ([, month, date, year]) => dated(day(year, monthOf(month!), date!)))
  take(DAY_FIRST, ([, date, month, year]) => dated(day(year, monthOf(month!), date!)))
  take(MONTH_YEAR, ([, month, year]) => ({ kind: "date", keys: [`year-month ${year}-${monthOf(month!)}`] }))
  take(LONE_MONTH, ([month]) => ({ kind: "date", keys: [`month ${monthOf(month)}`] }))
  for (const { end, range, start } of relativeDates(text, locale.today)) {
    found.push({ kind: "relative", keys: [], range, start, end })
    text = text.slice(0, start) + "\u0001".repeat(end - start) + text.slice(end)
  }
  take(WEEKDAY, ([word]) => ({ kind: "relative", keys: [`weekday ${WEEKDAYS.indexOf(word.toLowerCase())}`] }))
  take(TIME, ([, hour, minute, half, alone]) => {
    const [twelve, letter] = [Number(hour), (half ?? alone)?.toLowerCase()]
    const hours = letter === undefined ? twelve : (twelve % 12) + (letter === "p" ? 12 : 0)
    return hours > 23 || Number(minute ?? 0) > 59
      ? undefined
      : { kind: "time", keys: [`time ${pad(hours)}:${minute ?? "00"}`] }
  })
  take(PHONE, ([match]) => {
    const digits = match.replace(/\D/g, "")
    const key = phoneKey(match, locale.country)
    return {
      kind: "phone",
      keys: [`digits ${digits}`, `number ${digits}`, ...(key === undefined ? [] : [`phone ${key}`])]
    }
  })
  take(AMOUNT, ([, before, number, scale, after]) => {
    const currency = before ?? after
    const digits = number!.replace(/\D/g, "")
    const weighs = currency !== undefined || scale !== undefined || digits.length >= 3 || /\d[.,]\d/.test(number!)
    if (!weighs) return undefined
    const keys = numberKeys(number!).flatMap((key) => scaled(key, scale))
    return { kind: "amount", keys: currency === undefined ? keys : keys.map((key) => `${key} ${currencyOf(currency)}`) }
  })
  return found
}

const SCALES: Readonly<Record<string, number>> = {
  k: 3,
  thousand: 3,
  m: 6,
  million: 6,
  bn: 9,
  billion: 9
}

/** Expands a scale: "1.2 million" becomes 1200000. A percentage stays as written. */
const scaled = (key: string, scale: string | undefined): ReadonlyArray<string> => {
  const zeros = SCALES[scale?.toLowerCase() ?? ""]
  if (zeros === undefined) return [key]
  const [whole = "", fraction = ""] = key.slice("number ".length).split(".")
  if (fraction.length > zeros) return []
  return [`number ${`${whole}${fraction.padEnd(zeros, "0")}`.replace(/^0+(?=\d)/, "")}`]
}
