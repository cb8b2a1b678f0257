/**
 * Finds role combinations whose plans exceed the size limit. Such a plan denies everything, which is safe but hard to
 * diagnose, so the policy is refused at publication.
 */
import { compilable } from "../../database/sql/compilable.ts"
import type { Catalog } from "../../domain/EntityType.ts"
import { encodeId } from "../../domain/ids.ts"
import { plan } from "../../permissions/PermissionEngine.ts"
import { MAX_PLAN_PARAMETERS } from "../../permissions/permissionPlan.ts"
import type { Policy, Problem } from "../../permissions/Policy.ts"
import { listed } from "../../permissions/describe.ts"

export const oversizedPlans = (
  policy: Policy,
  catalog: Catalog,
  memberRoleSets: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<Problem> => {
  const roleSets = [
    ...Object.keys(policy.roles).map((role) => [role]),
    ...memberRoleSets.filter((roles) => roles.length > 1)
  ]
  const problems = roleSets.flatMap((roles) =>
    catalog.types.flatMap((type): ReadonlyArray<Problem> => {
      const principal = {
        organizationId: catalog.organization.id,
        anchorEntityId: encodeId(1n),
        roles,
        attributes: {},
        epoch: catalog.epoch
      }
      const planned = compilable(plan(policy, catalog, principal, type, "read", Date.now()), type, catalog)
      return planned._tag === "Denied" && planned.reason === "too-large"
        ? [
            {
              path: `roles.${roles.join("+")}`,
              message: `The plan of ${listed(roles)} for ${type.slug} exceeds the limit of ${MAX_PLAN_PARAMETERS} values or 64 kB of SQL, so it would deny all of ${type.slug}.`,
              fix: "one condition on a relation, an attribute or a column instead of many values"
            }
          ]
        : []
    })
  )
  const seen = new Set<string>()
  return problems.filter(({ message, path }) => !seen.has(path + message) && seen.add(path + message)).slice(0, 20)
}
