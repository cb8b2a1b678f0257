/** What lets a member in: ends their sessions. An administrator acts on members whose powers they have themselves. */
import type { SqlError } from "effect/sql"
import { Array as Arr, Context, Effect, Layer } from "effect"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { type NotAdmitted, type NotAllowed, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"
import { mayGive } from "../members/powers.ts"
import { lockEpochFor } from "../members/suspension.ts"

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
  }
>()("max/services/WaysIn") {
  static readonly layer = Layer.effect(
    WaysIn,
    Effect.gen(function* () {
      const { app } = yield* Database
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

      return WaysIn.of({
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
