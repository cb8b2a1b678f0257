/**
 * What holds for every request, whatever its path: which hosts and origins are answered, what a body may be,
 * and that every failure is a problem. Nothing of a request but its method and route is recorded.
 */
import { Cause, Context, Effect, Option } from "effect"
import { HttpServerError, HttpServerRequest, type HttpServerResponse } from "effect/http"
import * as HttpApiError from "effect/http-api/HttpApiError"
import { randomBytes } from "node:crypto"
import { Unavailable } from "../../domain/errors.ts"
import * as Telemetry from "../../observability/Telemetry.ts"
import { shortReference } from "../../domain/reference.ts"
import { describePaths, describeIssue } from "../../tools/describeIssue.ts"
import { preflight, readable } from "./cors.ts"
import { problem, problemOf } from "./problems.ts"
import { MAX_BODY_BYTES, type HttpSettings } from "./settings.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

export interface Route {
  readonly method: string
  /** With `:name` for what varies. */
  readonly path: string
  /** What a body has to be; JSON where nothing is said. */
  readonly takes?: "form"
  /** The keys that an address may have behind its ?; where nothing is said, whatever others add to it is left alone. */
  readonly query?: ReadonlyArray<string>
}

/** Paths that say nothing of anybody, or ask for a secret of their own, for whatever watches the server under an address of its own. */
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

/** The keys of an address that its route doesn't have, or whose value is no text that anything could have. */
const wrongKeys = ({ method, url }: Request, find: ReturnType<typeof makeFinder>): ReadonlyArray<string> => {
  const from = url.indexOf("?")
  if (from < 0) return []
  const read = method === "HEAD" ? "GET" : method
  // As the router reads a path, which takes several spellings for one.
  const path = url
    .slice(0, from)
    .replace(/\/+/g, "/")
    .replace(/(.)\/$/, "$1")
  const taken = find(path).find((route) => route.method === read)?.query
  if (taken === undefined) return []
  const said = [...new URLSearchParams(url.slice(from))]
  return said.filter(([key, value]) => !taken.includes(key) || value.includes("\u0000")).map(([key]) => key)
}

/** What is refused before anything of the application sees it. */
const refusal = (
  request: Request,
  settings: HttpSettings["Service"],
  find: ReturnType<typeof makeFinder>
): Response | undefined => {
  const { headers } = request
  if (!settings.isHost(headers["host"]) && !OPEN_PATHS.includes(pathOf(request))) {
    return problem("Misdirected", "Set MAX_PUBLIC_URL or MAX_ALLOWED_HOSTS to the name under which people reach Max.")
  }
  const origin = headers["origin"]
  if (origin !== undefined && !settings.isOrigin(origin, headers["host"])) {
    return problem("OriginNotAllowed", "Set MAX_ALLOWED_ORIGINS to the origins whose pages may send requests.")
  }
  const wrong = wrongKeys(request, find)
  if (wrong.length > 0) return problem("InvalidInput", describePaths(wrong))
  const length = headers["content-length"]
  if (length !== undefined && Number(length) > MAX_BODY_BYTES) return tooLarge
  const hasBody = (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined
  if (!hasBody) return undefined
  const { refused, type } = find(pathOf(request)).some(({ takes }) => takes === "form") ? FORM : JSON_BODY
  const isTaken = type.test(headers["content-type"] ?? "")
  return isTaken && (headers["content-encoding"] ?? "identity") === "identity" ? undefined : refused
}

const tooLarge = problem("ContentTooLarge", `A body has at most ${MAX_BODY_BYTES / 1024} KiB.`, {
  headers: { connection: "close" }
})
const kindOfBody = (type: string) => ({
  type: new RegExp(`^${type}\\s*(;|$)`, "i"),
  refused: problem("UnsupportedMediaType", `Send Content-Type: ${type}, without a Content-Encoding.`)
})
const JSON_BODY = kindOfBody("application/json")
const FORM = kindOfBody("application/x-www-form-urlencoded")

/** What a failure is answered with; undefined for what has no answer but "something went wrong". */
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
      return methods.length === 0
        ? problem("NotFound", "GET /docs shows what there is.")
        : problem("MethodNotAllowed", `Use ${methods.join(" or ")}.`, { headers: { allow: methods.join(", ") } })
    }
    case "RequestParseError":
      return error.reason.reason === "BodyTooLarge"
        ? tooLarge
        : problem("InvalidInput", "The body didn't arrive as it was announced.")
    default:
      return undefined
  }
}

/** The name of a failure and where it was, without what it says: a message may quote what must not be in a log. */
const placeOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  if (!(error instanceof Error)) return typeof error
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  return [error.name, ...frames.slice(0, 12)].join("\n")
}

/** The reference is that of the trace, which is always kept; where nothing is traced it is in the log. */
const unexpected = (cause: Cause.Cause<unknown>): Effect.Effect<Response> =>
  Effect.flatMap(Effect.option(Effect.currentSpan), (span) => {
    const reference = Option.isSome(span) ? shortReference(span.value.traceId) : randomBytes(4).toString("hex")
    return Effect.as(
      Effect.logError(`A request failed (reference ${reference}): ${placeOf(cause)}`),
      problem("Internal", `Tell an administrator the reference ${reference}.`, { reference })
    )
  })

/** To whoever went away, or came while the server ended. */
const brokenOff = problemOf(Unavailable.error)

/** The origin of a request from a page of another origin that may send some. */
const originElsewhere = ({ headers }: Request, settings: HttpSettings["Service"]): string | undefined => {
  const origin = headers["origin"]
  const isOurs = settings.isHost(headers["host"])
  return isOurs && origin !== undefined && settings.isElsewhere(origin, headers["host"]) ? origin : undefined
}

const forElsewhere = <R>(request: Request, own: Effect.Effect<Response, never, R>, origin: string) =>
  request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined
    ? Effect.succeed(preflight(origin))
    : Effect.map(own, (response) => readable(response, origin))

/** Wraps an application in what holds for every request; `routes` are all that it has. */
export const edge = (settings: HttpSettings["Service"], routes: ReadonlyArray<Route>) => {
  const find = makeFinder(routes)

  return <R>(
    application: Effect.Effect<Response, unknown, R>
  ): Effect.Effect<Response, never, R | HttpServerRequest.HttpServerRequest> => {
    const answered = (request: Request) =>
      Effect.catchCause(application, (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(brokenOff)
        const known = expected(Cause.squash(cause), request, find)
        return known === undefined ? unexpected(cause) : Effect.succeed(known)
      })
    return Effect.withFiber((fiber) => {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const refused = refusal(request, settings, find)
      const own = refused === undefined ? answered(request) : Effect.succeed(refused)
      const elsewhere = originElsewhere(request, settings)
      const response = elsewhere === undefined ? own : forElsewhere(request, own, elsewhere)
      if (!Telemetry.isRecording(fiber)) return response
      const route = find(pathOf(request))[0]?.path
      return response.pipe(
        Effect.tap((sent) =>
          sent === brokenOff
            ? Effect.void
            : Effect.annotateCurrentSpan({
                "http.response.status_code": sent.status,
                ...("contentLength" in sent.body && sent.body.contentLength !== undefined
                  ? { "max.bytes": sent.body.contentLength }
                  : {})
              })
        ),
        Effect.withSpan(
          route === undefined ? request.method : `${request.method} ${route}`,
          {
            kind: "server",
            // Not a part of the command that the server runs in.
            root: true,
            attributes: {
              "max.channel": "http",
              "http.request.method": request.method,
              ...(route === undefined ? {} : { "http.route": route })
            }
          },
          // Where a span begins costs twice what the span does, and is here each time.
          { captureStackTrace: false }
        )
      )
    })
  }
}
