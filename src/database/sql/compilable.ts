/**
 * The other bound on a plan's size: its SQL. A plan over it is denied like one that binds too many values, for every
 * question and on every page alike, before any statement is written from it.
 */
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { type Bound, leafCount } from "../../domain/Predicate.ts"
import { denied, type Granted, type Plan } from "../../permissions/permissionPlan.ts"
import { fragment, type FragmentContext } from "./predicate.ts"
import { SqlWriter } from "./SqlWriter.ts"

/** Characters of a plan's SQL, its rows and all of its cells together. */
const MAX_PLAN_SQL = 64 * 1024
/** With fewer leaves no plan comes near the bound: names have at most 63 characters. */
const NEVER_TOO_MANY = 40

/** The plan, or the refusal of one that is too large to be compiled or can't be. */
export const compilable = (plan: Plan, type: EntityType, catalog: Catalog): Plan => {
  if (plan._tag === "Denied") return plan
  const leaves = [plan.where, ...plan.cells.values()].reduce((sum, bound) => sum + leafCount(bound), 0)
  if (leaves <= NEVER_TOO_MANY) return plan
  try {
    return planSqlLength(plan, type, catalog) > MAX_PLAN_SQL ? denied("too-large", plan.expiresAt) : plan
  } catch {
    return denied("not-bindable", plan.expiresAt)
  }
}

/** How many characters a plan's SQL has, written as the longer of the two shapes. */
const planSqlLength = (plan: Granted, type: EntityType, catalog: Catalog): number => {
  const context: FragmentContext = {
    catalog,
    writer: new SqlWriter(),
    shape: "subplan",
    organization: "$1::bigint",
    timeZone: () => "$2::text"
  }
  const lengths = new Map<Bound, number>()
  let sum = 0
  for (const bound of [plan.where, ...plan.cells.values()]) {
    const length = lengths.get(bound) ?? (bound._tag === "Always" ? 0 : fragment(bound, type, "p", context).length)
    lengths.set(bound, length)
    sum += length
  }
  return sum
}
