/**
 * A bridge from MCP over standard input and output to a remote Max server: tool calls go over HTTP with a token, so this
 * machine needs no database. Every transport failure is a failed tool result that says what to do.
 */
import { Effect, Redacted, Result, Schema } from "effect"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ConfigurationError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { isToolName, renderResult, type ToolOutcome } from "../../tools/call.ts"
import { version } from "../../version.ts"
import { CHANGE_TOOL } from "../../tools/ChangeTool.ts"
import { NEWEST } from "./server.ts"
import { ASKED, type Asking, type Call, type Listing, YES } from "./tools.ts"

export interface RemoteServer {
  readonly url: URL
  readonly token: Redacted.Redacted<string>
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/
const TIMEOUT = "60 seconds"

/** Parses a server's origin: https, or http on loopback, so that the token is never sent in the clear. */
export const serverUrl = (text: string): Effect.Effect<URL, ConfigurationError> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const good =
    url !== undefined &&
    (url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname))) &&
    url.origin === text.replace(/\/$/, "")
  return good
    ? Effect.succeed(url)
    : Effect.fail(ConfigurationError.of(`--url must be an origin such as https://host; ${quoted(text)} isn't.`))
}

const Problem = Schema.Struct({ type: Schema.String, detail: Schema.String })
const decodeProblem = Schema.decodeUnknownResult(Schema.fromJsonString(Problem))
const parseJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

const failed = (text: string, unavailable = true): ToolOutcome => ({ text, failed: true, unavailable })

const NOT_MAX = failed("The server at --url isn't a Max server. Check the address.")
const UNREACHABLE = failed(
  "The Max server can't be reached. Check that it is running, and the network connection to it."
)
const TOO_SLOW = failed("The Max server took too long to answer. Please try again in a minute.")
const NO_TOKEN = failed(
  "The Max server rejects this token; it may have expired or been revoked. Ask an administrator for a new one: max token create."
)

const refusal = (status: number, text: string): ToolOutcome => {
  const problem = decodeProblem(text)
  if (Result.isFailure(problem) || !problem.success.type.startsWith("urn:max:problem:")) return NOT_MAX
  return status === 401 ? NO_TOKEN : failed(problem.success.detail, status >= 401 && status !== 404)
}

/** A result of MCP, as the remote server sends it for the fourth tool. */
const Called = Schema.Struct({
  result: Schema.Struct({
    content: Schema.Array(
      Schema.Union([
        Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
        Schema.Struct({ type: Schema.Literal("resource_link"), uri: Schema.String, name: Schema.String })
      ])
    ),
    isError: Schema.optionalKey(Schema.Boolean)
  })
})
/** What the remote server wants to ask the person. */
const Question = Schema.Struct({
  result: Schema.Struct({
    resultType: Schema.Literal("input_required"),
    inputRequests: Schema.Struct({ [ASKED]: Schema.Struct({ params: Schema.Struct({ message: Schema.String }) }) }),
    requestState: Schema.String
  })
})
const decodeCalled = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Union([Question, Called])))

/** The message of an answer, which can be an event of a stream. */
const messageIn = (body: string): string => /^data: ?(.*)$/m.exec(body)?.[1] ?? body

const outcomeOf = (body: string): ToolOutcome => {
  const called = decodeCalled(body.startsWith("{") ? body : messageIn(body))
  if (Result.isFailure(called)) return NOT_MAX
  const { result } = called.success
  if ("requestState" in result) {
    const { message } = result.inputRequests[ASKED].params
    return { text: message, failed: false, unavailable: false, question: { message, state: result.requestState } }
  }
  const { content, isError = false } = result
  const link = content.find((part) => part.type === "resource_link")
  return {
    text: content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
    failed: isError,
    unavailable: false,
    ...(link === undefined ? {} : { link: { uri: link.uri, name: link.name } })
  }
}

/** The fourth tool's call: of the version with continuations if the client shows forms, so that the remote server may ask through it. */
const changeCall = (input: unknown, { answered, showsForms }: Asking) => {
  const call = { name: CHANGE_TOOL, arguments: input ?? {} }
  const message = (params: object) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
  const headers = { accept: "application/json, text/event-stream" }
  if (!showsForms) return { headers, message: message(call) }
  const answer = answered && {
    requestState: answered.state,
    inputResponses: { [ASKED]: answered.accepts ? YES : { action: "decline" } }
  }
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": NEWEST.protocolVersion,
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
    "io.modelcontextprotocol/clientInfo": { name: "max mcp", version }
  }
  return {
    headers: {
      ...headers,
      "mcp-protocol-version": NEWEST.protocolVersion,
      "mcp-method": "tools/call",
      "mcp-name": CHANGE_TOOL
    },
    message: message({ ...call, ...answer, _meta })
  }
}

/** Calls a tool of the remote server; with `structured`, the result includes the value. */
export const bridge =
  ({ token, url }: RemoteServer, { changes, structured }: Listing): Call<HttpClient.HttpClient> =>
  (name, input, asking = { showsForms: false }) => {
    const isChange = changes && name === CHANGE_TOOL
    if (!isToolName(name) && !isChange) return Effect.succeed(failed(`There is no tool ${quoted(name)}.`, false))
    const outcome = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
      const text = yield* response.text
      if (response.status !== 200) return refusal(response.status, text)
      if (isChange) return outcomeOf(text)
      const isExpected = (response.headers["content-type"] ?? "").startsWith(accept)
      if (!isExpected) return NOT_MAX
      if (!structured || !isToolName(name)) return { text, failed: false, unavailable: false }
      const value = parseJson(text)
      if (Result.isFailure(value)) return NOT_MAX
      return { text: renderResult(name, value.success), failed: false, unavailable: false, value: value.success }
    })
    const accept = structured ? "application/json" : "text/plain"
    const sent = isChange
      ? { path: "/mcp/changes", ...changeCall(input, asking) }
      : { path: `/v1/tools/${name}`, headers: { accept }, message: input ?? {} }
    const request = HttpClientRequest.post(new URL(sent.path, url), {
      headers: sent.headers,
      body: HttpBody.text(JSON.stringify(sent.message), "application/json")
    }).pipe(HttpClientRequest.bearerToken(token))
    return HttpClient.execute(request).pipe(
      Effect.flatMap(outcome),
      // A redirect could send the token to another host.
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.timeoutOrElse({ duration: TIMEOUT, orElse: () => Effect.succeed(TOO_SLOW) }),
      Effect.catchTag("HttpClientError", () => Effect.succeed(UNREACHABLE))
    )
  }
