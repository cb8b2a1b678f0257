/**
 * The three tools for Anthropic's Messages interface: definitions that are strict, and tools that run, for a loop of
 * one's own or the SDK's. Nothing of the SDK is loaded here.
 */
import type { ToolUnion } from "@anthropic-ai/sdk/resources/messages"
import { type ToolDefinition, toolDefinitions } from "./definitions.ts"
import type { ToolCaller } from "./caller.ts"

type AnthropicTool = Extract<ToolUnion, { readonly input_schema: unknown; readonly type?: "custom" | null }>

/** Tools as a request to the Messages interface lists them. */
export const anthropicDefinitions = (tools: ReadonlyArray<ToolDefinition>): Array<AnthropicTool> =>
  tools.map(({ description, inputSchema, name }) => ({
    name,
    description,
    input_schema: inputSchema as AnthropicTool["input_schema"],
    strict: true
  }))

/** The three tools with what runs them; `run` never throws, a wrong input included. */
export const anthropicTools = (call: ToolCaller) =>
  anthropicDefinitions(toolDefinitions).map((tool) => ({
    ...tool,
    type: "custom" as const,
    parse: (input: unknown): unknown => input,
    run: async (input: unknown): Promise<string> => (await call(tool.name, input)).text
  }))
