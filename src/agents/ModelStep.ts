/**
 * The seam between a turn and whatever thinks: one step is one answer of a model to a conversation so far, streamed.
 * Anthropic, Ax's providers and basic mode stand behind it; the loop, its budgets and its guards are before it.
 */
import { Context, Data, type Stream } from "effect"
import type { ToolDefinition } from "../tools/definitions.ts"

export type Part =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "ToolCall"; readonly id: string; readonly name: string; readonly input: unknown }
  /** `text` is what a model reads; `value` is the same as a tool returned it, absent when the call failed. */
  | {
      readonly _tag: "ToolResult"
      readonly id: string
      readonly name: string
      readonly text: string
      readonly failed: boolean
      readonly value?: unknown
    }

export interface Message {
  readonly role: "user" | "assistant"
  readonly parts: ReadonlyArray<Part>
}

/** How a message begins that the loop, and no person, puts after a reply that can't be shown. */
export const REFUSED_REPLY = "That reply can't be shown."

export interface StepRequest {
  /** Static and byte-stable, the same for every organization. */
  readonly system: string
  /** The first one begins with the context: JSON data, never instructions. */
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<ToolDefinition>
  readonly maxTokens: number
}

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export type StepEvent =
  | { readonly _tag: "Delta"; readonly text: string }
  /** Whole, with its input parsed; `input` is `undefined` when the model's JSON was broken. */
  | { readonly _tag: "ToolCall"; readonly id: string; readonly name: string; readonly input: unknown }
  /** The last event of every step that didn't fail. */
  | { readonly _tag: "Finished"; readonly reason: "end" | "tools" | "length" | "refusal"; readonly usage: Usage }

/** Why a step has no answer. `Busy` is worth another try, `Broken` ended in the middle, `Refused` needs an operator. */
export class ModelFailure extends Data.TaggedError("ModelFailure")<{
  readonly reason: "Busy" | "Broken" | "Refused"
}> {}

export class ModelStep extends Context.Service<
  ModelStep,
  {
    /** For spans and usage: `anthropic`, `basic`, … */
    readonly provider: string
    readonly model: string
    readonly stream: (request: StepRequest) => Stream.Stream<StepEvent, ModelFailure>
  }
>()("max/agents/ModelStep") {}
