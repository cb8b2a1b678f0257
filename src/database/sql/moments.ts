/** Times in other zones, which no value of a row can make fail: a zone would carry the first and last ones out of the type. */

/** Whether a date or time is far enough from the first and last ones of its type that neither a zone nor a period leaves the type. */
export const isOrdinary = (value: string): string => `${value} >= '4712-01-01 BC' AND ${value} < '294276-01-01'`

/** A time, with or without a zone, moved to or from a zone; at the ends of the type's range to or from UTC. */
export const inZone = (zone: string, value: string): string =>
  `CASE WHEN ${isOrdinary(value)} THEN timezone(${zone}, ${value}) ELSE timezone('UTC', ${value}) END`

/** A time in the organization's zone. */
export const localTime = (value: string, { timeZone }: { readonly timeZone: () => string }): string =>
  inZone(timeZone(), value)

/** A date as text; `to_char` makes a time of it, which has fewer years. */
export const dateText = (value: string): string =>
  `CASE WHEN ${isOrdinary(value)} THEN to_char(${value}, 'YYYY-MM-DD') WHEN isfinite(${value}) THEN ${value}::text END`
