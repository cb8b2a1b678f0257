/** Compares a list of members with the current memberships: additions, changes, suspensions and conflicts. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { decodeRows } from "../../database/decodeRows.ts"
import type { Organization } from "../../domain/EntityType.ts"
import type { AttributeValue } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import type { Identifier } from "./identifier.ts"

/** A member outside the list, by entity id and one of their identifiers. */
interface Left {
  readonly id: string
  readonly who: string
  readonly roles: ReadonlyArray<string>
}

/** The changes that a list makes; `who` is the identifier as the list has it. */
export interface Synced {
  readonly added: ReadonlyArray<{ readonly who: string; readonly roles: ReadonlyArray<string> }>
  readonly changed: ReadonlyArray<{
    readonly who: string
    readonly roles: ReadonlyArray<string>
    readonly before: { readonly roles: ReadonlyArray<string>; readonly suspended: boolean }
  }>
  readonly suspended: ReadonlyArray<Left>
  /** Invited people outside the list, whose links end. */
  readonly uninvited: ReadonlyArray<Left>
  /** Identifiers that become verified for existing members. */
  readonly verified: ReadonlyArray<string>
  readonly unchanged: number
}

/** A validated member, whose person exists or will be created. */
export interface Prepared {
  /** Undefined for a person who is named by id. */
  readonly identifier?: Identifier
  /** The person's subject at an identity provider. */
  readonly subject?: string
  readonly anchorId: string
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  /** The person to create, with the identifier as it was written. */
  readonly create?: { readonly name: string; readonly text: string; readonly identifier: Identifier }
  readonly keepAttributes?: boolean
}

export const sameRoles = (a: ReadonlyArray<string>, b: ReadonlyArray<string> | undefined): boolean =>
  b !== undefined && a.length === b.length && a.every((role) => b.includes(role))

export interface Wanted extends Prepared {
  readonly place: string
  readonly who: string
}

const Binding = Schema.Struct({
  kind: Schema.Literals(["email", "phone", "subject"]),
  key: Schema.String,
  anchor_id: Schema.String
})
const decodeBindings = decodeRows(Binding)

const nameOf = ({ key, kind }: Pick<typeof Binding.Type, "kind" | "key">) => `${kind} ${key}`

/** The members that a list's identifiers are bound to. */
export const currentBindings = (app: PgClient.PgClient, organization: Organization, wanted: ReadonlyArray<Wanted>) =>
  Effect.map(
    app`
      SELECT i.kind, i.key, i.anchor_id FROM max.identifiers i WHERE i.organization_id = ${organization.id}
        AND i.key = ANY(${wanted.flatMap(({ identifier }) => identifier?.key ?? [])}::text[])`.pipe(decodeBindings),
    (rows) => new Map(rows.map((row) => [nameOf(row), row.anchor_id]))
  )

/** Identifiers of a list that are bound to another member. */
export const conflicts = (wanted: Iterable<Wanted>, bound: ReadonlyMap<string, string>) =>
  [...wanted]
    .filter(({ anchorId, identifier }) => ((identifier && bound.get(nameOf(identifier))) ?? anchorId) !== anchorId)
    .map(
      ({ place, who }) =>
        `${place}: ${quoted(who)} is the verified identifier of another member. max member list shows whose.`
    )

interface CurrentMembership {
  readonly anchor_id: string
  readonly who: string | null
  readonly roles: ReadonlyArray<string>
  readonly suspended: boolean
  readonly invited: boolean
}

/** Reads and locks the organization's memberships. */
export const lockMemberships = (app: PgClient.PgClient, organization: Organization) => app<CurrentMembership>`
  SELECT m.anchor_id, m.roles, m.suspended_at IS NOT NULL AS suspended, m.invited_at IS NOT NULL AS invited,
    (SELECT min(i.key) FROM max.identifiers i WHERE i.organization_id = m.organization_id AND i.anchor_id = m.anchor_id) AS who
  FROM max.memberships m WHERE m.organization_id = ${organization.id} ORDER BY m.created_at, m.anchor_id FOR UPDATE OF m`

/** The changes that a list makes, and the memberships that it suspends. */
export const difference = (
  wanted: ReadonlyMap<string, Wanted>,
  current: ReadonlyArray<CurrentMembership>,
  bound: ReadonlyMap<string, string>
) => {
  const byAnchor = new Map(current.map((row) => [row.anchor_id, row]))
  const isSame = (membership: CurrentMembership | undefined, roles: ReadonlyArray<string>) =>
    membership !== undefined && !membership.suspended && sameRoles(membership.roles, roles)
  const all = [...wanted.values()]
  const left = current
    .filter(({ anchor_id }) => !wanted.has(anchor_id))
    .map(({ anchor_id, who, ...row }) => ({ ...row, id: anchor_id, who: who ?? anchor_id }))
  const leaving = left.filter((row) => !row.suspended)
  const named = ({ id, roles, who }: Left): Left => ({ id, who, roles })
  const synced: Synced = {
    added: all.filter(({ anchorId }) => !byAnchor.has(anchorId)).map(({ roles, who }) => ({ who, roles })),
    changed: all.flatMap(({ anchorId, roles, who }) => {
      const before = byAnchor.get(anchorId)
      return before === undefined || isSame(before, roles)
        ? []
        : [{ who, roles, before: { roles: before.roles, suspended: before.suspended } }]
    }),
    suspended: leaving.map(named),
    uninvited: left.filter(({ invited }) => invited).map(named),
    verified: all
      .filter(
        ({ anchorId, identifier }) =>
          identifier !== undefined && byAnchor.has(anchorId) && !bound.has(nameOf(identifier))
      )
      .map(({ who }) => who),
    unchanged: all.filter(({ anchorId, roles }) => isSame(byAnchor.get(anchorId), roles)).length
  }
  const newlyVerified = new Set(synced.verified)
  /** The roles that the list gives, takes, or binds an identifier to. */
  const touched = [
    ...[...synced.added, ...synced.changed, ...synced.suspended, ...synced.uninvited].flatMap(({ roles }) => roles),
    ...synced.changed.flatMap(({ before }) => before.roles),
    ...all.flatMap(({ roles, who }) => (newlyVerified.has(who) ? roles : []))
  ]
  return { synced, touched: [...new Set(touched)] }
}
