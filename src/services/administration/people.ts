/**
 * Members as an administrator sees them: the membership, and of the person's row only what the administrator's own plan
 * shows. Identifiers that the plan doesn't show are masked.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type AttributeValue, comparable, StoredAttributes } from "../../domain/attributes.ts"
import { type Catalog, DISPLAY_NAME, peopleOf } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"
import type { Principal } from "../../domain/Principal.ts"
import { masked, printable } from "../../domain/text.ts"
import { parseId } from "../../domain/values.ts"
import { readIdentifier } from "../members/identifier.ts"
import type { State } from "../catalog/OrganizationState.ts"
import { type RowEvaluator, plannedAccess } from "../policies/rowEvaluator.ts"

const IdentifierKind = Schema.Literals(["email", "phone", "subject"])

export interface ShownIdentifier {
  readonly kind: typeof IdentifierKind.Type
  /** Masked unless the administrator may see the person's column of this kind. */
  readonly text: string
}

export interface Person {
  readonly id: string
  /** Empty if the administrator may not see it. */
  readonly name: string
  readonly identifiers: ReadonlyArray<ShownIdentifier>
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  /** Invited: suspended until the person uses the link. */
  readonly state: "active" | "invited" | "suspended"
  /** Whether this is the calling administrator. */
  readonly isSelf: boolean
  /** The number of active tokens. */
  readonly tokens: number
  readonly memberSince: Date
  readonly suspendedSince?: Date
  /** The minute of the last counted call, if its count still exists. */
  readonly lastCall?: Date
}

export interface PeopleQuery {
  /** Words of names, roles and visible identifiers; or one complete identifier, which also matches masked ones. */
  readonly search?: string | undefined
  readonly role?: string | undefined
  readonly state?: Person["state"] | undefined
  /** The id of the last person of the previous page. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface People {
  readonly people: ReadonlyArray<Person>
  /** The number of matching members. */
  readonly total: number
  readonly next?: string
}

const decodeMembers = decodeRows(
  Schema.Struct({
    anchor_id: Schema.String,
    roles: Schema.Array(Schema.String),
    attributes: StoredAttributes,
    created_at: Schema.Date,
    suspended_at: Schema.NullOr(Schema.Date),
    invited: Schema.Boolean,
    identifiers: Schema.NullOr(Schema.Array(Schema.Struct({ kind: IdentifierKind, key: Schema.String }))),
    tokens: Schema.Int,
    seen: Schema.NullOr(Schema.Date)
  })
)

/** A member with the private keys that the search uses. */
export interface SearchablePerson extends Person {
  readonly keys: ReadonlyArray<string>
  readonly folded: string
}

export const makePeople = (app: PgClient.PgClient, evaluator: RowEvaluator) =>
  /** All members, or the one with this id, ordered by name. */
  Effect.fnUntraced(function* (state: State, asker: Principal, id?: string) {
    const { catalog } = state
    const organizationId = catalog.organization.id
    const rows = yield* app`
        SELECT m.anchor_id, m.roles, m.attributes, m.created_at, m.suspended_at, m.invited_at IS NOT NULL AS invited, i.identifiers, coalesce(t.tokens, 0) AS tokens,
          to_timestamp(c.minute * 60) AS seen
        FROM max.memberships m
        LEFT JOIN (SELECT anchor_id, json_agg(json_build_object('kind', kind, 'key', key) ORDER BY kind, key) AS identifiers
          FROM max.identifiers WHERE organization_id = ${organizationId} GROUP BY anchor_id) i ON i.anchor_id = m.anchor_id
        LEFT JOIN (SELECT anchor_id, count(*)::int AS tokens FROM max.credentials WHERE organization_id = ${organizationId}
          AND kind = 'token' AND ended_at IS NULL AND expires_at > now() GROUP BY anchor_id) t ON t.anchor_id = m.anchor_id
        LEFT JOIN max.calls c ON c.organization_id = m.organization_id AND c.who = m.anchor_id
        WHERE m.organization_id = ${organizationId} AND (${id ?? null}::text IS NULL OR m.anchor_id = ${id ?? null}::text)`.pipe(
      orUnavailable,
      decodeMembers
    )
    const visible = yield* visiblePeople(
      evaluator,
      state,
      asker,
      rows.map((row) => row.anchor_id)
    )
    return rows
      .map((row): SearchablePerson => {
        const person = visible.get(row.anchor_id)
        const identifiers = row.identifiers ?? []
        return {
          id: row.anchor_id,
          name: person?.name ?? "",
          identifiers: identifiers.map(({ key, kind }) => ({
            kind,
            text: person?.kinds.includes(kind) === true ? printable(key) : masked(key)
          })),
          roles: row.roles,
          attributes: comparable(row.attributes),
          state: row.invited ? "invited" : row.suspended_at === null ? "active" : "suspended",
          isSelf: row.anchor_id === asker.anchorEntityId,
          tokens: row.tokens,
          memberSince: row.created_at,
          ...(row.suspended_at === null || row.invited ? {} : { suspendedSince: row.suspended_at }),
          ...(row.seen === null ? {} : { lastCall: row.seen }),
          keys: identifiers.map(({ key }) => key),
          folded: foldText(person?.name ?? "")
        }
      })
      .sort((a, b) => order(a.folded, b.folded) || (a.id < b.id ? -1 : 1))
  })

/** Members without a visible name come last. */
const order = (a: string, b: string): number => (a === b ? 0 : a === "" ? 1 : b === "" ? -1 : a < b ? -1 : 1)

interface VisiblePerson {
  readonly name: string
  /** The identifier columns of the person's row that are visible. */
  readonly kinds: ReadonlyArray<string>
}

const KINDS = ["email", "phone"] as const

/** The part of these people's rows that the administrator's plan shows, by entity id. */
export const visiblePeople = Effect.fnUntraced(function* (
  evaluator: RowEvaluator,
  { catalog, policy }: State,
  asker: Principal,
  anchorIds: ReadonlyArray<string>
) {
  const visible = new Map<string, VisiblePerson>()
  const people = peopleOf(catalog)
  if (people === undefined) return visible
  const ids = anchorIds.flatMap((id) => parseId(id, people.mapping?.id.type) ?? [])
  if (ids.length === 0) return visible
  const sight = plannedAccess(policy, catalog, asker, people, Date.now())
  const rows = yield* evaluator.rows(
    people,
    catalog,
    [DISPLAY_NAME, ...KINDS].map((column) => ({ of: sight.cell(column) })),
    { ids, where: { of: sight.rows }, limit: ids.length }
  )
  for (const { id, name, truths } of rows) {
    visible.set(id, { name: truths[0] ? name : "", kinds: KINDS.filter((_, index) => truths[index + 1]) })
  }
  return visible
})

/** Matches if every word is in the name, a role or a visible identifier, or if the text is a complete identifier. */
const makeMatcher = (search: string, catalog: Catalog) => {
  const key = readIdentifier(search, catalog.organization)?.key
  const words = foldText(search)
    .split(/\s+/)
    .filter((word) => word !== "")
  return ({ folded, identifiers, keys, roles }: SearchablePerson): boolean => {
    if (key !== undefined && keys.includes(key)) return true
    if (words.length === 0) return true
    const text = `${folded}\n${foldText([...roles, ...identifiers.map((one) => one.text)].join("\n"))}`
    return words.every((word) => text.includes(word))
  }
}

/** The page of matching members. Memberships are never deleted, so the cursor's member always exists. */
export const pageOf = (all: ReadonlyArray<SearchablePerson>, query: PeopleQuery, catalog: Catalog): People => {
  const { after, limit, role, search = "", state } = query
  const matches = makeMatcher(search, catalog)
  const matching = all.filter(
    (person) =>
      (state === undefined || person.state === state) &&
      (role === undefined || person.roles.includes(role)) &&
      matches(person)
  )
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
  const later = new Set(all.slice(start).map(({ id }) => id))
  const rest = matching.filter(({ id }) => later.has(id))
  const people = rest.slice(0, limit)
  return { people, total: matching.length, ...(rest.length > limit ? { next: people.at(-1)!.id } : {}) }
}
