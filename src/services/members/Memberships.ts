/** Memberships: which person may come in, with which roles and attributes, known by which verified identifiers. */
import { Array as Arr, Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable, runWithin } from "../../database/execute.ts"
import { compileNames } from "../../database/sql/identify.ts"
import { qualified } from "../../database/sql/SqlWriter.ts"
import { type EntityType, type Organization, peopleOf } from "../../domain/EntityType.ts"
import { NotAdmitted, OperatorError, Unavailable } from "../../domain/errors.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import { foldText } from "../../domain/keys.ts"
import type { AttributeValue, Principal } from "../../domain/Principal.ts"
import { closest, masked, printable, quoted } from "../../domain/text.ts"
import { entityId, parseId, showId } from "../../domain/values.ts"
import {
  boundTo,
  conflicts,
  difference,
  membershipsNow,
  type Prepared,
  sameRoles,
  type Synced,
  type Wanted
} from "./memberList.ts"
import { type Identifier, IdentityResolver, readIdentifier } from "./IdentityResolver.ts"
import { OrganizationState, type State } from "../catalog/OrganizationState.ts"
import { makeSuspension, type Standing, suspensionEvent } from "./suspension.ts"

export interface NewMember {
  /** An e-mail address or phone number, which becomes verified by being entered here. */
  readonly identifier: string
  readonly roles: ReadonlyArray<string>
  /** Whom an identity provider means by the person, in the form of `subjectKey`. */
  readonly subject?: string | undefined
  readonly attributes?: Readonly<Record<string, AttributeValue>> | undefined
  /** Makes the person where there is none with this identifier; by this name, if given. */
  readonly create?: { readonly name?: string | undefined } | undefined
}

export interface Member {
  readonly anchorId: string
  readonly name: string
  readonly identifiers: ReadonlyArray<string>
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly suspended: boolean
}

/** A member of a list, and where it stands: what messages begin with. */
export interface ListedMember extends NewMember {
  readonly place: string
}

/** The first faults of many. */
const summarized = (faults: ReadonlyArray<string>): ReadonlyArray<string> =>
  faults.length <= 20 ? faults : [...faults.slice(0, 20), `… and ${faults.length - 20} more.`]

type Attributes = Readonly<Record<string, AttributeValue>>

const sameAttributes = (a: Attributes, b: Attributes): boolean => {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
}

/** What lets somebody in: an identifier, or what an identity provider calls the person. */
interface Verified {
  readonly kind: Identifier["kind"] | "subject"
  readonly key: string
}

/** Which identifier it was must be recognizable by who knows it, and not be learnt here. */
const verified = (anchorId: string, { key, kind }: Verified): AuditEvent => ({
  actor: OPERATOR,
  action: "identifier.verified",
  subject: anchorId,
  details: { kind, identifier: masked(key) }
})

type Fault = OperatorError | NotAdmitted | Unavailable

export class Memberships extends Context.Service<
  Memberships,
  {
    /** Gives the one person with this identifier a membership, or changes the roles and attributes of the one it has. */
    readonly add: (
      organization: Organization,
      member: NewMember
    ) => Effect.Effect<{ readonly anchorId: string; readonly created: boolean }, Fault>
    /** Makes the members those of a list: who isn't in it is suspended. All or nothing; a dry run only says what it would be. */
    readonly sync: (
      organization: Organization,
      rows: ReadonlyArray<ListedMember>,
      options?: { readonly dryRun?: boolean }
    ) => Effect.Effect<Synced, Fault>
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<Member>, Fault>
    /** Ends a membership at once, in every process. */
    readonly suspend: (organization: Organization, identifier: string) => Effect.Effect<void, Fault>
    /** Lets a suspended member in again, as it was. */
    readonly resume: (organization: Organization, identifier: string) => Effect.Effect<void, Fault>
    /** The same by somebody who administers, for another member by entity id. */
    readonly setStanding: (
      organization: Organization,
      anchorId: string,
      standing: Standing,
      administrator: Principal
    ) => Effect.Effect<void, Fault>
  }
>()("max/services/Memberships") {
  static readonly layer = Layer.effect(
    Memberships,
    Effect.gen(function* () {
      const { app, search } = yield* Database
      const identities = yield* IdentityResolver
      const states = yield* OrganizationState
      const suspension = makeSuspension(app)

      const parse = (text: string, organization: Organization): Effect.Effect<Identifier, OperatorError> => {
        const identifier = readIdentifier(text, organization)
        return identifier === undefined
          ? Effect.fail(
              new OperatorError({ message: `${quoted(text)} is neither an e-mail address nor a phone number.` })
            )
          : Effect.succeed(identifier)
      }

      const people = Effect.fnUntraced(function* (organization: Organization) {
        const { state } = yield* states.read(organization.id, { by: "nobody" })
        return { state, type: peopleOf(state.catalog)! }
      })

      /** What was prepared holds only for the state that it was prepared from: roles, and the table that people are in. */
      const hold = Effect.fnUntraced(function* ({ catalog }: State) {
        if ((yield* holdEpoch(app, catalog.organization.id)) !== catalog.epoch) {
          return yield* new OperatorError({
            message: "Something else changed this organization at the same time. Try again."
          })
        }
      })

      /** Everything about a member that can be wrong is found out here, before anything is written. */
      const prepare = Effect.fnUntraced(function* (organization: Organization, state: State, member: NewMember) {
        const identifier = yield* parse(member.identifier, organization)
        const known = Object.keys(state.policy.roles)
        if (member.roles.length === 0)
          return yield* new OperatorError({ message: `${quoted(member.identifier)} has no role.` })
        for (const role of member.roles) {
          if (known.includes(role)) continue
          const near = closest(role, known)
          return yield* new OperatorError({
            message: `There is no role ${quoted(role)}. ${near === undefined ? `The policy has: ${known.join(", ")}.` : `Did you mean ${near}?`}`
          })
        }
        const found = yield* identities.identify(organization, identifier)
        if (found.length > 1) {
          return yield* new OperatorError({
            message: `${quoted(member.identifier)} belongs to several people. Only an identifier of one person can admit it.`
          })
        }
        const { mapping, pluralName, relation } = peopleOf(state.catalog)!
        if (found.length === 0 && mapping !== undefined) {
          return yield* new OperatorError({
            message: `Nobody has ${quoted(member.identifier)}. ${pluralName} are read from ${printable(relation.table)}, which isn't Max's: add the person there.`
          })
        }
        if (found.length === 0 && member.create === undefined) {
          return yield* new OperatorError({
            message: `Nobody has ${quoted(member.identifier)}. Import the person first, or make one: max member add … --create`
          })
        }
        const prepared: Prepared = {
          identifier,
          anchorId: found[0] ?? encodeId(nextId()),
          roles: [...new Set(member.roles)],
          ...(member.subject === undefined ? {} : { subject: member.subject }),
          attributes: member.attributes ?? {},
          ...(found.length === 0
            ? { create: { name: member.create?.name ?? nameFrom(member.identifier), text: member.identifier.trim() } }
            : {})
        }
        return prepared
      })

      /** Binds an identifier to a membership; one that is bound to somebody else stays there. */
      const bind = Effect.fnUntraced(function* (organization: Organization, anchorId: string, { key, kind }: Verified) {
        const [bound] = yield* app<{ anchor_id: string }>`
          SELECT anchor_id FROM max.identifiers
          WHERE organization_id = ${organization.id} AND kind = ${kind} AND key = ${key} FOR UPDATE`
        if (bound !== undefined && bound.anchor_id !== anchorId) {
          return yield* new OperatorError({
            message: "This is the verified identifier of another member. max member list shows whose."
          })
        }
        yield* app`
          INSERT INTO max.identifiers (organization_id, kind, key, anchor_id)
          VALUES (${organization.id}, ${kind}, ${key}, ${anchorId})
          ON CONFLICT (organization_id, kind, key) DO UPDATE SET verified_at = now()`
        return bound === undefined ? [verified(anchorId, { kind, key })] : []
      })

      const write = Effect.fnUntraced(function* (organization: Organization, type: EntityType, member: Prepared) {
        const { anchorId, identifier } = member
        if (member.create !== undefined) {
          yield* app.unsafe(
            `INSERT INTO ${qualified(type.relation)} (organization_id, id, name, name_k, ${identifier.kind}, ${identifier.kind}_k)
             VALUES ($1::bigint, $2::text::bigint, $3::text, $4::text, $5::text, $6::text)`,
            [
              organization.id,
              entityId(anchorId),
              member.create.name,
              foldText(member.create.name),
              member.create.text,
              identifier.key
            ]
          )
        }
        const [before] = yield* app<{ roles: ReadonlyArray<string>; suspended: boolean; attributes: Attributes }>`
          SELECT roles, attributes, suspended_at IS NOT NULL AS suspended FROM max.memberships
          WHERE organization_id = ${organization.id} AND anchor_id = ${anchorId} FOR UPDATE`
        const attributes = member.keepAttributes === true ? (before?.attributes ?? {}) : member.attributes
        yield* app`
          INSERT INTO max.memberships (organization_id, anchor_id, roles, attributes)
          VALUES (${organization.id}, ${anchorId}, ${member.roles}::text[], ${app.json(attributes)})
          ON CONFLICT (organization_id, anchor_id)
          DO UPDATE SET roles = excluded.roles, suspended_at = NULL, attributes = excluded.attributes`
        const bound = yield* bind(organization, anchorId, identifier)
        if (member.subject !== undefined) {
          bound.push(...(yield* bind(organization, anchorId, { kind: "subject", key: member.subject })))
        }
        const same = before !== undefined && !before.suspended && sameRoles(before.roles, member.roles)
        return [
          ...(same && sameAttributes(before.attributes, attributes)
            ? []
            : [
                {
                  actor: OPERATOR,
                  action: before === undefined ? "membership.added" : "membership.changed",
                  subject: anchorId,
                  details: { roles: member.roles, attributes, ...(before === undefined ? {} : { before }) }
                }
              ]),
          ...bound
        ]
      })

      return Memberships.of({
        add: Effect.fn("Memberships.add")(function* (organization, member) {
          const context = yield* people(organization)
          const prepared = yield* prepare(organization, context.state, member)
          yield* orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                yield* hold(context.state)
                const events = yield* write(organization, context.type, prepared)
                if (Arr.isReadonlyArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
              })
            )
          )
          return { anchorId: prepared.anchorId, created: prepared.create !== undefined }
        }),

        sync: Effect.fn("Memberships.sync")(function* (organization, rows, { dryRun = false } = {}) {
          const context = yield* people(organization)
          const faults: Array<string> = []
          const wanted = new Map<string, Wanted>()
          for (const { place, ...row } of rows) {
            const prepared = yield* prepare(organization, context.state, row).pipe(
              Effect.catchTag("OperatorError", (error) =>
                Effect.sync(() => void faults.push(`${place}: ${error.message}`))
              )
            )
            if (prepared === undefined) continue
            const other = wanted.get(prepared.anchorId)
            if (other !== undefined) faults.push(`${place}: this is the person of ${other.place} again.`)
            else wanted.set(prepared.anchorId, { ...prepared, keepAttributes: true, place, who: row.identifier.trim() })
          }
          if (rows.length === 0) faults.push("There is nobody in the list: that would suspend everybody.")
          return yield* orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                yield* hold(context.state)
                const bound = yield* boundTo(app, organization, [...wanted.values()])
                faults.push(...conflicts(wanted.values(), bound))
                if (faults.length > 0)
                  return yield* new OperatorError({ message: "Nothing was changed.", details: summarized(faults) })
                const { ending, synced } = difference(wanted, yield* membershipsNow(app, organization), bound)
                if (dryRun) return synced
                const events: Array<AuditEvent> = ending.map((anchorId) => suspensionEvent(anchorId, "suspended"))
                for (const member of wanted.values()) events.push(...(yield* write(organization, context.type, member)))
                yield* app`UPDATE max.memberships SET suspended_at = now()
                  WHERE organization_id = ${organization.id} AND anchor_id = ANY(${ending}::text[])`
                if (Arr.isArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
                return synced
              })
            )
          )
        }),

        list: Effect.fn("Memberships.list")(function* (organization) {
          const { state, type } = yield* people(organization)
          const rows = yield* orUnavailable(app<{
            anchor_id: string
            roles: ReadonlyArray<string>
            attributes: Record<string, AttributeValue>
            suspended: boolean
            identifiers: ReadonlyArray<string> | null
          }>`
            SELECT m.anchor_id, m.roles, m.attributes, m.suspended_at IS NOT NULL AS suspended,
              (SELECT array_agg(i.key ORDER BY i.kind, i.key) FROM max.identifiers i
                WHERE i.organization_id = m.organization_id AND i.anchor_id = m.anchor_id) AS identifiers
            FROM max.memberships m WHERE m.organization_id = ${organization.id} ORDER BY m.created_at, m.anchor_id`)
          const ids = type.mapping?.id.type
          const anchors = rows.flatMap((row) => parseId(row.anchor_id, ids) ?? [])
          const statement = compileNames(type, anchors, state.catalog)
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
            attributes: row.attributes,
            suspended: row.suspended
          }))
        }),

        suspend: Effect.fn("Memberships.suspend")(function* (organization, text) {
          yield* suspension(organization, yield* parse(text, organization), "suspended")
        }),

        resume: Effect.fn("Memberships.resume")(function* (organization, text) {
          yield* suspension(organization, yield* parse(text, organization), "resumed")
        }),

        setStanding: Effect.fn("Memberships.setStanding")((organization, anchorId, standing, administrator) =>
          suspension(organization, { anchorId }, standing, administrator)
        )
      })
    })
  )
}

const nameFrom = (identifier: string): string =>
  identifier.includes("@")
    ? identifier
        .split("@")[0]!
        .split(/[._-]+/)
        .filter((part) => part !== "")
        .map((part) => part[0]!.toUpperCase() + part.slice(1))
        .join(" ") || identifier
    : identifier
