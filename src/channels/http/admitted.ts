/** What endpoints ask of whoever calls. */
import { Context } from "effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type { CurrentPrincipal } from "../../domain/Principal.ts"
import type { Scope } from "../../services/Credentials.ts"
import type { CurrentCaller } from "./authenticate.ts"
import { NotAdmitted, NotAuthenticated, NotInScope, TooManyCalls, Unavailable } from "./problems.ts"

/** What the endpoints of a group ask of whoever calls: a scope, and whether a call counts against the limits. */
export const Need = Context.Reference<{ readonly scope?: Scope; readonly calls: 0 | 1 }>("max/channels/http/Need", {
  defaultValue: () => ({ calls: 0 })
})

/** Lets in whom the credential of the request lets in, before anything else of the request is read. */
export class Admitted extends HttpApiMiddleware.Service<Admitted, { provides: CurrentPrincipal | CurrentCaller }>()(
  "max/channels/http/Admitted",
  { error: [NotAuthenticated, NotAdmitted, NotInScope, TooManyCalls, Unavailable] }
) {}
