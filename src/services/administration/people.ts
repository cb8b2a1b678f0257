/**
 * Members as somebody who administers sees them: what a membership says, and of the person's row only what the
 * administrator's own plan shows. An identifier that the administrator couldn't look up is masked.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../../database/execute.ts"
import { type Catalog, DISPLAY_NAME, peopleOf } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"
import type { AttributeValue, Principal } from "../../domain/Principal.ts"
import { masked, printable } from "../../domain/text.ts"
import { parseId } from "../../domain/values.ts"
import { readIdentifier } from "../members/IdentityResolver.ts"
import type { State } from "../catalog/OrganizationState.ts"
import { type RowEvaluator, plannedAccess } from "../policies/rowEvaluator.ts"

interface ShownIdentifier {
  readonly kind: "email" | "phone" | "subject"
  /** In full where the administrator may see the person's own, else masked. */
  readonly text: string
}

export interface Person {
  readonly id: string
  /** Empty where the administrator may not see it. */
  readonly name: string
  readonly identifiers: ReadonlyArray<ShownIdentifier>
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly state: "active" | "suspended"
  /** Whether it is whoever asks. */
  readonly isSelf: boolean
  /** Tokens in force. */
  readonly tokens: number
  readonly memberSince: Date
  readonly suspendedSince?: Date
  /** The minute of the last call that was counted, as far as the database remembers. */
  readonly lastCall?: Date
}

export interface PeopleQuery {
  /** Words of names, roles and identifiers; or an identifier as a whole, which finds its member though it isn't shown. */
  readonly search?: string | undefined
  readonly role?: string | undefined
  readonly state?: Person["state"] | undefined
  /** The person after whom the page begins. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface People {
  readonly people: ReadonlyArray<Person>
  /** How many match. */
  readonly total: number
  readonly next?: string
}

interface Row {
  readonly anchor_id: string
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly created_at: Date
  readonly suspended_at: Date | null
  readonly identifiers: ReadonlyArray<{ readonly kind: ShownIdentifier["kind"]; readonly key: string }> | null
  readonly tokens: number
  readonly seen: Date | null
}

/** A member with what isn't shown of it. */
export interface Known extends Person {
  readonly keys: ReadonlyArray<string>
  readonly folded: string
}

export const makePeople =
  (app: PgClient.PgClient, judge: RowEvaluator) =>
  /** All members, or the one meant, in order of name. */
  (state: State, asker: Principal, id?: string) =>
    Effect.gen(function* () {
      const { catalog } = state
      const organizationId = catalog.organization.id
      const rows = yield* orUnavailable(app<Row>`
        SELECT m.anchor_id, m.roles, m.attributes, m.created_at, m.suspended_at, i.identifiers, coalesce(t.tokens, 0) AS tokens,
          to_timestamp(c.minute * 60) AS seen
        FROM max.memberships m
        LEFT JOIN (SELECT anchor_id, json_agg(json_build_object('kind', kind, 'key', key) ORDER BY kind, key) AS identifiers
          FROM max.identifiers WHERE organization_id = ${organizationId} GROUP BY anchor_id) i ON i.anchor_id = m.anchor_id
        LEFT JOIN (SELECT anchor_id, count(*)::int AS tokens FROM max.credentials WHERE organization_id = ${organizationId}
          AND kind = 'token' AND ended_at IS NULL AND expires_at > now() GROUP BY anchor_id) t ON t.anchor_id = m.anchor_id
        LEFT JOIN max.calls c ON c.organization_id = m.organization_id AND c.who = m.anchor_id
        WHERE m.organization_id = ${organizationId} AND (${id ?? null}::text IS NULL OR m.anchor_id = ${id ?? null}::text)`)
      const shown = yield* shownOf(
        judge,
        state,
        asker,
        rows.map((row) => row.anchor_id)
      )
      return rows
        .map((row): Known => {
          const seen = shown.get(row.anchor_id)
          const identifiers = row.identifiers ?? []
          return {
            id: row.anchor_id,
            name: seen?.name ?? "",
            identifiers: identifiers.map(({ key, kind }) => ({
              kind,
              text: seen?.kinds.includes(kind) === true ? printable(key) : masked(key)
            })),
            roles: row.roles,
            attributes: row.attributes,
            state: row.suspended_at === null ? "active" : "suspended",
            isSelf: row.anchor_id === asker.anchorEntityId,
            tokens: row.tokens,
            memberSince: row.created_at,
            ...(row.suspended_at === null ? {} : { suspendedSince: row.suspended_at }),
            ...(row.seen === null ? {} : { lastCall: row.seen }),
            keys: identifiers.map(({ key }) => key),
            folded: foldText(seen?.name ?? "")
          }
        })
        .sort((a, b) => order(a.folded, b.folded) || (a.id < b.id ? -1 : 1))
    })

/** Who has no name that may be seen comes last. */
const order = (a: string, b: string): number => (a === b ? 0 : a === "" ? 1 : b === "" ? -1 : a < b ? -1 : 1)

interface Shown {
  readonly name: string
  /** The kinds of identifiers that may be seen in the person's row. */
  readonly kinds: ReadonlyArray<string>
}

const KINDS = ["email", "phone"] as const

/** What the administrator's plan shows of these people, by entity id. */
export const shownOf = Effect.fnUntraced(function* (
  judge: RowEvaluator,
  { catalog, policy }: State,
  asker: Principal,
  anchorIds: ReadonlyArray<string>
) {
  const found = new Map<string, Shown>()
  const people = peopleOf(catalog)
  if (people === undefined) return found
  const ids = anchorIds.flatMap((id) => parseId(id, people.mapping?.id.type) ?? [])
  if (ids.length === 0) return found
  const sight = plannedAccess(policy, catalog, asker, people, Date.now())
  const rows = yield* judge.rows(
    people,
    catalog,
    [DISPLAY_NAME, ...KINDS].map((column) => ({ of: sight.cell(column) })),
    { ids, where: { of: sight.rows }, limit: ids.length }
  )
  for (const { id, name, truths } of rows) {
    found.set(id, { name: truths[0] ? name : "", kinds: KINDS.filter((_, index) => truths[index + 1]) })
  }
  return found
})

/** Whether somebody matches: every word is in a name, role or shown identifier; or it is an identifier as a whole. */
const matching = (search: string, catalog: Catalog) => {
  const key = readIdentifier(search, catalog.organization)?.key
  const words = foldText(search)
    .split(/\s+/)
    .filter((word) => word !== "")
  return ({ folded, identifiers, keys, roles }: Known): boolean => {
    if (key !== undefined && keys.includes(key)) return true
    if (words.length === 0) return true
    const text = `${folded}\n${foldText([...roles, ...identifiers.map((one) => one.text)].join("\n"))}`
    return words.every((word) => text.includes(word))
  }
}

/** The page of those who match. Nobody is ever deleted, so that a page has its place though others come and go. */
export const pageOf = (all: ReadonlyArray<Known>, query: PeopleQuery, catalog: Catalog): People => {
  const { after, limit, role, search = "", state } = query
  const matches = matching(search, catalog)
  const found = all.filter(
    (person) =>
      (state === undefined || person.state === state) &&
      (role === undefined || person.roles.includes(role)) &&
      matches(person)
  )
  const place = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
  const later = new Set(all.slice(place).map(({ id }) => id))
  const rest = found.filter(({ id }) => later.has(id))
  const people = rest.slice(0, limit)
  return { people, total: found.length, ...(rest.length > limit ? { next: people.at(-1)!.id } : {}) }
}
