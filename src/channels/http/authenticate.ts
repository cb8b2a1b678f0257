/** Who a request comes from: the one way for every route, the tools' as well as those beside the declared interface. */
import { Context, Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { NotAuthenticated } from "../../domain/errors.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import * as Telemetry from "../../observability/Telemetry.ts"
import { Admission, type Caller, type Need, type Proof } from "../../services/access/Admission.ts"
import { problem, problemOf } from "./problems.ts"
import { HttpSettings } from "./settings.ts"

/** Who was let in, with what the credential is good for. */
export class CurrentCaller extends Context.Service<CurrentCaller, Caller>()("max/channels/http/CurrentCaller") {}

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
const traced = <A, E, R>(
  request: HttpServerRequest.HttpServerRequest,
  { principal, scopes }: Caller,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    if (!Telemetry.isRecording(fiber)) return effect
    return Effect.annotateCurrentSpan("max.organization.id", String(principal.organizationId)).pipe(
      Effect.andThen(Telemetry.continueFrom(request.headers, scopes.includes("traces"))),
      Effect.andThen(effect)
    )
  })

/**
 * How requests are authenticated: does something for whoever the request comes from, or answers with the problem.
 * Membership and credential are those of this moment: what was ended is refused from the next request on.
 */
export const admitting = Effect.gen(function* () {
  const admission = yield* Admission
  const { cookie } = yield* HttpSettings
  return <E, R>(
    use: (
      caller: Caller,
      request: HttpServerRequest.HttpServerRequest
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    need: Need
  ) =>
    HttpServerRequest.HttpServerRequest.use((request) => {
      const proof = proofOf(request, cookie)
      if (proof === undefined) return Effect.succeed(problemOf(NotAuthenticated.error))
      if (proof.by === "session" && !isRead(request) && !saysOrigin(request)) return Effect.succeed(withoutOrigin)
      return Effect.matchEffect(
        admission.admitted(proof, need, (caller) => Effect.exit(traced(request, caller, use(caller, request)))),
        {
          onFailure: (error) => Effect.succeed(problemOf(error)),
          // Its own failures are its own: they aren't taken for those of the admission.
          onSuccess: (answered): Effect.Effect<HttpServerResponse.HttpServerResponse, E> => answered
        }
      )
    })
})

/** The same for an effect that finds who was let in in its context. */
export const authentication = Effect.map(
  admitting,
  (admitted) =>
    <E, R>(use: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, need: Need) =>
      admitted((caller) => Effect.updateContext(use, asCaller<R>(caller)), need)
)

/** Added one after the other: merging contexts copies everything that is in them, on every request. */
const asCaller =
  <R>(caller: Caller) =>
  (context: Context.Context<Exclude<R, CurrentPrincipal | CurrentCaller>>): Context.Context<R> =>
    Context.add(
      Context.add(context, CurrentPrincipal, caller.principal),
      CurrentCaller,
      caller
    ) as Context.Context<never> as Context.Context<R>
