/** Today and the time of day, as turns and filters see them. */
import { todayIn } from "./values.ts"

let pinned: string | undefined

/** Makes a date today for the rest of the process, at midnight; for `max eval`, whose cases are about fixed dates. */
export const pinToday = (date: string): void => {
  pinned = date
}

/** Today's date in a time zone, YYYY-MM-DD. */
export const today = (timeZone: string): string => pinned ?? todayIn(timeZone)

const timeFormats = new Map<string, Intl.DateTimeFormat>()

/** The time of day in a time zone, HH:MM. */
export const timeOfDay = (timeZone: string): string => {
  if (pinned !== undefined) return "00:00"
  const format =
    timeFormats.get(timeZone) ??
    new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" })
  timeFormats.set(timeZone, format)
  return format.format(new Date())
}
