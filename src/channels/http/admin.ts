/** The endpoints for administrators: each is one call of `Administration` with the caller's principal. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { readAttributes } from "../../domain/attributes.ts"
import type { NotAdmitted, NotAllowed, OperatorError, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { isoTimestamp } from "../../domain/values.ts"
import { Env } from "../../env.ts"
import { Administration } from "../../services/administration/Administration.ts"
import { Checklist } from "../../services/administration/Checklist.ts"
import { PersonAccess } from "../../services/administration/PersonAccess.ts"
import { OrganizationSettings } from "../../services/administration/OrganizationSettings.ts"
import type { Person } from "../../services/administration/people.ts"
import { renderCell } from "../../tools/render.ts"
import type { AuditPage, Verifications } from "../../wire/admin/audit.ts"
import type { Mapped, OrganizationShown } from "../../wire/admin/organization.ts"
import type { Invitations, NewToken, People, PersonWithTokens, SignInLink } from "../../wire/admin/people.ts"
import type {
  Policy,
  PolicyChanges,
  PolicyVersions,
  RowExplanation,
  TypeExplanations,
  Types
} from "../../wire/admin/policy.ts"
import type { ChangeLog } from "../../wire/admin/changes.ts"
import type { SetupSteps } from "../../wire/admin/setup.ts"
import type { TextLog } from "../../wire/admin/texts.ts"
import type { BackedUp, Health } from "../../wire/admin/health.ts"
import { UnclearQuestions } from "../../services/administration/UnclearQuestions.ts"
import type { UnclearQuestions as Questions, Usage } from "../../wire/admin/usage.ts"
import { ambiguousPerson, personOf, respond } from "./administrator.ts"
import { Api } from "./Api.ts"
import { json } from "./json.ts"
import { problem } from "./problems.ts"

const PAGE_SIZE = 50
/** Of a usage report. */
const DAYS = 30

const noMember = problem("NotFound", "No member of this organization has this id.")
const ambiguousIdentifier = problem(
  "InvalidInput",
  "Send either an identifier, or a subject, with its issuer if needed."
)
const invalidSince = problem("InvalidInput", "Invalid since: send a date, or a time in UTC that ends with Z.")
const invalidBefore = problem("InvalidInput", "Invalid before: send the time of an entry as it was returned.")

const shown = (person: Person) => {
  const { id, identifiers, isSelf, lastCall, memberSince, name, roles, state, suspendedSince, tokens } = person
  return {
    id,
    name,
    identifiers,
    roles,
    state,
    isSelf,
    tokens,
    memberSince,
    ...(suspendedSince === undefined ? {} : { suspendedSince }),
    ...(lastCall === undefined ? {} : { lastCall })
  }
}

export const Administering = HttpApiBuilder.group(
  Api,
  "admin",
  Effect.fnUntraced(function* (handlers) {
    const administration = yield* Administration
    const access = yield* PersonAccess
    const checklist = yield* Checklist
    const unclear = yield* UnclearQuestions
    const settings = yield* OrganizationSettings
    const { prices, sessionDays } = yield* Env

    /** An act on a member, whose answer is empty. */
    const toMember = (
      id: string,
      act: (administrator: Principal) => Effect.Effect<void, OperatorError | NotAdmitted | NotAllowed | Unavailable>
    ) =>
      respond(
        Effect.fnUntraced(function* (administrator) {
          if ((yield* administration.person(administrator, id)) === undefined) return noMember
          yield* act(administrator)
          return HttpServerResponse.empty()
        })
      )

    const setStanding = (id: string, standing: "suspended" | "resumed") =>
      toMember(id, (administrator) => administration.setStanding(administrator, id, standing))

    return handlers.handleAll({
      people: ({ payload }) =>
        respond((administrator) =>
          Effect.map(administration.people(administrator, { ...payload, limit: payload.limit ?? PAGE_SIZE }), (page) =>
            json<People>({ ...page, people: page.people.map(shown) })
          )
        ),
      person: ({ params }) =>
        respond((administrator) =>
          Effect.map(administration.person(administrator, params.id), (person) =>
            person === undefined
              ? noMember
              : json<PersonWithTokens>({
                  ...shown(person),
                  attributes: person.attributes,
                  held: person.held.map(({ createdAt, expiresAt, id, name, scopes, state }) => ({
                    id,
                    name,
                    scopes,
                    createdAt,
                    expiresAt,
                    state
                  }))
                })
          )
        ),
      suspend: ({ params }) => setStanding(params.id, "suspended"),
      resume: ({ params }) => setStanding(params.id, "resumed"),
      invite: ({ payload: { people, roles = [] } }) =>
        respond((administrator) =>
          Effect.map(administration.invite(administrator, people, roles), (invitations) =>
            json<Invitations>({
              invitations: invitations.map(({ anchorId, created, expiresAt, identifier, mailed, secret }) => ({
                id: anchorId,
                identifier,
                created,
                mailed,
                code: secret,
                expiresAt: expiresAt.toISOString()
              }))
            })
          )
        ),
      offerSignIn: ({ params }) =>
        respond((administrator) =>
          Effect.map(administration.offerSignIn(administrator, params.id), (link) =>
            link === undefined
              ? noMember
              : json<SignInLink>({ code: link.secret, expiresAt: link.expiresAt.toISOString() })
          )
        ),
      signOut: ({ params }) => toMember(params.id, (administrator) => access.signOut(administrator, params.id)),
      linkIdentifier: ({ params, payload: { identifier, issuer, subject } }) => {
        const named =
          identifier === undefined
            ? subject && { subject, issuer }
            : subject === undefined && issuer === undefined && { identifier }
        return named
          ? toMember(params.id, (administrator) => access.link(administrator, params.id, named))
          : Effect.succeed(ambiguousIdentifier)
      },
      removeIdentifier: ({ params, payload }) =>
        toMember(params.id, (administrator) => access.unlink(administrator, params.id, payload)),
      setRoles: ({ params, payload }) =>
        toMember(params.id, (administrator) => administration.setRoles(administrator, params.id, payload.roles)),
      setAttributes: ({ params, payload }) =>
        respond(
          Effect.fnUntraced(function* (administrator) {
            const attributes = readAttributes(payload.attributes)
            if (typeof attributes === "string") return problem("InvalidInput", attributes)
            if ((yield* administration.person(administrator, params.id)) === undefined) return noMember
            yield* administration.setAttributes(administrator, params.id, attributes)
            return HttpServerResponse.empty()
          })
        ),
      createToken: ({ params, payload }) =>
        respond((administrator) =>
          Effect.map(administration.createToken(administrator, params.id, payload), (issued) =>
            issued === undefined
              ? noMember
              : json<NewToken>({ token: issued.secret, expiresAt: issued.expiresAt.toISOString() })
          )
        ),
      revoke: ({ params }) =>
        respond((administrator) =>
          Effect.as(administration.revokeToken(administrator, params.id), HttpServerResponse.empty())
        ),
      policy: () =>
        respond((administrator) => Effect.map(administration.policy(administrator), (policy) => json<Policy>(policy))),
      versions: () =>
        respond((administrator) =>
          Effect.map(administration.versions(administrator), (versions) => json<PolicyVersions>({ versions }))
        ),
      changes: ({ params }) =>
        respond((administrator) =>
          Effect.map(administration.changes(administrator, params.from, params.to), (changes) =>
            json<PolicyChanges>({ changes })
          )
        ),
      explain: ({ payload }) =>
        respond((administrator) => {
          const person = personOf(payload)
          return person === undefined
            ? Effect.succeed(ambiguousPerson)
            : Effect.map(administration.explain(administrator, person, payload.type), (explanations) =>
                json<TypeExplanations>({ explanations })
              )
        }),
      explainRow: ({ payload }) =>
        respond((administrator) => {
          const person = personOf(payload)
          return person === undefined
            ? Effect.succeed(ambiguousPerson)
            : Effect.map(administration.explainRow(administrator, person, payload.type, payload.row), (explanation) =>
                json<RowExplanation>({
                  ...explanation,
                  columns: explanation.columns.map(({ value, ...column }) => {
                    const text = value === undefined ? "" : renderCell(value)
                    return text === "" ? column : { ...column, value: text }
                  })
                })
              )
        }),
      types: () =>
        respond((administrator) => Effect.map(administration.types(administrator), (types) => json<Types>({ types }))),
      audit: ({ query }) =>
        respond(
          Effect.fnUntraced(function* (administrator) {
            const limit = query.limit ?? PAGE_SIZE
            const since = query.since === undefined ? undefined : new Date(query.since)
            if (since !== undefined && Number.isNaN(since.getTime())) return invalidSince
            const records = yield* administration.audit(administrator, {
              chain: query.chain ?? "changes",
              action: query.action,
              who: query.who,
              since,
              ...(query.before === undefined ? {} : { before: BigInt(query.before) }),
              limit: limit + 1
            })
            const page = records.slice(0, limit).map((record) => ({ ...record, sequence: Number(record.sequence) }))
            return json<AuditPage>({
              records: page,
              ...(records.length > limit ? { next: page.at(-1)!.sequence } : {})
            })
          })
        ),
      verify: () =>
        respond((administrator) =>
          Effect.map(administration.verify(administrator), (chains) =>
            json<Verifications>({
              chains: chains.map(({ broken, chain, head }) => ({
                chain,
                records: Number(head?.sequence ?? 0n),
                ...(head === undefined ? {} : { head: `${head.sequence}:${head.hash}` }),
                ...(broken === undefined ? {} : { broken: Number(broken) })
              }))
            })
          )
        ),
      changeLog: ({ query }) =>
        respond(
          Effect.fnUntraced(function* (administrator) {
            const { before, limit = PAGE_SIZE } = query
            const found = yield* administration.changeLog(administrator, { before, limit: limit + 1 })
            const changes = found.slice(0, limit)
            return json<ChangeLog>({ changes, ...(found.length > limit ? { next: changes.at(-1)!.id } : {}) })
          })
        ),
      texts: ({ query }) =>
        respond(
          Effect.fnUntraced(function* (administrator) {
            const { before, limit = PAGE_SIZE } = query
            if (before !== undefined && isoTimestamp(before) === undefined) return invalidBefore
            const log = yield* administration.texts(administrator, { before, limit: limit + 1 })
            const texts = log.texts.slice(0, limit)
            return json<TextLog>({ ...log, texts, ...(log.texts.length > limit ? { next: texts.at(-1)!.at } : {}) })
          })
        ),
      questions: () =>
        respond((administrator) => Effect.map(unclear.reportFor(administrator), (found) => json<Questions>(found))),
      keepQuestions: ({ payload }) =>
        respond((administrator) => Effect.as(unclear.setFor(administrator, payload.kept), HttpServerResponse.empty())),
      usage: ({ query: { days = DAYS } }) =>
        respond((administrator) =>
          Effect.map(
            administration.usage(administrator, days, { prices, mostConversationDays: sessionDays }),
            (usage) => json<Usage>(usage)
          )
        ),
      organization: () =>
        respond((administrator) => Effect.map(settings.show(administrator), (shown) => json<OrganizationShown>(shown))),
      setOrganization: ({ payload }) =>
        respond((administrator) => Effect.as(settings.set(administrator, payload), HttpServerResponse.empty())),
      mapped: () =>
        respond((administrator) => Effect.map(settings.mapped(administrator), (mapped) => json<Mapped>(mapped))),
      setup: () =>
        respond((administrator) => Effect.map(checklist.stepsFor(administrator), (steps) => json<SetupSteps>(steps))),
      backUp: () =>
        respond((administrator) => Effect.map(administration.backUp(administrator), (made) => json<BackedUp>(made))),
      health: () =>
        respond((administrator) => Effect.map(administration.health(administrator), (health) => json<Health>(health)))
    })
  })
)
