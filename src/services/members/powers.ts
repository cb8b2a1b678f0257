/** What an administrator may change, by the powers of their roles. */
import { Effect } from "effect"
import { NotAllowed } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { type Policy, type Power, powersOf } from "../../permissions/Policy.ts"

/** Fails unless one of the administrator's roles has the power. */
export const requirePower = (policy: Policy, { roles }: Principal, power: Power): Effect.Effect<void, NotAllowed> =>
  powersOf(policy, roles).includes(power)
    ? Effect.void
    : Effect.fail(
        NotAllowed.of(`This needs a role whose "administers" in the policy names ${power}. Ask an operator of Max.`)
      )

/** Fails if one of the roles has a power that the administrator lacks, who would otherwise raise their own. */
export const mayGive = Effect.fnUntraced(function* (
  policy: Policy,
  administrator: Principal,
  roles: ReadonlyArray<string>
) {
  yield* requirePower(policy, administrator, "members")
  const own = powersOf(policy, administrator.roles)
  for (const role of roles) {
    const more = powersOf(policy, [role]).find((power) => !own.includes(power))
    if (more === undefined) continue
    return yield* NotAllowed.of(`You can't give or take the role ${role}: it has the power ${more}, and you don't.`)
  }
})
