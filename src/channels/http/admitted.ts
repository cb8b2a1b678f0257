/** What endpoints ask of whoever calls. */
import { Context } from "effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type { CurrentPrincipal } from "../../domain/Principal.ts"
import type { Need as Needed } from "../../services/access/Admission.ts"
import type { CurrentCaller } from "./authenticate.ts"
import { NotAdmitted, NotAuthenticated, NotInScope, TooManyCalls, Unavailable } from "../../wire/problems.ts"

/** What the endpoints of a group ask of whoever calls. */
export const Need = Context.Reference<Needed>("max/channels/http/Need", {
  defaultValue: () => ({ calls: 0 })
})

/** Lets in whom the credential of the request lets in: nothing else of it is read for somebody who isn't known. */
export class Admitted extends HttpApiMiddleware.Service<Admitted, { provides: CurrentPrincipal | CurrentCaller }>()(
  "max/channels/http/Admitted",
  { error: [NotAuthenticated, NotAdmitted, NotInScope, TooManyCalls, Unavailable] }
) {}
