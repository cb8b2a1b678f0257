/** Converts the text of a cell into values for physical columns, or into a problem. */
import { type Column, type ColumnKind, DISPLAY_NAME, type Organization, type Storage } from "../../domain/EntityType.ts"
import { emailKey, foldText, phoneKey } from "../../domain/keys.ts"
import { quoted } from "../../domain/text.ts"
import { bindScalar, isoDate, isoTimestamp } from "../../domain/values.ts"
import { type Cell, NESTED } from "./readers/FileRecord.ts"

interface Physical {
  readonly column: string
  readonly kind: ColumnKind
}

export interface ValueField {
  readonly header: string
  readonly index: number
  readonly column: Column
  readonly physical: ReadonlyArray<Physical>
  /** Texts for the physical columns; a string is the cell's problem. */
  readonly read: (cell: Cell) => ReadonlyArray<string | null> | string
  /** The form that a text needs to have a search key; the report counts those without one. */
  readonly keyless?: string
}

const MAX_SHORT = 400
/** A btree takes keys up to about a third of a page. */
const MAX_KEY_BYTES = 2000
const MAX_LIST = 1000

export const readId = (cell: Cell, prefix: string): string | { readonly problem: string } => {
  if (cell === undefined) return { problem: "empty, but the other rows have an id" }
  if (typeof cell !== "string") return { problem: cell === NESTED ? NESTED_PROBLEM : "a list, but the id is one value" }
  const problem = textProblem(cell)
  if (problem !== undefined) return { problem }
  const id = prefix + cell.trim()
  return id.length > MAX_SHORT || Buffer.byteLength(id) > MAX_KEY_BYTES
    ? { problem: `it has more than ${MAX_SHORT} characters` }
    : id
}

export const valueField = (
  header: string,
  index: number,
  column: Column,
  storage: Extract<Storage, { readonly _tag: "Value" }>,
  organization: Organization
): ValueField => {
  const physical = [storage.column, ...(storage.keyColumn === undefined ? [] : [storage.keyColumn])].map((name) => ({
    column: name,
    kind: column.kind
  }))
  const empty = physical.map(() => null)
  const convert = converter(column, storage, organization)
  const keyless =
    column.kind === "phone"
      ? "in the form of a phone number"
      : column.kind === "email"
        ? "in the form of an e-mail address"
        : undefined
  return {
    header,
    index,
    column,
    physical,
    ...(keyless === undefined ? {} : { keyless }),
    read: (cell) => {
      if (cell === undefined) return column.key === DISPLAY_NAME ? "empty, but every record needs a name" : empty
      if (column.kind === "list") return readList(cell)
      if (cell === NESTED) return NESTED_PROBLEM
      if (typeof cell !== "string") return `a list, but ${column.slug} is one value`
      return textProblem(cell) ?? convert(cell)
    }
  }
}

const NESTED_PROBLEM = "an object; only text, numbers, true, false and lists of them can be imported"
const LONE_SURROGATE = /\p{Surrogate}/u

export const textProblem = (text: string): string | undefined =>
  text.includes("\u0000")
    ? "it contains a NUL character"
    : LONE_SURROGATE.test(text)
      ? "it contains half of a surrogate pair"
      : undefined

/** Converts a non-empty text into texts for the physical columns of a value. */
const converter = (
  column: Column,
  { indexed = false }: { readonly indexed?: boolean },
  organization: Organization
): ((text: string) => ReadonlyArray<string | null> | string) => {
  const short = (text: string, key: string | null) =>
    text.length > MAX_SHORT || (key !== null && Buffer.byteLength(key) > MAX_KEY_BYTES)
      ? `it has more than ${MAX_SHORT} characters`
      : [text, key]
  const parsed = (parse: (text: string) => string | undefined, expected: string) => (cell: string) => {
    const value = parse(cell.trim())
    return value === undefined ? `${quoted(cell)} isn't ${expected}` : [value]
  }
  switch (column.kind) {
    case "phone":
      return (cell) => short(cell.trim(), phoneKey(cell.trim(), organization.country) ?? null)
    case "email":
      return (cell) => short(cell.trim(), emailKey(cell) ?? null)
    case "integer":
      return parsed((text) => boundText(column, text, organization), "a whole number")
    case "number":
      return parsed((text) => (EXPONENT.test(text) ? text : boundText(column, text, organization)), "a number")
    case "boolean":
      return parsed(
        (text) => (/^(true|yes|1)$/i.test(text) ? "true" : /^(false|no|0)$/i.test(text) ? "false" : undefined),
        "true or false"
      )
    case "date":
      return parsed(isoDate, "a date such as 2026-03-31")
    case "timestamp":
      return parsed(timestamp, "a time such as 2026-03-31 14:00")
    default: {
      const name = column.key === DISPLAY_NAME
      return (cell) => {
        const text = name ? cell.trim() : cell
        // Refused before it is folded, which makes up to 18 characters of one.
        const key = indexed && text.length > MAX_SHORT ? null : foldText(text)
        return indexed ? short(text, key) : [text, key]
      }
    }
  }
}

/** The exponent notation of spreadsheets. */
const EXPONENT = /^[+-]?\d{1,100}(\.\d{1,100})?[eE][+-]?\d{1,2}$/

export const boundText = (column: Column, text: string, organization: Organization): string | undefined => {
  const value = bindScalar(column, text, organization)
  return value === undefined ? undefined : String(value)
}

/** Postgres accepts offsets below sixteen hours. */
const timestamp = (text: string): string | undefined => {
  const offset = /[+-](\d{2}):?(\d{2})$/.exec(text.slice(10))
  return offset !== null && (Number(offset[1]) > 15 || Number(offset[2]) > 59) ? undefined : isoTimestamp(text)
}

/** The parts of a list: a JSON array, or values separated by semicolons. */
export const partsOf = (cell: Cell): ReadonlyArray<string> | string => {
  if (cell === NESTED) return NESTED_PROBLEM
  const parts = typeof cell === "string" ? splitList(cell) : (cell ?? [])
  const problem = parts.map(textProblem).find((each) => each !== undefined)
  return problem ?? parts.map((part) => part.trim()).filter((part) => part !== "")
}

const splitList = (text: string): ReadonlyArray<string> => {
  if (text.trimStart().startsWith("[")) {
    try {
      const values: unknown = JSON.parse(text)
      if (Array.isArray(values) && values.every((value) => typeof value !== "object")) return values.map(String)
    } catch {
      // Not JSON: a text that begins with a bracket.
    }
  }
  return text.split(";")
}

const readList = (cell: Cell): ReadonlyArray<string | null> | string => {
  const parts = partsOf(cell)
  if (typeof parts === "string") return parts
  if (parts.length > MAX_LIST) return `it has more than ${MAX_LIST} entries`
  const isLong = parts.some((part) => part.length > MAX_SHORT)
  const keys = isLong ? [] : parts.map(foldText)
  return isLong || keys.some((key) => Buffer.byteLength(key) > MAX_KEY_BYTES)
    ? `an entry has more than ${MAX_SHORT} characters`
    : parts.length === 0
      ? [null, null]
      : [arrayLiteral(parts), arrayLiteral(keys)]
}

const arrayLiteral = (parts: ReadonlyArray<string>): string =>
  `{${parts.map((part) => `"${part.replace(/["\\]/g, "\\$&")}"`).join(",")}}`
