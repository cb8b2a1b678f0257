/**
 * Invitations. A person is found or created as for a member, and the membership is suspended until the link is used. The
 * link is bound to the membership: suspending, restoring or changing it otherwise ends the invitation.
 */
import { Array as Arr, Context, Effect, Layer } from "effect"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type EntityType, type Organization, peopleOf } from "../../domain/EntityType.ts"
import { type NotAdmitted, type NotAllowed, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import type { Prepared } from "../members/memberList.ts"
import { mayGive } from "../members/powers.ts"
import { makePrepare } from "../members/prepareMember.ts"
import { lockEpochFor } from "../members/suspension.ts"
import { makeWrite } from "../members/writeMember.ts"
import { insertCredential, type Issued } from "./credential.ts"

const INVITATION_SECONDS = 7 * 86_400
/** People in one call. */
const MAX_INVITED = 200

export interface Invited {
  /** An e-mail address or phone number. */
  readonly identifier: string
  /** Of a person who is created; by default from the address. */
  readonly name?: string | undefined
}

export interface Invitation extends Issued {
  readonly anchorId: string
  readonly identifier: string
  /** Whether a new person was created. */
  readonly created: boolean
}

export class Invitations extends Context.Service<
  Invitations,
  {
    /**
     * Invites people, all or none, by an operator or by the given administrator: each gets a suspended membership and a link
     * that activates it, once, within a week. An earlier link of the same person ends.
     */
    readonly invite: (
      organization: Organization,
      people: ReadonlyArray<Invited>,
      roles: ReadonlyArray<string>,
      administrator?: Principal
    ) => Effect.Effect<ReadonlyArray<Invitation>, OperatorError | NotAdmitted | NotAllowed | Unavailable>
  }
>()("max/services/Invitations") {
  static readonly layer = Layer.effect(
    Invitations,
    Effect.gen(function* () {
      const { app } = yield* Database
      const prepare = makePrepare(yield* IdentityResolver)
      const states = yield* OrganizationState
      const write = makeWrite(app)

      /** Writes one membership as suspended, and its link; an earlier link of the person ends. */
      const inviteOne = Effect.fnUntraced(function* (
        organization: Organization,
        type: EntityType,
        { identifier }: Invited,
        member: Prepared,
        actor: string
      ) {
        const [before] = yield* app<{ suspended: boolean; invited: boolean }>`
      SELECT suspended_at IS NOT NULL AS suspended, invited_at IS NOT NULL AS invited FROM max.memberships
      WHERE organization_id = ${organization.id} AND anchor_id = ${member.anchorId} FOR UPDATE`
        if (before !== undefined && !before.invited) {
          return yield* OperatorError.of(
            before.suspended
              ? `${quoted(identifier)} is a suspended member: restore the access instead.`
              : `${quoted(identifier)} is a member already.`
          )
        }
        const events: Array<AuditEvent> = [...(yield* write(organization, type, member, actor))]
        yield* app`UPDATE max.memberships SET suspended_at = now(), invited_at = now()
      WHERE organization_id = ${organization.id} AND anchor_id = ${member.anchorId}`
        yield* app`UPDATE max.credentials SET ended_at = now() WHERE organization_id = ${organization.id}
      AND anchor_id = ${member.anchorId} AND kind = 'invitation' AND ended_at IS NULL`
        const issued = yield* insertCredential(app, organization.id, {
          kind: "invitation",
          anchorId: member.anchorId,
          name: "invitation",
          scopes: [],
          seconds: INVITATION_SECONDS
        })
        events.push({
          actor,
          action: "membership.invited",
          subject: member.anchorId,
          details: { roles: member.roles, until: issued.expiresAt.toISOString() }
        })
        return { invitation: { ...issued, anchorId: member.anchorId, identifier, created: "create" in member }, events }
      })

      const invite = Effect.fn("Invitations.invite")(function* (
        organization: Organization,
        invited: ReadonlyArray<Invited>,
        roles: ReadonlyArray<string>,
        administrator?: Principal
      ) {
        if (invited.length === 0 || invited.length > MAX_INVITED) {
          return yield* OperatorError.of(`Invite 1 to ${MAX_INVITED} people at once.`)
        }
        const { state } = yield* states.read(organization.id, { by: "none" })
        const type = peopleOf(state.catalog)!
        if (administrator !== undefined) yield* mayGive(state.policy, administrator, roles)
        const faults: Array<string> = []
        const prepared = new Map<string, readonly [Invited, Prepared]>()
        for (const person of invited) {
          const member = yield* prepare(organization, state, {
            identifier: person.identifier,
            roles,
            create: { name: person.name }
          }).pipe(Effect.catchTag("OperatorError", ({ message }) => Effect.sync(() => void faults.push(message))))
          if (member === undefined) continue
          // Two new people with one identifier have different ids, so the identifier decides.
          const key =
            member.identifier === undefined ? member.anchorId : `${member.identifier.kind} ${member.identifier.key}`
          if (prepared.has(key)) faults.push(`${quoted(person.identifier)} is in the list twice.`)
          prepared.set(key, [person, member])
        }
        const failWith = () =>
          OperatorError.of(faults.length === 1 ? faults[0]! : "No person was invited.", faults.slice(0, 20))
        if (faults.length > 0) return yield* failWith()
        return yield* Effect.gen(function* () {
          yield* lockEpochFor(app, organization, administrator)
          const events: Array<AuditEvent> = []
          const invitations: Array<Invitation> = []
          for (const [person, member] of prepared.values()) {
            const one = yield* inviteOne(
              organization,
              type,
              person,
              member,
              administrator?.anchorEntityId ?? OPERATOR
            ).pipe(Effect.catchTag("OperatorError", ({ message }) => Effect.sync(() => void faults.push(message))))
            if (one === undefined) continue
            invitations.push(one.invitation)
            events.push(...one.events)
          }
          if (faults.length > 0) return yield* failWith()
          if (Arr.isArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
          return invitations
        }).pipe(app.withTransaction, orUnavailable)
      })
      return Invitations.of({ invite })
    })
  )
}
