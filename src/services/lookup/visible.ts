/** What one caller may see: types, columns and cells, by the plans of the types. */
import { type Column, DISPLAY_NAME, type EntityType, ID_COLUMN } from "../../domain/EntityType.ts"
import { ALWAYS, type Bound, NEVER } from "../../domain/Predicate.ts"
import type { Granted } from "../../permissions/permissionPlan.ts"
import type { State } from "../catalog/OrganizationState.ts"

/** What one caller may see: the plan of each visible type, by the type's key. */
export interface Visible {
  readonly state: State
  readonly planOf: (type: EntityType) => Granted | undefined
}

/** A type with the caller's plan of it. */
export interface VisibleType {
  readonly type: EntityType
  readonly plan: Granted
}

/** The type's relation target with the caller's plan of it, when the caller may see it. */
export const targetIn = (visible: Visible, column: Column): VisibleType | undefined => {
  if (column.storage._tag === "Value") return undefined
  const key = column.storage.target
  const type = visible.state.catalog.types.find((candidate) => candidate.key === key)
  const plan = type && visible.planOf(type)
  return type === undefined || plan === undefined ? undefined : { type, plan }
}

export const visibleTypes = (visible: Visible): ReadonlyArray<EntityType> =>
  visible.state.catalog.types.filter((type) => visible.planOf(type) !== undefined)

/** The columns of a type with a cell that the caller may see somewhere; a relation to a hidden type is none. */
export const visibleColumns = ({ plan, type }: VisibleType, visible: Visible): ReadonlyArray<Column> =>
  type.columns.filter(
    (column) =>
      plan.cells.has(column.key) && (column.storage._tag === "Value" || targetIn(visible, column) !== undefined)
  )

/** Columns whose values name one entity or a few, so that equality on them is a lookup. */
export const isIdentifier = (column: Column): boolean =>
  isId(column) ||
  (column.storage._tag === "Value" &&
    column.storage.indexed === true &&
    (column.kind === "phone" || column.kind === "email" || column.key === DISPLAY_NAME))

export const isId = (column: Column): boolean => column.key === ID_COLUMN.key

/** Whoever sees a row sees its id. */
export const maskOf = (plan: Granted, column: Column): Bound =>
  isId(column) ? ALWAYS : (plan.cells.get(column.key) ?? NEVER)
