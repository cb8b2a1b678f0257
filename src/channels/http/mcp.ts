/**
 * MCP over HTTP at /mcp. Every message is authenticated, and each tool call counts against the rate limits. Credentials are
 * never forwarded. A client without a credential gets the organization's identity providers as metadata (RFC 9728).
 */
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { McpServer } from "effect/ai"
import { Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { Env } from "../../env.ts"
import { Admission } from "../../services/access/Admission.ts"
import { IdentityProviders } from "../../services/access/IdentityProviders.ts"
import { OrganizationState } from "../../services/catalog/OrganizationState.ts"
import { callTool, type ToolOutcome } from "../../tools/call.ts"
import { identity, NEWEST } from "../mcp/server.ts"
import { makeStateless, NOT_JSON, type Reply } from "../mcp/stateless.ts"
import { reporting, tools } from "../mcp/tools.ts"
import { authentication } from "./authenticate.ts"
import type { Route } from "./edge.ts"
import { methodNotAllowed, orProblem, problem } from "./problems.ts"

type Response = HttpServerResponse.HttpServerResponse

const PATH = "/mcp"
const METADATA = "/.well-known/oauth-protected-resource"
const METADATA_OF_PATH = `${METADATA}${PATH}` as const

export const MCP_ROUTES: ReadonlyArray<Route> = [
  { method: "POST", path: PATH },
  { method: "GET", path: METADATA },
  { method: "GET", path: METADATA_OF_PATH }
]

const parseJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** The principal of the current message. Tools are registered without one, so it can't be a requirement in the type. */
const currentPrincipal = Effect.withFiber((fiber) =>
  Option.match(Context.getOption(fiber.context, CurrentPrincipal), {
    onNone: () => Effect.die(new Error("A tool was called without a principal")),
    onSome: Effect.succeed
  })
)

const refused = ({ message }: { readonly message: string }, unavailable: boolean): ToolOutcome => ({
  text: message,
  failed: true,
  unavailable
})

/** Counts and runs a tool call; exceeding the rate limit is a tool result that the model can read. */
const countedCall = reporting(
  Effect.fnUntraced(function* (name: string, input: unknown) {
    const principal = yield* currentPrincipal
    const admission = yield* Admission
    return yield* admission.count(principal).pipe(
      Effect.andThen(Effect.provideService(callTool(name, input), CurrentPrincipal, principal)),
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

/** The server's base URL as clients see it. */
const baseOf = (publicUrl: string | undefined, request: HttpServerRequest.HttpServerRequest): string =>
  publicUrl ?? `http://${request.headers["host"] ?? "localhost"}`

/** Authenticates each message, adds the metadata to a 401, and answers all protocol versions but the newest. */
const Guarded = HttpRouter.middleware(
  Effect.gen(function* () {
    const { publicUrl } = yield* Env
    const authenticated = yield* authentication
    const providers = yield* issuers
    const services = yield* Effect.context<Effect.Services<ReturnType<typeof countedCall>>>()
    const stateless = makeStateless(countedCall, false)

    const answer = <E, R>(received: HttpServerRequest.HttpServerRequest, newest: Effect.Effect<Response, E, R>) =>
      Effect.gen(function* () {
        // The edge has checked the Origin; without it McpServer skips its own, stricter check.
        const request = received.modify({ headers: Headers.remove(received.headers, "origin") })
        const message = parseJson(yield* request.text)
        if (Result.isFailure(message)) return sent(NOT_JSON)
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
                `Bearer realm="max", resource_metadata="${baseOf(publicUrl, request)}${METADATA_OF_PATH}"`
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

const Endpoint = McpServer.layerHttpRequestScoped({
  ...identity,
  path: PATH,
  protocols: [NEWEST],
  registrations: tools(countedCall, { structured: false })
}).pipe(Layer.provide(Guarded.layer))

const metadata = Effect.gen(function* () {
  const { publicUrl } = yield* Env
  const providers = yield* issuers
  return (request: HttpServerRequest.HttpServerRequest) =>
    Effect.map(providers, (list) =>
      list.length === 0
        ? problem("NotFound", "No identity provider is configured; max idp add adds one.")
        : HttpServerResponse.jsonUnsafe({
            resource: `${baseOf(publicUrl, request)}${PATH}`,
            resource_name: "Max",
            authorization_servers: list,
            bearer_methods_supported: ["header"]
          })
    ).pipe(orProblem)
})

const Metadata = Layer.unwrap(
  Effect.map(metadata, (answer) =>
    Layer.mergeAll(HttpRouter.add("GET", METADATA, answer), HttpRouter.add("GET", METADATA_OF_PATH, answer))
  )
)

export const Mcp = Layer.mergeAll(Endpoint, Metadata)
