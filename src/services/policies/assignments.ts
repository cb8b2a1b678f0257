/** Which roles and attributes the active members have: what only they can tell about a policy. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../../database/execute.ts"
import type { AttributeValue } from "../../domain/Principal.ts"
import type { Assignments } from "../../permissions/lint.ts"

interface HeldRoles extends Assignments {
  /** Each combination of roles that somebody has. */
  readonly sets: ReadonlyArray<ReadonlyArray<string>>
}

/** Combinations beyond this many are not looked at one by one. */
const MAX_SETS = 200

export const readAssignments = Effect.fnUntraced(function* (search: PgClient.PgClient, organizationId: bigint) {
  const [row] = yield* orUnavailable(search<{
    roles: ReadonlyArray<string> | null
    names: ReadonlyArray<string> | null
  }>`
    SELECT (SELECT array_agg(s.roles) FROM (SELECT DISTINCT array_to_string(roles, ' ') AS roles FROM max.memberships
        WHERE organization_id = ${organizationId} AND suspended_at IS NULL ORDER BY 1 LIMIT ${MAX_SETS}) s) AS roles,
      (SELECT array_agg(DISTINCT a.key) FROM max.memberships m, jsonb_object_keys(m.attributes) AS a(key)
        WHERE m.organization_id = ${organizationId} AND m.suspended_at IS NULL) AS names`)
  const sets = (row?.roles ?? []).map((roles) => roles.split(" ").filter((role) => role !== ""))
  const held: HeldRoles = { sets, roles: new Set(sets.flat()), attributes: new Set(row?.names ?? []) }
  return held
})

/** The first active members, for what is shown by example. */
export const firstMembers = (search: PgClient.PgClient, organizationId: bigint) =>
  orUnavailable(search<{
    anchor_id: string
    roles: ReadonlyArray<string>
    attributes: Readonly<Record<string, AttributeValue>>
  }>`
    SELECT anchor_id, roles, attributes FROM max.memberships
    WHERE organization_id = ${organizationId} AND suspended_at IS NULL ORDER BY created_at, anchor_id LIMIT 1000`)
