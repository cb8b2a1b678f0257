/** Reads the cells of a file: ids, values for physical columns, and lists. */
import type { Column, Organization, Storage } from "../../domain/EntityType.ts"
import {
  cellWriter,
  MAX_KEY_BYTES,
  MAX_SHORT,
  partsOf,
  type Physical,
  textProblem,
  type Written
} from "../cells/cellWriter.ts"
import type { LocalForms } from "./localForms.ts"
import { type Cell, NESTED } from "./readers/FileRecord.ts"

export interface ValueField {
  readonly header: string
  readonly index: number
  readonly column: Column
  readonly physical: ReadonlyArray<Physical>
  readonly read: (cell: Cell) => Written
  /** The form that a text needs to have a search key; the report counts those without one. */
  readonly keyless?: string
}

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
  organization: Organization,
  forms: LocalForms
): ValueField => {
  const { physical, write } = cellWriter(column, storage, organization)
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
    read: (cell) =>
      cell === NESTED
        ? NESTED_PROBLEM
        : write(typeof cell === "string" ? (forms(column.kind, cell.trim()) ?? cell) : cell)
  }
}

/** The parts of a cell that holds a list. */
export const partsOfCell = (cell: Exclude<Cell, undefined>): ReadonlyArray<string> | string =>
  cell === NESTED ? NESTED_PROBLEM : partsOf(cell)

const NESTED_PROBLEM = "an object; only text, numbers, true, false and lists of them can be imported"
