/** Asks as the administrator is admitted now, and once more if the organization changed while it was answered. */
import { Effect } from "effect"
import type { NotAdmitted, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Admitted, IdentityResolver } from "../members/IdentityResolver.ts"

/** Readmits the administrator and asks again if the organization's epoch changed during the first attempt. Other failures are passed on. */
export const asAdmitted =
  (identities: IdentityResolver["Service"]) =>
  <A, E>(
    administrator: Principal,
    ask: (asking: Admitted) => Effect.Effect<A, E | Unavailable>
  ): Effect.Effect<A, E | Unavailable | NotAdmitted> =>
    Effect.flatMap(identities.readmit(administrator), (asking) =>
      Effect.catchIf(
        ask(asking),
        (error): error is Unavailable & (E | Unavailable) => isUnavailable(error),
        (error) =>
          Effect.flatMap(identities.readmit(administrator), (again) =>
            again.principal.epoch === asking.principal.epoch ? Effect.fail(error) : ask(again)
          )
      )
    )

const isUnavailable = (error: unknown): boolean => (error as { readonly _tag?: string })._tag === "Unavailable"
