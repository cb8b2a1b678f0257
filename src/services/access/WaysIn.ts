/**
 * What lets a member in: identifiers and sessions. An administrator acts on members whose powers they have themselves, and
 * keeps an identifier of their own, so every power keeps a holder who can sign in.
 */
import type { SqlError } from "effect/sql"
import { Array as Arr, Context, Effect, Layer } from "effect"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { type NotAdmitted, type NotAllowed, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { masked } from "../../domain/text.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"
import type { Identifier } from "../members/identifier.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { mayGive } from "../members/powers.ts"
import { parseIdentifier } from "../members/prepareMember.ts"
import { lockEpochFor } from "../members/suspension.ts"
import { makeBind, type Verified } from "../members/writeMember.ts"
import { IdentityProviders } from "./IdentityProviders.ts"
import { issuerOf } from "./issuerOf.ts"
import { subjectKey } from "./jwt.ts"

/** An e-mail address or phone number as it is written, or a subject at an identity provider: the one named, or the only one. */
export type NamedIdentifier =
  | { readonly identifier: string }
  | { readonly subject: string; readonly issuer?: string | undefined }

type Fault = OperatorError | NotAdmitted | NotAllowed | Unavailable

export class WaysIn extends Context.Service<
  WaysIn,
  {
    /** Ends all sessions of a member and the sign-in links that are unused, at once in every process; tokens stay. */
    readonly signOut: (
      organization: Organization,
      anchorId: string,
      administrator?: Principal
    ) => Effect.Effect<{ readonly sessions: number }, Fault>
    /** Binds an identifier to a member, unless it is another person's. */
    readonly link: (
      organization: Organization,
      anchorId: string,
      named: NamedIdentifier,
      administrator?: Principal
    ) => Effect.Effect<void, Fault>
    /** Takes an identifier from a member, and ends their sessions: which of them rest on it isn't recorded. */
    readonly unlink: (
      organization: Organization,
      anchorId: string,
      identifier: NamedIdentifier | Verified,
      administrator?: Principal
    ) => Effect.Effect<{ readonly sessions: number; readonly left: number }, Fault>
  }
>()("max/services/WaysIn") {
  static readonly layer = Layer.effect(
    WaysIn,
    Effect.gen(function* () {
      const { app } = yield* Database
      const bind = makeBind(app)
      const identities = yield* IdentityResolver
      const providers = yield* IdentityProviders
      const issuer = (organization: Organization, named: string | undefined) =>
        Effect.provideService(issuerOf(organization, named), IdentityProviders, providers)
      const states = yield* OrganizationState

      /** Does what leaves these events to a member, in one transaction. */
      const acting = Effect.fnUntraced(function* <A, E>(
        organization: Organization,
        anchorId: string,
        administrator: Principal | undefined,
        act: Effect.Effect<{ readonly events: ReadonlyArray<AuditEvent>; readonly result: A }, E | SqlError.SqlError>
      ) {
        const { state } = yield* states.read(organization.id, { by: "none" })
        return yield* Effect.gen(function* () {
          yield* lockEpochFor(app, organization, administrator)
          const [member] = yield* app<{ roles: ReadonlyArray<string> }>`SELECT roles FROM max.memberships
            WHERE organization_id = ${organization.id} AND anchor_id = ${anchorId}`
          if (member === undefined) return yield* OperatorError.of("No member has this id.")
          if (administrator !== undefined) yield* mayGive(state.policy, administrator, member.roles)
          const { events, result } = yield* act
          if (Arr.isReadonlyArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
          return result
        }).pipe(app.withTransaction, orUnavailable)
      })

      /** Ends the sessions and unused sign-in links of a member; call it in a transaction that raises the epoch. */
      const endSessions = ({ id }: Organization, anchorId: string) =>
        Effect.map(
          app<{ kind: string }>`UPDATE max.credentials SET ended_at = now() WHERE organization_id = ${id}
            AND anchor_id = ${anchorId} AND kind IN ('session', 'link') AND ended_at IS NULL AND expires_at > now() RETURNING kind`,
          (ended) => ended.filter(({ kind }) => kind === "session").length
        )

      const verifiedOf = Effect.fnUntraced(function* (organization: Organization, named: NamedIdentifier | Verified) {
        if ("key" in named) return named
        if ("identifier" in named) return yield* parseIdentifier(named.identifier, organization)
        return { kind: "subject" as const, key: subjectKey(yield* issuer(organization, named.issuer), named.subject) }
      })

      return WaysIn.of({
        link: Effect.fn("WaysIn.link")(function* (organization, anchorId, named, administrator) {
          const verified = yield* verifiedOf(organization, named)
          const people = isContact(verified) ? yield* identities.identify(organization, verified) : []
          const actor = administrator?.anchorEntityId ?? OPERATOR
          const bound = Effect.gen(function* () {
            if (people.some((person) => person !== anchorId))
              return yield* OperatorError.of(
                "Another person in your data has this identifier. Only an identifier of one person can admit it."
              )
            return { events: yield* bind(organization, anchorId, verified, actor), result: undefined }
          })
          return yield* acting(organization, anchorId, administrator, bound)
        }),

        unlink: Effect.fn("WaysIn.unlink")(function* (organization, anchorId, named, administrator) {
          const { key, kind } = yield* verifiedOf(organization, named)
          const actor = administrator?.anchorEntityId ?? OPERATOR
          const unbound = Effect.gen(function* () {
            const [removed] = yield* app`DELETE FROM max.identifiers WHERE organization_id = ${organization.id}
              AND kind = ${kind} AND key = ${key} AND anchor_id = ${anchorId} RETURNING 1`
            if (removed === undefined) return yield* OperatorError.of("This member doesn't have this identifier.")
            const [rest] = yield* app<{ left: number }>`SELECT count(*)::int AS left FROM max.identifiers
              WHERE organization_id = ${organization.id} AND anchor_id = ${anchorId}`
            const { left } = rest!
            if (left === 0 && anchorId === administrator?.anchorEntityId)
              return yield* OperatorError.of(
                "You can't remove the last identifier of yourself: link another one first, or ask another administrator."
              )
            const sessions = yield* endSessions(organization, anchorId)
            const details = { kind, identifier: masked(key), left, sessions }
            const event: AuditEvent = { actor, action: "identifier.removed", subject: anchorId, details }
            return { events: [event], result: { sessions, left } }
          })
          return yield* acting(organization, anchorId, administrator, unbound)
        }),

        signOut: Effect.fn("WaysIn.signOut")((organization, anchorId, administrator) =>
          acting(
            organization,
            anchorId,
            administrator,
            Effect.map(endSessions(organization, anchorId), (sessions) => ({
              events: [
                {
                  actor: administrator?.anchorEntityId ?? OPERATOR,
                  action: "session.all-ended",
                  subject: anchorId,
                  details: { sessions }
                }
              ],
              result: { sessions }
            }))
          )
        )
      })
    })
  )
}

/** Whether rows of people have such identifiers. */
const isContact = (verified: Verified): verified is Identifier => verified.kind !== "subject"
