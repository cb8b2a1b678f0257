/**
 * Through whose eyes a policy is explained. An operator sees everything; anybody else is told what its own plan shows it
 * anyway: of the types and columns that it may see, of its rows, and only where it sees all that the rules look at, for
 * whether a rule holds on a row says what is in the row.
 */
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { ID_COLUMN, resolveColumn, targetOf } from "../../domain/EntityType.ts"
import { ALWAYS, type Bound, NEVER, type Predicate } from "../../domain/Predicate.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { plannedAccess } from "./rowEvaluator.ts"

/** What is open of a type. */
interface Open {
  readonly rows: Bound
  /** Given the row; of a column that isn't open it is never. */
  readonly cell: (column: string) => Bound
}

export interface Visibility {
  readonly isOperator: boolean
  /** Undefined of a type that isn't open at all. */
  readonly open: (type: EntityType) => Open | undefined
}

export const OPERATOR_VISIBILITY: Visibility = { isOperator: true, open: () => ({ rows: ALWAYS, cell: () => ALWAYS }) }

export const visibilityOf = (policy: Policy, catalog: Catalog, principal: Principal, now: number): Visibility => ({
  isOperator: false,
  open: (type) => {
    const { cell, plan } = plannedAccess(policy, catalog, principal, type, now)
    if (plan._tag === "Denied") return undefined
    return {
      rows: plan.where,
      // What leads to a type of which nothing is open isn't open either.
      cell: (column) => (cell(column)._tag === "Never" ? NEVER : (plan.cells.get(column) ?? NEVER))
    }
  }
})

/** The names that are open: what words about rules may have in them. */
export const visibleCatalog = (lens: Visibility, catalog: Catalog): Catalog =>
  lens.isOperator
    ? catalog
    : {
        ...catalog,
        types: catalog.types.flatMap((type) => {
          const open = lens.open(type)
          if (open === undefined) return []
          return [{ ...type, columns: type.columns.filter(({ key }) => open.cell(key)._tag !== "Never") }]
        })
      }

/** Whether all that a condition looks at is open, on every row that is: what it comes to then tells nothing new. */
export const seesWholeCondition = (
  lens: Visibility,
  predicate: Predicate,
  type: EntityType,
  catalog: Catalog
): boolean => {
  const isOpen = (column: string) =>
    column === ID_COLUMN.key ? lens.open(type) !== undefined : lens.open(type)?.cell(column)._tag === "Always"
  switch (predicate._tag) {
    case "Always":
    case "Never":
      return true
    case "Not":
      return seesWholeCondition(lens, predicate.of, type, catalog)
    case "All":
    case "Any":
      return predicate.of.every((part) => seesWholeCondition(lens, part, type, catalog))
    case "Compare":
    case "In":
    case "IsNull":
      return isOpen(predicate.column)
    case "Related": {
      const column = resolveColumn(type, predicate.relation)
      const target = column && targetOf(catalog, column)
      return (
        target !== undefined &&
        isOpen(predicate.relation) &&
        lens.open(target)?.rows._tag === "Always" &&
        seesWholeCondition(lens, predicate.where, target, catalog)
      )
    }
  }
}
