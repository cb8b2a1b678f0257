/**
 * Request checks for every path: accepted hosts, origins, query keys and bodies. Every failure becomes a problem response.
 * Telemetry records only the method, the route and the response's status and size.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Context, Effect, Option } from "effect"
import { HttpBody, HttpMiddleware, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as HttpApiError from "effect/http-api/HttpApiError"
import { randomBytes } from "node:crypto"
import { Unavailable } from "../../domain/errors.ts"
import { isJsonObject } from "../../domain/json.ts"
import { limited, placeOf, reportFailure } from "../../observability/failures.ts"
import * as Telemetry from "../../observability/Telemetry.ts"
import { shortReference } from "../../domain/reference.ts"
import { describeIssue, describePaths } from "../../tools/describeIssue.ts"
import { PROBLEMS } from "../../wire/problems.ts"
import { withAccessLog } from "./accessLog.ts"
import { BODIES, CLOSING } from "./bodies.ts"
import { FAILED_TURN, methodNotAllowed, problem, problemOf } from "./problems.ts"
import type { HttpSettings } from "./settings.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

export interface Route {
  readonly method: string
  /** Path parameters are written `:name`. */
  readonly path: string
  /** The body's content type; JSON by default. */
  readonly takes?: "form" | "file" | "policy"
  /** Accepted query keys; without this list every key is accepted. */
  readonly query?: ReadonlyArray<string>
}

/** Served under any Host, because probes address the server by IP: they expose no data or require their own secret. */
const OPEN_PATHS = ["/healthz", "/readyz", "/metrics"]

const pathOf = (request: Request): string => request.url.split(/[?#]/, 1)[0]!

/** Finds the routes of a path. */
const makeFinder = (routes: ReadonlyArray<Route>) => {
  const compiled = routes.map((route) => ({
    ...route,
    pattern: new RegExp(`^${route.path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/:[A-Za-z]+/g, "[^/]+")}$`, "i")
  }))
  const exact = new Map<string, ReadonlyArray<Route>>()
  for (const { path } of routes) {
    exact.set(
      path,
      compiled.filter((route) => route.path === path)
    )
  }
  return (path: string): ReadonlyArray<Route> => exact.get(path) ?? compiled.filter(({ pattern }) => pattern.test(path))
}

/** Query keys that the route does not declare, and keys whose value contains NUL. */
const invalidKeys = ({ method, url }: Request, find: ReturnType<typeof makeFinder>): ReadonlyArray<string> => {
  const start = url.indexOf("?")
  if (start < 0) return []
  const read = method === "HEAD" ? "GET" : method
  // The router normalizes paths in the same way.
  const path = url
    .slice(0, start)
    .replace(/\/+/g, "/")
    .replace(/(.)\/$/, "$1")
  const accepted = find(path).find((route) => route.method === read)?.query
  if (accepted === undefined) return []
  const parameters = [...new URLSearchParams(url.slice(start))]
  return parameters.filter(([key, value]) => !accepted.includes(key) || value.includes("\u0000")).map(([key]) => key)
}

/**
 * Headers that have one value. Node keeps the first of some, and joins others; a proxy may decide by the last one, so that
 * it and Max would read two different requests.
 */
const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "expect",
  "host",
  "last-event-id",
  "mcp-protocol-version",
  "origin",
  "sec-fetch-site",
  "traceparent",
  "transfer-encoding",
  "x-requested-with",
  "x-twilio-signature"
])

/** The first header that has one value and was sent several times. */
const repeatedHeader = (request: Request): string | undefined => {
  const { rawHeaders } = NodeHttpServerRequest.toIncomingMessage(request)
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    if (seen.has(name) && SINGLE_HEADERS.has(name)) return name
    seen.add(name)
  }
  return undefined
}

const takenBy = (request: Request, find: ReturnType<typeof makeFinder>): keyof typeof BODIES =>
  find(pathOf(request)).find((route) => route.takes !== undefined)?.takes ?? "json"

/** The problem of a request that fails the checks; the application never sees it. */
const rejection = (
  request: Request,
  settings: HttpSettings["Service"],
  find: ReturnType<typeof makeFinder>
): Response | undefined => {
  const { headers } = request
  const repeated = repeatedHeader(request)
  if (repeated !== undefined) return problem("InvalidInput", `Send the header ${repeated} once.`, CLOSING)
  if (!settings.isHost(headers["host"]) && !OPEN_PATHS.includes(pathOf(request))) {
    return problem("Misdirected", "Set MAX_PUBLIC_URL or MAX_ALLOWED_HOSTS to the host name that clients use for Max.")
  }
  const origin = headers["origin"]
  if (origin !== undefined && !settings.isOrigin(origin, headers["host"])) {
    return problem("OriginNotAllowed", "Add the origin to MAX_ALLOWED_ORIGINS to accept requests from its pages.")
  }
  const invalid = invalidKeys(request, find)
  if (invalid.length > 0) return problem("InvalidInput", describePaths(invalid))
  const length = headers["content-length"]
  const { maximum, tooLarge, type, unsupported } = BODIES[takenBy(request, find)]
  if (length !== undefined && Number(length) > maximum) return tooLarge
  const hasBody = (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined
  if (!hasBody) return undefined
  const isAccepted = type.test(headers["content-type"] ?? "")
  return isAccepted && (headers["content-encoding"] ?? "identity") === "identity" ? undefined : unsupported
}

/** The response of an expected failure; undefined for a defect. */
const expected = (error: unknown, request: Request, find: ReturnType<typeof makeFinder>): Response | undefined => {
  if (HttpApiError.HttpApiSchemaError.is(error)) {
    return error.kind === "Body" || error.kind === "ResponseHeaders"
      ? undefined
      : problem("InvalidInput", describeIssue(error.cause.issue))
  }
  if (!HttpServerError.isHttpServerError(error)) return undefined
  switch (error.reason._tag) {
    case "RouteNotFound": {
      const methods = find(pathOf(request)).map(({ method }) => method)
      // A path that is declared, with a parameter longer than the router takes, is none either.
      return methods.length === 0 || methods.includes(request.method)
        ? problem("NotFound", "GET /docs lists the available paths.")
        : methodNotAllowed(methods)
    }
    case "RequestParseError":
      return error.reason.reason === "BodyTooLarge"
        ? BODIES[takenBy(request, find)].tooLarge
        : problem("InvalidInput", "The body doesn't match its Content-Length or encoding.")
    default:
      return undefined
  }
}

/** Answers with a reference to the request's trace, which is always sampled; without tracing, to the log line. */
const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<Response> =>
  Effect.flatMap(Effect.option(Effect.currentSpan), (span) => {
    const reference = Option.isSome(span) ? shortReference(span.value.traceId) : randomBytes(4).toString("hex")
    const place = placeOf(Cause.squash(cause))
    return Effect.as(
      limited(`A defect ${place}`, {}, Effect.logError(`A request failed (reference ${reference}): ${place}`)),
      problem("Internal", `Tell an administrator the reference ${reference}.`, { reference })
    )
  })

/** The response of an interrupted request: its client disconnected, or the server is shutting down. */
const interrupted = problemOf(Unavailable.error)

/** Logs a response that says that the server can't answer; `unexpected` logs a 500. */
const reportUnavailable = (status: number, method: string, route: string) =>
  Effect.flatMap(Telemetry.recordedCause, (cause) =>
    cause === FAILED_TURN ? Effect.void : reportFailure("A request failed", { method, route, status })
  )

/** Adds the reference of the log line to a response that says that the database can't answer; that of a turn has its own. */
const withReference = (sent: Response): Effect.Effect<Response> => {
  const { body } = sent
  if (sent.status !== PROBLEMS.Unavailable.status || body._tag !== "Uint8Array") return Effect.succeed(sent)
  return Effect.map(Effect.option(Effect.currentSpan), (span) => {
    const document: unknown = JSON.parse(new TextDecoder().decode(body.body))
    if (
      Option.isNone(span) ||
      !isJsonObject(document) ||
      document["type"] !== PROBLEMS.Unavailable.type ||
      "reference" in document
    )
      return sent
    const referring = { ...document, reference: shortReference(span.value.traceId) }
    return HttpServerResponse.setBody(sent, HttpBody.text(JSON.stringify(referring), body.contentType))
  })
}

/** Before a refusal for too many calls is sent, so that a client that repeats them at once costs little. */
const REFUSED_DELAY = "1 second"

/** In place of the path of a request without a route, which its client chose. */
const UNMATCHED = "unmatched"

/** Whether the request comes from a page of another, configured origin. */
const isCrossOrigin = ({ headers: { host, origin } }: Request, settings: HttpSettings["Service"]): boolean =>
  origin !== undefined && settings.isHost(host) && settings.isCrossOrigin(origin, host)

/** Runs only for origins that `isCrossOrigin` accepts. Their pages send a bearer token; credentials (cookies) stay off. */
const cors = HttpMiddleware.cors({
  allowedOrigins: () => true,
  allowedMethods: ["GET", "POST", "DELETE"],
  allowedHeaders: ["authorization", "content-type", "last-event-id"],
  exposedHeaders: ["retry-after"],
  maxAge: 600
})

/** Wraps an application in the checks for every request; `routes` are all that it serves. */
export const edge = (settings: HttpSettings["Service"], routes: ReadonlyArray<Route>, accessLog: boolean) => {
  const find = makeFinder(routes)

  return <R>(
    application: Effect.Effect<Response, unknown, R>
  ): Effect.Effect<Response, never, R | HttpServerRequest.HttpServerRequest> => {
    const answer = (request: Request) =>
      Effect.catchCause(application, (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(interrupted)
        const failure = expected(Cause.squash(cause), request, find)
        return failure === undefined ? unexpected(cause) : Effect.succeed(failure)
      })
    const checkedAndRecorded: Effect.Effect<Response, never, R | HttpServerRequest.HttpServerRequest> =
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const rejected = rejection(request, settings, find)
        const checked = rejected === undefined ? answer(request) : Effect.succeed(rejected)
        const isRecording = Telemetry.isRecording(fiber)
        const route = isRecording || accessLog ? find(pathOf(request))[0]?.path : undefined
        const sending = isCrossOrigin(request, settings) ? cors(checked) : checked
        const response = accessLog ? withAccessLog(sending, request.method, route ?? UNMATCHED) : sending
        if (!isRecording) return response
        return response.pipe(
          Effect.flatMap((sent) =>
            sent.status > 500 && sent !== interrupted ? withReference(sent) : Effect.succeed(sent)
          ),
          Effect.tap((sent) => {
            if (sent === interrupted) return Effect.void
            const annotated = Effect.annotateCurrentSpan({
              "http.response.status_code": sent.status,
              ...("contentLength" in sent.body && sent.body.contentLength !== undefined
                ? { "max.bytes": sent.body.contentLength }
                : {})
            })
            return sent.status <= 500
              ? annotated
              : Effect.andThen(annotated, reportUnavailable(sent.status, request.method, route ?? UNMATCHED))
          }),
          Effect.withSpan(
            route === undefined ? request.method : `${request.method} ${route}`,
            {
              kind: "server",
              // Each request is a separate trace, not a child of the `max serve` command.
              root: true,
              attributes: {
                "max.channel": "http",
                "http.request.method": request.method,
                ...(route === undefined ? {} : { "http.route": route })
              }
            },
            // Capturing a stack costs twice as much as the span, and would always name this line.
            { captureStackTrace: false }
          )
        )
      })
    return Effect.flatMap(checkedAndRecorded, (sent) =>
      sent.status === PROBLEMS.TooManyCalls.status
        ? Effect.delay(Effect.succeed(sent), REFUSED_DELAY)
        : Effect.succeed(sent)
    )
  }
}
