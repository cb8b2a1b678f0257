/**
 * OR expansion: a disjunction whose alternatives all have an index becomes one ordered and limited branch per alternative.
 * Under one OR, Postgres would collect the rows of all alternatives and fetch each from the table, even to read what the
 * index holds.
 */
import { type EntityType, resolveColumn } from "../../domain/EntityType.ts"
import type { Condition } from "./Parameter.ts"

/** Postgres plans each branch separately. */
const MAX_ALTERNATIVES = 6

export interface Expansion {
  /** One of these holds on each row; empty when nothing is expanded. */
  readonly alternatives: ReadonlyArray<Condition>
  /** Each of these holds on each row. */
  readonly rest: ReadonlyArray<Condition>
}

/** Each of these holds on a row where all conditions hold. */
export const conjuncts = (conditions: ReadonlyArray<Condition>): ReadonlyArray<Condition> =>
  conditions.flatMap((condition) => (condition._tag === "All" ? conjuncts(condition.of) : [condition]))

/** Expands the first suitable disjunction among conditions on the rows of a managed type. */
export const expandOr = (conditions: ReadonlyArray<Condition>, type: EntityType): Expansion => {
  const parts = conjuncts(conditions)
  const disjunction = parts.find(
    (part) =>
      part._tag === "Any" &&
      part.of.length <= MAX_ALTERNATIVES &&
      part.of.every((alternative) => isIndexed(alternative, type))
  )
  if (disjunction?._tag !== "Any") return { alternatives: [], rest: conditions }
  const rest = parts.filter((part) => part !== disjunction)
  // Every branch would repeat the hop; without expansion the statement collects related rows once.
  return rest.some(hasHop) ? { alternatives: [], rest: conditions } : { alternatives: disjunction.of, rest }
}

/** Whether an index of a managed table leads to the rows on which a condition holds. */
export const isIndexed = (bound: Condition, type: EntityType): boolean => {
  switch (bound._tag) {
    case "Compare":
      return bound.op === "eq" && isIndexedColumn(bound.column, type)
    case "In":
      return !bound.negated && isIndexedColumn(bound.column, type)
    case "Some":
      return true
    default:
      return bound._tag === "All" && bound.of.some((part) => isIndexed(part, type))
  }
}

const isIndexedColumn = (key: string, type: EntityType): boolean => {
  const column = resolveColumn(type, key)
  return column !== undefined && column.kind !== "boolean" && column.kind !== "list"
}

/** Whether a condition depends on related rows. */
export const hasHop = (bound: Condition): boolean =>
  bound._tag === "Some" ||
  bound._tag === "None" ||
  bound._tag === "Referrer" ||
  (bound._tag === "NotTrue" && hasHop(bound.of)) ||
  ((bound._tag === "All" || bound._tag === "Any") && bound.of.some(hasHop))
