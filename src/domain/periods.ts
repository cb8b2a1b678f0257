/** Periods of time as groups: their names, which are also values of filters, and the ones that follow each other. */
import type { Bucket } from "./Query.ts"

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
const DAY = 86_400_000

/** The name of a period by its first day, or by the number of a weekday or an hour. */
export const periodName = (bucket: Bucket, first: string): string => {
  switch (bucket) {
    case "hour":
      return `${first.padStart(2, "0")}:00`
    case "weekday":
      return WEEKDAYS[Number(first) - 1] ?? first
    case "day":
      return first
    case "week":
      return weekName(first)
    case "month":
      return first.slice(0, -3)
    case "quarter":
      return `${first.slice(0, -6)}-Q${Math.ceil(Number(first.slice(-5, -3)) / 3)}`
    case "year":
      return first.slice(0, -6)
  }
}

/** An ISO week has the year of its Thursday. */
const weekName = (monday: string): string => {
  const thursday = new Date(Date.parse(monday) + 3 * DAY)
  if (Number.isNaN(thursday.getTime())) return monday
  const year = thursday.getUTCFullYear()
  const days = (thursday.getTime() - Date.UTC(year, 0, 1)) / DAY
  return `${String(year).padStart(4, "0")}-W${String(Math.floor(days / 7) + 1).padStart(2, "0")}`
}

/** The first day of the next period; undefined for weekdays and hours, which come again. */
export const nextPeriod = (bucket: Bucket, first: string): string | undefined => {
  if (bucket === "hour" || bucket === "weekday") return undefined
  const date = new Date(Date.parse(first))
  if (Number.isNaN(date.getTime())) return undefined
  if (bucket === "day" || bucket === "week") date.setUTCDate(date.getUTCDate() + (bucket === "day" ? 1 : 7))
  else date.setUTCMonth(date.getUTCMonth() + (bucket === "month" ? 1 : bucket === "quarter" ? 3 : 12))
  return date.toISOString().slice(0, 10)
}
