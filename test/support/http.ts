/** A real server on a free port over a database of the test's own, and requests in which every byte can be chosen. */
import { Context, Effect, Layer, ManagedRuntime } from "effect"
import { HttpServer } from "effect/http"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { Redacted } from "effect"
import { Http } from "../../src/channels/http/server.ts"
import { Env } from "../../src/env.ts"
import { Agent, ConfiguredDatabase, Observability, Services } from "../../src/layers.ts"
import { ToolHandlers } from "../../src/tools/handlers.ts"

type Overrides = Parameters<typeof Env.layerWith>[0]

/** Starts a server in this process; `run` runs effects over its services. */
export const startServer = async (
  databaseUrl: string,
  overrides: Overrides = {},
  observed: Layer.Layer<never> = Layer.empty,
  /** Whether it records traces as `max serve` does. */
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

export type TestServer = Awaited<ReturnType<typeof startServer>>

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
  readonly json: any
}

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Sends the body without saying how long it is. */
  readonly chunked?: boolean
}

/** One request on a connection of its own. */
export const ask = (base: string, path: string, asked: Asked = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { body, chunked = false, headers = {}, method = body === undefined ? "GET" : "POST" } = asked
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
    // A server that has answered may close before it has read everything: that is its right.
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

/** Bytes on a socket, and everything that came back until it was closed. */
export const raw = (base: string, bytes: string | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base)
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let text = ""
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
    socket.on("error", (error: NodeJS.ErrnoException) => (error.code === "ECONNRESET" ? resolve(text) : reject(error)))
    socket.on("close", () => resolve(text))
  })
