/**
 * A scripted server of Anthropic's Messages API, over real HTTP and SSE, that enforces the real API's invariants. Only the
 * replies are scripted.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly name: string; readonly input: unknown; readonly id?: string }
  /** A call with literal input, malformed or not. */
  | { readonly type: "broken_tool_use"; readonly name: string; readonly json: string }

export interface Reply {
  readonly content?: ReadonlyArray<Block>
  readonly stop?: string
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number }
  readonly status?: number
  readonly error?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The connection breaks after so many chunks. */
  readonly diesAfter?: number
  /** An error event follows after so many chunks. */
  readonly failsAfter?: number
  /** Milliseconds between chunks. */
  readonly pace?: number
  /** Characters per chunk. */
  readonly piece?: number
}

interface WireBlock {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly tool_use_id?: string
  readonly content?: unknown
  readonly is_error?: boolean
}

interface WireMessage {
  readonly role: string
  readonly content: string | ReadonlyArray<WireBlock>
}

export interface WireRequest {
  readonly model: string
  readonly max_tokens: number
  readonly stream?: boolean
  readonly system?: unknown
  readonly messages: ReadonlyArray<WireMessage>
  readonly tools?: ReadonlyArray<{
    readonly name: string
    readonly strict?: boolean
    readonly input_schema?: { readonly additionalProperties?: unknown }
  }>
}

interface Logged {
  readonly headers: IncomingHttpHeaders
  readonly body: WireRequest
  /** The raw body, for text searches. */
  readonly raw: string
  readonly rejected?: string
  aborted: boolean
  readonly sentAt: Array<number>
}

export type Script = (request: WireRequest, index: number) => Reply | Promise<Reply>

/** API versions of Anthropic's SDK and of Ax; the older one accepts sampling parameters. */
const NEWEST = "2026-10-21"
const VERSIONS = [NEWEST, "2023-06-01"]

const blocksOf = (content: WireMessage["content"]): ReadonlyArray<WireBlock> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

/** The real API's validation errors. */
const refusal = (body: WireRequest, version: string): string | undefined => {
  if (!Number.isInteger(body.max_tokens)) return "max_tokens: Field required"
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "messages: at least one message is required"
  for (const name of ["temperature", "top_p", "top_k"]) {
    if (version === NEWEST && name in body) return `${name}: this parameter is not supported by this model`
  }
  const names = (body.tools ?? []).map((tool) => tool.name)
  for (const [index, tool] of (body.tools ?? []).entries()) {
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) return `tools.${index}.name: bad name`
    if (tool.strict === true && tool.input_schema?.additionalProperties !== false) {
      return `tools.${index}: strict requires additionalProperties: false`
    }
  }
  if (new Set(names).size !== names.length) return "tools: Tool names must be unique"
  let breakpoints = 0
  JSON.stringify(body, (key, value: unknown) => {
    if (key === "cache_control" && value !== null && value !== undefined) breakpoints += 1
    return value
  })
  if (breakpoints > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints}.`
  return refusedMessages(body.messages)
}

const refusedMessages = (messages: ReadonlyArray<WireMessage>): string | undefined => {
  const merged: Array<{ role: string; content: ReadonlyArray<WireBlock> }> = []
  for (const { content, role } of messages) {
    const last = merged.at(-1)
    if (last?.role === role) last.content = [...last.content, ...blocksOf(content)]
    else merged.push({ role, content: blocksOf(content) })
  }
  if (merged[0]?.role !== "user") return 'messages: first message must use the "user" role'
  const last = merged.at(-1)!
  if (last.role === "assistant") return "messages: the conversation must end with a user message"
  for (const [index, { content, role }] of merged.entries()) {
    if (content.length === 0) return `messages.${index}: content must not be empty`
    if (content.some((block) => block.type === "text" && block.text?.trim() === "")) {
      return `messages.${index}: text content blocks must be non-empty`
    }
    const previous = merged[index - 1]
    const pending =
      previous?.role === "assistant"
        ? previous.content.filter((block) => block.type === "tool_use").map((block) => block.id)
        : []
    const results = role === "user" ? content.filter((block) => block.type === "tool_result") : []
    const answered = results.map((block) => block.tool_use_id)
    const missing = pending.filter((id) => !answered.includes(id))
    if (missing.length > 0) {
      return `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}`
    }
    const unexpected = answered.find((id) => !pending.includes(id))
    if (unexpected !== undefined) {
      return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unexpected}`
    }
    const firstOther = content.findIndex((block) => block.type !== "tool_result")
    if (results.length > 0 && firstOther >= 0 && firstOther < results.length) {
      return `messages.${index}: tool_result blocks must come first`
    }
  }
  return undefined
}

const refuse = (response: ServerResponse, status: number, type: string, message: string, headers = {}) => {
  response.writeHead(status, { "content-type": "application/json", "request-id": "req_test", ...headers })
  response.end(JSON.stringify({ type: "error", error: { type, message }, request_id: "req_test" }))
}

const keyIn = (headers: IncomingHttpHeaders): string =>
  String(headers["x-api-key"] ?? headers.authorization).replace(/^Bearer /, "")

const piecesOf = (text: string, size: number): ReadonlyArray<string> =>
  text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? []

/** The SSE events of a reply, in order. */
const eventsOf = (reply: Reply, id: string, model: string) => {
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    ...reply.usage
  }
  const message = {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 }
  }
  const events: Array<{ readonly type: string; readonly [key: string]: unknown }> = [
    { type: "message_start", message },
    { type: "ping" }
  ]
  const content = reply.content ?? []
  const size = reply.piece ?? 7
  for (const [index, block] of content.entries()) {
    if (block.type === "text") {
      events.push({ type: "content_block_start", index, content_block: { type: "text", text: "", citations: null } })
      for (const text of piecesOf(block.text, size)) {
        events.push({ type: "content_block_delta", index, delta: { type: "text_delta", text } })
      }
    } else {
      const json = block.type === "tool_use" ? JSON.stringify(block.input) : block.json
      const callId = ("id" in block ? block.id : undefined) ?? `toolu_${id}_${index}`
      events.push({
        type: "content_block_start",
        index,
        content_block: { type: "tool_use", id: callId, name: block.name, input: {} }
      })
      for (const partial_json of ["", ...piecesOf(json, size)]) {
        events.push({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } })
      }
    }
    events.push({ type: "content_block_stop", index })
  }
  const stop = reply.stop ?? (content.some((block) => block.type !== "text") ? "tool_use" : "end_turn")
  events.push(
    {
      type: "message_delta",
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: usage.output_tokens }
    },
    { type: "message_stop" }
  )
  return events
}

export interface MessagesServer {
  readonly url: string
  readonly requests: ReadonlyArray<Logged>
  /** Scripts the replies from now on. */
  script: Script
  /** Whether a key is taken for a model; every one is, unless a test says otherwise. */
  takes: (key: string, model: string) => "yes" | "no key" | "no model" | "down"
  /** Clears the recorded requests. */
  readonly reset: (script?: Script) => void
  /** Closes every connection, as a server does with idle ones. */
  readonly hangUp: () => void
  readonly close: () => Promise<void>
}

export const startMessages = async (script: Script = () => ({ content: [] })): Promise<MessagesServer> => {
  const requests: Array<Logged> = []
  const sockets = new Set<Socket>()
  let served = 0
  const server = createServer((request, response) => {
    void (async () => {
      let raw = ""
      for await (const chunk of request) raw += String(chunk)
      const { pathname } = new URL(request.url ?? "/", "http://localhost")
      const isCount = pathname === "/v1/messages/count_tokens"
      if (pathname !== "/v1/messages" && !isCount) return refuse(response, 404, "not_found_error", pathname)
      if (request.headers.authorization === undefined && request.headers["x-api-key"] === undefined) {
        return refuse(response, 401, "authentication_error", "x-api-key header is required")
      }
      if (!VERSIONS.includes(String(request.headers["anthropic-version"]))) {
        return refuse(response, 400, "invalid_request_error", "anthropic-version: header is required")
      }
      const body = JSON.parse(raw) as WireRequest
      const taken = api.takes(keyIn(request.headers), body.model)
      if (taken === "no key") return refuse(response, 401, "authentication_error", "invalid x-api-key")
      if (taken === "no model") return refuse(response, 404, "not_found_error", `model: ${body.model}`)
      if (taken === "down") return refuse(response, 529, "overloaded_error", "Overloaded")
      if (isCount) {
        response.writeHead(200, { "content-type": "application/json" })
        return response.end(JSON.stringify({ input_tokens: 8 }))
      }
      const rejected = refusal(body, String(request.headers["anthropic-version"]))
      const logged: Logged = {
        headers: request.headers,
        body,
        raw,
        ...(rejected === undefined ? {} : { rejected }),
        aborted: false,
        sentAt: []
      }
      requests.push(logged)
      response.on("close", () => {
        if (!response.writableEnded) logged.aborted = true
      })
      if (rejected !== undefined) return refuse(response, 400, "invalid_request_error", rejected)
      const reply = await api.script(body, requests.length - 1)
      if (reply.status !== undefined) {
        return refuse(response, reply.status, reply.error ?? "api_error", "scripted", reply.headers)
      }
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "request-id": "req_test" })
      let pieces = 0
      for (const event of eventsOf(reply, `msg_${served++}`, body.model)) {
        if (logged.aborted) return
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
        logged.sentAt.push(performance.now())
        if (event.type !== "content_block_delta") continue
        pieces += 1
        if (reply.pace !== undefined) await sleep(reply.pace)
        if (pieces === reply.diesAfter) {
          await sleep(20)
          return response.destroy()
        }
        if (pieces === reply.failsAfter) {
          const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
          return response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`)
        }
      }
      return response.end()
    })().catch((error: unknown) => refuse(response, 500, "api_error", String(error)))
  })
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const api: MessagesServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script,
    takes: () => "yes",
    reset: (next) => {
      requests.length = 0
      if (next !== undefined) api.script = next
    },
    hangUp: () => {
      for (const socket of sockets) socket.destroy()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
  return api
}

export const says = (text: string, more: Omit<Reply, "content"> = {}): Reply => ({
  ...more,
  content: [{ type: "text", text }]
})

export const calls = (...uses: ReadonlyArray<readonly [name: string, input: unknown]>): Reply => ({
  content: uses.map(([name, input]) => ({ type: "tool_use", name, input }))
})

export const finds = (
  entityTypeId: string,
  filters: ReadonlyArray<readonly [column: string, op: string, value: string]>,
  more: object = {}
) =>
  calls([
    "findEntities",
    { entityTypeId, filters: filters.map(([columnId, op, value]) => ({ columnId, op, value })), ...more }
  ])

/** Replies in order, repeating the last one. */
export const inTurn =
  (...replies: ReadonlyArray<Reply | ((request: WireRequest) => Reply)>): Script =>
  (request, index) => {
    const reply = replies[Math.min(index, replies.length - 1)]!
    return typeof reply === "function" ? reply(request) : reply
  }

/** The texts of the tool results at the end of a request. */
export const resultsIn = (request: WireRequest): ReadonlyArray<string> =>
  blocksOf(request.messages.at(-1)!.content).flatMap((block) =>
    block.type === "tool_result" ? blocksOf(block.content as WireMessage["content"]).map((part) => part.text ?? "") : []
  )

/** The context at the beginning of a request. */
export const contextIn = (request: WireRequest): unknown =>
  JSON.parse(blocksOf(request.messages[0]!.content)[0]!.text ?? "")
