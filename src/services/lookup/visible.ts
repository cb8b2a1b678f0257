/** The types, columns and cells that one caller may see, derived from its plans. */
import {
  type Column,
  DISPLAY_NAME,
  type EntityType,
  ID_COLUMN,
  readableColumns,
  targetKey
} from "../../domain/EntityType.ts"
import { ALWAYS, type Bound, NEVER } from "../../domain/Predicate.ts"
import type { Granted } from "../../permissions/permissionPlan.ts"
import type { State } from "../catalog/OrganizationState.ts"

/** One caller's view of an organization. */
export interface Visible {
  readonly state: State
  /** The caller's plan of a type; undefined when the type is hidden. */
  readonly planOf: (type: EntityType) => Granted | undefined
}

/** A visible type with the caller's plan. */
export interface VisibleType {
  readonly type: EntityType
  readonly plan: Granted
}

/** The target of a relation column; undefined for other columns and when the target is hidden. */
export const targetIn = (visible: Visible, column: Column): VisibleType | undefined => {
  const key = targetKey(column)
  if (key === undefined) return undefined
  const type = visible.state.catalog.types.find((candidate) => candidate.key === key)
  const plan = type && visible.planOf(type)
  return type === undefined || plan === undefined ? undefined : { type, plan }
}

export const visibleTypes = (visible: Visible): ReadonlyArray<EntityType> =>
  visible.state.catalog.types.filter((type) => visible.planOf(type) !== undefined)

/** The columns with a cell that the caller may see on some row; excludes relations to hidden types. */
export const visibleColumns = ({ plan, type }: VisibleType, visible: Visible): ReadonlyArray<Column> =>
  readableColumns(type).filter(
    (column) =>
      plan.cells.has(column.key) && (targetKey(column) === undefined || targetIn(visible, column) !== undefined)
  )

/** Whether a value of the column names one entity or a few, so that equality on it is a lookup. */
export const isIdentifier = (column: Column): boolean =>
  isId(column) ||
  (column.storage._tag === "Value" &&
    column.storage.indexed === true &&
    (column.kind === "phone" || column.kind === "email" || column.key === DISPLAY_NAME))

export const isId = (column: Column): boolean => column.key === ID_COLUMN.key

/** The mask of a column; the id is visible on every visible row. */
export const maskOf = (plan: Granted, column: Column): Bound =>
  isId(column) ? ALWAYS : (plan.cells.get(column.key) ?? NEVER)
