/** Keeps a holder of every administrators' power: without one, no member could give it back in the browser. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { type Policy, type Power, powersOf } from "../../permissions/Policy.ts"

const WORDS: Readonly<Record<Power, string>> = {
  members: "members and their roles",
  policy: "the policy",
  data: "imported data",
  secrets: "sealed secrets"
}

/** The distinct combinations of roles that active members have, with the number of these members. */
const roleSets = (app: PgClient.PgClient, { id }: Organization) =>
  app<{ roles: ReadonlyArray<string>; members: number }>`SELECT roles, count(*)::int AS members FROM max.memberships
    WHERE organization_id = ${id} AND suspended_at IS NULL GROUP BY roles`

/** The powers that active members hold under this policy. */
const heldPowers = (app: PgClient.PgClient, organization: Organization, policy: Policy) =>
  Effect.map(roleSets(app, organization), (sets) => new Set(sets.flatMap(({ roles }) => powersOf(policy, roles))))

/** Runs a change of memberships; fails if a power that had a holder before has none afterwards. Call it in its transaction. */
export const keepingHolders = <A, E, R>(
  app: PgClient.PgClient,
  organization: Organization,
  policy: Policy,
  change: Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const before = yield* heldPowers(app, organization, policy)
    const changed = yield* change
    const after = yield* heldPowers(app, organization, policy)
    const lost = [...before].find((power) => !after.has(power))
    if (lost === undefined) return changed
    return yield* OperatorError.of(
      `This is the last active person who may change ${WORDS[lost]} here. Give another person a role that may, first.`
    )
  })

/** Fails unless an active member has the power under this policy, which is about to be published. */
export const requireHolder = Effect.fnUntraced(function* (
  app: PgClient.PgClient,
  organization: Organization,
  policy: Policy,
  power: Power
) {
  if ((yield* heldPowers(app, organization, policy)).has(power)) return
  return yield* OperatorError.of(
    `With this policy no active person could change ${WORDS[power]} here any more. Let a role that an active person has administer "${power}".`
  )
})

/** Fails unless one active member could approve what another one publishes under this policy, where it needs an approval. */
export const requireApprover = Effect.fnUntraced(function* (
  app: PgClient.PgClient,
  organization: Organization,
  policy: Policy
) {
  if (policy.publishing === undefined) return
  const { approvers } = policy.publishing
  const holders = (yield* roleSets(app, organization)).filter(({ roles }) => powersOf(policy, roles).includes("policy"))
  const isApproved = holders.some(({ roles }) => roles.some((role) => approvers.includes(role)))
  if (isApproved && holders.reduce((sum, { members }) => sum + members, 0) > 1) return
  return yield* OperatorError.of(
    `With this policy a second person approves each publication, and no active person here could approve another's. Give two people a role that may change the policy, one of them ${approvers.join(" or ")}, first.`
  )
})
