/** The authentication middleware of the declared API, and what a group of endpoints needs from its caller. */
import { Context } from "effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type { CurrentPrincipal } from "../../domain/Principal.ts"
import type { Need as Needed } from "../../services/access/Admission.ts"
import type { CurrentCaller } from "./authenticate.ts"
import { NotAdmitted, NotAuthenticated, NotInScope, TooManyCalls, Unavailable } from "../../wire/problems.ts"

/** The scope and rate limit of a group's endpoints. */
export const Need = Context.Reference<Needed>("max/channels/http/Need", {
  defaultValue: () => ({ calls: 0 })
})

/** Bytes that the bodies of a group may have, where they may have more than the server's limit. */
export const BodyLimit = Context.Reference<number | undefined>("max/channels/http/BodyLimit", {
  defaultValue: () => undefined
})

/** Admits the caller before params, query or body are decoded. */
export class Admitted extends HttpApiMiddleware.Service<Admitted, { provides: CurrentPrincipal | CurrentCaller }>()(
  "max/channels/http/Admitted",
  { error: [NotAuthenticated, NotAdmitted, NotInScope, TooManyCalls, Unavailable] }
) {}
