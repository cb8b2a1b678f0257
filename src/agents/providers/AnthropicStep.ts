/**
 * The model port over Anthropic's SDK. The SDK retries temporary failures; the loop repeats a step whose stream breaks;
 * interrupting the stream aborts the request.
 */
import Anthropic, { APIConnectionError, APIError } from "@anthropic-ai/sdk"
import type { ContentBlockParam, MessageParam, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages"
import { Layer, Redacted } from "effect"
import { anthropicDefinitions } from "../../tools/anthropic.ts"
import { type Message, ModelFailure, ModelStep, type Part, type StepEvent, type StepRequest } from "../ModelStep.ts"
import { statusFailure } from "./statusFailure.ts"
import { parseToolInput } from "./parseToolInput.ts"
import { streamStep } from "./streamStep.ts"

export interface AnthropicSettings {
  readonly key: Redacted.Redacted<string>
  readonly model: string
  readonly url?: string | undefined
  /** Retries after 408, 409, 429 and 5xx. */
  readonly retries?: number | undefined
}

const RETRIES = 4

/** A model of Anthropic's. */
export const anthropicStep = (settings: AnthropicSettings): Layer.Layer<ModelStep> =>
  Layer.sync(ModelStep, () => anthropicClient(settings))

export const anthropicClient = (settings: AnthropicSettings): ModelStep["Service"] => {
  const client = new Anthropic({
    apiKey: Redacted.value(settings.key),
    authToken: null,
    baseURL: settings.url ?? "https://api.anthropic.com",
    maxRetries: settings.retries ?? RETRIES,
    logLevel: "off",
    openTelemetry: false
  })
  return ModelStep.of({
    provider: "anthropic",
    model: settings.model,
    stream: (request) =>
      streamStep(({ emit, ...options }) => run(client, settings.model, request, options, emit), modelFailure)
  })
}

const run = async (
  client: Anthropic,
  model: string,
  request: StepRequest,
  options: { readonly signal: AbortSignal; readonly headers: Readonly<Record<string, string>> },
  emit: (event: StepEvent) => void
): Promise<void> => {
  const read = reader(emit)
  const stream = client.messages.stream(
    {
      model,
      max_tokens: request.maxTokens,
      // One cache breakpoint: the tools and the system prompt are the same on every request.
      system: [{ type: "text", text: request.system, cache_control: { type: "ephemeral" } }],
      tools: anthropicDefinitions(request.tools),
      messages: request.messages.map(toMessage)
    },
    options
  )
  try {
    for await (const event of stream) read.event(event)
  } catch (error) {
    // After the first event, repeating the step is the loop's decision.
    throw read.begun() ? new ModelFailure({ reason: "Broken" }) : error
  }
  if (!read.finished()) throw new ModelFailure({ reason: "Broken" })
}

/** Translates the SDK's events to step events. */
const reader = (emit: (event: StepEvent) => void) => {
  const calls = new Map<number, { readonly id: string; readonly name: string; json: string }>()
  let [input, output] = [0, 0]
  let begun = false
  let finished = false
  return {
    begun: () => begun,
    finished: () => finished,
    event: (event: RawMessageStreamEvent) => {
      begun = true
      switch (event.type) {
        case "message_start": {
          const { usage } = event.message
          input = usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0)
          output = usage.output_tokens
          return
        }
        case "content_block_start":
          if (event.content_block.type === "tool_use") {
            calls.set(event.index, { id: event.content_block.id, name: event.content_block.name, json: "" })
          }
          return
        case "content_block_delta":
          if (event.delta.type === "text_delta") emit({ _tag: "Delta", text: event.delta.text })
          if (event.delta.type === "input_json_delta") {
            const call = calls.get(event.index)
            if (call !== undefined) call.json += event.delta.partial_json
          }
          return
        case "content_block_stop": {
          const call = calls.get(event.index)
          if (call !== undefined) {
            emit({ _tag: "ToolCall", id: call.id, name: call.name, input: parseToolInput(call.json) })
          }
          return
        }
        case "message_delta":
          output = event.usage.output_tokens
          finished = true
          emit({
            _tag: "Finished",
            reason: reasonOf(event.delta.stop_reason),
            usage: { inputTokens: input, outputTokens: output }
          })
          return
        case "message_stop":
          return
      }
    }
  }
}

const reasonOf = (stop: string | null): Extract<StepEvent, { _tag: "Finished" }>["reason"] => {
  switch (stop) {
    case "tool_use":
      return "tools"
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length"
    case "refusal":
      return "refusal"
    default:
      return "end"
  }
}

const modelFailure = (error: unknown): ModelFailure => {
  if (error instanceof APIConnectionError) return new ModelFailure({ reason: "Busy" })
  if (error instanceof APIError && error.status !== undefined) return statusFailure(error.status)
  return new ModelFailure({ reason: "Broken" })
}

const toMessage = ({ parts, role }: Message): MessageParam => ({ role, content: parts.map(toBlock) })

const toBlock = (part: Part): ContentBlockParam => {
  switch (part._tag) {
    case "Text":
      return { type: "text", text: part.text }
    case "ToolCall":
      return { type: "tool_use", id: part.id, name: part.name, input: part.input ?? {} }
    case "ToolResult":
      return {
        type: "tool_result",
        tool_use_id: part.id,
        content: [{ type: "text", text: part.text }],
        ...(part.failed ? { is_error: true } : {})
      }
  }
}
