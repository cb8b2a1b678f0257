/**
 * The asker's visibility filter: limits an explanation to data that its reader may see. Operators see everything. Any
 * other asker is limited to the types, rows and columns of its own plan, and gets an explanation only if every condition
 * of the explained rules reads visible data: whether a rule matches a row discloses the row's values. In these conditions,
 * a reference to a hidden target is unknown.
 */
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { columnByKey, ID_COLUMN, resolveColumn, targetOf } from "../../domain/EntityType.ts"
import { all, ALWAYS, any, Bound, NEGATED, NEVER, none, type Predicate, some } from "../../domain/Predicate.ts"
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

export const visibilityOf = (policy: Policy, catalog: Catalog, principal: Principal, now: number): Visibility => {
  const parts = new Map<EntityType, VisiblePart | undefined>()
  const partOf = (type: EntityType): VisiblePart | undefined => {
    const { cell, plan } = plannedAccess(policy, catalog, principal, type, now)
    if (plan._tag === "Denied") return undefined
    return {
      rows: plan.where,
      // A relation to a hidden type is hidden.
      cell: (column) => (cell(column)._tag === "Never" ? NEVER : (plan.cells.get(column) ?? NEVER))
    }
  }
  return {
    isOperator: false,
    of: (type) => {
      if (!parts.has(type)) parts.set(type, partOf(type))
      return parts.get(type)
    }
  }
}

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

/**
 * Whether everything that a condition reads is visible on every visible row, except for the targets of references, which
 * `onVisibleTargets` limits.
 */
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

/**
 * Limits the references that a condition of a rule compares to those with a visible target. Any other reference makes the
 * comparison unknown, whether it is empty or its target is hidden: the asker's lookups don't tell the two apart either.
 * `may`: unknown counts as satisfied, as in `fragment`.
 */
export const onVisibleTargets = (
  visibility: Visibility,
  bound: Bound,
  type: EntityType,
  catalog: Catalog,
  may = false
): Bound => {
  if (visibility.isOperator) return bound
  const targetOfKey = (key: string) => {
    const column = columnByKey(type, key)
    return column && targetOf(catalog, column)
  }
  const within = (part: Bound, of: EntityType, partMay: boolean) =>
    onVisibleTargets(visibility, part, of, catalog, partMay)
  /** A comparison of the target's id, as it holds and negated; the predicate itself if no target is hidden. */
  const onVisible = (key: string, holds: Bound, fails: Bound): Bound => {
    const target = targetOfKey(key)
    const targets = target === undefined ? ALWAYS : (visibility.of(target)?.rows ?? NEVER)
    if (targets._tag === "Always") return bound
    return may ? none(key, all(targets, fails)) : some(key, all(targets, holds))
  }
  const id = { column: ID_COLUMN.key }
  switch (bound._tag) {
    case "Compare":
      return onVisible(
        bound.column,
        Bound.Compare({ ...bound, ...id }),
        Bound.Compare({ ...bound, ...id, op: NEGATED[bound.op] })
      )
    case "In":
      return onVisible(
        bound.column,
        Bound.In({ ...bound, ...id }),
        Bound.In({ ...bound, ...id, negated: !bound.negated })
      )
    case "IsNull":
      return bound.negated ? onVisible(bound.column, ALWAYS, NEVER) : onVisible(bound.column, NEVER, ALWAYS)
    case "Some":
    case "None": {
      const target = targetOfKey(bound.relation)
      if (target === undefined) return bound
      return bound._tag === "Some"
        ? some(bound.relation, within(bound.where, target, may))
        : none(bound.relation, within(bound.where, target, !may))
    }
    case "All":
      return all(...bound.of.map((part) => within(part, type, may)))
    case "Any":
      return any(...bound.of.map((part) => within(part, type, may)))
    default:
      return bound
  }
}
