/** Parses values of people, policies and attributes by column kind. */
import { DateTime, Option } from "effect"
import { decodeId, encodeId } from "./ids.ts"
import { emailKey, phoneSearchKey } from "./keys.ts"
import { withoutFinalZeros } from "./text.ts"
import type { Column, ColumnKind, IdType, Organization } from "./EntityType.ts"
import type { Literal, Scalar } from "./Predicate.ts"

const INTEGER = /^[+-]?\d{1,19}$/
const DECIMAL = /^[+-]?(\d{1,100}(\.\d{0,100})?|\.\d{1,100})$/
const MAX_BIGINT = 9223372036854775807n

const daysInMonth = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** An id that no row has: a comparison with it is false, or unknown for NULL. */
const NO_ID = "-1"

const integer = (text: string): string | undefined => {
  if (!INTEGER.test(text)) return undefined
  const value = BigInt(text)
  return value <= MAX_BIGINT && value >= -MAX_BIGINT ? value.toString() : undefined
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?(Z|[+-](?:0\d|1[0-5]):?[0-5]\d)?$/

/** The date if it exists (years 1 to 9999); otherwise undefined. */
export const isoDate = (text: string): string | undefined => {
  const match = DATE.exec(text)
  if (match === null) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month) ? text : undefined
}

/** A timestamp as ISO text; without an offset, it is the organization's local time. */
export const isoTimestamp = (text: string): string | undefined => {
  const date = isoDate(text)
  if (date !== undefined) return `${date}T00:00:00`
  const match = TIMESTAMP.exec(text)
  if (match === null || isoDate(match[1]!) === undefined) return undefined
  const [hour, minute, second] = [Number(match[2]), Number(match[3]), Number(match[4] ?? 0)]
  return hour < 24 && minute < 60 && second < 60 ? text.replace(" ", "T") : undefined
}

/** Whether this is the IANA name of a time zone; numeric offsets are refused. */
export const isTimeZone = (name: string): boolean => {
  try {
    return (
      new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== undefined && !/^[+-]/.test(name)
    )
  } catch {
    return false
  }
}

/**
 * Converts a literal or attribute for comparison with a column: exact, except that phone numbers and e-mail addresses
 * are normalized. Undefined for a value that isn't of the column's kind; such a comparison is unknown.
 */
export const bindScalar = (column: Column, value: Scalar, organization: Organization): Literal | undefined => {
  if (typeof value === "number" && !Number.isFinite(value)) return undefined
  if (typeof value === "string" && value.includes("\u0000")) return undefined
  switch (column.kind) {
    case "boolean":
      return typeof value === "boolean" ? value : undefined
    case "integer":
      return typeof value === "boolean" || (typeof value === "number" && !Number.isSafeInteger(value))
        ? undefined
        : integer(String(value))
    case "number":
      return typeof value === "boolean" ? undefined : decimal(value)
    default:
      return typeof value === "string" ? bindText(column, value, organization) : undefined
  }
}

const decimal = (value: string | number): string | undefined => {
  const text = typeof value === "number" && /e/i.test(String(value)) ? plainDecimal(value) : String(value)
  return text !== undefined && DECIMAL.test(text) ? text : undefined
}

const plainDecimal = (value: number): string | undefined =>
  Math.abs(value) < 1e21 ? withoutFinalZeros(value.toFixed(20)) : BigInt(value).toString()

const bindText = (
  { ids, kind }: { readonly kind: ColumnKind; readonly ids?: IdType },
  value: string,
  organization: Organization
): Literal | undefined => {
  switch (kind) {
    case "phone":
      return phoneSearchKey(value, organization.country)
    case "email":
      return emailKey(value)
    case "date":
      return isoDate(value)
    case "timestamp":
      return isoTimestamp(value)
    case "reference":
    case "references":
      return parseId(value, ids)
    default:
      return value
  }
}

/** Parses an entity id for binding; undefined for text that can't be an id of the type. */
export const parseId = (text: string, ids: IdType | undefined): string | undefined => {
  switch (ids) {
    case undefined:
      return decodeId(text)?.toString()
    case "bigint":
      return /^(0|-?[1-9]\d{0,18})$/.test(text) ? integer(text) : undefined
    case "uuid":
      return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : undefined
    case "text":
    case "bpchar":
      return text === "" || text.includes("\u0000") || text.length > MAX_TEXT_ID ? undefined : text
  }
}

/** Formats a database id as callers see it. */
export const showId = (value: string | bigint, ids: IdType | undefined): string =>
  ids === undefined ? encodeId(BigInt(value)) : String(value)

const MAX_TEXT_ID = 200

/** Parses a managed entity id for binding; invalid text becomes an id that no row has. */
export const entityId = (text: string): string => decodeId(text)?.toString() ?? NO_ID

/** Compares two decimal texts exactly: negative, zero or positive. */
export const compareDecimals = (a: string, b: string): number => {
  const [left, right] = [a, b].map((text) => {
    const [, sign, whole = "", fraction = ""] = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text) ?? []
    return { sign: sign === "-" ? -1n : 1n, whole, fraction }
  }) as [Parts, Parts]
  const digits = Math.max(left.fraction.length, right.fraction.length)
  const scaled = ({ fraction, sign, whole }: Parts) => sign * BigInt(`${whole}${fraction.padEnd(digits, "0")}` || "0")
  const difference = scaled(left) - scaled(right)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

interface Parts {
  readonly sign: bigint
  readonly whole: string
  readonly fraction: string
}

/** Microseconds since 1970 of an ISO timestamp; without an offset, in the time zone. */
export const microseconds = (text: string, timeZone: string): number => {
  const offset = /(Z|[+-]\d{2}:?\d{2})$/.test(text.slice(11))
  const point: Option.Option<DateTime.DateTime> = offset
    ? DateTime.make(text.replace(/([+-]\d{2})(\d{2})$/, "$1:$2"))
    : DateTime.makeZoned(`${text.replace(" ", "T")}Z`, { timeZone, adjustForTimeZone: true })
  const beyondMillis = TIMESTAMP.exec(text)?.[5]?.slice(3) ?? ""
  return Option.isNone(point) ? Number.NaN : point.value.epochMilliseconds * 1000 + Number(beyondMillis.padEnd(3, "0"))
}

/** A half-open range of dates or local times, as ISO text. */
export interface DateRange {
  readonly from: string
  readonly to: string
}

const PERIOD = /^(\d{4})(?:-(\d{2}))?$/
const QUARTER = /^(\d{4})-q([1-4])$/
const WEEK = /^(\d{4})-w(\d{2})$/
const pad = (value: number, width = 2) => String(value).padStart(width, "0")

const shiftDay = (date: string, days: number): string => {
  const [year, month, day] = date.split("-").map(Number) as [number, number, number]
  const shifted = new Date(0)
  shifted.setUTCFullYear(year, month - 1, day + days)
  return `${pad(shifted.getUTCFullYear(), 4)}-${pad(shifted.getUTCMonth() + 1)}-${pad(shifted.getUTCDate())}`
}

const dayRange = (date: string): DateRange => ({ from: date, to: shiftDay(date, 1) })

const monthStart = (year: number, month: number): string =>
  month > 12 ? `${pad(year + 1, 4)}-01-01` : `${pad(year, 4)}-${pad(month)}-01`

const quarterRange = (year: number, quarter: number): DateRange => ({
  from: monthStart(year, 3 * quarter - 2),
  to: monthStart(year, 3 * quarter + 1)
})

/** An ISO week: it begins on Monday, and week 1 has January 4. Undefined for a week that the year doesn't have. */
const weekRange = (year: number, week: number): DateRange | undefined => {
  const firstOf = (ofYear: number): string => {
    const fourth = new Date(0)
    fourth.setUTCFullYear(ofYear, 0, 4)
    return shiftDay(`${pad(ofYear, 4)}-01-04`, -((fourth.getUTCDay() + 6) % 7))
  }
  const from = shiftDay(firstOf(year), 7 * (week - 1))
  return week >= 1 && from < firstOf(year + 1) ? { from, to: shiftDay(from, 7) } : undefined
}

/** Parses YYYY, YYYY-MM, YYYY-MM-DD, YYYY-Qn, YYYY-Wnn, today, tomorrow or yesterday into a half-open range. */
export const dateRange = (text: string, today: () => string): DateRange | undefined => {
  const word = text.trim().toLowerCase()
  if (word === "today") return dayRange(today())
  if (word === "tomorrow") return dayRange(shiftDay(today(), 1))
  if (word === "yesterday") return dayRange(shiftDay(today(), -1))
  const date = isoDate(word)
  if (date !== undefined) return dayRange(date)
  const part = QUARTER.exec(word) ?? WEEK.exec(word)
  if (part !== null) {
    const [year, number] = [Number(part[1]), Number(part[2])]
    if (year < 1 || year > 9998) return undefined
    return word.includes("q") ? quarterRange(year, number) : weekRange(year, number)
  }
  const period = PERIOD.exec(word)
  if (period === null) return undefined
  const [year, month] = [Number(period[1]), period[2] === undefined ? undefined : Number(period[2])]
  if (year < 1 || year > 9998) return undefined
  if (month === undefined) return { from: `${pad(year, 4)}-01-01`, to: `${pad(year + 1, 4)}-01-01` }
  if (month < 1 || month > 12) return undefined
  const following = month === 12 ? `${pad(year + 1, 4)}-01-01` : `${pad(year, 4)}-${pad(month + 1)}-01`
  return { from: `${pad(year, 4)}-${pad(month)}-01`, to: following }
}

const dayFormats = new Map<string, Intl.DateTimeFormat>()

/** Today's date in a time zone, YYYY-MM-DD. */
export const todayIn = (timeZone: string, now: Date = new Date()): string => {
  // Constructing a formatter costs a hundred times as much as using it.
  const format =
    dayFormats.get(timeZone) ??
    new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" })
  dayFormats.set(timeZone, format)
  return format.format(now)
}
