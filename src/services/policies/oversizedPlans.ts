/**
 * Policies whose plans would be refused for their size. A plan that is too large shows nothing, which is safe and a
 * riddle to everybody: so such a policy isn't published, and its author hears why.
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
  held: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<Problem> => {
  const sets = [...Object.keys(policy.roles).map((role) => [role]), ...held.filter((roles) => roles.length > 1)]
  const problems = sets.flatMap((roles) =>
    catalog.types.flatMap((type): ReadonlyArray<Problem> => {
      const principal = {
        organizationId: catalog.organization.id,
        anchorEntityId: encodeId(1n),
        roles,
        attributes: {},
        epoch: catalog.epoch
      }
      const made = compilable(plan(policy, catalog, principal, type, "read", Date.now()), type, catalog)
      return made._tag === "Denied" && made.reason === "too-large"
        ? [
            {
              path: `roles.${roles.join("+")}`,
              message: `All that whoever is ${listed(roles)} may see of ${type.slug} is too much for one statement: more than ${MAX_PLAN_PARAMETERS} values or 64 kB of SQL. Nothing of ${type.slug} would be shown.`,
              fix: "one condition over a relation, an attribute or a column in place of many values"
            }
          ]
        : []
    })
  )
  const seen = new Set<string>()
  return problems.filter(({ message, path }) => !seen.has(path + message) && seen.add(path + message)).slice(0, 20)
}
