/**
 * The tools over MCP, with results as compact text: three that only read, and where changes are offered one that drafts. Output schemas and structured content
 * double a client's tokens, so they are opt-in.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { McpProtocol, McpSchema, McpServer, Tool } from "effect/ai"
import { reportFailure } from "../../observability/failures.ts"
import type { ToolOutcome } from "../../tools/call.ts"
import { changeDefinition } from "../../tools/ChangeTool.ts"
import { compactSchema, toolDefinitions } from "../../tools/definitions.ts"
import { READONLY_HINTS } from "../../tools/readonlyTool.ts"
import { MaxToolkit } from "../../tools/Toolkit.ts"
import type { Answered } from "./changing.ts"

/** Tells a model how to use the results. */
export const INSTRUCTIONS =
  "Look up people, companies, meetings and more that the person may see. None found: say so and what to try. One: present it. Several: name a few and ask which one. Never show ids."

/** Added where the fourth tool is listed. */
const CHANGING =
  " requestAction only drafts: the person decides in Max. Say that a change waits, and never that it was made before a result says applied; call again with the same values to learn what became of it."

/** What the client can put to the person, and what the person answered. */
export interface Asking {
  readonly showsForms: boolean
  readonly answered?: Answered | undefined
}

/** Calls a tool by name for the current caller. */
export type Call<R> = (name: string, input: unknown, asking?: Asking) => Effect.Effect<ToolOutcome, never, R>

export interface Listing {
  /** Adds output schemas and structured content. */
  readonly structured: boolean
  /** Lists the fourth tool, too. */
  readonly changes: boolean
}

export const instructionsFor = ({ changes }: Pick<Listing, "changes">): string =>
  changes ? INSTRUCTIONS + CHANGING : INSTRUCTIONS

/** A call whose failures of the database are logged. */
export const reporting =
  <R>(call: Call<R>): Call<R> =>
  (name, input, asking) =>
    Effect.tap(call(name, input, asking), ({ unavailable }) =>
      unavailable ? reportFailure("A tool call failed", { channel: "mcp" }) : Effect.void
    )

const outputSchemas: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.values(MaxToolkit.tools).map((tool) => [
    tool.name,
    compactSchema(Tool.getJsonSchemaFromSchema(tool.successSchema))
  ])
)

const CHANGE_HINTS = { ...READONLY_HINTS, readOnlyHint: false }

/** The tools as `tools/list` returns them. */
export const listed = ({ changes, structured }: Listing) => [
  ...toolDefinitions.map(({ description, inputSchema, name }) => ({
    name,
    description,
    inputSchema,
    ...(structured ? { outputSchema: outputSchemas[name] } : {}),
    annotations: READONLY_HINTS
  })),
  // Its result is text in every listing: a draft, or what an action takes.
  ...(changes ? [{ ...changeDefinition, outputSchema: undefined, annotations: CHANGE_HINTS }] : [])
]

/** The result of a call as `tools/call` returns it. */
export const callResult = ({ failed, link, text, value }: ToolOutcome, structured: boolean) => ({
  content: [
    { type: "text" as const, text },
    ...(link === undefined ? [] : [{ type: "resource_link" as const, ...link, mimeType: "text/html" }])
  ],
  ...(failed ? { isError: true } : {}),
  ...(structured && value !== undefined ? { structuredContent: value } : {})
})

/** The form of the question, with the deed in words: a client that shows only buttons says no with "Don't". */
const ANSWERS = ["Change it", "Don't"] as const
const FORM = {
  type: "object",
  properties: { answer: { type: "string", enum: ANSWERS, description: "Nothing has changed yet." } },
  required: ["answer"]
} as const
/** The form in version 2025-06-18: a checkbox, because Effect drops the choices of a text field there and people would have to type. */
const BOX = {
  type: "object",
  properties: {
    answer: { type: "boolean", title: ANSWERS[0], description: "Nothing has changed yet.", default: false }
  },
  required: ["answer"]
} as const
export const ASKED = "confirm"
/** How long a call waits for an answer, so that it ends before clients give up, which most do after a minute. */
const ANSWERED_WITHIN = "50 seconds"

type RequestContext = (typeof McpSchema.McpRequestContext)["Service"]

const isYes = (
  { action, content }: { readonly action?: unknown; readonly content?: unknown },
  yes: unknown = ANSWERS[0]
): boolean => action === "accept" && (content as { readonly answer?: unknown } | undefined)?.answer === yes

/** The person's yes in the form that clients send. */
export const YES = { action: "accept", content: { answer: ANSWERS[0] } } as const

const answerIn = ({ inputResponses, requestState }: RequestContext): Answered | undefined =>
  inputResponses === undefined && requestState === undefined
    ? undefined
    : { state: requestState, accepts: isYes(inputResponses?.[ASKED] ?? {}) }

/** Whether the client can put a form to the person. */
const showsFormsIn = ({ clientCapabilities: { elicitation } }: RequestContext): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)

const formOf = Schema.decodeSync(McpSchema.ElicitRequestFormParams)

/** Asks the person through a client of an earlier version. Everything but a yes is a no, and so is silence. */
const askNow = Effect.fnUntraced(
  function* ({ getClient, protocolVersion }: (typeof McpSchema.McpServerClient)["Service"], message: string) {
    const isBox = protocolVersion === McpProtocol.v2025_06_18.protocolVersion
    const params = formOf({ mode: "form", message, requestedSchema: isBox ? BOX : FORM })
    return isYes(yield* (yield* getClient).elicit(params), isBox ? true : undefined)
  },
  Effect.scoped,
  Effect.timeoutOrElse({ duration: ANSWERED_WITHIN, orElse: () => Effect.succeed(false) }),
  Effect.orElseSucceed(() => false),
  // An answer that isn't one of the protocol.
  Effect.catchDefect(() => Effect.succeed(false))
)

/** Registers the tools, which run `call`. */
export const tools = <R>(call: Call<R>, listing: Listing) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* McpServer.McpServer
      const services = yield* Effect.context<R>()
      for (const { inputSchema, name, outputSchema, ...rest } of listed(listing)) {
        const added = server.addTool({
          tool: new McpSchema.Tool({
            ...rest,
            name,
            inputSchema: Schema.decodeUnknownSync(McpSchema.ToolJson)(inputSchema),
            ...(outputSchema === undefined
              ? {}
              : { outputSchema: Schema.decodeUnknownSync(McpSchema.ToolOutputJson)(outputSchema) })
          }),
          annotations: Context.empty(),
          handle: (input: unknown) =>
            Effect.gen(function* () {
              const context = yield* McpSchema.McpRequestContext
              // A connection that carries requests to the client, such as standard input and output of the earlier versions.
              const session = yield* Effect.serviceOption(McpSchema.McpServerClient)
              const showsForms = showsFormsIn(context)
              const run = (answered: Answered | undefined) =>
                Effect.provideContext(call(name, input ?? {}, { showsForms, answered }), services)
              const result = (outcome: ToolOutcome) =>
                new McpSchema.CallToolResult(callResult(outcome, listing.structured))
              const answered = answerIn(context)
              const outcome = yield* run(answered)
              const { question } = outcome
              if (question === undefined || answered !== undefined || !showsForms) return result(outcome)
              if (Option.isSome(session)) {
                const accepts = yield* askNow(session.value, question.message)
                return result(yield* run({ state: question.state, accepts }))
              }
              const params = formOf({ mode: "form", message: question.message, requestedSchema: FORM })
              return new McpSchema.InputRequired({
                inputRequests: { [ASKED]: { method: "elicitation/create", params } },
                requestState: question.state
              })
            })
        })
        // It notifies clients, of which there are none yet: a trace that says nothing.
        yield* Effect.withTracerEnabled(added, false)
      }
    })
  )
