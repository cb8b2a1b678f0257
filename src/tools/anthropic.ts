/**
 * The three tools for Anthropic's Messages API: strict definitions, and runnable tools for the SDK's tool loop or your
 * own. It imports types of the SDK only, so the SDK is not loaded.
 */
import type { ToolUnion } from "@anthropic-ai/sdk/resources/messages"
import { type ToolDefinition, toolDefinitions } from "./definitions.ts"
import type { ToolCaller } from "./caller.ts"

type AnthropicTool = Extract<ToolUnion, { readonly input_schema: unknown; readonly type?: "custom" | null }>

/** Tool definitions for the `tools` of a Messages API request. */
export const anthropicDefinitions = (tools: ReadonlyArray<ToolDefinition>): Array<AnthropicTool> =>
  tools.map(({ description, inputSchema, name }) => ({
    name,
    description,
    input_schema: inputSchema as AnthropicTool["input_schema"],
    strict: true
  }))

/** The three tools with their `run` function, which never throws; it answers invalid input with a message. */
export const anthropicTools = (call: ToolCaller) =>
  anthropicDefinitions(toolDefinitions).map((tool) => ({
    ...tool,
    type: "custom" as const,
    parse: (input: unknown): unknown => input,
    run: async (input: unknown): Promise<string> => (await call(tool.name, input)).text
  }))
