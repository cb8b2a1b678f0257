/** Authentication of requests, shared by every route, declared in `Api` or not. */
import { Context, Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { NotAuthenticated } from "../../domain/errors.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import * as Telemetry from "../../observability/Telemetry.ts"
import { Admission, type Caller, type Need, type Proof } from "../../services/access/Admission.ts"
import { problem, problemOf } from "./problems.ts"
import { HttpSettings } from "./settings.ts"

type Request = HttpServerRequest.HttpServerRequest
type Settings = HttpSettings["Service"]

/** The admitted caller: principal, scopes and credential. */
export class CurrentCaller extends Context.Service<CurrentCaller, Caller>()("max/channels/http/CurrentCaller") {}

const MAX_CREDENTIAL_LENGTH = 8192
const BEARER = /^bearer +([A-Za-z0-9._~+/=-]+)$/i

/**
 * Whether the request may use the session cookie. SameSite admits every origin of the site, such as a sibling subdomain or
 * another port, so this compares origins: `Sec-Fetch-Site`, which pages can't set, and `Origin`.
 */
const isOwnPage = ({ headers }: Request, { isOwnOrigin }: Settings): boolean => {
  const { host, origin, "sec-fetch-site": site } = headers
  if (site !== undefined && site !== "same-origin" && site !== "none") return false
  return origin === undefined || isOwnOrigin(origin, host)
}

/** The credential of a request. An Authorization header takes precedence: if it is invalid, the cookie isn't tried. */
const proofOf = (request: Request, settings: Settings): Proof | undefined => {
  const { authorization } = request.headers
  if (authorization !== undefined) {
    const match = authorization.length <= MAX_CREDENTIAL_LENGTH ? BEARER.exec(authorization) : null
    return match === null ? undefined : { by: "bearer", secret: match[1]! }
  }
  if (request.headers["cookie"] === undefined || !isOwnPage(request, settings)) return undefined
  const secret = request.cookies[settings.cookie]
  return secret === undefined || secret.length > MAX_CREDENTIAL_LENGTH ? undefined : { by: "session", secret }
}

const isRead = ({ method }: Request) => method === "GET" || method === "HEAD"
const JSON_TYPE = /^application\/json\s*(;|$)/i

/**
 * Guards changes that a browser authenticates: they need the own `Origin`, and a header that a cross-origin page can send
 * only after a preflight. Forms, beacons and `no-cors` requests can't send either.
 */
export const isOwnChange = (request: Request, settings: Settings): boolean => {
  const { "content-type": type = "", origin, "x-requested-with": requestedWith } = request.headers
  return origin !== undefined && isOwnPage(request, settings) && (requestedWith !== undefined || JSON_TYPE.test(type))
}

export const ownOriginRequired = problem(
  "OriginNotAllowed",
  "A request that changes something and uses the session cookie must send Max's own Origin and an X-Requested-With header."
)

/**
 * Continues the caller's trace (traceparent) after admission; an unauthenticated client's header is ignored. Max decides
 * about sampling, except for callers with the `traces` scope.
 */
const traced = <A, E, R>(
  request: Request,
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
 * Admits the caller of a request and runs `use`, or answers with the problem. Membership and credential are checked on
 * every request, so that a revocation or suspension takes effect with the next one.
 */
export const admitting = Effect.gen(function* () {
  const admission = yield* Admission
  const settings = yield* HttpSettings
  return <E, R>(
    use: (caller: Caller, request: Request) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    need: Need
  ) =>
    HttpServerRequest.HttpServerRequest.use((request) => {
      const proof = proofOf(request, settings)
      if (proof === undefined) return Effect.succeed(problemOf(NotAuthenticated.error))
      if (proof.by === "session" && !isRead(request) && !isOwnChange(request, settings))
        return Effect.succeed(ownOriginRequired)
      return Effect.matchEffect(
        admission.admitted(proof, need, (caller) => Effect.exit(traced(request, caller, use(caller, request)))),
        {
          onFailure: (error) => Effect.succeed(problemOf(error)),
          // Failures of `use` pass through as an exit: they aren't errors of the admission.
          onSuccess: (exit): Effect.Effect<HttpServerResponse.HttpServerResponse, E> => exit
        }
      )
    })
})

/** Like `admitting`, with the caller in the effect's context. */
export const authentication = Effect.map(
  admitting,
  (admitted) =>
    <E, R>(use: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>, need: Need) =>
      admitted((caller) => Effect.updateContext(use, asCaller<R>(caller)), need)
)

/** Two `add` calls instead of a merge, which would copy the whole context on every request. */
const asCaller =
  <R>(caller: Caller) =>
  (context: Context.Context<Exclude<R, CurrentPrincipal | CurrentCaller>>): Context.Context<R> =>
    Context.add(
      Context.add(context, CurrentPrincipal, caller.principal),
      CurrentCaller,
      caller
    ) as Context.Context<never> as Context.Context<R>
