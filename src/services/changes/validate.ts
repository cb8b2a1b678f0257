/** Values as callers write them → texts for the physical columns. References are resolved elsewhere. */
import { Result } from "effect"
import type { Column, Organization } from "../../domain/EntityType.ts"
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
