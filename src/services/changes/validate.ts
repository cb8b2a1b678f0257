/** Values as callers write them → texts for the physical columns. References are resolved elsewhere. */
import { Result } from "effect"
import type { Column, Limit, Organization } from "../../domain/EntityType.ts"
import { DISPLAY_NAME } from "../../domain/EntityType.ts"
import { InvalidInput } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { cellWriter } from "../cells/cellWriter.ts"

/** In characters. */
const MAX_LENGTH = 10_000

const invalid = (message: string) => Result.fail(InvalidInput.of(message))

/** Checks a text for a column of any kind; undefined for a text that empties the cell. */
export const checkText = (column: Column, text: string): Result.Result<string | undefined, InvalidInput> => {
  if (text.length > MAX_LENGTH) return invalid(`${column.slug} has at most ${MAX_LENGTH} characters.`)
  if (text.trim() !== "") return Result.succeed(text)
  return column.key === DISPLAY_NAME ? invalid(`${column.slug} can't be empty.`) : Result.succeed(undefined)
}

/** How a text exceeds the limits of the column's type, in words; undefined if it doesn't. Otherwise the database would refuse or round it. */
export const limitProblem = (column: Column, text: string | null, limit: Limit): string | undefined => {
  if (text === null) return limit.full === true ? "can't be empty" : undefined
  const { fraction, max = Infinity, maxLength = Infinity, min = -Infinity, whole = Infinity } = limit
  if ([...text].length > maxLength) return `has at most ${maxLength} characters`
  if (column.kind !== "integer" && column.kind !== "number") return undefined
  if (Number(text) < min || Number(text) > max) return `is at least ${min} and at most ${max}`
  const { after, before } = digitsOf(text)
  if (before > whole) return `has at most ${whole} digits before the decimal point`
  return fraction === undefined || after <= fraction
    ? undefined
    : fraction === 0
      ? "is a whole number"
      : `has at most ${fraction} decimal places`
}

/** The digits of a number before and after its decimal point, without zeros that say nothing. */
const digitsOf = (text: string): { readonly before: number; readonly after: number } => {
  const [, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? []
  const point = whole.length + Number(exponent)
  const digits = whole + fraction
  const first = digits.search(/[1-9]/)
  if (first === -1) return { before: 0, after: 0 }
  let end = digits.length
  while (digits[end - 1] === "0") end -= 1
  return { before: Math.max(0, point - first), after: Math.max(0, end - point) }
}
const NUMBER = /^[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

/** Texts for the physical columns of a value. */
export const validate = (
  column: Column,
  text: string | undefined,
  organization: Organization
): Result.Result<ReadonlyArray<string | null>, InvalidInput> => {
  if (column.storage._tag !== "Value") throw new Error("A reference is resolved, not validated")
  if (text !== undefined && column.values !== undefined && !column.values.includes(text.trim()))
    return invalid(`${column.slug}: ${quoted(text)} isn't one of ${column.values.slice(0, 12).join(", ")}.`)
  const written = cellWriter(column, column.storage, organization).write(text)
  return typeof written === "string" ? invalid(`${column.slug}: ${written}.`) : Result.succeed(written)
}
