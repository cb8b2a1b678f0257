/** Records of a file with their cells, and their size limits. */
import { quoted } from "../../../domain/text.ts"
import { Unreadable } from "./Unreadable.ts"

/** A cell whose content can't be imported: an object, or a list within a list. */
export const NESTED = Symbol("nested")

/** A cell: its text as written, a list, or nothing. */
export type Cell = string | ReadonlyArray<string> | typeof NESTED | undefined

export interface FileRecord {
  /** The first line of the record, from 1. */
  readonly line: number
  /** In the order of the file's headers. */
  readonly cells: ReadonlyArray<Cell>
  /** Why the whole record can't be used. */
  readonly problem?: string
}

export const MAX_CELLS = 1000
export const MAX_RECORD_BYTES = 8 * 1024 * 1024
const MAX_CELL_LENGTH = 100_000
const MAX_HEADER_LENGTH = 1000

export const textCell = (text: string): Cell =>
  text === "" || (text.charCodeAt(0) <= 32 && text.trim() === "") ? undefined : text

export const tooLong = (cells: ReadonlyArray<Cell>, headers: ReadonlyArray<string>): string | undefined => {
  const index = cells.findIndex((cell) => typeof cell === "string" && cell.length > MAX_CELL_LENGTH)
  return index < 0 ? undefined : `${quoted(headers[index]!)} has more than ${MAX_CELL_LENGTH} characters`
}

/** Each header is compared with every column and option. */
export const headerTooLong = (headers: ReadonlyArray<string>): Unreadable | undefined => {
  const index = headers.findIndex((header) => header.length > MAX_HEADER_LENGTH)
  return index < 0
    ? undefined
    : new Unreadable(`the header of column ${index + 1} has more than ${MAX_HEADER_LENGTH} characters.`, 1)
}

export const tooManyColumns = (count: number) =>
  new Unreadable(`there are ${count} columns. At most ${MAX_CELLS} can be imported.`, 1)
