/** What an administrator does to the access of one member, over HTTP. */
import { Context, Effect, Layer } from "effect"
import type { NotAdmitted, NotAllowed, OperatorError, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { WaysIn } from "../access/WaysIn.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"

type Fault = OperatorError | NotAdmitted | NotAllowed | Unavailable

export class PersonAccess extends Context.Service<
  PersonAccess,
  {
    /** Ends all sessions of a member. */
    readonly signOut: (administrator: Principal, id: string) => Effect.Effect<void, Fault>
  }
>()("max/services/PersonAccess") {
  static readonly layer = Layer.effect(
    PersonAccess,
    Effect.gen(function* () {
      const identities = yield* IdentityResolver
      const ways = yield* WaysIn

      const current = (administrator: Principal) =>
        Effect.map(identities.readmit(administrator), ({ principal, state }) => ({
          asker: principal,
          state,
          organization: state.catalog.organization
        }))

      return PersonAccess.of({
        signOut: Effect.fn("PersonAccess.signOut")(function* (administrator, id) {
          const { asker, organization } = yield* current(administrator)
          yield* ways.signOut(organization, id, asker)
        })
      })
    })
  )
}
