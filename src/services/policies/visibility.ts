/**
 * The asker's visibility filter: limits an explanation to data that its reader may see. Operators see everything. Any
 * other asker is limited to the types, rows and columns of its own plan, and gets an explanation only if every condition
 * of the explained rules reads visible data: whether a rule matches a row discloses the row's values.
 */
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { ID_COLUMN, resolveColumn, targetOf } from "../../domain/EntityType.ts"
import { ALWAYS, type Bound, NEVER, type Predicate } from "../../domain/Predicate.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { plannedAccess } from "./rowEvaluator.ts"

/** The visible part of a type. */
interface VisiblePart {
  readonly rows: Bound
  /** The mask within `rows`; `NEVER` for a hidden column. */
  readonly cell: (column: string) => Bound
}

export interface Visibility {
  readonly isOperator: boolean
  /** Undefined for a hidden type. */
  readonly of: (type: EntityType) => VisiblePart | undefined
}

export const OPERATOR_VISIBILITY: Visibility = { isOperator: true, of: () => ({ rows: ALWAYS, cell: () => ALWAYS }) }

export const visibilityOf = (policy: Policy, catalog: Catalog, principal: Principal, now: number): Visibility => ({
  isOperator: false,
  of: (type) => {
    const { cell, plan } = plannedAccess(policy, catalog, principal, type, now)
    if (plan._tag === "Denied") return undefined
    return {
      rows: plan.where,
      // A relation to a hidden type is hidden.
      cell: (column) => (cell(column)._tag === "Never" ? NEVER : (plan.cells.get(column) ?? NEVER))
    }
  }
})

/** The catalog reduced to visible types and columns, whose names descriptions of rules may contain. */
export const visibleCatalog = (visibility: Visibility, catalog: Catalog): Catalog =>
  visibility.isOperator
    ? catalog
    : {
        ...catalog,
        types: catalog.types.flatMap((type) => {
          const visible = visibility.of(type)
          if (visible === undefined) return []
          return [{ ...type, columns: type.columns.filter(({ key }) => visible.cell(key)._tag !== "Never") }]
        })
      }

/** Whether everything that a condition reads is visible on every visible row, so that its result discloses nothing. */
export const seesWholeCondition = (
  visibility: Visibility,
  predicate: Predicate,
  type: EntityType,
  catalog: Catalog
): boolean => {
  const isVisible = (column: string) =>
    column === ID_COLUMN.key ? visibility.of(type) !== undefined : visibility.of(type)?.cell(column)._tag === "Always"
  switch (predicate._tag) {
    case "Always":
    case "Never":
      return true
    case "Not":
      return seesWholeCondition(visibility, predicate.of, type, catalog)
    case "All":
    case "Any":
      return predicate.of.every((part) => seesWholeCondition(visibility, part, type, catalog))
    case "Compare":
    case "In":
    case "IsNull":
      return isVisible(predicate.column)
    case "Related": {
      const column = resolveColumn(type, predicate.relation)
      const target = column && targetOf(catalog, column)
      return (
        target !== undefined &&
        isVisible(predicate.relation) &&
        visibility.of(target)?.rows._tag === "Always" &&
        seesWholeCondition(visibility, predicate.where, target, catalog)
      )
    }
  }
}
