/** Who may use a declared action: rules about `invoke` that name it. They are about no row, so they have no condition. */
import type { Principal } from "../domain/Principal.ts"
import { isInForce } from "./PermissionEngine.ts"
import { NO_TYPE, type Policy } from "./Policy.ts"

/**
 * Whether the principal, and the actor where there is one, may use an action at a time (milliseconds since 1970). A tool scope
 * names types only, so a scoped credential uses none.
 */
export const mayInvoke = (policy: Policy, { actor, roles, scope }: Principal, slug: string, now: number): boolean =>
  scope === undefined &&
  [roles, ...(actor === undefined ? [] : [actor.roles])].every((held) => {
    const effective = new Set(held.flatMap((role) => (Object.hasOwn(policy.roles, role) ? policy.roles[role]! : [])))
    const rules = policy.rules.filter(
      (rule) =>
        rule.action === "invoke" &&
        rule.name === slug &&
        rule.type === NO_TYPE &&
        effective.has(rule.role) &&
        isInForce(rule, now)
    )
    return rules.some(({ effect }) => effect === "allow") && !rules.some(({ effect }) => effect === "deny")
  })
