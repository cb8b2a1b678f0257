/** Dates and times in the reader's locale and time zone. */

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" })
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" })
const DAY_AND_YEAR = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" })
const SHORT_DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" })

const startOf = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()

/** Calendar days between two moments. */
const daysBetween = (date: Date, now: Date): number => Math.round((startOf(now) - startOf(date)) / 86_400_000)

export const clock = (date: Date): string => CLOCK.format(date)

/** "Today", "Yesterday", a day of this year, or a date. */
export const dayName = (date: Date, now = new Date()): string => {
  const days = daysBetween(date, now)
  if (days === 0) return "Today"
  if (days === 1) return "Yesterday"
  return (date.getFullYear() === now.getFullYear() ? DAY : DAY_AND_YEAR).format(date)
}

/** The heading under which a list groups a date. */
export const periodName = (date: Date, now = new Date()): string => {
  const days = daysBetween(date, now)
  if (days <= 0) return "Today"
  if (days === 1) return "Yesterday"
  if (days < 7) return "This week"
  if (days < 31) return "This month"
  return "Earlier"
}

/** The time if it is today, otherwise the day. */
export const shortDate = (date: Date, now = new Date()): string =>
  daysBetween(date, now) <= 0 ? clock(date) : SHORT_DAY.format(date)

const DATED = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?)?$/
const VALUE_DAY = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC"
})
const VALUE_CLOCK = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit", timeZone: "UTC" })

/** A date or time from the organization's data, formatted without converting its time zone. */
export const dateValue = (text: string): string => {
  const match = DATED.exec(text)
  if (match === null) return text
  const [, year, month, day, hour, minute] = match
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour ?? 0), Number(minute ?? 0)))
  return hour === undefined ? VALUE_DAY.format(at) : `${VALUE_DAY.format(at)}, ${VALUE_CLOCK.format(at)}`
}
