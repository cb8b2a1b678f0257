/** The rows of a change while it is prepared: one unit per row, grouped for the statements that handle several rows at once. */
import type { Assignment, RowChange, ShownRow } from "../../database/sql/RowChange.ts"
import { type Action, actionByKey } from "../../domain/Action.ts"
import type { ChangeStep } from "../../domain/Change.ts"
import { type Catalog, type Column, DISPLAY_NAME, type EntityType, typeByKey } from "../../domain/EntityType.ts"
import type { Granted } from "../../permissions/permissionPlan.ts"
import type { WriteAction, WriteGranted } from "../../permissions/WritePlan.ts"
import { listOf, storedTexts } from "../cells/cellWriter.ts"

/** A cell and the texts that it is set to. */
export interface SetCell {
  readonly column: Column
  readonly texts: ReadonlyArray<string | null>
}

/** One action on one row. */
export interface Unit {
  readonly action: Action
  readonly op: WriteAction
  readonly type: EntityType
  /** In its bound form; of a create, the new row's id. */
  readonly id: string
  /** In the order of the type's columns. */
  readonly cells: ReadonlyArray<SetCell>
  /** Of a create that restores a deleted row: the row. */
  readonly restores?: string
  /** Of an update that undoes another one. */
  readonly undoes?: true
  /** The step of a document that it comes from. */
  readonly step?: ChangeStep
}

/** What a unit does, for comparison; a create's id is new each time. */
export const signatureOf = ({ action, cells, id, op, restores }: Unit) => [
  action.key,
  op === "create" ? null : id,
  cells.map(({ column, texts }) => [column.key, texts]),
  restores ?? null
]

/** A caller's plans of one type. */
export interface Plans {
  readonly read: Granted
  readonly write: WriteGranted
}

/** Units with the same action and the same cells: one statement handles them. */
export interface Group {
  readonly units: readonly [Unit, ...ReadonlyArray<Unit>]
}

/** Groups units, in the order of their first; each create is a group of its own, because an insert writes one row. */
export const groupsOf = (units: ReadonlyArray<Unit>): ReadonlyArray<Group> => {
  const groups = new Map<string, [Unit, ...Array<Unit>]>()
  for (const unit of units) {
    const cells = unit.cells.map(({ column, texts }) => [column.key, texts])
    const key = JSON.stringify([unit.action.key, cells, unit.op === "create" ? unit.id : ""])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [unit])
    else group.push(unit)
  }
  return [...groups.values()].map((group) => ({
    units: group.toSorted((a, b) => (isBefore(a, b) ? -1 : 1)) as unknown as Group["units"]
  }))
}

/** Managed ids are numbers; those of a mapped type can be any text. */
const isBefore = (a: Unit, b: Unit): boolean =>
  a.type.mapping === undefined ? BigInt(a.id) < BigInt(b.id) : a.id < b.id

/** The assignments of a group. `planOf` gives the caller's read plan of a relation's target. */
export const assignmentsOf = (
  { units: [unit] }: Group,
  catalog: Catalog,
  planOf: (type: EntityType) => Granted | undefined,
  created: ReadonlyArray<string>
): ReadonlyArray<Assignment> =>
  unit.cells.map(({ column, texts }) => {
    if (column.storage._tag === "Value") return { column, texts }
    const type = typeByKey(catalog, column.storage.target)
    const plan = type && planOf(type)
    if (type === undefined || plan === undefined)
      throw new Error("A relation leads to a type that the caller doesn't see")
    return { column, texts, target: { type, where: plan.where, created } }
  })

/**
 * Whether a relation may be set to a row that the caller doesn't see: an undo restores references that lead nowhere by now. Who
 * sees every target knows that a missing one doesn't exist; for others it could be hidden.
 */
export const mayDangle = (
  { restores, undoes }: Unit,
  { storage }: Column,
  catalog: Catalog,
  planOf: (type: EntityType) => Granted | undefined
): boolean => {
  const target = storage._tag === "Value" ? undefined : typeByKey(catalog, storage.target)
  return restores !== undefined || (undoes === true && target !== undefined && planOf(target)?.where._tag === "Always")
}

export const rowChangeOf = (group: Group, plans: Plans, assignments: ReadonlyArray<Assignment>): RowChange => ({
  type: group.units[0].type,
  ids: group.units.map(({ id }) => id),
  assignments,
  ...plans
})

/** What was shown of a group's rows, from their steps. */
export const shownOf = ({ units }: Group, columns: ReadonlyArray<Column>): ReadonlyArray<ShownRow> =>
  units.map(({ id, step }) => ({
    id,
    before: columns.map(({ key }) => step?.before[key] ?? null),
    name: step?.shown[DISPLAY_NAME] ?? null,
    ...(step?.row === undefined ? {} : { row: step.row })
  }))

/** The unit of a document's step; undefined when the catalog no longer has its type or one of its columns. */
export const unitOf = (step: ChangeStep, catalog: Catalog, undoes = false): Unit | undefined => {
  const action = actionByKey(catalog, step.action)
  const type = typeByKey(catalog, step.type)
  if (action === undefined || type === undefined) return undefined
  const { op } = action.executor
  const columns = type.columns.filter(({ key }) => Object.hasOwn(step.after, key))
  if (columns.length < Object.keys(step.after).length) return undefined
  return {
    action,
    op,
    type,
    id: step.entity,
    cells: columns.map((column) => ({ column, texts: textsOf(column, step.after[column.key] ?? null, catalog) })),
    ...(op === "create" && step.row !== undefined ? { restores: step.row } : {}),
    ...(op === "update" && undoes ? { undoes: true } : {}),
    step
  }
}

/** The texts that write a stored text back. */
export const textsOf = (
  column: Column,
  stored: string | null,
  { organization }: Catalog
): ReadonlyArray<string | null> => {
  switch (column.storage._tag) {
    case "Value":
      return storedTexts(column, column.storage, stored, organization)
    case "One":
      return [stored]
    case "Many":
      return stored === null ? [] : listOf(stored)
  }
}
