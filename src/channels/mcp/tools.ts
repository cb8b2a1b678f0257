/**
 * The three tools over MCP: annotated as read-only, with results as compact text. Output schemas and structured content
 * double a client's tokens, so they are opt-in.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { McpSchema, McpServer, Tool } from "effect/ai"
import { reportFailure } from "../../observability/failures.ts"
import type { ToolOutcome } from "../../tools/call.ts"
import { compactSchema, toolDefinitions } from "../../tools/definitions.ts"
import { READONLY_HINTS } from "../../tools/readonlyTool.ts"
import { MaxToolkit } from "../../tools/Toolkit.ts"

/** Tells a model how to use the results. */
export const INSTRUCTIONS =
  "Look up people, companies, meetings and more that the person may see. None found: say so and what to try. One: present it. Several: name a few and ask which one. Never show ids."

/** Calls a tool by name for the current caller. */
export type Call<R> = (name: string, input: unknown) => Effect.Effect<ToolOutcome, never, R>

/** A call whose failures of the database are logged. */
export const reporting =
  <R>(call: Call<R>): Call<R> =>
  (name, input) =>
    Effect.tap(call(name, input), ({ unavailable }) =>
      unavailable ? reportFailure("A tool call failed", { channel: "mcp" }) : Effect.void
    )

const outputSchemas: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.values(MaxToolkit.tools).map((tool) => [
    tool.name,
    compactSchema(Tool.getJsonSchemaFromSchema(tool.successSchema))
  ])
)

/** The tools as `tools/list` returns them. */
export const listed = (structured: boolean) =>
  toolDefinitions.map(({ description, inputSchema, name }) => ({
    name,
    description,
    inputSchema,
    ...(structured ? { outputSchema: outputSchemas[name] } : {}),
    annotations: READONLY_HINTS
  }))

/** The result of a call as `tools/call` returns it. */
export const callResult = ({ failed, text, value }: ToolOutcome, structured: boolean) => ({
  content: [{ type: "text" as const, text }],
  ...(failed ? { isError: true } : {}),
  ...(structured && value !== undefined ? { structuredContent: value } : {})
})

/** Registers the three tools, which run `call`. */
export const tools = <R>(call: Call<R>, { structured }: { readonly structured: boolean }) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* McpServer.McpServer
      const services = yield* Effect.context<R>()
      for (const { inputSchema, name, outputSchema, ...rest } of listed(structured)) {
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
            call(name, input ?? {}).pipe(
              Effect.provideContext(services),
              Effect.map((outcome) => new McpSchema.CallToolResult(callResult(outcome, structured)))
            )
        })
        // It notifies clients, of which there are none yet: a trace that says nothing.
        yield* Effect.withTracerEnabled(added, false)
      }
    })
  )
