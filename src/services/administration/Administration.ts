/**
 * What somebody who administers sees and does over HTTP: members, policy, audit log and texts of their own organization.
 * Nothing of a row is in it but what their own plan shows; what is safer as a command isn't here at all.
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { type PolicyChange, diffPolicies } from "../../permissions/policyDiff.ts"
import { describePolicy, type RoleDescription } from "../../permissions/describe.ts"
import { makePeople, pageOf, type People, type PeopleQuery, type Person, shownOf } from "./people.ts"
import { type Reach, reachOf } from "./reach.ts"
import { AuditLog, type AuditQuery, type AuditRecord, type Verification } from "../audit/AuditLog.ts"
import { Credentials, type Token } from "../access/Credentials.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { Memberships } from "../members/Memberships.ts"
import type { State } from "../catalog/OrganizationState.ts"
import { Policies, type PolicyVersion } from "../policies/Policies.ts"
import type { Explanation } from "../policies/explainType.ts"
import type { RowExplanation } from "../policies/explainRow.ts"
import { makeRowEvaluator } from "../policies/rowEvaluator.ts"
import { PolicyReview } from "../policies/PolicyReview.ts"
import { SmsLog, type SmsLogEntry, type SmsLogQuery } from "../texting/SmsLog.ts"
import { SmsSettings } from "../texting/SmsSettings.ts"
import type { Standing } from "../members/suspension.ts"

export interface PersonWithTokens extends Person {
  readonly held: ReadonlyArray<Token>
}

export interface PolicyInForce {
  readonly version: number
  readonly roles: ReadonlyArray<RoleDescription & { readonly reach: ReadonlyArray<Reach>; readonly members: number }>
}

export interface NamedRecord extends AuditRecord {
  /** The names of actor, subject and `details.person`, where they are people whose names the administrator may see. */
  readonly actorName?: string
  readonly subjectName?: string
  readonly personName?: string
}

/** A message or a text without a word of what it said; its person only where the administrator may see the name. */
type SeenText = Omit<SmsLogEntry, "body">

export interface Texts {
  /** The organization's own numbers. */
  readonly lines: ReadonlyArray<{ readonly number: string; readonly provider: string }>
  /** The role with which every identified person comes in; none while only members do. */
  readonly openRole?: string
  readonly texts: ReadonlyArray<SeenText>
}

/** A type of which nothing is explained, and why. */
export interface Refused {
  readonly type: string
  readonly refused: string
}

/** A member by entity id, or anybody by e-mail address or phone number. */
export type About = { readonly id: string } | { readonly identifier: string }

type Fault = OperatorError | NotAdmitted | Unavailable

export class Administration extends Context.Service<
  Administration,
  {
    readonly people: (administrator: Principal, query: PeopleQuery) => Effect.Effect<People, NotAdmitted | Unavailable>
    /** One member with its tokens; undefined for an id that is no member's. */
    readonly person: (
      administrator: Principal,
      id: string
    ) => Effect.Effect<PersonWithTokens | undefined, NotAdmitted | Unavailable>
    /** Suspends somebody else, or lets them in again. */
    readonly setStanding: (administrator: Principal, id: string, standing: Standing) => Effect.Effect<void, Fault>
    readonly revokeToken: (administrator: Principal, id: string) => Effect.Effect<void, Fault>
    /** The policy in force in words, and what each role reaches. */
    readonly policy: (administrator: Principal) => Effect.Effect<PolicyInForce, Fault>
    readonly versions: (
      administrator: Principal
    ) => Effect.Effect<ReadonlyArray<PolicyVersion & { readonly authorName?: string }>, NotAdmitted | Unavailable>
    /** What differs between two versions, in words. */
    readonly changes: (
      administrator: Principal,
      from: number,
      to: number
    ) => Effect.Effect<ReadonlyArray<PolicyChange>, Fault>
    /** Why a person sees what it sees: of one type, or of each; as far as it is open to the administrator, too. */
    readonly explain: (
      administrator: Principal,
      about: About,
      type: string | undefined
    ) => Effect.Effect<ReadonlyArray<Explanation | Refused>, Fault>
    readonly explainRow: (
      administrator: Principal,
      about: About,
      type: string,
      id: string
    ) => Effect.Effect<RowExplanation, Fault>
    /** The types of the organization, by slug. */
    readonly types: (
      administrator: Principal
    ) => Effect.Effect<ReadonlyArray<{ readonly id: string; readonly name: string }>, NotAdmitted | Unavailable>
    readonly audit: (
      administrator: Principal,
      query: AuditQuery
    ) => Effect.Effect<ReadonlyArray<NamedRecord>, NotAdmitted | Unavailable>
    readonly verify: (administrator: Principal) => Effect.Effect<ReadonlyArray<Verification>, NotAdmitted | Unavailable>
    /** Who wrote, what became of it and over which numbers: the latest first. */
    readonly texts: (
      administrator: Principal,
      query: Pick<SmsLogQuery, "before" | "limit">
    ) => Effect.Effect<Texts, NotAdmitted | Unavailable>
  }
>()("max/services/Administration") {
  static readonly layer = Layer.effect(
    Administration,
    Effect.gen(function* () {
      const { app, search } = yield* Database
      const identities = yield* IdentityResolver
      const memberships = yield* Memberships
      const credentials = yield* Credentials
      const policies = yield* Policies
      const review = yield* PolicyReview
      const log = yield* AuditLog
      const smsLog = yield* SmsLog
      const smsSettings = yield* SmsSettings
      const judge = makeRowEvaluator(search)
      const members = makePeople(app, judge)

      /** The administrator as it is now, with the state that it is planned from. */
      const current = (administrator: Principal) =>
        Effect.map(identities.readmit(administrator), ({ principal, state }) => ({
          asker: principal,
          state,
          organization: state.catalog.organization
        }))

      const names = (state: State, asker: Principal, ids: ReadonlyArray<string>) =>
        Effect.map(
          shownOf(judge, state, asker, [...new Set(ids)]),
          (shown) => (id: string) => shown.get(id)?.name || undefined
        )

      const asOf = (about: About) => ("id" in about ? { anchorId: about.id } : about.identifier)

      return Administration.of({
        people: Effect.fn("Administration.people")(function* (administrator, query) {
          const { asker, state } = yield* current(administrator)
          return pageOf(yield* members(state, asker), query, state.catalog)
        }),

        person: Effect.fn("Administration.person")(function* (administrator, id) {
          const { asker, organization, state } = yield* current(administrator)
          const [person] = yield* members(state, asker, id)
          if (person === undefined) return undefined
          const tokens = yield* credentials.tokens(organization)
          return { ...person, held: tokens.filter(({ anchorId }) => anchorId === id).toReversed() }
        }),

        setStanding: Effect.fn("Administration.setStanding")(function* (administrator, id, standing) {
          const { organization } = yield* current(administrator)
          yield* memberships.setStanding(organization, id, standing, administrator)
        }),

        revokeToken: Effect.fn("Administration.revokeToken")(function* (administrator, id) {
          const { organization } = yield* current(administrator)
          yield* credentials.revokeToken(organization, id, administrator)
        }),

        policy: Effect.fn("Administration.policy")(function* (administrator) {
          const { organization, state } = yield* current(administrator)
          const { version } = yield* policies.current(organization)
          const held = yield* orUnavailable(app<{ role: string; members: number }>`
            SELECT r.role, count(*)::int AS members FROM max.memberships m, unnest(m.roles) AS r(role)
            WHERE m.organization_id = ${organization.id} AND m.suspended_at IS NULL GROUP BY r.role`)
          return {
            version,
            roles: describePolicy(state.policy, state.catalog).map((role) => ({
              ...role,
              reach: state.catalog.types.map((type) => reachOf(state.policy, role.role, type, Date.now())),
              members: held.find((one) => one.role === role.role)?.members ?? 0
            }))
          }
        }),

        versions: Effect.fn("Administration.versions")(function* (administrator) {
          const { asker, organization, state } = yield* current(administrator)
          const versions = yield* policies.list(organization)
          const named = yield* names(
            state,
            asker,
            versions.map(({ author }) => author)
          )
          return versions.map((version) => ({ ...version, ...maybe("authorName", named(version.author)) }))
        }),

        changes: Effect.fn("Administration.changes")(function* (administrator, from, to) {
          const { organization, state } = yield* current(administrator)
          const [before, after] = [
            yield* policies.version(organization, from),
            yield* policies.version(organization, to)
          ]
          return diffPolicies(before.policy, after.policy, state.catalog)
        }),

        explain: Effect.fn("Administration.explain")(function* (administrator, about, type) {
          const asking = yield* identities.readmit(administrator)
          const as = asOf(about)
          if (type !== undefined) return [yield* review.explainAs(asking, { as, type })]
          return yield* Effect.forEach(asking.state.catalog.types, ({ slug }) =>
            review
              .explainAs(asking, { as, type: slug })
              .pipe(Effect.catchTag("OperatorError", (error) => Effect.succeed({ type: slug, refused: error.message })))
          )
        }),

        explainRow: Effect.fn("Administration.explainRow")(function* (administrator, about, type, id) {
          return yield* review.explainRowAs(yield* identities.readmit(administrator), { as: asOf(about), type, id })
        }),

        types: Effect.fn("Administration.types")(function* (administrator) {
          const { state } = yield* current(administrator)
          return state.catalog.types.map(({ pluralName, slug }) => ({ id: slug, name: pluralName }))
        }),

        audit: Effect.fn("Administration.audit")(function* (administrator, query) {
          const { asker, organization, state } = yield* current(administrator)
          const records = yield* log.list(organization, query)
          const named = yield* names(
            state,
            asker,
            records.flatMap(({ actor, details, subject }) => [actor, subject, personIn(details)])
          )
          return records.map((record) => ({
            ...record,
            ...maybe("actorName", named(record.actor)),
            ...maybe("subjectName", named(record.subject)),
            ...maybe("personName", named(personIn(record.details)))
          }))
        }),

        verify: Effect.fn("Administration.verify")(function* (administrator) {
          const { organization } = yield* current(administrator)
          return yield* log.verify(organization)
        }),

        texts: Effect.fn("Administration.texts")(function* (administrator, { before, limit }) {
          const { asker, organization, state } = yield* current(administrator)
          const numbers = yield* smsSettings.numbers(organization)
          const { openRole } = yield* smsSettings.channel(organization.id)
          const entries = yield* smsLog.list(organization, { before, limit })
          const named = yield* names(
            state,
            asker,
            entries.flatMap(({ person }) => person?.id ?? [])
          )
          return {
            lines: numbers.map(({ phone, provider }) => ({ number: phone, provider })),
            ...maybe("openRole", openRole),
            // The log's names are an operator's: here a person is called what the administrator's own plan says.
            texts: entries.map(({ body: _body, person, ...entry }) => {
              const name = person === undefined ? undefined : named(person.id)
              return name === undefined ? entry : { ...entry, person: { id: person!.id, name } }
            })
          }
        })
      })
    })
  )
}

const personIn = ({ person }: AuditRecord["details"]): string => (typeof person === "string" ? person : "")

const maybe = <Key extends string>(key: Key, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: string }
