/** A call that drafts a change. */
import type { ContextType } from "../readConversation.ts"
import type { Deed } from "./Deed.ts"
import type { Rows } from "./findSet.ts"
import type { Cell } from "./settle.ts"

interface Call {
  readonly actionId: string
  readonly entityIds?: ReadonlyArray<string>
  readonly values?: ReadonlyArray<string>
}

export interface Draft extends Call {
  readonly _tag: "Draft"
  /** Calls that belong to the same change: rows that get other values. */
  readonly further?: ReadonlyArray<Call>
  /** The rows that were found, where the person asked for a set. */
  readonly set?: Rows
  /** Whether the row was found by a part of its name: any reading with whole names comes before this one. */
  readonly isPart?: true
}

/** The action of a deed on a type. */
export const actionOf = (deed: Deed, type: ContextType): string =>
  `${type.id}.${deed._tag === "Create" ? "create" : deed._tag === "Delete" ? "delete" : "update"}`

/** The cells as values of the tool; a text if two of them contradict each other. */
export const valuesOf = (cells: ReadonlyArray<Cell>): ReadonlyArray<string> | string => {
  const byColumn = new Map<string, string>()
  for (const { column, value } of cells) {
    const other = byColumn.get(column)
    if (other !== undefined && other !== value) return "That sets one thing in two ways. I haven't drafted anything."
    byColumn.set(column, value)
  }
  return [...byColumn].map(([column, value]) => `${column}=${value}`)
}
