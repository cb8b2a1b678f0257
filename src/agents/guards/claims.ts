/**
 * Extracts the verifiable claims of a text: e-mail addresses, links, phone numbers, dates, times and amounts, each with
 * normalized keys. Replies, results and people's messages share this one extractor, so different spellings of one value
 * compare equal.
 */
import { emailKey, phoneKey } from "../../domain/keys.ts"
import { withoutFinal, withoutFinalZeros } from "../../domain/text.ts"
import { type DateRange, isoDate } from "../../domain/values.ts"
import { MONTHS, WEEKDAYS } from "../english.ts"
import { asciiDigits } from "./normalize.ts"
import { relativeDates } from "./relativeDates.ts"

/** Phone numbers of one text that the library parses, which takes it 20 µs each; others compare by their digits. */
const MAX_PHONES = 200

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

/** Where links begin, or the end of their scheme. */
const LINK = /:\/\/|www\.|(?:mailto|tel|data|javascript|file):/gi
const LINK_REST = /[^\s<>"]*/y
/** A host name: clients turn it into a link, even without a scheme. */
const HOST =
  /(?<![\p{L}\p{N}@._-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,24}(?![\p{L}\p{N}@])(?:[/?#][^\s<>"]*)?/gu
/** Begins at the beginning of a word only, so that every word is read once. */
const EMAIL = /(?<![^\s@<>()[\]{},;:"'])[^\s@<>()[\]{},;:"']+@[^\s@<>()[\]{},;:"']+/g
/** Spaces other than line breaks: two lines of a list are two numbers. */
const PHONE = /(?<!\p{N})(?:\+|\()?\d(?:(?:[^\S\n\v\f\r\u2028\u2029]|[().\-/]){0,3}\d){6,14}(?!\p{N})/gu
const TIME = /(?<![\d:.])(\d{1,2})(?::(\d{2})(?::\d{2})?(?:\s?([ap])\.?m\b\.?)?|\s?([ap])\.?m\b\.?)/gi
const CURRENCY =
  "[$€£¥₹₽₩₪฿₺]|\\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|SEK|NOK|DKK|PLN|CZK|BRL|MXN|ZAR|dollars?|euros?|pounds?|yen|francs?)\\b"
const NUMBER = "\\d{1,3}(?: \\d{3})+(?!\\d)|\\d+(?:[.,\\u2019']\\d+)*"
const AMOUNT = new RegExp(
  `(?:(${CURRENCY})\\s?)?(?<!\\p{N})(${NUMBER})(?!\\p{N})(?:\\s?(k|m|bn|million|billion|thousand|percent|%)(?!\\p{L}))?(?:\\s?(${CURRENCY}))?`,
  "giu"
)

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
const WEEKDAY = /\b(?:sun|mon|tues|wednes|thurs|fri|satur)day\b/gi
const TYPED_MONTH = new RegExp(`\\b(${MONTH})(?![a-z])`, "gi")
const TYPED_WEEKDAY = /\b((?:sun|mon|tues|wednes|thurs|fri|satur)day)s?\b/gi

const pad = (value: string | number): string => String(value).padStart(2, "0")
const monthOf = (word: string): string => pad(MONTHS[word.slice(0, 3).toLowerCase()]!)

/** The months, such as 11, that a person's words may name, however they are written: "November", "nov", "may". */
export const monthsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(TYPED_MONTH)].map(([, word]) => monthOf(word!))

/** The days of the week, from Sunday (0), that a person's words name: "Monday", "mondays". */
export const weekdaysIn = (text: string): ReadonlyArray<number> =>
  [...text.matchAll(TYPED_WEEKDAY)].map(([, word]) => WEEKDAYS[word!.toLowerCase()]!)

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
  const plain = (digits: string) => withoutFinalZeros(digits.replace(/^0+(?=\d)/, ""))
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

const trimmed = (text: string): string => withoutFinal(text, `.,;:!?'"”’)]}>*_`)

/** Replaces ranges of a text by as many characters that no pattern takes. */
const blanked = (text: string, ranges: ReadonlyArray<Pick<Claim, "start" | "end">>): string => {
  const parts: Array<string> = []
  let at = 0
  for (const { end, start } of ranges.toSorted((a, b) => a.start - b.start)) {
    if (end <= at) continue
    parts.push(text.slice(at, start), "\u0001".repeat(end - Math.max(at, start)))
    at = end
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(at)
}

const SCHEME = /[a-z0-9+.-]/i
const MAX_SCHEME = 21

/** The length of the longest scheme that ends at a position: a letter and up to 20 characters. */
const schemeBefore = (text: string, end: number): number => {
  let length = 0
  for (let at = end - 1; at >= Math.max(0, end - MAX_SCHEME) && SCHEME.test(text[at]!); at--) {
    if (/[a-z]/i.test(text[at]!)) length = end - at
  }
  return length
}

/** Adds the links of a text, and blanks them. */
const takeLinks = (text: string, found: Array<Claim>): string => {
  let taken = 0
  for (const match of text.matchAll(LINK)) {
    const { index } = match
    if (index < taken) continue
    const colon = index + match[0].indexOf(":")
    const scheme = colon >= index && text.startsWith("://", colon) ? schemeBefore(text, colon) : undefined
    if (scheme === 1 || (scheme === 0 && match[0] === "://")) continue
    LINK_REST.lastIndex = scheme === undefined ? index + match[0].length : colon + 3
    const [rest] = LINK_REST.exec(text)!
    const [start, end] = [scheme === undefined ? index : colon - scheme, LINK_REST.lastIndex]
    if (rest === "") continue
    const link = text.slice(start, end)
    found.push({ kind: "url", keys: [`url ${link}`, `url ${trimmed(link)}`], start, end })
    taken = end
  }
  return blanked(text, found)
}

/** The claims of a text, unordered and without overlap. */
export const claims = (original: string, locale: Locale): ReadonlyArray<Claim> => {
  const found: Array<Claim> = []
  let text = asciiDigits(original)
  const take = (pattern: RegExp, read: (match: RegExpMatchArray) => Omit<Claim, "start" | "end"> | undefined) => {
    const taken: Array<Claim> = []
    for (const match of text.matchAll(pattern)) {
      const claim = read(match)
      if (claim !== undefined) taken.push({ ...claim, start: match.index!, end: match.index! + match[0].length })
    }
    text = blanked(text, taken)
    for (const claim of taken) found.push(claim)
  }
  const day = (year: string | undefined, month: string, date: string): ReadonlyArray<string> | undefined => {
    const [monthDay, known] = [`${month}-${pad(date)}`, year !== undefined]
    if (isoDate(`${known ? year : "2024"}-${monthDay}`) === undefined) return undefined
    return known ? [`day ${year}-${monthDay}`] : [`month-day ${monthDay}`]
  }
  const dated = (keys: ReadonlyArray<string> | undefined): Omit<Claim, "start" | "end"> | undefined =>
    keys === undefined ? undefined : { kind: "date", keys }

  text = takeLinks(text, found)
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
  const relative = relativeDates(text, locale.today)
  for (const { end, range, start } of relative) found.push({ kind: "relative", keys: [], range, start, end })
  text = blanked(text, relative)
  take(WEEKDAY, ([word]) => ({ kind: "relative", keys: [`weekday ${WEEKDAYS[word.toLowerCase()]}`] }))
  take(TIME, ([, hour, minute, half, alone]) => {
    const [twelve, letter] = [Number(hour), (half ?? alone)?.toLowerCase()]
    const hours = letter === undefined ? twelve : (twelve % 12) + (letter === "p" ? 12 : 0)
    return hours > 23 || Number(minute ?? 0) > 59
      ? undefined
      : { kind: "time", keys: [`time ${pad(hours)}:${minute ?? "00"}`] }
  })
  let phones = 0
  take(PHONE, ([match]) => {
    const digits = match.replace(/\D/g, "")
    const key = phones++ < MAX_PHONES ? phoneKey(match, locale.country) : undefined
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
