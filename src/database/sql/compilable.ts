/**
 * Bounds the length of a plan's SQL. A larger plan is denied before anything is compiled from it, for every query alike, as
 * is a plan that binds too many values.
 */
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { type Bound, leafCount } from "../../domain/Predicate.ts"
import { denied, type Plan } from "../../permissions/permissionPlan.ts"
import type { WritePlan } from "../../permissions/WritePlan.ts"
import type { FragmentContext } from "./fragmentContext.ts"
import { fragment } from "./predicate.ts"
import { SqlWriter } from "./SqlWriter.ts"

/** In characters: the row predicate and all masks, or all judgements of a change, together. */
const MAX_PLAN_SQL = 64 * 1024
/** With this many leaves no plan reaches the bound: names have at most 63 characters. */
const UNMEASURED_LEAVES = 40

/** The plan; or, if it is too large or can't be compiled, its denial. */
export const compilable = (plan: Plan, type: EntityType, catalog: Catalog): Plan => {
  if (plan._tag === "Denied") return plan
  const leaves = [plan.where, ...plan.cells.values()].reduce((sum, bound) => sum + leafCount(bound), 0)
  if (leaves <= UNMEASURED_LEAVES) return plan
  try {
    return sqlLength([plan.where, ...plan.cells.values()], type, catalog) > MAX_PLAN_SQL
      ? denied("too-large", plan.expiresAt)
      : plan
  } catch {
    return denied("not-bindable", plan.expiresAt)
  }
}

/** The plan of a change; or, if its judgements are too large or can't be compiled, its denial. */
export const compilableWrite = (plan: WritePlan, type: EntityType, catalog: Catalog): WritePlan => {
  if (plan._tag === "Denied") return plan
  const judgements = [...plan.before, ...plan.after]
  const leaves = judgements.reduce((sum, bound) => sum + leafCount(bound), 0)
  if (leaves <= UNMEASURED_LEAVES) return plan
  try {
    return sqlLength(judgements, type, catalog) > MAX_PLAN_SQL ? denied("too-large", plan.expiresAt) : plan
  } catch {
    return denied("not-bindable", plan.expiresAt)
  }
}

/** The length of conditions in their longest form. */
const sqlLength = (conditions: ReadonlyArray<Bound>, type: EntityType, catalog: Catalog): number => {
  const context: FragmentContext = {
    catalog,
    writer: new SqlWriter(),
    hops: "subplan",
    organization: "$1::bigint",
    timeZone: () => "$2::text"
  }
  const lengths = new Map<Bound, number>()
  let sum = 0
  for (const bound of conditions) {
    const length = lengths.get(bound) ?? (bound._tag === "Always" ? 0 : fragment(bound, type, "p", context).length)
    lengths.set(bound, length)
    sum += length
  }
  return sum
}
