/** The tool definitions that a model receives. */
import { Tool } from "effect/ai"
import { MaxToolkit } from "./Toolkit.ts"

export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

type Json = { readonly [key: string]: unknown }

/** Closes every object of a JSON Schema, as strict tools require, and drops the bounds of safe integers to save tokens. */
export const compactSchema = (schema: Json): Json =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([, value]) => Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER)
      .map(([key, value]) => [key, key === "additionalProperties" ? false : compactValue(value)])
  )

const compactValue = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(compactValue)
    : typeof value === "object" && value !== null
      ? compactSchema(value as Json)
      : value

export const toolDefinitions: ReadonlyArray<ToolDefinition> = Object.values(MaxToolkit.tools).map((tool) => ({
  name: tool.name,
  description: tool.description ?? "",
  inputSchema: compactSchema(Tool.getJsonSchema(tool))
}))
