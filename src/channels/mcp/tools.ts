/**
 * The three tools as MCP serves them: annotated, their answers as compact text. A schema of the output and structured
 * answers double what a client pays, so they are for clients that ask for them.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { McpSchema, McpServer, Tool } from "effect/ai"
import type { ToolOutcome } from "../../tools/call.ts"
import { compactSchema, toolDefinitions } from "../../tools/definitions.ts"
import { READONLY_HINTS } from "../../tools/readonlyTool.ts"
import { MaxToolkit } from "../../tools/Toolkit.ts"

/** How an answer is to be understood, for a model that knows nothing else of Max. */
export const INSTRUCTIONS =
  "Look up people, companies, meetings and more that the person may see. None found: say so and what to try. One: present it. Several: name a few and ask which one. Never show ids."

/** Calls a tool by name for whoever asks. */
export type Call<R> = (name: string, input: unknown) => Effect.Effect<ToolOutcome, never, R>

const outputSchemas: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.values(MaxToolkit.tools).map((tool) => [
    tool.name,
    compactSchema(Tool.getJsonSchemaFromSchema(tool.successSchema))
  ])
)

/** The tools as a client is told of them. */
export const listed = (structured: boolean) =>
  toolDefinitions.map(({ description, inputSchema, name }) => ({
    name,
    description,
    inputSchema,
    ...(structured ? { outputSchema: outputSchemas[name] } : {}),
    annotations: READONLY_HINTS
  }))

/** What a call has come to, as a client is told of it. */
export const callResult = ({ failed, text, value }: ToolOutcome, structured: boolean) => ({
  content: [{ type: "text" as const, text }],
  ...(failed ? { isError: true } : {}),
  ...(structured && value !== undefined ? { structuredContent: value } : {})
})

/** Registers the three tools; every call of one goes through `call`. */
export const tools = <R>(call: Call<R>, { structured }: { readonly structured: boolean }) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* McpServer.McpServer
      const services = yield* Effect.context<R>()
      for (const { inputSchema, name, outputSchema, ...rest } of listed(structured)) {
        yield* server.addTool({
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
      }
    })
  )
