/** The compiler's inputs and outputs for changes of rows. */
import type { Column, EntityType } from "../../domain/EntityType.ts"
import type { Bound } from "../../domain/Predicate.ts"
import type { Granted } from "../../permissions/permissionPlan.ts"
import type { WriteGranted } from "../../permissions/WritePlan.ts"

/** A column and what it is set to. */
export interface Assignment {
  readonly column: Column
  /**
   * Texts for the physical columns: of a value the value and, if the column has one, its search key; of a reference the
   * id; of references the ids. As the writer of cells converts them.
   */
  readonly texts: ReadonlyArray<string | null>
  /** Of a relation: the rows that it may be set to, which are those that the caller sees or the same change creates. */
  readonly target?: { readonly type: EntityType; readonly where: Bound; readonly created?: ReadonlyArray<string> }
}

/** One change of one or more rows of a type; `create` and `update` assign, `delete` doesn't. */
export interface RowChange {
  readonly type: EntityType
  /** In their bound form; of `create`, the new row's id. */
  readonly ids: ReadonlyArray<string>
  readonly assignments: ReadonlyArray<Assignment>
  /** The caller's read plan of the type. */
  readonly read: Granted
  readonly write: WriteGranted
}

/** A person's row whose name the caller may see: the proposer's. */
export interface NamedPerson {
  readonly type: EntityType
  /** In its bound form. */
  readonly id: string
  readonly read: Granted
}

/** What was shown of a row: the texts of `changedColumns`, its name and, of a row to delete, the row. */
export interface ShownRow {
  readonly id: string
  readonly before: ReadonlyArray<string | null>
  readonly name: string | null
  readonly row?: string
}

/** A row as the caller sees it; lists are in the order of `changedColumns`. */
export interface SeenRow {
  readonly organization_id: bigint
  readonly id: string
  /** NULL where the caller may not see it. */
  readonly name: string | null
  /** Whether the caller sees the cell. */
  readonly visible: ReadonlyArray<boolean>
  /** The stored text; NULL where the caller may not see it. */
  readonly before: ReadonlyArray<string | null>
}

/** A proposal: `fresh` says whether the epoch still holds; the rest is NULL when no row is visible. */
export interface ProposedRow extends SeenRow {
  readonly fresh: boolean | null
  /** Of a mapped type: whether its relation still permits this change (`mappedWrite.ts`). */
  readonly writable?: boolean | null
  /** The name of the `NamedPerson`. */
  readonly proposer?: string | null
  /** The stored text that the cell would have. */
  readonly after: ReadonlyArray<string | null>
  /** Whether the rows that a relation is set to are visible or created by the same change. */
  readonly targets: ReadonlyArray<boolean>
  /** Bits of the write plan, for `decide`. */
  readonly bits_before: ReadonlyArray<boolean>
  readonly bits_after: ReadonlyArray<boolean>
  /** Of `delete`: the whole row, for `compileRestore`. */
  readonly row: string | null
}

export interface LockedRow extends SeenRow {
  /** Whether each cell, the name and, of a row to delete, the whole row are as shown. */
  readonly same: ReadonlyArray<boolean>
  readonly same_name: boolean
  readonly same_row: boolean
  readonly targets: ReadonlyArray<boolean>
  readonly bits_before: ReadonlyArray<boolean>
}

/** A row that was written; `after` has the stored texts of the columns that were set, NULL for links. */
export interface WrittenRow {
  readonly id: string
  readonly after: ReadonlyArray<string | null>
  /** Of a deletion that sets columns: whether the row isn't shown any more. */
  readonly gone?: boolean
}

export interface VerifiedRow extends WrittenRow {
  readonly organization_id: bigint
  readonly bits_after: ReadonlyArray<boolean>
}

/**
 * The columns that a change concerns: the assigned ones, or all of a row that is deleted. Mapped links to a deleted row are rows
 * of another relation.
 */
export const changedColumns = ({
  assignments,
  type,
  write
}: Pick<RowChange, "assignments" | "type"> & { readonly write: Pick<WriteGranted, "action"> }) =>
  write.action === "delete"
    ? type.columns.filter(({ storage }) => type.mapping === undefined || storage._tag !== "Many")
    : assignments.map(({ column }) => column)
