/** A list of members against the memberships that there are: what it adds, changes and ends, and what is in its way. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Organization } from "../../domain/EntityType.ts"
import type { AttributeValue } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import type { Identifier } from "./IdentityResolver.ts"

/** What a list changes, by who is meant. */
export interface Synced {
  readonly added: ReadonlyArray<{ readonly who: string; readonly roles: ReadonlyArray<string> }>
  readonly changed: ReadonlyArray<{
    readonly who: string
    readonly roles: ReadonlyArray<string>
    readonly before: { readonly roles: ReadonlyArray<string>; readonly suspended: boolean }
  }>
  readonly suspended: ReadonlyArray<{ readonly who: string; readonly roles: ReadonlyArray<string> }>
  /** Identifiers by which members may come in from now on, too. */
  readonly verified: ReadonlyArray<string>
  readonly unchanged: number
}

/** A member whose person was found, or is to be made. */
export interface Prepared {
  readonly identifier: Identifier
  /** Whom an identity provider means by the person. */
  readonly subject?: string
  readonly anchorId: string
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  /** The person to make, with the identifier as it was written. */
  readonly create?: { readonly name: string; readonly text: string }
  readonly keepAttributes?: boolean
}

export const sameRoles = (a: ReadonlyArray<string>, b: ReadonlyArray<string> | undefined): boolean =>
  b !== undefined && a.length === b.length && a.every((role) => b.includes(role))

export interface Wanted extends Prepared {
  readonly place: string
  readonly who: string
}

const nameOf = ({ key, kind }: Identifier) => `${kind} ${key}`

/** Whose the identifiers of a list are already. */
export const boundTo = (app: PgClient.PgClient, organization: Organization, wanted: ReadonlyArray<Wanted>) =>
  Effect.map(
    app<Identifier & { readonly anchor_id: string }>`
      SELECT i.kind, i.key, i.anchor_id FROM max.identifiers i WHERE i.organization_id = ${organization.id}
        AND i.key = ANY(${wanted.map(({ identifier }) => identifier.key)}::text[])`,
    (rows) => new Map(rows.map((row) => [nameOf(row), row.anchor_id]))
  )

/** Verified identifiers of a list that are another member's. */
export const conflicts = (wanted: Iterable<Wanted>, bound: ReadonlyMap<string, string>) =>
  [...wanted]
    .filter(({ anchorId, identifier }) => (bound.get(nameOf(identifier)) ?? anchorId) !== anchorId)
    .map(
      ({ place, who }) =>
        `${place}: ${quoted(who)} is the verified identifier of another member. max member list shows whose.`
    )

interface MembershipNow {
  readonly anchor_id: string
  readonly who: string | null
  readonly roles: ReadonlyArray<string>
  readonly suspended: boolean
}

export const membershipsNow = (app: PgClient.PgClient, organization: Organization) => app<MembershipNow>`
  SELECT m.anchor_id, m.roles, m.suspended_at IS NOT NULL AS suspended,
    (SELECT min(i.key) FROM max.identifiers i WHERE i.organization_id = m.organization_id AND i.anchor_id = m.anchor_id) AS who
  FROM max.memberships m WHERE m.organization_id = ${organization.id} ORDER BY m.created_at, m.anchor_id FOR UPDATE OF m`

/** What a list changes, and whose memberships end. */
export const difference = (
  wanted: ReadonlyMap<string, Wanted>,
  now: ReadonlyArray<MembershipNow>,
  bound: ReadonlyMap<string, string>
) => {
  const known = new Map(now.map((row) => [row.anchor_id, row]))
  const isSame = (one: MembershipNow | undefined, roles: ReadonlyArray<string>) =>
    one !== undefined && !one.suspended && sameRoles(one.roles, roles)
  const all = [...wanted.values()]
  const ending = now.filter((row) => !row.suspended && !wanted.has(row.anchor_id))
  const synced: Synced = {
    added: all.filter(({ anchorId }) => !known.has(anchorId)).map(({ roles, who }) => ({ who, roles })),
    changed: all.flatMap(({ anchorId, roles, who }) => {
      const before = known.get(anchorId)
      return before === undefined || isSame(before, roles)
        ? []
        : [{ who, roles, before: { roles: before.roles, suspended: before.suspended } }]
    }),
    suspended: ending.map(({ anchor_id, roles, who }) => ({ who: who ?? anchor_id, roles })),
    verified: all
      .filter(({ anchorId, identifier }) => known.has(anchorId) && !bound.has(nameOf(identifier)))
      .map(({ who }) => who),
    unchanged: all.filter(({ anchorId, roles }) => isSame(known.get(anchorId), roles)).length
  }
  return { ending: ending.map((row) => row.anchor_id), synced }
}
