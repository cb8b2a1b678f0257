/** Who a request comes from: the one way for every route, the tools' as well as those beside the declared interface. */
import { Context, Effect, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse, HttpTraceContext } from "effect/http"
import { NotAuthenticated } from "../../domain/errors.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { continueFrom } from "../../domain/spans.ts"
import { Admission, type Caller, type Proof } from "../../services/Admission.ts"
import type { Scope } from "../../services/Credentials.ts"
import { problem, problemOf } from "./problems.ts"
import { HttpSettings } from "./settings.ts"

/** Who was let in, with what the credential is good for. */
export class CurrentCaller extends Context.Service<CurrentCaller, Caller>()("max/channels/http/CurrentCaller") {}

export interface Needed {
  /** What the credential has to be good for; without it any that is in force will do. */
  readonly scope?: Scope
  /** Whether the request counts against the limits. */
  readonly calls: 0 | 1
}

const MAX_CREDENTIAL_LENGTH = 8192
const BEARER = /^bearer +([A-Za-z0-9._~+/=-]+)$/i

/** The credential of a request. A header decides alone: with one that isn't good, a cookie isn't looked at. */
const proofOf = (request: HttpServerRequest.HttpServerRequest, cookie: string): Proof | undefined => {
  const { authorization } = request.headers
  if (authorization !== undefined) {
    const match = authorization.length <= MAX_CREDENTIAL_LENGTH ? BEARER.exec(authorization) : null
    return match === null ? undefined : { by: "bearer", secret: match[1]! }
  }
  if (request.headers["cookie"] === undefined) return undefined
  const secret = request.cookies[cookie]
  return secret === undefined || secret.length > MAX_CREDENTIAL_LENGTH ? undefined : { by: "session", secret }
}

const isRead = (request: HttpServerRequest.HttpServerRequest) => request.method === "GET" || request.method === "HEAD"

/** A page that changes something says where it is from: a browser always does, and the edge has checked what it says. */
export const saysOrigin = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.headers["origin"] !== undefined

export const withoutOrigin = problem(
  "OriginNotAllowed",
  "A request with a cookie that changes something says its Origin."
)

/**
 * The trace of a request goes on from its caller's, once the caller has been let in: a stranger's words about traces
 * count for nothing. Whether it is kept is Max's decision, and only for those who may read traces the caller's.
 */
const traced = (request: HttpServerRequest.HttpServerRequest, { principal, scopes }: Caller) => {
  const parent = HttpTraceContext.w3c(request.headers)
  return Effect.andThen(
    Effect.annotateCurrentSpan("max.organization.id", String(principal.organizationId)),
    Option.isNone(parent) ? Effect.void : continueFrom(parent.value, scopes.includes("traces"))
  )
}

/**
 * How requests are authenticated: runs an effect for whoever the request comes from, or answers with the problem.
 * Membership and credential are those of this moment: what was ended is refused from the next request on.
 */
export const authentication = Effect.gen(function* () {
  const admission = yield* Admission
  const { cookie } = yield* HttpSettings
  return <E, R>(use: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, need: Needed) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const proof = proofOf(request, cookie)
      if (proof === undefined) return Effect.succeed(problemOf(NotAuthenticated.error))
      if (proof.by === "session" && !isRead(request) && !saysOrigin(request)) return Effect.succeed(withoutOrigin)
      return Effect.matchEffect(admission.admit(proof, need), {
        onFailure: (error) => Effect.succeed(problemOf(error)),
        onSuccess: (
          caller
        ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, Exclude<R, CurrentPrincipal | CurrentCaller>> =>
          Effect.andThen(
            traced(request, caller),
            Effect.provideContext(
              use,
              Context.make(CurrentPrincipal, caller.principal).pipe(Context.add(CurrentCaller, caller))
            )
          )
      })
    })
})
