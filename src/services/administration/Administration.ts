/**
 * What an administrator sees and changes over HTTP: members, policy, audit log and texts of their own organization. Row
 * values are limited to the administrator's own plan. Riskier operations exist only as operator commands.
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type NotAdmitted, NotAllowed, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { AttributeValue } from "../../domain/attributes.ts"
import type { Organization } from "../../domain/EntityType.ts"
import type { Principal } from "../../domain/Principal.ts"
import { type PolicyChange, diffPolicies } from "../../permissions/policyDiff.ts"
import { describePolicy } from "../../permissions/describe.ts"
import type { LoggedChange } from "../../wire/admin/changes.ts"
import type { PersonReference } from "../../wire/admin/people.ts"
import type { BackedUp, Health as HealthReport } from "../../wire/admin/health.ts"
import type { Policy, PolicyVersion, RefusedExplanation, TypeExplanation } from "../../wire/admin/policy.ts"
import { type ChangeLogQuery, peopleIn, readChangeLog, withNames } from "./changeLog.ts"
import { withinReach } from "./importRuns.ts"
import { makePeople, pageOf, type People, type PeopleQuery, type Person, visiblePeople } from "./people.ts"
import { reachOf } from "./reach.ts"
import { Backups } from "../operations/Backups.ts"
import { Health } from "../operations/Health.ts"
import type { Usage } from "../../wire/admin/usage.ts"
import { type OperatorsSettings, usageReport } from "./usageReport.ts"
import { readTextLog, type Texts } from "./textLog.ts"
import { AuditLog, type AuditQuery, type AuditRecord, type Verification } from "../audit/AuditLog.ts"
import { Credentials, type Issued, type Scope, type Token } from "../access/Credentials.ts"
import { type Invitation, Invitations, type Invited } from "../access/Invitations.ts"
import { Mailer } from "../mail/Mailer.ts"
import { invitationMail } from "../mail/texts.ts"
import { mayGive, requirePower } from "../members/powers.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { Memberships } from "../members/Memberships.ts"
import type { State } from "../catalog/OrganizationState.ts"
import { Policies } from "../policies/Policies.ts"
import type { RowExplanation } from "../policies/explainRow.ts"
import { asAdmitted } from "./asAdmitted.ts"
import { makeRowEvaluator } from "../policies/rowEvaluator.ts"
import { PolicyReview } from "../policies/PolicyReview.ts"
import { SmsLog, type SmsLogQuery } from "../texting/SmsLog.ts"
import { Spending } from "../conversations/Spending.ts"
import { SmsSettings } from "../texting/SmsSettings.ts"
import type { Standing } from "../members/suspension.ts"

export interface PersonWithTokens extends Person {
  readonly held: ReadonlyArray<Token>
}

export interface NamedRecord extends AuditRecord {
  /** Names of actor, subject and `details.person`, if they are people whose name the administrator may see. */
  readonly actorName?: string
  readonly subjectName?: string
  readonly personName?: string
}

/** Seconds in which a link that an administrator offers can be used. */
const OFFERED_SECONDS = 900

/** What a token of another person may not do: it would outlast what the person is allowed now, and decide in their name. */
const OWN_SCOPES: ReadonlyArray<Scope> = ["admin", "confirm"]

type Fault = OperatorError | NotAdmitted | Unavailable

export class Administration extends Context.Service<
  Administration,
  {
    readonly people: (administrator: Principal, query: PeopleQuery) => Effect.Effect<People, NotAdmitted | Unavailable>
    /** One member with its tokens; undefined if no member has this id. */
    readonly person: (
      administrator: Principal,
      id: string
    ) => Effect.Effect<PersonWithTokens | undefined, NotAdmitted | Unavailable>
    /** Suspends another member, or resumes one. */
    readonly setStanding: (administrator: Principal, id: string, standing: Standing) => Effect.Effect<void, Fault>
    /** Invites people, all or none; mails each link if mail is configured and the identifier is an address. */
    readonly invite: (
      administrator: Principal,
      people: ReadonlyArray<Invited>,
      roles: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<Invitation & { readonly mailed: boolean }>, Fault | NotAllowed>
    /** A link that signs an active member in; undefined if no active member has this id. */
    readonly offerSignIn: (
      administrator: Principal,
      id: string
    ) => Effect.Effect<Issued | undefined, Fault | NotAllowed>
    /** Replaces the roles of a member. */
    readonly setRoles: (
      administrator: Principal,
      id: string,
      roles: ReadonlyArray<string>
    ) => Effect.Effect<void, Fault | NotAllowed>
    /** Replaces the attributes of a member. */
    readonly setAttributes: (
      administrator: Principal,
      id: string,
      attributes: Readonly<Record<string, AttributeValue>>
    ) => Effect.Effect<void, Fault | NotAllowed>
    /** A token with which a program acts for an active member; undefined if no active member has this id. */
    readonly createToken: (
      administrator: Principal,
      id: string,
      token: { readonly name: string; readonly scopes: ReadonlyArray<Scope>; readonly days: number }
    ) => Effect.Effect<Issued | undefined, Fault | NotAllowed>
    readonly revokeToken: (administrator: Principal, id: string) => Effect.Effect<void, Fault>
    /** The policy in force as text, with each role's reach. */
    readonly policy: (administrator: Principal) => Effect.Effect<Policy, Fault>
    readonly versions: (
      administrator: Principal
    ) => Effect.Effect<ReadonlyArray<PolicyVersion>, NotAdmitted | Unavailable>
    /** The differences between two versions as text. */
    readonly changes: (
      administrator: Principal,
      from: number,
      to: number
    ) => Effect.Effect<ReadonlyArray<PolicyChange>, Fault>
    /** Explains a person's access to one type or to each, within the administrator's own access. */
    readonly explain: (
      administrator: Principal,
      person: PersonReference,
      type: string | undefined
    ) => Effect.Effect<ReadonlyArray<TypeExplanation | RefusedExplanation>, Fault>
    readonly explainRow: (
      administrator: Principal,
      person: PersonReference,
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
    /** All changes with their phases, newest first. */
    readonly changeLog: (
      administrator: Principal,
      query: ChangeLogQuery
    ) => Effect.Effect<ReadonlyArray<LoggedChange>, NotAdmitted | Unavailable>
    /** The log of text messages with the organization's numbers, newest first. */
    readonly texts: (
      administrator: Principal,
      query: Pick<SmsLogQuery, "before" | "limit">
    ) => Effect.Effect<Texts, NotAdmitted | Unavailable>
    /** Questions, outcomes and costs of the last `days`, including today. */
    readonly usage: (
      administrator: Principal,
      days: number,
      settings: OperatorsSettings
    ) => Effect.Effect<Usage, NotAdmitted | Unavailable>
    /** Doctor's findings, as far as they are about this organization alone, and the last backup. */
    readonly health: (administrator: Principal) => Effect.Effect<HealthReport, NotAdmitted | Unavailable>
    /** Makes a backup into the operator's folder. */
    readonly backUp: (administrator: Principal) => Effect.Effect<BackedUp, Fault | NotAllowed>
  }
>()("max/services/Administration") {
  static readonly layer = Layer.effect(
    Administration,
    Effect.gen(function* () {
      const { app, search } = yield* Database
      const identities = yield* IdentityResolver
      const asked = asAdmitted(identities)
      const memberships = yield* Memberships
      const credentials = yield* Credentials
      const invitations = yield* Invitations
      const mailer = yield* Mailer
      const policies = yield* Policies
      const review = yield* PolicyReview
      const log = yield* AuditLog
      const smsLog = yield* SmsLog
      const smsSettings = yield* SmsSettings
      const spending = yield* Spending
      const health = yield* Health
      const backups = yield* Backups
      const evaluator = makeRowEvaluator(search)
      const members = makePeople(app, evaluator)

      /** The administrator's current principal, with the state that its plans use. */
      const current = (administrator: Principal) =>
        Effect.map(identities.readmit(administrator), ({ principal, state }) => ({
          asker: principal,
          state,
          organization: state.catalog.organization
        }))

      const visibleNames = (state: State, asker: Principal, ids: ReadonlyArray<string>) =>
        Effect.map(
          visiblePeople(evaluator, state, asker, [...new Set(ids)]),
          (people) => (id: string) => people.get(id)?.name || undefined
        )

      const mailTo = ({ identifier, secret }: Invitation, organization: Organization) =>
        mailer.publicUrl === undefined
          ? undefined
          : invitationMail({ to: identifier, code: secret, publicUrl: mailer.publicUrl, organization })

      const subjectOf = (person: PersonReference) => ("id" in person ? { anchorId: person.id } : person.identifier)

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

        invite: Effect.fn("Administration.invite")(function* (administrator, people, roles) {
          const { asker, organization } = yield* current(administrator)
          const issued = yield* invitations.invite(organization, people, roles, asker)
          return yield* Effect.forEach(
            issued,
            (one) => Effect.map(mailer.send(mailTo(one, organization)), (mailed) => ({ ...one, mailed })),
            { concurrency: 4 }
          )
        }),

        offerSignIn: Effect.fn("Administration.offerSignIn")(function* (administrator, id) {
          const { asker, organization, state } = yield* current(administrator)
          const [person] = yield* members(state, asker, id)
          if (person === undefined || person.state !== "active") return undefined
          yield* mayGive(state.policy, asker, person.roles)
          return yield* credentials.createLink(organization, id, { administrator: asker, seconds: OFFERED_SECONDS })
        }),

        setRoles: Effect.fn("Administration.setRoles")(function* (administrator, id, roles) {
          const { asker, organization } = yield* current(administrator)
          yield* memberships.setRoles(organization, id, roles, asker)
        }),

        setAttributes: Effect.fn("Administration.setAttributes")(function* (administrator, id, attributes) {
          const { asker, organization } = yield* current(administrator)
          yield* memberships.setAttributes(organization, id, attributes, asker)
        }),

        createToken: Effect.fn("Administration.createToken")(function* (administrator, id, token) {
          const { asker, organization, state } = yield* current(administrator)
          const [person] = yield* members(state, asker, id)
          if (person === undefined || person.state !== "active") return undefined
          yield* mayGive(state.policy, asker, person.roles)
          const own = token.scopes.find((scope) => OWN_SCOPES.includes(scope))
          if (own !== undefined && !person.isSelf)
            return yield* NotAllowed.of(
              `A token with the scope ${own} is created by the person themselves, or by an operator.`
            )
          return yield* credentials.createToken(organization, { ...token, anchorId: id }, asker)
        }),

        revokeToken: Effect.fn("Administration.revokeToken")(function* (administrator, id) {
          const { organization } = yield* current(administrator)
          yield* credentials.revokeToken(organization, id, administrator)
        }),

        policy: Effect.fn("Administration.policy")(function* (administrator) {
          const { organization, state } = yield* current(administrator)
          const { version } = yield* policies.current(organization)
          const counts = yield* orUnavailable(app<{ role: string; members: number }>`
            SELECT r.role, count(*)::int AS members FROM max.memberships m, unnest(m.roles) AS r(role)
            WHERE m.organization_id = ${organization.id} AND m.suspended_at IS NULL GROUP BY r.role`)
          return {
            version,
            roles: describePolicy(state.policy, state.catalog).map((role) => ({
              ...role,
              reach: state.catalog.types.map((type) => reachOf(state.policy, [role.role], type, Date.now())),
              members: counts.find((count) => count.role === role.role)?.members ?? 0
            }))
          }
        }),

        versions: Effect.fn("Administration.versions")(function* (administrator) {
          const { asker, organization, state } = yield* current(administrator)
          const versions = yield* policies.list(organization)
          const named = yield* visibleNames(
            state,
            asker,
            versions.map(({ author }) => author)
          )
          return versions.map((version) => ({ ...version, ...optional("authorName", named(version.author)) }))
        }),

        changes: Effect.fn("Administration.changes")(function* (administrator, from, to) {
          const { organization, state } = yield* current(administrator)
          const [before, after] = [
            yield* policies.version(organization, from),
            yield* policies.version(organization, to)
          ]
          return diffPolicies(before.policy, after.policy, state.catalog)
        }),

        explain: Effect.fn("Administration.explain")(function* (administrator, person, type) {
          const as = subjectOf(person)
          return yield* asked(administrator, (asking) =>
            type !== undefined
              ? Effect.map(review.explainAs(asking, { as, type }), (one) => [one])
              : Effect.forEach(asking.state.catalog.types, ({ slug }) =>
                  review
                    .explainAs(asking, { as, type: slug })
                    .pipe(
                      Effect.catchTag("OperatorError", (error) =>
                        Effect.succeed({ type: slug, refused: error.message })
                      )
                    )
                )
          )
        }),

        explainRow: Effect.fn("Administration.explainRow")(function* (administrator, person, type, id) {
          const as = subjectOf(person)
          return yield* asked(administrator, (asking) => review.explainRowAs(asking, { as, type, id }))
        }),

        types: Effect.fn("Administration.types")(function* (administrator) {
          const { state } = yield* current(administrator)
          return state.catalog.types.map(({ pluralName, slug }) => ({ id: slug, name: pluralName }))
        }),

        audit: Effect.fn("Administration.audit")(function* (administrator, query) {
          const { asker, organization, state } = yield* current(administrator)
          const records = yield* log.list(organization, query)
          const named = yield* visibleNames(
            state,
            asker,
            records.flatMap(({ actor, details, subject }) => [actor, subject, personIn(details)])
          )
          return records.map((record) => ({
            ...withinReach(state, asker, record),
            ...optional("actorName", named(record.actor)),
            ...optional("subjectName", named(record.subject)),
            ...optional("personName", named(personIn(record.details)))
          }))
        }),

        verify: Effect.fn("Administration.verify")(function* (administrator) {
          const { organization } = yield* current(administrator)
          return yield* log.verify(organization)
        }),

        changeLog: Effect.fn("Administration.changeLog")(function* (administrator, query) {
          const { asker, state } = yield* current(administrator)
          const changes = yield* readChangeLog(app, state.catalog, query)
          return withNames(changes, yield* visibleNames(state, asker, peopleIn(changes)))
        }),

        texts: Effect.fn("Administration.texts")(function* (administrator, query) {
          const { asker, organization, state } = yield* current(administrator)
          const naming = (ids: ReadonlyArray<string>) => visibleNames(state, asker, ids)
          return yield* readTextLog(organization, query, naming, smsLog, smsSettings)
        }),

        usage: Effect.fn("Administration.usage")(function* (administrator, days, settings) {
          const { asker, organization, state } = yield* current(administrator)
          return yield* usageReport(spending, organization, days, settings, (ids) => visibleNames(state, asker, ids))
        }),

        health: Effect.fn("Administration.health")(function* (administrator) {
          const { organization } = yield* current(administrator)
          return { ...(yield* health.of(organization)), mayBackUp: yield* backups.isPossible }
        }),

        backUp: Effect.fn("Administration.backUp")(function* (administrator) {
          const { asker, state } = yield* current(administrator)
          yield* requirePower(state.policy, asker, "data")
          return yield* backups.make(asker.anchorEntityId)
        })
      })
    })
  )
}

const personIn = ({ person }: AuditRecord["details"]): string => (typeof person === "string" ? person : "")

const optional = <Key extends string>(key: Key, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: string }
