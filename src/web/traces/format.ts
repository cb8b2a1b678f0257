/** Formats durations, times and counts. */

/** A duration in milliseconds with three significant digits and its unit. */
export const duration = (ms: number): string => {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`
  return `${ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2)} ms`
}

/** A limit of the histogram's bars, given in milliseconds. */
export const boundary = (ms: number): string => (ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`)

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23"
})
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" })

/** The time of day, with the date if it isn't today. */
export const startTime = (iso: string): string => {
  const date = new Date(iso)
  const time = clock.format(date)
  return date.toDateString() === new Date().toDateString() ? time : `${day.format(date)}, ${time}`
}

export const counted = (count: number, one: string, more = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : more}`

/** The name of an attribute without its namespace. */
export const attributeName = (name: string): string => name.replace(/^(max|gen_ai|db|http)\./, "")

/** A share as a percentage. */
export const share = (part: number, whole: number): string => {
  const percent = (part / whole) * 100
  return percent > 0 && percent < 0.5 ? "< 1 %" : `${percent.toFixed(0)} %`
}
