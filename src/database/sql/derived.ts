/**
 * The SQL of derived columns, from that of their sources. Every operator is total: what can't be computed, such as the time
 * until infinity, is empty, because an error would depend on a row that the caller may not see.
 */
import type { ColumnKind, Derivation } from "../../domain/EntityType.ts"
import { isOrdinary, localTime } from "./moments.ts"

/** The value of a source, as SQL. */
export interface SourceValue {
  readonly kind: ColumnKind
  readonly value: string
}

interface Zone {
  readonly timeZone: () => string
}

/** Decimal places of hours and days. */
const PLACES = 4
/** In each factor of a product; larger ones could exceed the digits of a number. */
const MAX_FACTOR = "1e30"

export const derivation = (as: Derivation, sources: ReadonlyArray<SourceValue>, zone: Zone): string => {
  const [first, second] = sources as readonly [SourceValue, SourceValue]
  switch (as) {
    case "hours":
      return elapsed(first, second, 3600, zone)
    case "days":
      return elapsed(first, second, 86_400, zone)
    case "years":
      return wholeYears(localDate(first, zone), localDate(second, zone))
    case "since":
      return wholeYears(localDate(first, zone), `timezone(${zone.timeZone()}, now())::date`)
    case "product": {
      const [a, b] = [`(${first.value})::numeric`, `(${second.value})::numeric`]
      return `(CASE WHEN abs(${a}) < ${MAX_FACTOR} AND abs(${b}) < ${MAX_FACTOR} THEN trim_scale(${a} * ${b}) END)`
    }
  }
}

/** Seconds are subtracted and not times, whose difference can exceed an interval. Beside a time, a date is the beginning of its day. */
const elapsed = (from: SourceValue, to: SourceValue, unit: number, zone: Zone): string => {
  const mixed = from.kind !== to.kind
  const seconds = ({ kind, value }: SourceValue) =>
    `extract(epoch FROM ${mixed && kind === "date" ? `timezone(${zone.timeZone()}, (${value})::timestamp)` : `(${value})`})`
  const guard = ({ kind, value }: SourceValue) =>
    mixed && kind === "date" ? `(${isOrdinary(`(${value})`)})` : `isfinite(${value})`
  return `(CASE WHEN ${guard(from)} AND ${guard(to)} THEN trim_scale(round((${seconds(to)} - ${seconds(from)}) / ${unit}, ${PLACES})) END)`
}

const localDate = ({ kind, value }: SourceValue, zone: Zone): string =>
  kind === "date" ? `(${value})` : `(${localTime(value, zone)})::date`

/** Dates as numbers, such as 20261124: their difference without its last four digits is the number of completed years. */
const wholeYears = (from: string, to: string): string => {
  const number = (date: string) =>
    `(extract(year FROM ${date}) * 10000 + extract(month FROM ${date}) * 100 + extract(day FROM ${date}))`
  const guard = (date: string) => `${date} >= '0001-01-01' AND ${date} < 'infinity'`
  return `(CASE WHEN ${guard(from)} AND ${guard(to)} THEN div(${number(to)} - ${number(from)}, 10000) END)`
}
