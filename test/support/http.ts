/** A real server on a free port over the test's own database, and requests with full control over their bytes. */
import { Context, Effect, Layer, ManagedRuntime } from "effect"
import { HttpServer } from "effect/http"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { Redacted } from "effect"
import { onTestFinished } from "vitest"
import { Http } from "../../src/channels/http/server.ts"
import { Env } from "../../src/env.ts"
import { Agent, ConfiguredDatabase, Observability, Services } from "../../src/layers.ts"
import { ToolHandlers } from "../../src/tools/handlers.ts"
import { serveMax } from "./cli.ts"

type Overrides = Parameters<typeof Env.layerWith>[0]

/** Starts a server in this process; `run` runs effects with its services. */
export const startServer = async (
  databaseUrl: string,
  overrides: Overrides = {},
  observed: Layer.Layer<never> = Layer.empty,
  /** Whether it records traces like `max serve`. */
  traced = false
) => {
  const runtime = ManagedRuntime.make(
    Http.pipe(
      Layer.provideMerge(Agent),
      Layer.provideMerge(ToolHandlers),
      Layer.provideMerge(Services),
      Layer.provideMerge(traced ? Observability : Layer.empty),
      Layer.provideMerge(ConfiguredDatabase),
      Layer.provideMerge(
        Env.layerWith({
          databaseUrl: Redacted.make(databaseUrl),
          lookupTimeout: 10_000,
          searchTimeout: 30_000,
          httpPort: 0,
          callsPerPerson: 100_000,
          callsPerOrganization: 1_000_000,
          ...overrides
        })
      ),
      Layer.provideMerge(observed)
    )
  )
  const context = await runtime.context()
  const url = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  return {
    url,
    run: <A, E>(effect: Effect.Effect<A, E, any>) => runtime.runPromise(effect),
    stop: () => runtime.dispose()
  }
}

/** Starts a server that stops when the current test ends, even if an assertion fails. */
export const startServerForTest: typeof startServer = async (...options) => {
  const server = await startServer(...options)
  onTestFinished(() => server.stop())
  return server
}

/** Starts `max serve` as a process that is killed when the current test ends, even if an assertion fails. */
export const serveForTest: typeof serveMax = async (...options) => {
  const server = await serveMax(...options)
  onTestFinished(async () => {
    server.end("SIGKILL")
    await server.ended
  })
  return server
}

export type TestServer = Awaited<ReturnType<typeof startServer>>

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
  readonly json: any
}

export interface Request {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Sends the body without a Content-Length. */
  readonly chunked?: boolean
}

/** Sends one request on a separate connection. */
export const ask = (base: string, path: string, options: Request = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { body, chunked = false, headers = {}, method = body === undefined ? "GET" : "POST" } = options
    const sent = httpRequest(new URL(base), {
      method,
      path,
      agent: false,
      headers: {
        ...(body === undefined || chunked ? {} : { "content-length": String(Buffer.byteLength(body)) }),
        ...headers
      }
    })
    sent.on("response", (response) => {
      let text = ""
      response.on("data", (chunk: Buffer) => (text += chunk.toString()))
      response.on("error", reject)
      response.on("end", () => {
        const isJson = /json/.test(String(response.headers["content-type"]))
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
          json: isJson && text !== "" ? JSON.parse(text) : undefined
        })
      })
    })
    sent.on("error", reject)
    // A server may answer and close before it has read the whole body.
    if (body !== undefined) sent.write(body)
    sent.end()
  })

export const JSON_TYPE = { "content-type": "application/json" } as const

/** Calls a tool with a bearer token. */
export const callTool = (
  server: { readonly url: string },
  token: string,
  name: string,
  input: unknown,
  headers: Readonly<Record<string, string>> = {}
) =>
  ask(server.url, `/v1/tools/${name}`, {
    body: JSON.stringify(input),
    headers: { ...JSON_TYPE, authorization: `Bearer ${token}`, ...headers }
  })

/** Sends bytes on a socket, and resolves with everything received until it closes. */
export const raw = (base: string, bytes: string | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base)
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let text = ""
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
    socket.on("error", (error: NodeJS.ErrnoException) => (error.code === "ECONNRESET" ? resolve(text) : reject(error)))
    socket.on("close", () => resolve(text))
  })
