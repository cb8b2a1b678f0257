/**
 * The server: node:http with limits on everything that a client controls, the routes behind the edge, and a graceful
 * shutdown: open requests get eight seconds to finish, new ones are refused.
 */
// Compiled schemas decode inputs several times faster.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpIncomingMessage, HttpMiddleware, HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { ConfigurationError } from "../../domain/errors.ts"
import { Env, readReference } from "../../env.ts"
import { Admission } from "../../services/access/Admission.ts"
import { ProviderSignIn } from "../../services/access/ProviderSignIn.ts"
import { MailedLinks } from "../../services/access/MailedLinks.ts"
import { CallLimits } from "../../services/access/CallLimits.ts"
import { throttleByAddress, FailedAuthThrottle } from "../../services/access/FailedAuthThrottle.ts"
import { TraceStore } from "../../services/traces/TraceStore.ts"
import { edge } from "./edge.ts"
import { responseClass } from "./responseHeaders.ts"
import { PROBLEMS } from "../../wire/problems.ts"
import { ROUTES, Routes } from "./routes.ts"
import { MAX_BODY_BYTES } from "./limits.ts"
import { HttpSettings } from "./settings.ts"
import { exactToolPaths } from "./tools.ts"
import { closeUnread } from "./closeUnread.ts"
import { Mailbox } from "../intake/mailbox.ts"
import { Delivering } from "./delivering.ts"
import { Tidying } from "./tidying.ts"

const LIMITS = {
  maxHeaderSize: 16 * 1024,
  /** Milliseconds until the headers, and the whole request, must have arrived. */
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1000,
  /** Longer than proxies keep idle connections: otherwise a proxy may reuse one that is being closed. */
  keepAliveTimeout: 65_000
} as const
const MAX_CONNECTIONS = 4096
/** Milliseconds that written bytes may wait for the client to read them. */
const UNREAD_TIMEOUT = 20_000
const DRAIN = "8 seconds"

/** Milliseconds for what arrived while the process stood still: node:http looks at the clock before it reads. */
const LATE_READ = 1000

/** Answers with a problem where node:http rejects a request itself: malformed, oversized or too slow. */
const answerClientErrors = (server: Server): Server => {
  const latest = new WeakMap<Duplex, IncomingMessage>()
  return server
    .on("request", (request) => latest.set(request.socket, request))
    .on("clientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code !== "ERR_HTTP_REQUEST_TIMEOUT") return reject(error, socket)
      const before = latest.get(socket)
      const wasWhole = before?.complete === true
      setTimeout(() => {
        const request = latest.get(socket)
        const isWhole = request?.complete === true && (request !== before || !wasWhole)
        if (!isWhole) reject(error, socket)
      }, LATE_READ)
    })
}

const reject = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
  const name =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "HeadersTooLarge"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "RequestTimeout"
        : "InvalidInput"
  const body = JSON.stringify(PROBLEMS[name])
  const { status } = PROBLEMS[name]
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/problem+json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

const makeServer = (secure: boolean): Server => {
  const server: Server = createServer({ ...LIMITS, ServerResponse: responseClass(secure, () => !server.listening) })
  server.maxConnections = MAX_CONNECTIONS
  server.maxHeadersCount = 100
  return answerClientErrors(server)
}

/** Serves the routes until the scope closes. */
const Serving = Layer.effectDiscard(
  Effect.gen(function* () {
    const settings = yield* HttpSettings
    const server = yield* HttpServer.HttpServer
    const exact = yield* exactToolPaths
    const { accessLog } = yield* Env
    yield* server.serve(edge(settings, ROUTES, accessLog === "1")(exact(yield* HttpRouter.toHttpEffect(Routes))))
  })
)

/** The edge records requests; Effect's HTTP tracer stays off, because it would record URLs and client addresses. */
const References = Layer.succeedContext(
  Context.make(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_BODY_BYTES)).pipe(
    Context.add(HttpMiddleware.TracerDisabledWhen, () => true)
  )
)

const cantListen = (host: string, port: number) =>
  new ConfigurationError({
    message: `MAX_HTTP_HOST, MAX_HTTP_PORT: can't listen on ${host}:${port}; another program may be using it.`
  })

const Listening = Layer.unwrap(
  Effect.gen(function* () {
    const { httpHost, httpPort } = yield* Env
    const { secure } = yield* HttpSettings
    const server = closeUnread(makeServer(secure), UNREAD_TIMEOUT)
    const options = { host: httpHost, port: httpPort, gracefulShutdownTimeout: DRAIN } as const
    // Closes the connections that are still open when the grace period ends.
    const closeConnections = Layer.effectDiscard(
      Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
    )
    return closeConnections.pipe(
      Layer.provideMerge(NodeHttpServer.layer(() => server, options)),
      Layer.catchTag("ServeError", () => Layer.effectContext(Effect.fail(cantListen(httpHost, httpPort))))
    )
  })
)

const RateLimits = Layer.unwrap(
  Effect.map(Env, ({ callsPerOrganization, callsPerPerson }) =>
    CallLimits.layer({ perOrganization: callsPerOrganization, perPerson: callsPerPerson })
  )
)

/** The client address of a request; behind a proxy, the last entry of x-forwarded-for, which the nearest proxy added. */
const addressOf = (publicUrl: string | undefined) =>
  Effect.withFiber((fiber) => {
    const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
    const forwarded =
      publicUrl === undefined ? undefined : request?.headers["x-forwarded-for"]?.split(",").at(-1)?.trim()
    return Effect.succeed(forwarded ?? Option.getOrElse(request?.remoteAddress ?? Option.none(), () => ""))
  })

/** The client secrets of identity providers are references, read when a person signs in. */
const SignInAtProviders = ProviderSignIn.layer((reference) =>
  Effect.map(readReference("client secret", reference), ({ secret }) => Redacted.value(secret))
)

const AuthThrottle = Layer.effect(
  FailedAuthThrottle,
  Effect.map(Env, ({ publicUrl }) => throttleByAddress(addressOf(publicUrl)))
)

/** The HTTP server; requires the application's services. */
export const Http = Layer.mergeAll(Serving, Tidying, Delivering, Mailbox).pipe(
  Layer.provide(Admission.layer),
  Layer.provide(MailedLinks.layer),
  Layer.provide(SignInAtProviders),
  Layer.provide(AuthThrottle),
  Layer.provide(RateLimits),
  Layer.provide(TraceStore.layer),
  Layer.provideMerge(Listening),
  Layer.provide(HttpSettings.layer),
  Layer.provide(References)
)
