/** A row → a line, as CSV for spreadsheets or as JSON with nothing lost. */
import type { Column } from "../../../domain/EntityType.ts"

export const EXPORT_FORMATS = ["csv", "jsonl"] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** What a cell holds: text as Postgres writes it, several, or nothing. */
export type Value = string | ReadonlyArray<string> | null

/** A column of an export. */
export interface Field {
  readonly header: string
  readonly kind: Column["kind"]
}

/** What a spreadsheet would run: a formula begins with one of these, or with white space before it. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/
/** A phone number begins with + and is no formula: there is nothing in it to run. */
const PHONE = /^\+[\d ()./-]+$/

/** A cell of CSV; text that a spreadsheet would take for a formula gets an apostrophe before it. */
const csvCell = (value: Value, { kind }: Field): string => {
  const text =
    value === null
      ? ""
      : typeof value === "string"
        ? value
        : value.some((one) => one.includes(";"))
          ? JSON.stringify(value)
          : value.join(";")
  const harmless = kind === "number" || kind === "integer" || (kind === "phone" && PHONE.test(text))
  const safe = !harmless && FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A value as JSON has it; numbers that JavaScript can't hold exactly stay text. */
const jsonValue = (value: Value, { kind }: Field): unknown => {
  if (typeof value !== "string") return value
  if (kind === "boolean") return value === "true"
  if (kind !== "integer" && kind !== "number") return value
  const number = Number(value)
  return String(number) === value ? number : value
}

export const header = (fields: ReadonlyArray<Field>, format: ExportFormat): string =>
  format === "csv" ? `${fields.map((field) => csvCell(field.header, { ...field, kind: "text" })).join(",")}\r\n` : ""

export const line = (fields: ReadonlyArray<Field>, values: ReadonlyArray<Value>, format: ExportFormat): string =>
  format === "csv"
    ? `${fields.map((field, index) => csvCell(values[index] ?? null, field)).join(",")}\r\n`
    : `${JSON.stringify(Object.fromEntries(fields.map((field, index) => [field.header, jsonValue(values[index] ?? null, field)])))}\n`
