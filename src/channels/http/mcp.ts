/**
 * MCP over HTTP at /mcp, and with the fourth tool at /mcp/changes. Every message is authenticated, and each tool call counts against the rate limits. Credentials are
 * never forwarded. A client without a credential gets the organization's identity providers as metadata (RFC 9728).
 */
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { McpServer } from "effect/ai"
import { Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { NotInScope } from "../../domain/errors.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { Env } from "../../env.ts"
import { Admission } from "../../services/access/Admission.ts"
import { IdentityProviders } from "../../services/access/IdentityProviders.ts"
import { Changes } from "../../services/changes/Changes.ts"
import { OrganizationState } from "../../services/catalog/OrganizationState.ts"
import { callTool, type ToolOutcome } from "../../tools/call.ts"
import { requestChange } from "../mcp/changing.ts"
import { identityFor, NEWEST } from "../mcp/server.ts"
import { makeStateless, NOT_JSON, type Reply } from "../mcp/stateless.ts"
import { type Asking, reporting, tools } from "../mcp/tools.ts"
import { authentication, CurrentCaller } from "./authenticate.ts"
import type { Route } from "./edge.ts"
import { methodNotAllowed, orProblem, problem, problemOf } from "./problems.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The three tools alone, and with the fourth, which drafts changes. */
const PATHS = ["/mcp", "/mcp/changes"] as const
const METADATA = "/.well-known/oauth-protected-resource"

export const MCP_ROUTES: ReadonlyArray<Route> = [
  ...PATHS.flatMap((path) => [
    { method: "POST", path },
    { method: "GET", path: `${METADATA}${path}` }
  ]),
  { method: "GET", path: METADATA }
]

type Path = (typeof PATHS)[number]

const listingAt = (path: Path) => ({ structured: false, changes: path === "/mcp/changes" })

const NO_CHANGES = new NotInScope({
  message: "This needs a token with the scope changes; /mcp has the tools that only read."
})

const parseJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** A service of the current message, such as its caller. Tools are registered without one, so it can't be a requirement in the type. */
const ofMessage = <I, S>(key: Context.Key<I, S>) =>
  Effect.withFiber((fiber) =>
    Option.match(Context.getOption(fiber.context, key), {
      onNone: () => Effect.die(new Error("A tool was called outside a message")),
      onSome: Effect.succeed
    })
  )

/** The server's base URL as clients see it. */
const baseOf = (publicUrl: string | undefined, request: HttpServerRequest.HttpServerRequest): string =>
  publicUrl ?? `http://${request.headers["host"] ?? "localhost"}`

const refused = ({ message }: { readonly message: string }, unavailable: boolean): ToolOutcome => ({
  text: message,
  failed: true,
  unavailable
})

/** Counts and runs a tool call; exceeding the rate limit is a tool result that the model can read. */
const countedCall = reporting(
  Effect.fnUntraced(function* (name: string, input: unknown, asking?: Asking) {
    const { credentialId, principal, scopes } = yield* ofMessage(CurrentCaller)
    const request = yield* ofMessage(HttpServerRequest.HttpServerRequest)
    const admission = yield* Admission
    const changes = yield* Changes
    const { publicUrl } = yield* Env
    const change = requestChange({
      changes,
      via: { channel: "mcp", credentialId },
      confirms: scopes.includes("confirm"),
      pageOf: (changeId) => `${baseOf(publicUrl, request)}/inbox/${changeId}`
    })
    const called = scopes.includes("changes")
      ? callTool(name, input, (given) => change(given, asking?.answered))
      : callTool(name, input)
    return yield* admission.count(principal).pipe(
      Effect.andThen(Effect.provideService(called, CurrentPrincipal, principal)),
      Effect.catchTags({
        TooManyCalls: (error) => Effect.succeed(refused(error, false)),
        Unavailable: (error) => Effect.succeed(refused(error, true))
      })
    )
  })
)

const isNewest = (request: HttpServerRequest.HttpServerRequest, message: unknown): boolean =>
  request.headers["mcp-protocol-version"] === NEWEST.protocolVersion ||
  JSON.stringify(message ?? null).includes('"io.modelcontextprotocol/protocolVersion"')

const METHODS = ["initialize", "notifications/initialized", "ping", "server/discover", "tools/list", "tools/call"]

/** The method for telemetry; methods outside the list are recorded as "other", because clients choose them freely. */
const methodOf = (message: unknown): string => {
  const { method } = (typeof message === "object" && message !== null ? message : {}) as { readonly method?: unknown }
  return METHODS.find((one) => one === method) ?? "other"
}

const sent = ({ body, status }: Reply): Response =>
  body === undefined
    ? HttpServerResponse.empty({ status })
    : HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json" })

/** The issuers of the organization's identity providers; empty if the server has several organizations. */
const issuers = Effect.gen(function* () {
  const { organization } = yield* Env
  const states = yield* OrganizationState
  const providers = yield* IdentityProviders
  const list = states.organization(organization).pipe(
    Effect.flatMap(providers.list),
    Effect.map((configured) => [...new Set(configured.map(({ issuer }) => issuer))]),
    Effect.catchTag("OperatorError", () => Effect.succeed([]))
  )
  return yield* Effect.cachedWithTTL(list, "1 second")
})

/** Authenticates each message, adds the metadata to a 401, and answers all protocol versions but the newest. */
const guarded = (path: Path) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const listing = listingAt(path)
      const { publicUrl } = yield* Env
      const authenticated = yield* authentication
      const providers = yield* issuers
      const services = yield* Effect.context<Effect.Services<ReturnType<typeof countedCall>>>()
      const stateless = makeStateless(countedCall, listing)

      const answer = <E, R>(received: HttpServerRequest.HttpServerRequest, newest: Effect.Effect<Response, E, R>) =>
        Effect.gen(function* () {
          // The edge has checked the Origin; without it McpServer skips its own, stricter check.
          const request = received.modify({ headers: Headers.remove(received.headers, "origin") })
          const message = parseJson(yield* request.text)
          if (Result.isFailure(message)) return sent(NOT_JSON)
          const { scopes } = yield* CurrentCaller
          if (listing.changes && !scopes.includes("changes")) return problemOf(NO_CHANGES)
          yield* Effect.annotateCurrentSpan("mcp.method.name", methodOf(message.success))
          if (!isNewest(request, message.success)) {
            const reply = stateless(message.success, request.headers["mcp-protocol-version"])
            return sent(yield* Effect.provideContext(reply, services))
          }
          return yield* Effect.provideService(newest, HttpServerRequest.HttpServerRequest, request)
        })

      const withMetadata = (request: HttpServerRequest.HttpServerRequest, response: Response) =>
        Effect.map(
          Effect.orElseSucceed(providers, () => []),
          (list) =>
            list.length === 0
              ? response
              : HttpServerResponse.setHeader(
                  response,
                  "www-authenticate",
                  `Bearer realm="max", resource_metadata="${baseOf(publicUrl, request)}${METADATA}${path}"`
                )
        )

      return (newest) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          request.method === "POST"
            ? authenticated(answer(request, newest), { scope: "tools", calls: 0 }).pipe(
                Effect.flatMap((response) =>
                  response.status === 401 ? withMetadata(request, response) : Effect.succeed(response)
                )
              )
            : Effect.succeed(methodNotAllowed(["POST"]))
        )
    })
  )

/** Fresh: with one memoized server both paths would list the same tools. */
const endpoint = (path: Path) =>
  Layer.fresh(
    McpServer.layerHttpRequestScoped({
      ...identityFor(listingAt(path)),
      path,
      protocols: [NEWEST],
      registrations: tools(countedCall, listingAt(path))
    })
  ).pipe(Layer.provide(guarded(path).layer))

const metadata = Effect.gen(function* () {
  const { publicUrl } = yield* Env
  const providers = yield* issuers
  return (path: Path) => (request: HttpServerRequest.HttpServerRequest) =>
    Effect.map(providers, (list) =>
      list.length === 0
        ? problem("NotFound", "No identity provider is configured; max idp add adds one.")
        : HttpServerResponse.jsonUnsafe({
            resource: `${baseOf(publicUrl, request)}${path}`,
            resource_name: "Max",
            authorization_servers: list,
            bearer_methods_supported: ["header"]
          })
    ).pipe(orProblem)
})

const Metadata = Layer.unwrap(
  Effect.map(metadata, (answer) =>
    Layer.mergeAll(
      HttpRouter.add("GET", METADATA, answer("/mcp")),
      HttpRouter.add("GET", `${METADATA}/mcp`, answer("/mcp")),
      HttpRouter.add("GET", `${METADATA}/mcp/changes`, answer("/mcp/changes"))
    )
  )
)

export const Mcp = Layer.mergeAll(endpoint("/mcp"), endpoint("/mcp/changes"), Metadata)
