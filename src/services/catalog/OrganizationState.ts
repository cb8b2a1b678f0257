/**
 * An organization's catalog, policy and epoch in force, and one membership, read by one statement so that they are
 * consistent with each other. Catalog and policy are cached until the epoch rises.
 */
import { Context, Effect, Layer, Queue, Result, Schema } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { isClosed, MOVED } from "../../database/moves.ts"
import { ROW_SECURITY } from "../../database/rowSecurity.ts"
import { type AttributeValue, comparable, StoredAttributes } from "../../domain/attributes.ts"
import { DeclaredAction } from "../../domain/DeclaredAction.ts"
import type { Catalog, Organization } from "../../domain/EntityType.ts"
import { NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { printable } from "../../domain/text.ts"
import { unavailable } from "../../observability/failures.ts"
import { Policy } from "../../permissions/Policy.ts"
import { decodeTypes, TYPES_IN_FORCE } from "./storedTypes.ts"

export interface State {
  readonly catalog: Catalog
  readonly policy: Policy
  readonly policyHash: string
  /** The declared actions in force, by slug. */
  readonly actions?: ReadonlyArray<DeclaredAction>
  /** The slugs of declared actions that a newer version of Max has published and this one can't read. */
  readonly newerActions?: ReadonlyArray<string>
}

export interface Membership {
  readonly anchorId: string
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

/** How a membership is looked up. */
export type MembershipKey =
  | { readonly by: "anchor"; readonly id: string }
  | { readonly by: "identifier"; readonly kind: "email" | "phone" | "subject"; readonly key: string }
  | { readonly by: "none" }

const MembershipSchema = Schema.Struct({
  anchorId: Schema.String,
  roles: Schema.Array(Schema.String),
  attributes: StoredAttributes
})

const decodePolicy = Schema.decodeUnknownSync(Policy)
const decodeAction = Schema.decodeUnknownResult(DeclaredAction)
const decodeNamed = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ slug: Schema.String })))

/** During an update, processes of two versions run: what the older one can't read is unavailable there, and only that. */
const decodeActions = (stored: unknown): Required<Pick<State, "actions" | "newerActions">> => {
  const actions: Array<DeclaredAction> = []
  const newerActions: Array<string> = []
  for (const [at, { slug }] of decodeNamed(stored).entries()) {
    const decoded = decodeAction((stored as ReadonlyArray<unknown>)[at])
    if (Result.isSuccess(decoded)) actions.push(decoded.success)
    else newerActions.push(slug)
  }
  return { actions, newerActions }
}

const decodeMembershipRow = Schema.decodeUnknownSync(MembershipSchema)

const decodeMembership = (row: unknown): Membership => {
  const membership = decodeMembershipRow(row)
  return { ...membership, attributes: comparable(membership.attributes) }
}

interface StateRow extends OrganizationRow {
  readonly epoch: bigint
  readonly membership: unknown
  readonly barred: boolean
  readonly types: unknown
  readonly rules: unknown
  readonly actions: unknown
  readonly policy_hash: string | null
  readonly row_security: boolean | null
  readonly in_recovery: boolean
  readonly closed: boolean
}

export interface OrganizationRow {
  readonly organization_id: bigint
  readonly slug: string
  readonly name: string
  readonly country: string
  readonly time_zone: string
  readonly external_key: string | null
  readonly conversation_days?: number | null
}

export const organizationOf = (row: OrganizationRow): Organization => ({
  id: row.organization_id,
  slug: row.slug,
  name: row.name,
  country: row.country,
  timeZone: row.time_zone,
  ...(row.external_key === null ? {} : { externalKey: row.external_key }),
  ...(typeof row.conversation_days === "number" ? { conversationDays: row.conversation_days } : {})
})

/** The latest version of each action of the organization `o`, without the retired ones. */
const ACTIONS_IN_FORCE = `SELECT coalesce(json_agg(a.definition ORDER BY a.slug) FILTER (WHERE a.definition IS NOT NULL), '[]') FROM (
      SELECT DISTINCT ON (slug) slug, definition FROM max.actions WHERE organization_id = o.organization_id ORDER BY slug, version DESC) a`

const STATE = `/* max state */ SELECT o.organization_id, o.slug, o.name, o.country, o.time_zone, o.external_key, o.conversation_days, o.epoch,
  (SELECT json_build_object('anchorId', s.anchor_id, 'roles', s.roles, 'attributes', s.attributes)
    FROM max.memberships s WHERE s.organization_id = o.organization_id AND s.suspended_at IS NULL AND s.anchor_id = coalesce($3::text,
      (SELECT i.anchor_id FROM max.identifiers i WHERE i.organization_id = o.organization_id AND i.kind = $4::text AND i.key = $5::text))
  ) AS membership,
  EXISTS (SELECT FROM max.memberships b WHERE b.organization_id = o.organization_id AND b.anchor_id = $3::text AND b.suspended_at IS NOT NULL) AS barred,
  CASE WHEN o.epoch <> $2::bigint THEN (
    ${TYPES_IN_FORCE}
  ) END AS types,
  CASE WHEN o.epoch <> $2::bigint THEN (${ACTIONS_IN_FORCE}) END AS actions,
  CASE WHEN o.epoch <> $2::bigint THEN p.rules END AS rules, p.sha256 AS policy_hash,
  CASE WHEN o.epoch <> $2::bigint THEN ${ROW_SECURITY} END AS row_security, pg_is_in_recovery() AS in_recovery,
  ${isClosed("o.organization_id")} AS closed
FROM max.organizations o
LEFT JOIN max.policies p ON p.organization_id = o.organization_id AND p.version = o.policy_version
WHERE o.organization_id = $1::bigint`

/** Of an organization that is closed here; `place` is null if it isn't. */
interface ClosedRow {
  readonly place: string | null
  readonly incoming: boolean | null
  readonly moved: string | null
}

const whereItIs = ({ incoming, moved, place, slug }: OrganizationRow & ClosedRow): string =>
  incoming === true
    ? `${slug} is being moved here from ${printable(place!)}, where max move finishes or undoes it.`
    : moved === null
      ? `${slug} is being moved to ${printable(place!)}. Run the same max move again to finish it, or with --undo.`
      : `${slug} moved to ${printable(place!)} on ${moved}: set DATABASE_URL to that database.`

const NO_POLICY: Policy = { roles: {}, rules: [] }
const MAX_CACHED = 1000

export class OrganizationState extends Context.Service<
  OrganizationState,
  {
    /** The organization by slug; without a slug, the only one that exists. */
    readonly organization: (slug: string | undefined) => Effect.Effect<Organization, OperatorError | Unavailable>
    /** The state in force, with the active membership of `key`; `barred` when an anchor's membership is suspended. */
    readonly read: (
      organizationId: bigint,
      key: MembershipKey
    ) => Effect.Effect<
      { readonly state: State; readonly membership: Membership | undefined; readonly barred: boolean },
      NotAdmitted | Unavailable
    >
    /** The state last read, which may be stale: the caller checks its epoch against the database. */
    readonly cached: (organizationId: bigint) => State | undefined
    /** Reports that a mapped relation of the organization isn't as the catalog says. */
    readonly suspect: (organizationId: bigint) => void
    /** The organizations that were reported, the latest hundred. */
    readonly suspects: Queue.Dequeue<bigint>
  }
>()("max/services/OrganizationState") {
  static readonly layer = Layer.effect(
    OrganizationState,
    Effect.gen(function* () {
      const { admission, search } = yield* Database
      const states = new Map<bigint, State>()
      const suspects = yield* Queue.sliding<bigint>(100)

      const store = (state: State) => {
        states.delete(state.catalog.organization.id)
        states.set(state.catalog.organization.id, state)
        if (states.size > MAX_CACHED) states.delete(states.keys().next().value!)
        return state
      }

      const read = Effect.fn("OrganizationState.read")(function* (organizationId: bigint, key: MembershipKey) {
        const before = states.get(organizationId)
        yield* Effect.annotateCurrentSpan("max.organization.id", String(organizationId))
        const [row] = yield* orUnavailable(
          admission.unsafe<StateRow>(STATE, [
            organizationId,
            before?.catalog.epoch ?? -1n,
            key.by === "anchor" ? key.id : null,
            key.by === "identifier" ? key.kind : null,
            key.by === "identifier" ? key.key : null
          ])
        )
        if (row === undefined) return yield* NotAdmitted.error
        if (row.closed) return yield* unavailable(MOVED)
        // A standby may be behind its primary: what it says of policy and memberships may be over.
        if (row.in_recovery) return yield* unavailable("standby")
        // Concurrent readers share one state, because caches are keyed by its identity.
        const cached = [states.get(organizationId), before].find((state) => state?.catalog.epoch === row.epoch)
        const state =
          cached ??
          store({
            catalog: {
              organization: organizationOf(row),
              epoch: row.epoch,
              types: decodeTypes(row.types),
              rowSecurity: row.row_security === true
            },
            policy: row.rules === null ? NO_POLICY : decodePolicy(row.rules),
            policyHash: row.policy_hash ?? "",
            ...decodeActions(row.actions)
          })
        return {
          state,
          membership: row.membership === null ? undefined : decodeMembership(row.membership),
          barred: row.barred
        }
      })

      const organization = Effect.fn("OrganizationState.organization")(function* (slug: string | undefined) {
        const rows = yield* orUnavailable(search<OrganizationRow & ClosedRow>`
          SELECT o.organization_id, o.slug, o.name, o.country, o.time_zone, o.external_key, v.place, v.incoming, v.moved_at::date::text AS moved
          FROM max.organizations o LEFT JOIN max.moves v ON v.organization_id = o.organization_id AND v.closed
          WHERE ${slug ?? null}::text IS NULL OR o.slug = ${slug ?? null}::text ORDER BY v.place IS NOT NULL, o.slug LIMIT 2`)
        const [only, other] = rows
        const alone = rows.length === 1 || (slug === undefined && only?.place === null && other?.place !== null)
        if (only !== undefined && alone) {
          if (only.place === null) return organizationOf(only)
          return yield* OperatorError.of(whereItIs(only))
        }
        return yield* new OperatorError({
          message:
            only !== undefined
              ? "There are several organizations. Name one: --org SLUG (max org list shows them)"
              : slug === undefined
                ? "There is no organization yet. Create one: max init --org SLUG --country US --time-zone America/New_York"
                : "There is no organization with that slug. max org list shows them."
        })
      })

      return OrganizationState.of({
        read,
        organization,
        cached: (organizationId) => states.get(organizationId),
        suspect: (organizationId) => void Queue.offerUnsafe(suspects, organizationId),
        suspects
      })
    })
  )
}
