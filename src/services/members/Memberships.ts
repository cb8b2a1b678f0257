/** Memberships: who is admitted to an organization, with which roles, attributes and verified identifiers. */
import { Array as Arr, Context, Data, Effect, Layer, Schema } from "effect"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable, orUnavailableInTheEnd, runWithin } from "../../database/execute.ts"
import { compileNames } from "../../database/sql/identify.ts"
import { type AttributeValue, comparable, StoredAttributes } from "../../domain/attributes.ts"
import { type Organization, peopleOf } from "../../domain/EntityType.ts"
import { type NotAdmitted, type NotAllowed, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { parseId, showId } from "../../domain/values.ts"
import { OrganizationState, type State } from "../catalog/OrganizationState.ts"
import { IdentityResolver } from "./IdentityResolver.ts"
import { keepingHolders } from "./holders.ts"
import { mayGive } from "./powers.ts"
import {
  conflicts,
  currentBindings,
  difference,
  lockMemberships,
  sameRoles,
  type Synced,
  type Wanted
} from "./memberList.ts"
import { checkRoles, makePrepare, type NewMember, parseIdentifier } from "./prepareMember.ts"
import { readPersonId } from "./identifier.ts"
import { lockEpochFor, makeSuspension, type Standing, suspensionEvent } from "./suspension.ts"
import { makeWrite, sameAttributes } from "./writeMember.ts"

const decodeMembers = decodeRows(
  Schema.Struct({
    anchor_id: Schema.String,
    roles: Schema.Array(Schema.String),
    attributes: StoredAttributes,
    suspended: Schema.Boolean,
    invited: Schema.Boolean,
    identifiers: Schema.NullOr(Schema.Array(Schema.String))
  })
)

export interface Member {
  readonly anchorId: string
  readonly name: string
  readonly identifiers: ReadonlyArray<string>
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly suspended: boolean
  /** Suspended until the person uses the link of an invitation. */
  readonly invited: boolean
}

/** A member of a list; error messages start with its place. */
export interface ListedMember extends NewMember {
  readonly place: string
}

/** How many changes of a list were shown and confirmed. */
export interface Confirmed {
  readonly added: number
  readonly changed: number
  readonly suspended: number
}

/** The first 20 faults. */
const summarized = (faults: ReadonlyArray<string>): ReadonlyArray<string> =>
  faults.length <= 20 ? faults : [...faults.slice(0, 20), `… and ${faults.length - 20} more.`]

/** Ends the transaction of a dry run, whose writes are rolled back. */
class Previewed extends Data.TaggedError("Previewed")<{ readonly synced: Synced }> {}

type Fault = OperatorError | NotAdmitted | Unavailable

export class Memberships extends Context.Service<
  Memberships,
  {
    /** Adds a membership for the person with this identifier, or changes its roles and attributes. */
    readonly add: (
      organization: Organization,
      member: NewMember
    ) => Effect.Effect<{ readonly anchorId: string; readonly created: boolean }, Fault>
    /** Makes the memberships match a list, atomically: members outside the list are suspended. A dry run changes nothing. */
    readonly sync: (
      organization: Organization,
      rows: ReadonlyArray<ListedMember>,
      options?: {
        readonly dryRun?: boolean
        readonly administrator?: Principal
        /** Fails unless the list still makes so many changes. */
        readonly confirmed?: Confirmed | undefined
      }
    ) => Effect.Effect<Synced, Fault | NotAllowed>
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<Member>, Fault>
    /** Suspends a membership with immediate effect in every process. */
    readonly suspend: (organization: Organization, identifier: string) => Effect.Effect<void, Fault>
    /** Resumes a suspended membership unchanged. */
    readonly resume: (organization: Organization, identifier: string) => Effect.Effect<void, Fault>
    /** Suspends or resumes another member by entity id, for an administrator. */
    readonly setStanding: (
      organization: Organization,
      anchorId: string,
      standing: Standing,
      administrator: Principal
    ) => Effect.Effect<void, Fault>
    /**
     * Replaces the roles of a member by entity id, and leaves the attributes. Of an administrator's change, every power keeps
     * an active holder.
     */
    readonly setRoles: (
      organization: Organization,
      anchorId: string,
      roles: ReadonlyArray<string>,
      administrator?: Principal
    ) => Effect.Effect<void, Fault | NotAllowed>
    /** Replaces the attributes of a member by entity id, and leaves the roles. */
    readonly setAttributes: (
      organization: Organization,
      anchorId: string,
      attributes: Readonly<Record<string, AttributeValue>>,
      administrator?: Principal
    ) => Effect.Effect<void, Fault | NotAllowed>
  }
>()("max/services/Memberships") {
  static readonly layer = Layer.effect(
    Memberships,
    Effect.gen(function* () {
      const { app, search } = yield* Database
      const identities = yield* IdentityResolver
      const prepare = makePrepare(identities)
      const states = yield* OrganizationState
      const setMembership = makeSuspension(app)
      const write = makeWrite(app)

      const memberNamed = Effect.fnUntraced(function* (organization: Organization, text: string) {
        const id = readPersonId(text)
        if (id === undefined) return yield* parseIdentifier(text, organization)
        return { anchorId: (yield* identities.byId(organization, id)) ?? "" }
      })

      const currentPeople = Effect.fnUntraced(function* (organization: Organization) {
        const { state } = yield* states.read(organization.id, { by: "none" })
        return { state, people: peopleOf(state.catalog)! }
      })

      /** Locks the epoch; fails if it has changed since the members were validated against the policy and catalog. */
      const lockEpoch = Effect.fnUntraced(function* ({ catalog }: State) {
        if ((yield* holdEpoch(app, catalog.organization.id)) !== catalog.epoch) {
          return yield* OperatorError.of("Something else changed this organization at the same time. Try again.")
        }
      })

      /** Changes a member by entity id, and records what it was. Of an administrator's change, every power keeps an active holder. */
      const change = Effect.fnUntraced(function* (
        organization: Organization,
        state: State,
        anchorId: string,
        { attributes, roles }: Pick<Partial<Member>, "attributes" | "roles">,
        administrator: Principal | undefined
      ) {
        yield* Effect.gen(function* () {
          if (administrator === undefined) yield* lockEpoch(state)
          else yield* lockEpochFor(app, organization, administrator)
          const [before] = yield* app<
            Pick<Member, "attributes" | "roles">
          >`SELECT roles, attributes FROM max.memberships
            WHERE organization_id = ${organization.id} AND anchor_id = ${anchorId}`
          if (before === undefined) return yield* OperatorError.of("No member has this id.")
          if (administrator !== undefined) yield* mayGive(state.policy, administrator, before.roles)
          if (roles === undefined || sameRoles(before.roles, roles))
            if (attributes === undefined || sameAttributes(before.attributes, attributes)) return
          const update = app`UPDATE max.memberships
              SET roles = ${[...new Set(roles ?? before.roles)]}::text[], attributes = ${app.json(attributes ?? before.attributes)}
              WHERE organization_id = ${organization.id} AND anchor_id = ${anchorId}`
          yield* administrator === undefined ? update : keepingHolders(app, organization, state.policy, update)
          yield* raiseEpoch(app, organization.id, [
            {
              actor: administrator?.anchorEntityId ?? OPERATOR,
              action: "membership.changed",
              subject: anchorId,
              details: {
                ...(roles === undefined ? {} : { roles }),
                ...(attributes === undefined ? {} : { attributes }),
                before: {
                  ...(roles === undefined ? {} : { roles: before.roles }),
                  ...(attributes === undefined ? {} : { attributes: before.attributes })
                }
              }
            }
          ])
        }).pipe(app.withTransaction, orUnavailable)
      })

      return Memberships.of({
        add: Effect.fn("Memberships.add")(function* (organization, member) {
          const { people, state } = yield* currentPeople(organization)
          const prepared = yield* prepare(organization, state, member)
          yield* Effect.gen(function* () {
            yield* lockEpoch(state)
            const events = yield* write(organization, people, prepared)
            if (Arr.isReadonlyArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
          }).pipe(app.withTransaction, orUnavailable)
          return { anchorId: prepared.anchorId, created: "create" in prepared }
        }),

        sync: Effect.fn("Memberships.sync")(function* (
          organization,
          rows,
          { administrator, confirmed, dryRun = false } = {}
        ) {
          const { people, state } = yield* currentPeople(organization)
          const faults: Array<string> = []
          const wanted = new Map<string, Wanted>()
          for (const { place, ...row } of rows) {
            const prepared = yield* prepare(organization, state, row).pipe(
              Effect.catchTag("OperatorError", (error) =>
                Effect.sync(() => void faults.push(`${place}: ${error.message}`))
              )
            )
            if (prepared === undefined) continue
            const other = wanted.get(prepared.anchorId)
            if (other !== undefined) faults.push(`${place}: this is the person of ${other.place} again.`)
            else wanted.set(prepared.anchorId, { ...prepared, keepAttributes: true, place, who: row.identifier.trim() })
          }
          if (rows.length === 0) faults.push("The list is empty: that would suspend every member.")
          return yield* Effect.gen(function* () {
            if (administrator !== undefined) yield* lockEpochFor(app, organization, administrator)
            yield* lockEpoch(state)
            const bound = yield* currentBindings(app, organization, [...wanted.values()])
            faults.push(...conflicts(wanted.values(), bound))
            if (faults.length > 0) return yield* OperatorError.of("Nothing was changed.", summarized(faults))
            const current = yield* lockMemberships(app, organization)
            const { synced, touched } = difference(wanted, current, bound)
            if (administrator !== undefined) {
              yield* mayGive(state.policy, administrator, touched)
              if (!wanted.has(administrator.anchorEntityId))
                return yield* OperatorError.of("The list doesn't have you, and you can't suspend yourself.")
            }
            const isOther = (["added", "changed", "suspended"] as const).some(
              (kind) => confirmed !== undefined && confirmed[kind] !== synced[kind].length
            )
            if (isOther) return yield* OperatorError.of("The list would now change something else. Check it again.")
            const actor = administrator?.anchorEntityId ?? OPERATOR
            const leaving = synced.suspended.map(({ id }) => id)
            const writing = Effect.gen(function* () {
              const events: Array<AuditEvent> = leaving.map((id) => suspensionEvent(id, "suspended", actor))
              for (const member of wanted.values()) events.push(...(yield* write(organization, people, member, actor)))
              // Invitations of people outside the list end as well.
              yield* app`UPDATE max.memberships SET suspended_at = coalesce(suspended_at, now()), invited_at = NULL
                  WHERE organization_id = ${organization.id} AND (anchor_id = ANY(${leaving}::text[])
                    OR invited_at IS NOT NULL AND anchor_id <> ALL(${[...wanted.keys()]}::text[]))`
              return events
            })
            // A dry run fails as the change would: what it has written is rolled back.
            const events = yield* administrator === undefined
              ? dryRun
                ? Effect.succeed([])
                : writing
              : keepingHolders(app, organization, state.policy, writing)
            if (dryRun) return yield* Effect.fail(new Previewed({ synced }))
            if (Arr.isArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
            return synced
          }).pipe(
            app.withTransaction,
            Effect.catchTag("Previewed", ({ synced }) => Effect.succeed(synced)),
            orUnavailableInTheEnd
          )
        }),

        list: Effect.fn("Memberships.list")(function* (organization) {
          const { people, state } = yield* currentPeople(organization)
          const rows = yield* app`
            SELECT m.anchor_id, m.roles, m.attributes, m.suspended_at IS NOT NULL AS suspended, m.invited_at IS NOT NULL AS invited,
              (SELECT array_agg(i.key ORDER BY i.kind, i.key) FROM max.identifiers i
                WHERE i.organization_id = m.organization_id AND i.anchor_id = m.anchor_id) AS identifiers
            FROM max.memberships m WHERE m.organization_id = ${organization.id} ORDER BY m.created_at, m.anchor_id`.pipe(
            orUnavailable,
            decodeMembers
          )
          const ids = people.mapping?.id.type
          const anchors = rows.flatMap((row) => parseId(row.anchor_id, ids) ?? [])
          const statement = compileNames(people, anchors, state.catalog)
          const names = new Map(
            (yield* runWithin<{ id: string; name: string | null }>(search, organization.id, statement)).map((row) => [
              showId(row.id, ids),
              row.name ?? ""
            ])
          )
          return rows.map((row) => ({
            anchorId: row.anchor_id,
            name: names.get(row.anchor_id) ?? "",
            identifiers: row.identifiers ?? [],
            roles: row.roles,
            attributes: comparable(row.attributes),
            suspended: row.suspended,
            invited: row.invited
          }))
        }),

        suspend: Effect.fn("Memberships.suspend")(function* (organization, text) {
          yield* setMembership(organization, yield* memberNamed(organization, text), "suspended")
        }),

        resume: Effect.fn("Memberships.resume")(function* (organization, text) {
          yield* setMembership(organization, yield* memberNamed(organization, text), "resumed")
        }),

        setStanding: Effect.fn("Memberships.setStanding")(function* (organization, anchorId, standing, administrator) {
          const { state } = yield* currentPeople(organization)
          yield* setMembership(organization, { anchorId }, standing, { administrator, policy: state.policy })
        }),

        setRoles: Effect.fn("Memberships.setRoles")(function* (organization, anchorId, roles, administrator) {
          const { state } = yield* currentPeople(organization)
          yield* checkRoles("This person", roles, state)
          if (administrator !== undefined) yield* mayGive(state.policy, administrator, roles)
          yield* change(organization, state, anchorId, { roles }, administrator)
        }),

        setAttributes: Effect.fn("Memberships.setAttributes")(
          function* (organization, anchorId, attributes, administrator) {
            const { state } = yield* currentPeople(organization)
            yield* change(organization, state, anchorId, { attributes }, administrator)
          }
        )
      })
    })
  )
}
