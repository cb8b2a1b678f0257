/** Asks as the administrator is admitted now, and once more if the organization changed while it was answered. */
import { Effect } from "effect"
import type { NotAdmitted, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { Admitted, IdentityResolver } from "../members/IdentityResolver.ts"

/** An answer under plans of two epochs is none: it fails as Unavailable. One that failed in a single epoch isn't asked again. */
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
