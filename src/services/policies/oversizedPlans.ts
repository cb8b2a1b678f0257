/**
 * Finds role combinations whose plans exceed the size limit. Such a plan denies everything, which is safe but hard to
 * diagnose, so the policy is refused at publication.
 */
import { Effect } from "effect"
import { compilable, compilableWrite } from "../../database/sql/compilable.ts"
import type { Catalog } from "../../domain/EntityType.ts"
import { encodeId } from "../../domain/ids.ts"
import { POLICY } from "../../permissions/limits.ts"
import { plan } from "../../permissions/PermissionEngine.ts"
import { MAX_PLAN_PARAMETERS, type Plan } from "../../permissions/permissionPlan.ts"
import { planWrite, type WritePlan } from "../../permissions/WritePlan.ts"
import type { Policy, Problem } from "../../permissions/Policy.ts"
import { listed } from "../../permissions/describe.ts"

export const oversizedPlans = Effect.fnUntraced(function* (
  policy: Policy,
  catalog: Catalog,
  memberRoleSets: ReadonlyArray<ReadonlyArray<string>>
) {
  const roleSets = [
    ...Object.keys(policy.roles).map((role) => [role]),
    ...memberRoleSets.filter((roles) => roles.length > 1)
  ]
  if (plannedRules(policy, roleSets) > POLICY.plannedRules) {
    const message = `The plans of all roles must have at most ${POLICY.plannedRules} rules together.`
    return [{ path: "roles", message }]
  }
  const problems: Array<Problem> = []
  for (const roles of roleSets) {
    // Other work of this process goes on between the plans.
    yield* Effect.yieldNow
    problems.push(...oversizedPlansOf(roles, policy, catalog))
  }
  const seen = new Set<string>()
  return problems.filter(({ message, path }) => !seen.has(path + message) && seen.add(path + message)).slice(0, 20)
})

/** The rules that apply to each of these combinations of roles, added up. */
const plannedRules = (policy: Policy, roleSets: ReadonlyArray<ReadonlyArray<string>>): number => {
  const byRole = new Map<string, number>()
  for (const { role } of policy.rules) byRole.set(role, (byRole.get(role) ?? 0) + 1)
  let total = 0
  for (const roles of roleSets)
    for (const role of new Set(roles.flatMap((name) => policy.roles[name] ?? []))) total += byRole.get(role) ?? 0
  return total
}

const oversizedPlansOf = (roles: ReadonlyArray<string>, policy: Policy, catalog: Catalog): ReadonlyArray<Problem> => {
  const effective = new Set(roles.flatMap((name) => policy.roles[name] ?? []))
  const own = { ...policy, rules: policy.rules.filter(({ role }) => effective.has(role)) }
  const changes = CHANGES.filter((action) => own.rules.some((rule) => rule.action === action))
  const principal = {
    organizationId: catalog.organization.id,
    anchorEntityId: encodeId(1n),
    roles,
    attributes: {},
    epoch: catalog.epoch
  }
  const now = Date.now()
  const problem = (message: string): Problem => ({
    path: `roles.${roles.join("+")}`,
    message,
    fix: "one condition on a relation, an attribute or a column instead of many values"
  })
  return catalog.types.flatMap((type): ReadonlyArray<Problem> => {
    const reading = compilable(plan(own, catalog, principal, type, "read", now), type, catalog)
    const denied = changes.filter((action) =>
      isTooLarge(compilableWrite(planWrite(own, catalog, principal, type, action, now), type, catalog))
    )
    return [
      ...(isTooLarge(reading)
        ? [
            problem(
              `The plan of ${listed(roles)} for ${type.slug} exceeds the limit of ${POLICY.planRules} rules, ${MAX_PLAN_PARAMETERS} values or 64 kB of SQL, so it would deny all of ${type.slug}.`
            )
          ]
        : []),
      ...denied.map((action) =>
        problem(
          `The plan of ${listed(roles)} to ${action} ${type.slug} exceeds the limit of ${POLICY.changeRules} rules, ${MAX_PLAN_PARAMETERS} values or 64 kB of SQL, so it would deny every such change.`
        )
      )
    ]
  })
}

const CHANGES = ["create", "update", "delete"] as const

const isTooLarge = (planned: Plan | WritePlan): boolean => planned._tag === "Denied" && planned.reason === "too-large"
