/**
 * The planner: turns a policy, a principal and a type into one predicate over rows and one per column. Pure and total:
 * it has no error channel, and every failure becomes `Denied`.
 */
import { all, any, type Bound, NEVER } from "../domain/Predicate.ts"
import type { Catalog, EntityType } from "../domain/EntityType.ts"
import type { Principal } from "../domain/Principal.ts"
import { bindPredicate, type Binding } from "./bindPredicate.ts"
import { POLICY } from "./limits.ts"
import { bounded, denied, intersect, type Plan, withDerived } from "./permissionPlan.ts"
import type { Action, Policy, Rule } from "./Policy.ts"
import { scopePlan } from "./ToolScope.ts"

/** Plans an action of a principal on a type at a time (milliseconds since 1970). */
export const plan = (
  policy: Policy,
  catalog: Catalog,
  principal: Principal,
  type: EntityType,
  action: Action,
  now: number
): Plan => {
  try {
    const { actor, anchorEntityId, attributes, roles, scope } = principal
    const plans = [planFor(policy, type, action, now, roles, { catalog, me: anchorEntityId, attributes })]
    if (actor !== undefined) {
      plans.push(
        planFor(policy, type, action, now, actor.roles, { catalog, me: undefined, attributes: actor.attributes })
      )
    }
    if (scope !== undefined) plans.push(scopePlan(scope, type, action))
    return plans.reduce(intersect)
  } catch {
    return denied("not-bindable")
  }
}

const planFor = (
  policy: Policy,
  type: EntityType,
  action: Action,
  now: number,
  roles: ReadonlyArray<string>,
  binding: Binding
): Plan => {
  const candidates = rulesFor(policy, roles, type, action)
  const expiresAt = nextBoundary(candidates, now)
  const rules = candidates.filter((rule) => isInForce(rule, now))
  if (rules.length > POLICY.planRules) return denied("too-large", expiresAt)
  const allows = rules.filter((rule) => rule.effect === "allow")
  if (allows.length === 0) return denied("no-rule", expiresAt)

  const granted = allows.map((rule, index) => ({
    rule,
    index,
    where: bindPredicate(rule.where, type, binding, true, true)
  }))
  const refused = rules
    .filter((rule) => rule.effect === "deny")
    .map((rule) => ({ rule, unless: bindPredicate(rule.where, type, binding, false, true) }))

  const where = all(
    any(...granted.map((grant) => grant.where)),
    ...refused.filter(({ rule }) => rule.columns === "*").map(({ unless }) => unless)
  )
  // Columns shown by the same rules share one predicate, which is built once.
  const unions = new Map<string, Bound>()
  const union = (rules: typeof granted): Bound => {
    const key = rules.map(({ index }) => index).join()
    const cached = unions.get(key) ?? any(...rules.map((grant) => grant.where))
    unions.set(key, cached)
    return cached
  }
  const denialsOf = (key: string) =>
    refused.filter(({ rule }) => rule.columns !== "*" && rule.columns.includes(key)).map(({ unless }) => unless)
  const cells = new Map(
    type.columns.map((column): [string, Bound] => {
      const grants = granted.filter(({ rule }) => rule.columns === "*" || rule.columns.includes(column.key))
      if (grants.length === 0) return [column.key, NEVER]
      // When every rule that shows the row also shows the column, the row predicate already implies the mask.
      const shown = grants.length === granted.length ? [] : [union(grants)]
      return [column.key, all(...shown, ...denialsOf(column.key))]
    })
  )
  return bounded({
    _tag: "Granted",
    where,
    cells: withDerived(type, cells, denialsOf),
    ruleIds: rules.map((rule) => rule.id),
    limited: where._tag !== "Always",
    expiresAt
  })
}

/** The rules of these roles and of the roles that they inherit, for an action on a type, in force or not. */
export const rulesFor = (
  policy: Policy,
  roles: ReadonlyArray<string>,
  type: EntityType,
  action: Action
): ReadonlyArray<Rule> => {
  const effectiveRoles = new Set(
    roles.flatMap((role) => (Object.hasOwn(policy.roles, role) ? policy.roles[role]! : []))
  )
  return policy.rules.filter(
    (rule) => rule.type === type.key && rule.action === action && effectiveRoles.has(rule.role)
  )
}

export const isInForce = (rule: Rule, now: number): boolean =>
  (rule.notBefore === undefined || rule.notBefore <= now) && (rule.notAfter === undefined || now < rule.notAfter)

/** The next time at which one of these rules begins or ends. */
export const nextBoundary = (rules: ReadonlyArray<Rule>, now: number): number => {
  let next = Infinity
  for (const { notAfter, notBefore } of rules) {
    if (notBefore !== undefined && notBefore > now) next = Math.min(next, notBefore)
    if (notAfter !== undefined && notAfter > now) next = Math.min(next, notAfter)
  }
  return next
}
