/** What an administrator does to the access of one member, over HTTP. */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { type NotAdmitted, type NotAllowed, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { type NamedIdentifier, WaysIn } from "../access/WaysIn.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { makeRowEvaluator } from "../policies/rowEvaluator.ts"
import { makePeople, type ShownIdentifier } from "./people.ts"

type Fault = OperatorError | NotAdmitted | NotAllowed | Unavailable

export class PersonAccess extends Context.Service<
  PersonAccess,
  {
    /** Ends all sessions of a member. */
    readonly signOut: (administrator: Principal, id: string) => Effect.Effect<void, Fault>
    /** Binds an identifier to a member. */
    readonly link: (administrator: Principal, id: string, named: NamedIdentifier) => Effect.Effect<void, Fault>
    /** Takes an identifier from a member; it is named as the administrator sees it, perhaps masked. */
    readonly unlink: (administrator: Principal, id: string, shown: ShownIdentifier) => Effect.Effect<void, Fault>
  }
>()("max/services/PersonAccess") {
  static readonly layer = Layer.effect(
    PersonAccess,
    Effect.gen(function* () {
      const identities = yield* IdentityResolver
      const ways = yield* WaysIn
      const { app, search } = yield* Database
      const members = makePeople(app, makeRowEvaluator(search))

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
        }),

        link: Effect.fn("PersonAccess.link")(function* (administrator, id, named) {
          const { asker, organization } = yield* current(administrator)
          yield* ways.link(organization, id, named, asker)
        }),

        unlink: Effect.fn("PersonAccess.unlink")(function* (administrator, id, { kind, text }) {
          const { asker, organization, state } = yield* current(administrator)
          const [person] = yield* members(state, asker, id)
          const keys = (person?.identifiers ?? []).flatMap((one, index) =>
            one.kind === kind && one.text === text ? [person!.keys[index]!] : []
          )
          if (keys.length > 1)
            return yield* OperatorError.of(
              "This person has several identifiers that look like this to you. An operator removes one: max member unlink"
            )
          if (keys.length === 0)
            return yield* OperatorError.of("This person doesn't have this identifier any more. Load the page again.")
          yield* ways.unlink(organization, id, { kind, key: keys[0]! }, asker)
        })
      })
    })
  )
}
