/** Numbers, dates and words as files of a locale write them → the forms that cells are written from. */
import { Effect } from "effect"
import type { ColumnKind } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { isoDate } from "../../domain/values.ts"
import { Remedies } from "./remedies.ts"

export interface LocalOptions {
  /** The locale of the files, such as de-DE. */
  readonly locale?: string | undefined
  /** The order of day, month and year: dmy, mdy or ymd; by default the locale's. */
  readonly dates?: string | undefined
}

/** The plain form of a text for a kind of column; undefined when the text has none besides itself. */
export type LocalForms = (kind: ColumnKind, text: string) => string | undefined

type Order = "dmy" | "mdy" | "ymd"

const isOrder = (text: string): text is Order => text === "dmy" || text === "mdy" || text === "ymd"

/** Words for yes and no by language. */
const WORDS: Readonly<Record<string, readonly [yes: RegExp, no: RegExp]>> = {
  de: [/^(ja|j|wahr)$/i, /^(nein|n|falsch)$/i],
  fr: [/^(oui|o|vrai)$/i, /^(non|n|faux)$/i],
  es: [/^(s[ií]|s|verdadero)$/i, /^(no|n|falso)$/i],
  it: [/^(s[iì]|s|vero)$/i, /^(no|n|falso)$/i],
  pt: [/^(sim|s|verdadeiro)$/i, /^(n[aã]o|n|falso)$/i],
  nl: [/^(ja|j|waar)$/i, /^(nee|n|onwaar)$/i],
  en: [/^(yes|y|true)$/i, /^(no|n|false)$/i]
}

export const localForms = Effect.fnUntraced(function* ({ dates, locale }: LocalOptions) {
  const { option } = yield* Remedies
  if (dates !== undefined && !isOrder(dates))
    return yield* OperatorError.of(
      `${option("dates", quoted(dates))}: it is dmy, mdy or ymd, such as dmy for 31.12.2026.`
    )
  const known = locale === undefined ? undefined : yield* localeNamed(locale, option)
  const forms: LocalForms = readerOf(known, dates ?? (known === undefined ? undefined : orderOf(known)))
  return forms
})

const localeNamed = (locale: string, option: Remedies["option"]): Effect.Effect<string, OperatorError> => {
  const known = () => {
    try {
      return Intl.NumberFormat.supportedLocalesOf(locale)[0]
    } catch {
      return undefined
    }
  }
  const found = known()
  return found === undefined
    ? Effect.fail(
        OperatorError.of(`${option("locale", quoted(locale))}: this isn't a locale such as de-DE, en-US or fr-FR.`)
      )
    : Effect.succeed(found)
}

const readerOf = (locale: string | undefined, order: Order | undefined): LocalForms => {
  const [yes, no] = WORDS[locale?.slice(0, 2) ?? ""] ?? []
  const decimal =
    locale === undefined
      ? undefined
      : new Intl.NumberFormat(locale).formatToParts(1.5).find(({ type }) => type === "decimal")?.value
  return (kind, text) => {
    if (text.length > 100) return undefined
    switch (kind) {
      case "integer":
      case "number":
        return plainNumber(text, decimal)
      case "boolean":
        return yes?.test(text) === true ? "true" : no?.test(text) === true ? "false" : undefined
      case "date":
      case "timestamp":
        return order === undefined ? undefined : plainDate(text, order, kind === "timestamp")
      default:
        return undefined
    }
  }
}

/** A number with the marks around it: a sign, in front or behind (1.200,00-), a currency, a percent sign, or brackets of a negative amount. */
const AMOUNT =
  /^(?<open>\()?(?<sign>[-+\u2212])?\s?(?<before>\p{Sc}|[A-Z]{3}\s)?\s?(?<inner>[-\u2212])?(?<digits>\d[\d.,'\u2019\s]*)(?<last>[-\u2212])?\s?(?<after>\p{Sc}|[A-Z]{3}|%)?(?<close>\))?$/u
const PLAIN = /^-?\d+(\.\d+)?$/
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"))

const isUnit = (mark: string | undefined): boolean => {
  const text = mark?.trim() ?? ""
  return text.length === 3 ? CURRENCIES.has(text) : true
}

/** `decimal`: the locale's separator; without one, only texts that have one meaning in every locale are numbers. */
const plainNumber = (text: string, decimal: string | undefined): string | undefined => {
  if (PLAIN.test(text) && (decimal !== "," || !text.includes("."))) return undefined
  const { after, before, close, digits: matched = "", inner, last, open, sign } = AMOUNT.exec(text)?.groups ?? {}
  const digits = matched.trim()
  const marked = before !== undefined || after !== undefined || open !== undefined
  const signs = [open, sign, inner, last].filter((each) => each !== undefined)
  if (
    digits === "" ||
    !isUnit(before) ||
    !isUnit(after) ||
    signs.length > 1 ||
    (open === undefined) !== (close === undefined)
  )
    return undefined
  const separators = digits.match(/\D/g) ?? []
  if (separators.length === 0 && !marked) return undefined
  const point = decimal ?? pointOf(digits, separators, marked)
  if (point === undefined && separators.length > 0 && !(marked && separators.length > 1)) return undefined
  const at = point === undefined ? -1 : digits.lastIndexOf(point)
  const [whole, fraction] = at < 0 ? [digits, ""] : [digits.slice(0, at), digits.slice(at + 1)]
  if (!/^\d*$/.test(fraction) || !isGrouped(whole)) return undefined
  const negative = signs.some((each) => each !== "+")
  return `${negative ? "-" : ""}${whole.replace(/\D/g, "")}${fraction === "" ? "" : `.${fraction}`}`
}

/** The decimal separator of a text of an unknown locale: the last of two different ones, or the point of an amount. */
const pointOf = (digits: string, separators: ReadonlyArray<string>, marked: boolean): string | undefined => {
  const last = separators.at(-1)
  if ((last !== "." && last !== ",") || separators.filter((each) => each === last).length > 1) return undefined
  if (new Set(separators).size === 2) return last
  return marked && last === "." && !/^\d{1,3}\.\d{3}$/.test(digits) ? last : undefined
}

/** Digits without a separator, or in groups of three with one. */
const isGrouped = (whole: string): boolean =>
  /^\d+$/.test(whole) || /^\d{1,3}([.,'\u2019\s])\d{3}(?:\1\d{3})*$/.test(whole)

const DATE = /^(\d{1,4})([./-])\s?(\d{1,2})\2\s?(\d{1,4})(?:(?:,?\s+|T)(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/

const plainDate = (text: string, order: Order, time: boolean): string | undefined => {
  const [, a = "", , b = "", c = "", hour, minute, second] = DATE.exec(text) ?? []
  const [year, month, day] = order === "dmy" ? [c, b, a] : order === "mdy" ? [c, a, b] : [a, b, c]
  if (year.length !== 4 || (hour !== undefined && !time)) return undefined
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
  if (isoDate(date) === undefined) return undefined
  const plain = time
    ? `${date} ${(hour ?? "0").padStart(2, "0")}:${minute ?? "00"}${second === undefined ? "" : `:${second}`}`
    : date
  return plain === text ? undefined : plain
}

const orderOf = (locale: string): Order => {
  const parts = new Intl.DateTimeFormat(locale, { year: "numeric", month: "2-digit", day: "2-digit" }).formatToParts(0)
  const order = parts.map(({ type }) => ({ day: "d", month: "m", year: "y" })[type as "day"] ?? "").join("")
  return isOrder(order) ? order : "ymd"
}
