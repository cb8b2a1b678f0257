/** Formats rows as CSV for spreadsheets or as lossless JSON lines. */
import type { Column } from "../../../domain/EntityType.ts"

export const EXPORT_FORMATS = ["csv", "jsonl"] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A cell: text in Postgres' output format, a list of texts, or null. */
export type Value = string | ReadonlyArray<string> | null

/** A column of an export. */
export interface Field {
  readonly header: string
  readonly kind: Column["kind"]
}

/** Spreadsheets evaluate a cell as a formula when it begins with one of these characters, after optional white space. */
const FORMULA = /^(?:[\t\r]|\s*[=+\-@＝＋－＠])/
/** Begins with + but contains nothing to evaluate. */
const PHONE = /^\+[\d ()./-]+$/

/** Quotes a cell; prefixes text that a spreadsheet would evaluate with an apostrophe. */
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

/** Numbers that a JavaScript number can't represent exactly stay text. */
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
