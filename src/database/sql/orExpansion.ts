/**
 * Ways to the rows of a plan that shows them for one of several reasons: each reason that has an index is followed by
 * itself, in order and no further than is counted. Under one OR Postgres collects the rows of all of them and reads the
 * table's page of each, also to look at what stands in the index.
 */
import { type EntityType, resolveColumn } from "../../domain/EntityType.ts"
import type { Bound } from "../../domain/Predicate.ts"

/** Each way is a statement of its own inside the one, which has to be planned. */
const MAX_WAYS = 6

export interface Ways {
  /** One of these is true of each row; none, where there is one way only. */
  readonly ways: ReadonlyArray<Bound>
  /** What is true of each row besides. */
  readonly rest: ReadonlyArray<Bound>
}

/** The ways to the rows of a managed type for which all conditions hold. */
export const waysOf = (conditions: ReadonlyArray<Bound>, type: EntityType): Ways => {
  const parts = conditions.flatMap((condition) => (condition._tag === "All" ? condition.of : [condition]))
  const either = parts.find(
    (part) => part._tag === "Any" && part.of.length <= MAX_WAYS && part.of.every((way) => isFound(way, type))
  )
  if (either?._tag !== "Any") return { ways: [], rest: conditions }
  const rest = parts.filter((part) => part !== either)
  // Related rows are collected once for the statement, not once for each way.
  return rest.some(hops) ? { ways: [], rest: conditions } : { ways: either.of, rest }
}

/** Whether an index of a managed table leads to the rows for which a condition holds. */
const isFound = (bound: Bound, type: EntityType): boolean => {
  switch (bound._tag) {
    case "Compare":
      return bound.op === "eq" && isIndexed(bound.column, type)
    case "In":
      return !bound.negated && isIndexed(bound.column, type)
    case "Some":
      return true
    default:
      return bound._tag === "All" && bound.of.some((part) => isFound(part, type))
  }
}

const isIndexed = (key: string, type: EntityType): boolean => {
  const column = resolveColumn(type, key)
  return column !== undefined && column.kind !== "boolean" && column.kind !== "list"
}

const hops = (bound: Bound): boolean =>
  bound._tag === "Some" ||
  bound._tag === "None" ||
  ((bound._tag === "All" || bound._tag === "Any") && bound.of.some(hops))
