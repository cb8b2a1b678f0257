/**
 * The server: node:http with limits on everything that a client decides, the routes behind the edge, and an end in order:
 * what has begun is finished within eight seconds, what is new is refused.
 */
// Inputs are decoded several times faster by compiled code.
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Context, Effect, Layer, Option } from "effect"
import { HttpIncomingMessage, HttpMiddleware, HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { createServer, type Server, STATUS_CODES } from "node:http"
import { ConfigurationError } from "../../domain/errors.ts"
import { Env } from "../../env.ts"
import { Admission } from "../../services/access/Admission.ts"
import { CallLimits } from "../../services/access/CallLimits.ts"
import { throttleByAddress, FailedAuthThrottle } from "../../services/access/FailedAuthThrottle.ts"
import { TraceStore } from "../../services/traces/TraceStore.ts"
import { edge } from "./edge.ts"
import { answersOf } from "./heads.ts"
import { PROBLEMS } from "../../wire/problems.ts"
import { ROUTES, Routes } from "./routes.ts"
import { HttpSettings, MAX_BODY_BYTES } from "./settings.ts"
import { toolsBefore } from "./tools.ts"
import { endUnread } from "./unread.ts"

const LIMITS = {
  maxHeaderSize: 16 * 1024,
  /** Milliseconds until the headers, and the whole request, have to be here. */
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1000,
  /** Longer than proxies keep theirs: otherwise a request meets a connection that is being closed. */
  keepAliveTimeout: 65_000
} as const
const MAX_CONNECTIONS = 4096
/** Milliseconds that what was written may wait for whoever asked to read it. */
const UNREAD = 20_000
const DRAIN = "8 seconds"

/** What node:http itself refuses: it never becomes a request, and is a problem all the same. */
const refuseRaw = (server: Server): Server =>
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return socket.destroy()
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
  })

const makeServer = (secure: boolean): Server => {
  const server: Server = createServer({ ...LIMITS, ServerResponse: answersOf(secure, () => !server.listening) })
  server.maxConnections = MAX_CONNECTIONS
  server.maxHeadersCount = 100
  return refuseRaw(server)
}

/** Serves the routes from the moment it is built until its scope ends. */
const Serving = Layer.effectDiscard(
  Effect.gen(function* () {
    const settings = yield* HttpSettings
    const server = yield* HttpServer.HttpServer
    const before = yield* toolsBefore
    yield* server.serve(edge(settings, ROUTES)(before(yield* HttpRouter.toHttpEffect(Routes))))
  })
)

/** Of a request nothing is recorded but what the edge records; the one tracer here would write addresses and queries. */
const References = Layer.succeedContext(
  Context.make(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_BODY_BYTES)).pipe(
    Context.add(HttpMiddleware.TracerDisabledWhen, () => true)
  )
)

const cantListen = (host: string, port: number) =>
  new ConfigurationError({
    message: `MAX_HTTP_HOST, MAX_HTTP_PORT: ${host}:${port} can't be listened on; something else may be.`
  })

const Listening = Layer.unwrap(
  Effect.gen(function* () {
    const { httpHost, httpPort } = yield* Env
    const { secure } = yield* HttpSettings
    const server = endUnread(makeServer(secure), UNREAD)
    const options = { host: httpHost, port: httpPort, gracefulShutdownTimeout: DRAIN } as const
    // After the time to finish is over nobody is waited for.
    const cutting = Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))
    return cutting.pipe(
      Layer.provideMerge(NodeHttpServer.layer(() => server, options)),
      Layer.catchTag("ServeError", () => Layer.effectContext(Effect.fail(cantListen(httpHost, httpPort))))
    )
  })
)

const Allowed = Layer.unwrap(
  Effect.map(Env, ({ callsPerOrganization, callsPerPerson }) =>
    CallLimits.layer({ perOrganization: callsPerOrganization, perPerson: callsPerPerson })
  )
)

/** The address that a request comes from: behind a proxy the one that the nearest proxy saw. */
const addressOf = (publicUrl: string | undefined) =>
  Effect.withFiber((fiber) => {
    const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
    const seen = publicUrl === undefined ? undefined : request?.headers["x-forwarded-for"]?.split(",").at(-1)?.trim()
    return Effect.succeed(seen ?? Option.getOrElse(request?.remoteAddress ?? Option.none(), () => ""))
  })

const Limited = Layer.effect(
  FailedAuthThrottle,
  Effect.map(Env, ({ publicUrl }) => throttleByAddress(addressOf(publicUrl)))
)

/** The server over services that are given. */
export const Http = Serving.pipe(
  Layer.provide(Admission.layer),
  Layer.provide(Limited),
  Layer.provide(Allowed),
  Layer.provide(TraceStore.layer),
  Layer.provideMerge(Listening),
  Layer.provide(HttpSettings.layer),
  Layer.provide(References)
)
