/**
 * The writer of cells: converts a text into texts for the physical columns of a value, its search key included, or into a
 * problem. Imports and changes both write through it, so that a key always belongs to its value.
 */
import { type Column, type ColumnKind, DISPLAY_NAME, type Organization, type Storage } from "../../domain/EntityType.ts"
import { emailKey, foldText, phoneSearchKey } from "../../domain/keys.ts"
import { quoted } from "../../domain/text.ts"
import { bindScalar, isoDate, isoTimestamp } from "../../domain/values.ts"

/** A physical column of a value. */
export interface Physical {
  readonly column: string
  readonly kind: ColumnKind
}

/** Texts for the physical columns in their order; a string is the cell's problem. */
export type Written = ReadonlyArray<string | null> | string

export interface CellWriter {
  readonly physical: ReadonlyArray<Physical>
  /** An absent text empties the cell. A list of texts is for columns that hold lists. */
  readonly write: (text: string | ReadonlyArray<string> | undefined) => Written
}

export const MAX_SHORT = 400
/** A btree takes keys up to about a third of a page. */
export const MAX_KEY_BYTES = 2000
const MAX_LIST = 1000

export const cellWriter = (
  column: Column,
  storage: Extract<Storage, { readonly _tag: "Value" }>,
  organization: Organization
): CellWriter => {
  const physical = [storage.column, ...(storage.keyColumn === undefined ? [] : [storage.keyColumn])].map((name) => ({
    column: name,
    kind: column.kind
  }))
  const empty = physical.map(() => null)
  const whole = converter(column, storage, organization)
  // A mapped value has no stored search key.
  const convert =
    storage.keyColumn !== undefined
      ? whole
      : (text: string): Written => {
          const written = whole(text)
          return typeof written === "string" ? written : written.slice(0, 1)
        }
  return {
    physical,
    write: (text) => {
      if (text === undefined) return column.key === DISPLAY_NAME ? "empty, but every record needs a name" : empty
      if (column.kind === "list") return writeList(text)
      if (typeof text !== "string") return `a list, but ${column.slug} is one value`
      return textProblem(text) ?? convert(text)
    }
  }
}

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
): ((text: string) => Written) => {
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
      return (cell) => short(cell.trim(), phoneSearchKey(cell.trim(), organization.country) ?? null)
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

/** The parts of a list: a JSON array, or values separated by semicolons; a string is the problem. */
export const partsOf = (text: string | ReadonlyArray<string>): ReadonlyArray<string> | string => {
  const parts = typeof text === "string" ? splitList(text) : text
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

const writeList = (list: string | ReadonlyArray<string>): Written => {
  const parts = partsOf(list)
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

const arrayLiteral = (parts: ReadonlyArray<string | null>): string =>
  `{${parts.map((part) => (part === null ? "NULL" : `"${part.replace(/["\\]/g, "\\$&")}"`)).join(",")}}`

/**
 * Texts for the physical columns of a value whose stored text is known, such as that of an earlier change: the text is
 * written back exactly, and its search key is made again.
 */
export const storedTexts = (
  column: Column,
  { keyColumn }: Extract<Storage, { readonly _tag: "Value" }>,
  stored: string | null,
  { country }: Organization
): ReadonlyArray<string | null> => {
  if (keyColumn === undefined) return [stored]
  if (stored === null) return [null, null]
  switch (column.kind) {
    case "phone":
      return [stored, phoneSearchKey(stored, country) ?? null]
    case "email":
      return [stored, emailKey(stored) ?? null]
    case "list":
      return [stored, arrayLiteral(listOf(stored).map((part) => (part === null ? part : foldText(part))))]
    default:
      return [stored, foldText(stored)]
  }
}

/** The entries of a Postgres array of texts in its text form. */
export const listOf = (stored: string): ReadonlyArray<string | null> =>
  [...stored.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs)].map(([, quotedPart, plain]) =>
    plain === undefined ? (quotedPart ?? "").replaceAll(/\\(.)/gs, "$1") : plain === "NULL" ? null : plain
  )
