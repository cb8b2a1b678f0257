/** Memberships: which person may come in, with which roles and attributes, known by which verified identifiers. */
import { Array as Arr, Context, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { type AuditEvent, OPERATOR } from "../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../database/epoch.ts"
import { orUnavailable, runWithin } from "../database/read.ts"
import { qualified } from "../database/sql/SqlWriter.ts"
import { type EntityType, type Organization, peopleOf } from "../domain/EntityType.ts"
import { NotAdmitted, OperatorError, Unavailable } from "../domain/errors.ts"
import { encodeId, nextId } from "../domain/ids.ts"
import { foldText } from "../domain/keys.ts"
import type { AttributeValue } from "../domain/Principal.ts"
import { closest, masked, quoted } from "../domain/text.ts"
import { entityId } from "../domain/values.ts"
import { type Identifier, IdentityResolver, readIdentifier } from "./IdentityResolver.ts"
import { OrganizationState, type State } from "./OrganizationState.ts"

export interface NewMember {
  /** An e-mail address or phone number, which becomes verified by being entered here. */
  readonly identifier: string
  readonly roles: ReadonlyArray<string>
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

interface Prepared {
  readonly identifier: Identifier
  readonly anchorId: string
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  /** The person to make, with the identifier as it was written. */
  readonly create?: { readonly name: string; readonly text: string }
  readonly keepAttributes?: boolean
}

/** The first faults of many. */
const summarized = (faults: ReadonlyArray<string>): ReadonlyArray<string> =>
  faults.length <= 20 ? faults : [...faults.slice(0, 20), `… and ${faults.length - 20} more.`]

const sameRoles = (a: ReadonlyArray<string>, b: ReadonlyArray<string> | undefined): boolean =>
  b !== undefined && a.length === b.length && a.every((role) => b.includes(role))

type Attributes = Readonly<Record<string, AttributeValue>>

const sameAttributes = (a: Attributes, b: Attributes): boolean => {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
}

const suspended = (anchorId: string): AuditEvent => ({
  actor: OPERATOR,
  action: "membership.suspended",
  subject: anchorId
})

/** Which identifier it was must be recognizable by who knows it, and not be learnt here. */
const verified = (anchorId: string, { key, kind }: Identifier): AuditEvent => ({
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
    /** Makes the members those of a list: who isn't in it is suspended. All or nothing. */
    readonly sync: (
      organization: Organization,
      rows: ReadonlyArray<NewMember & { readonly line: number }>
    ) => Effect.Effect<{ readonly added: number; readonly unchanged: number; readonly suspended: number }, Fault>
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<Member>, Fault>
    /** Ends a membership at once, in every process. */
    readonly suspend: (organization: Organization, identifier: string) => Effect.Effect<void, Fault>
  }
>()("max/services/Memberships") {
  static readonly layer = Layer.effect(
    Memberships,
    Effect.gen(function* () {
      const { app } = yield* Database
      const identities = yield* IdentityResolver
      const states = yield* OrganizationState

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
        if (found.length === 0 && member.create === undefined) {
          return yield* new OperatorError({
            message: `Nobody has ${quoted(member.identifier)}. Import the person first, or make one: max member add … --create`
          })
        }
        const prepared: Prepared = {
          identifier,
          anchorId: found[0] ?? encodeId(nextId()),
          roles: [...new Set(member.roles)],
          attributes: member.attributes ?? {},
          ...(found.length === 0
            ? { create: { name: member.create?.name ?? nameFrom(member.identifier), text: member.identifier.trim() } }
            : {})
        }
        return prepared
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
        const [identified] = yield* app<{ anchor_id: string }>`
          SELECT anchor_id FROM max.identifiers
          WHERE organization_id = ${organization.id} AND kind = ${identifier.kind} AND key = ${identifier.key} FOR UPDATE`
        if (identified !== undefined && identified.anchor_id !== anchorId) {
          return yield* new OperatorError({
            message: "This is the verified identifier of another member. max member list shows whose."
          })
        }
        const attributes = member.keepAttributes === true ? (before?.attributes ?? {}) : member.attributes
        yield* app`
          INSERT INTO max.memberships (organization_id, anchor_id, roles, attributes)
          VALUES (${organization.id}, ${anchorId}, ${member.roles}::text[], ${app.json(attributes)})
          ON CONFLICT (organization_id, anchor_id)
          DO UPDATE SET roles = excluded.roles, suspended_at = NULL, attributes = excluded.attributes`
        yield* app`
          INSERT INTO max.identifiers (organization_id, kind, key, anchor_id)
          VALUES (${organization.id}, ${identifier.kind}, ${identifier.key}, ${anchorId})
          ON CONFLICT (organization_id, kind, key) DO UPDATE SET verified_at = now()`
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
          ...(identified === undefined ? [verified(anchorId, identifier)] : [])
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

        sync: Effect.fn("Memberships.sync")(function* (organization, rows) {
          const context = yield* people(organization)
          const faults: Array<string> = []
          const wanted = new Map<string, Prepared>()
          for (const { line, ...row } of rows) {
            const prepared = yield* prepare(organization, context.state, row).pipe(
              Effect.catchTag("OperatorError", (error) =>
                Effect.sync(() => void faults.push(`line ${line}: ${error.message}`))
              )
            )
            if (prepared === undefined) continue
            if (wanted.has(prepared.anchorId)) faults.push(`line ${line}: this person is in the file twice.`)
            wanted.set(prepared.anchorId, prepared)
          }
          if (rows.length === 0) faults.push("There is nobody in the file: that would suspend everybody.")
          if (faults.length > 0) {
            return yield* new OperatorError({ message: "Nothing was changed.", details: summarized(faults) })
          }
          return yield* orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                yield* hold(context.state)
                const before = yield* app<{ anchor_id: string; roles: ReadonlyArray<string>; suspended: boolean }>`
              SELECT anchor_id, roles, suspended_at IS NOT NULL AS suspended FROM max.memberships
              WHERE organization_id = ${organization.id} FOR UPDATE`
                const unchanged = before
                  .filter((row) => !row.suspended && sameRoles(row.roles, wanted.get(row.anchor_id)?.roles))
                  .map((row) => row.anchor_id)
                const ending = before
                  .filter((row) => !row.suspended && !wanted.has(row.anchor_id))
                  .map((row) => row.anchor_id)
                const events: Array<AuditEvent> = ending.map(suspended)
                for (const prepared of wanted.values()) {
                  events.push(...(yield* write(organization, context.type, { ...prepared, keepAttributes: true })))
                }
                yield* app`UPDATE max.memberships SET suspended_at = now()
              WHERE organization_id = ${organization.id} AND anchor_id = ANY(${ending}::text[])`
                if (Arr.isArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
                return { added: wanted.size - unchanged.length, unchanged: unchanged.length, suspended: ending.length }
              })
            )
          )
        }),

        list: Effect.fn("Memberships.list")(function* (organization) {
          const { type } = yield* people(organization)
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
          const names = new Map(
            (yield* runWithin<{ id: bigint; name: string }>(app, organization.id, {
              text: `SELECT p.id, p.name FROM ${qualified(type.relation)} p WHERE p.organization_id = $1::bigint AND p.id = ANY($2::text[]::bigint[])`,
              parameters: [organization.id, rows.map((row) => entityId(row.anchor_id))]
            })).map((row) => [encodeId(row.id), row.name])
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
          const identifier = yield* parse(text, organization)
          const rows = yield* orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                // The organization's row first, as everywhere: two commands at once wait for each other in one order.
                yield* holdEpoch(app, organization.id)
                const ended = yield* app<{ anchor_id: string }>`
              UPDATE max.memberships m SET suspended_at = coalesce(m.suspended_at, now()) FROM max.identifiers i
              WHERE i.organization_id = ${organization.id} AND i.kind = ${identifier.kind} AND i.key = ${identifier.key}
                AND m.organization_id = i.organization_id AND m.anchor_id = i.anchor_id RETURNING m.anchor_id`
                const events = ended.map((row) => suspended(row.anchor_id))
                if (Arr.isArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
                return ended
              })
            )
          )
          if (rows.length === 0)
            return yield* new OperatorError({ message: `No member has ${quoted(text)}. max member list shows them.` })
        })
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
