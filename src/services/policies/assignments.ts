/** Reads the roles and attributes that active members have, for checks of a policy against its members. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../../database/execute.ts"
import type { AttributeValue } from "../../domain/Principal.ts"
import type { Assignments } from "../../permissions/lint.ts"

interface MemberAssignments extends Assignments {
  /** The distinct combinations of roles. */
  readonly roleSets: ReadonlyArray<ReadonlyArray<string>>
}

/** The most combinations of roles that are read. */
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
  const roleSets = (row?.roles ?? []).map((roles) => roles.split(" ").filter((role) => role !== ""))
  const assignments: MemberAssignments = {
    roleSets,
    roles: new Set(roleSets.flat()),
    attributes: new Set(row?.names ?? [])
  }
  return assignments
})

/** The first active members, as examples for previews. */
export const firstMembers = (search: PgClient.PgClient, organizationId: bigint) =>
  orUnavailable(search<{
    anchor_id: string
    roles: ReadonlyArray<string>
    attributes: Readonly<Record<string, AttributeValue>>
  }>`
    SELECT anchor_id, roles, attributes FROM max.memberships
    WHERE organization_id = ${organizationId} AND suspended_at IS NULL ORDER BY created_at, anchor_id LIMIT 1000`)

/** The combinations of roles among the first active members, each with the number of these members and the first of them. */
export const roleSets = Effect.fnUntraced(function* (search: PgClient.PgClient, organizationId: bigint) {
  const sets = new Map<string, { readonly roles: ReadonlyArray<string>; readonly anchorId: string; members: number }>()
  for (const { anchor_id, roles } of yield* firstMembers(search, organizationId)) {
    const key = JSON.stringify([...roles].sort())
    const set = sets.get(key)
    if (set === undefined) sets.set(key, { roles, anchorId: anchor_id, members: 1 })
    else set.members += 1
  }
  return [...sets.values()]
})
