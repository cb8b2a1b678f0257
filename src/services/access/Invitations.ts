/**
 * Invitations. A person is found or created as for a member, and the membership is suspended until the link is used. The
 * link is bound to the membership: suspending, restoring or changing it otherwise ends the invitation.
 */
import { Array as Arr, Context, Data, Effect, Layer } from "effect"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { raiseEpoch } from "../../database/epoch.ts"
import { orUnavailableInTheEnd } from "../../database/execute.ts"
import { type EntityType, type Organization, peopleOf } from "../../domain/EntityType.ts"
import { type NotAdmitted, type NotAllowed, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import type { Policy } from "../../permissions/Policy.ts"
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
export const MAX_INVITED = 200

export interface Invited {
  /** An e-mail address or phone number. */
  readonly identifier: string
  /** Of a person who is created; by default from the address. */
  readonly name?: string | undefined
  /** Instead of the roles of the call. */
  readonly roles?: ReadonlyArray<string> | undefined
  /** The place in the list, which problems begin with, such as "line 3". */
  readonly place?: string | undefined
}

export interface Invitation extends Issued {
  readonly anchorId: string
  readonly identifier: string
  readonly roles: ReadonlyArray<string>
  /** Whether a new person was created. */
  readonly created: boolean
  /** Whether an earlier invitation of the person ended. */
  readonly again: boolean
}

/** An invitation that a preview has found possible, without its link. */
type Foreseen = Pick<Invitation, "identifier" | "roles" | "created" | "again"> & {
  readonly name?: string
  readonly place: string
}

export interface Preview {
  readonly people: ReadonlyArray<Foreseen>
  readonly problems: ReadonlyArray<string>
}

/** Ends the transaction of a preview, whose writes are rolled back. */
class Previewed extends Data.TaggedError("Previewed")<{ readonly preview: Preview }> {}

type Fault = OperatorError | NotAdmitted | NotAllowed | Unavailable

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
    ) => Effect.Effect<ReadonlyArray<Invitation>, Fault>
    /** Whom `invite` would invite, and all problems for which it would invite no person. Nothing is changed. */
    readonly preview: (
      organization: Organization,
      people: ReadonlyArray<Invited>,
      roles: ReadonlyArray<string>,
      administrator?: Principal
    ) => Effect.Effect<Preview, Fault>
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
        by: { readonly administrator: Principal | undefined; readonly policy: Policy }
      ) {
        const { administrator, policy } = by
        const actor = administrator?.anchorEntityId ?? OPERATOR
        const [before] = yield* app<{ suspended: boolean; invited: boolean; roles: ReadonlyArray<string> }>`
      SELECT suspended_at IS NOT NULL AS suspended, invited_at IS NOT NULL AS invited, roles FROM max.memberships
      WHERE organization_id = ${organization.id} AND anchor_id = ${member.anchorId} FOR UPDATE`
        if (before !== undefined && !before.invited) {
          return yield* OperatorError.of(
            before.suspended
              ? `${quoted(identifier)} is a suspended member: restore the access instead.`
              : `${quoted(identifier)} is a member already.`
          )
        }
        if (before !== undefined && administrator !== undefined) yield* mayGive(policy, administrator, before.roles)
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
        const { anchorId, roles } = member
        const again = before !== undefined
        return { invitation: { ...issued, anchorId, identifier, roles, created: "create" in member, again }, events }
      })

      /** Validates and writes all invitations in one transaction; `finish` gets them with all problems, and ends it. */
      const run = Effect.fnUntraced(function* <A, E>(
        organization: Organization,
        invited: ReadonlyArray<Invited>,
        roles: ReadonlyArray<string>,
        administrator: Principal | undefined,
        finish: (written: {
          readonly invitations: ReadonlyArray<readonly [Invited, Prepared, Invitation]>
          readonly events: ReadonlyArray<AuditEvent>
          readonly problems: ReadonlyArray<string>
        }) => Effect.Effect<A, E>
      ) {
        if (invited.length === 0 || invited.length > MAX_INVITED) {
          return yield* OperatorError.of(`Invite 1 to ${MAX_INVITED} people at once.`)
        }
        const { state } = yield* states.read(organization.id, { by: "none" })
        const type = peopleOf(state.catalog)!
        if (administrator !== undefined)
          yield* mayGive(state.policy, administrator, [...roles, ...invited.flatMap((person) => person.roles ?? [])])
        const problems: Array<string> = []
        /** Collects the problem of one person, so that all are told at once. */
        const collecting = <B, F, R>({ place }: Invited, effect: Effect.Effect<B, F, R>) =>
          Effect.catch(effect, (error): Effect.Effect<undefined, Exclude<F, OperatorError>> => {
            if (!(error instanceof OperatorError)) return Effect.fail(error as Exclude<F, OperatorError>)
            problems.push(place === undefined ? error.message : `${place}: ${error.message}`)
            return Effect.undefined
          })
        const prepared = new Map<string, readonly [Invited, Prepared]>()
        for (const person of invited) {
          const member = yield* collecting(
            person,
            prepare(organization, state, {
              identifier: person.identifier,
              roles: person.roles ?? roles,
              create: { name: person.name }
            })
          )
          if (member === undefined) continue
          // Two new people with one identifier have different ids, so the identifier decides.
          const key =
            member.identifier === undefined ? member.anchorId : `${member.identifier.kind} ${member.identifier.key}`
          const [first] = prepared.get(key) ?? []
          if (first === undefined) prepared.set(key, [person, member])
          else yield* collecting(person, OperatorError.of(twice(person, first)))
        }
        return yield* Effect.gen(function* () {
          yield* lockEpochFor(app, organization, administrator)
          const events: Array<AuditEvent> = []
          const invitations: Array<readonly [Invited, Prepared, Invitation]> = []
          const by = { administrator, policy: state.policy }
          for (const [person, member] of prepared.values()) {
            const one = yield* collecting(person, inviteOne(organization, type, person, member, by))
            if (one === undefined) continue
            invitations.push([person, member, one.invitation])
            events.push(...one.events)
          }
          return yield* finish({ invitations, events, problems })
        }).pipe(app.withTransaction)
      })

      const invite = Effect.fn("Invitations.invite")(
        (
          organization: Organization,
          invited: ReadonlyArray<Invited>,
          roles: ReadonlyArray<string>,
          administrator?: Principal
        ) =>
          run(organization, invited, roles, administrator, ({ events, invitations, problems }) =>
            Effect.gen(function* () {
              if (problems.length > 0) {
                const [first = ""] = problems
                return yield* problems.length === 1
                  ? OperatorError.of(first)
                  : OperatorError.of("No person was invited.", problems)
              }
              if (Arr.isReadonlyArrayNonEmpty(events)) yield* raiseEpoch(app, organization.id, events)
              return invitations.map(([, , invitation]) => invitation)
            })
          ).pipe(orUnavailableInTheEnd)
      )

      const preview = Effect.fn("Invitations.preview")(
        (
          organization: Organization,
          invited: ReadonlyArray<Invited>,
          roles: ReadonlyArray<string>,
          administrator?: Principal
        ) =>
          run(organization, invited, roles, administrator, ({ invitations, problems }) =>
            Effect.fail(new Previewed({ preview: { problems, people: invitations.map(foreseen) } }))
          ).pipe(
            Effect.catchTag("Previewed", ({ preview }) => Effect.succeed(preview)),
            orUnavailableInTheEnd
          )
      )

      return Invitations.of({ invite, preview })
    })
  )
}

const twice = ({ identifier }: Invited, { identifier: other, place }: Invited): string =>
  `${quoted(identifier)} is in the list twice${place === undefined ? "" : `: it is ${quoted(other)} of ${place}`}.`

const foreseen = ([{ place }, { create }, invitation]: readonly [Invited, Prepared, Invitation]): Foreseen => {
  const { again, created, identifier, roles } = invitation
  return {
    identifier,
    roles,
    created,
    again,
    place: place ?? "",
    ...(create === undefined ? {} : { name: create.name })
  }
}
