/**
 * The versions of MCP that start with `initialize`, over HTTP and without sessions, which these versions make optional.
 * Every message is answered on its own: any server process can answer it, no state leaks for clients that never return, and
 * no message can address another client's session.
 */
import { Effect, Result, Schema } from "effect"
import { identityFor, INITIALIZED } from "./server.ts"
import { type Call, callResult, listed, type Listing } from "./tools.ts"

const Message = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int])),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})
type Message = typeof Message.Type

const CallParams = Schema.Struct({
  name: Schema.String,
  arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})

export interface Reply {
  readonly status: number
  /** Undefined for a message without a response. */
  readonly body?: unknown
}

const CODES = { parse: -32700, request: -32600, method: -32601, params: -32602 } as const

const failed = (id: Message["id"] | null, code: keyof typeof CODES, message: string, status = 200): Reply => ({
  status,
  body: { jsonrpc: "2.0", id, error: { code: CODES[code], message } }
})

const decode = Schema.decodeUnknownResult(Message)
const decodeCall = Schema.decodeUnknownResult(CallParams)

const initializeResult = (params: Message["params"], listing: Listing) => {
  const { instructions, ...serverInfo } = identityFor(listing)
  const requested = params?.["protocolVersion"]
  return {
    protocolVersion: typeof requested === "string" && INITIALIZED.includes(requested) ? requested : INITIALIZED[0],
    capabilities: { tools: {} },
    serverInfo,
    instructions
  }
}

/** Answers one message; `version` is the client's protocol version header, which follows `initialize`. */
export const makeStateless = <R>(call: Call<R>, listing: Listing) => {
  const tools = listed(listing)
  const names = new Set(tools.map(({ name }) => name))

  return (body: unknown, version: string | undefined): Effect.Effect<Reply, never, R> => {
    const decoded = decode(body)
    if (Result.isFailure(decoded)) {
      return Effect.succeed(failed(null, "request", "Send one JSON-RPC request or notification.", 400))
    }
    const { id, method, params } = decoded.success
    if (method !== "initialize" && version !== undefined && !INITIALIZED.includes(version)) {
      return Effect.succeed(
        failed(id ?? null, "request", `Unsupported protocol version; ${INITIALIZED.join(" or ")}.`, 400)
      )
    }
    // A notification, or a response to a request that this server never sends.
    if (id === undefined || method === undefined) return Effect.succeed({ status: 202 })
    const answered = (result: unknown): Reply => ({ status: 200, body: { jsonrpc: "2.0", id, result } })
    switch (method) {
      case "initialize":
        return Effect.succeed(answered(initializeResult(params, listing)))
      case "ping":
        return Effect.succeed(answered({}))
      case "tools/list":
        return Effect.succeed(answered({ tools }))
      case "tools/call": {
        const decodedCall = decodeCall(params)
        if (Result.isFailure(decodedCall)) {
          return Effect.succeed(failed(id, "params", "A tool call needs a name and arguments."))
        }
        const { arguments: input, name } = decodedCall.success
        if (!names.has(name)) return Effect.succeed(failed(id, "params", `Tool '${name.slice(0, 60)}' not found`))
        return Effect.map(call(name, input ?? {}), (outcome) => answered(callResult(outcome, listing.structured)))
      }
      default:
        return Effect.succeed(failed(id, "method", "Method not found"))
    }
  }
}

/** The reply to a body that isn't JSON. */
export const NOT_JSON = failed(null, "parse", "The body isn't JSON.", 400)
