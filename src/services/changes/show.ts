/** Stored texts as people read them: printable, cut, and times in the organization's zone. */
import type { Catalog, Column } from "../../domain/EntityType.ts"
import { printable } from "../../domain/text.ts"
import { listOf } from "../cells/cellWriter.ts"

/** In characters. */
const MAX_SHOWN = 200

/** A cell's stored text for a person; undefined for an empty cell. References have names instead, which have a plan. */
export const showText = (column: Column, text: string | null, { organization }: Catalog): string | undefined => {
  if (text === null) return undefined
  if (column.kind === "timestamp") return localTime(text, organization.timeZone)
  return cut(
    column.kind === "list"
      ? listOf(text)
          .map((part) => part ?? "")
          .join(", ")
      : text
  )
}

export const cut = (text: string): string => {
  const clean = [...printable(text.slice(0, 4 * MAX_SHOWN))]
  return clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN - 1).join("")}…` : clean.join("")
}

const formats = new Map<string, Intl.DateTimeFormat>()

export const localTime = (text: string, timeZone: string): string => {
  const time = Date.parse(text)
  if (Number.isNaN(time)) return cut(text)
  const seconds = time % 60_000 !== 0
  const key = `${timeZone} ${seconds}`
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: seconds ? "medium" : "short" })
  formats.set(key, format)
  return format.format(time)
}
