/**
 * The port to a model: one step streams a model's response to the conversation so far. Anthropic, Ax's providers and
 * basic mode implement it; the loop with its budgets and guards uses it.
 */
import { Context, Data, type Stream } from "effect"
import type { DeclaredAction } from "../domain/DeclaredAction.ts"
import type { ToolDefinition } from "../tools/definitions.ts"

/** A complete call; `input` is undefined if the model's JSON is not an object. */
interface ToolCall {
  readonly _tag: "ToolCall"
  readonly id: string
  readonly name: string
  readonly input: unknown
  /** The answer says so itself if this result is unavailable; any other unavailable result ends the turn. */
  readonly apart?: true
}

export type Part =
  | { readonly _tag: "Text"; readonly text: string }
  | ToolCall
  /** `text` is the rendering for the model; `value` is the structured result, absent if the call failed. */
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

/** The first words of the message with which the loop asks the model for another reply. */
export const REFUSED_REPLY = "That reply can't be shown."

export interface StepRequest {
  /** Byte-identical for every organization and turn. */
  readonly system: string
  /** The first message begins with the context as JSON: data, never instructions. */
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<ToolDefinition>
  readonly maxTokens: number
  /** The declared actions that the person may use, whose examples basic mode reads. */
  readonly actions?: ReadonlyArray<DeclaredAction>
}

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export type StepEvent =
  | { readonly _tag: "Delta"; readonly text: string }
  | ToolCall
  /** The last event of every step that succeeds. `declined`: basic mode's reply answers nothing. */
  | {
      readonly _tag: "Finished"
      readonly reason: "end" | "tools" | "length" | "refusal" | "declined"
      readonly usage: Usage
    }

/** A step without a response: `Busy` can be retried later, `Broken` ended mid-stream, `Refused` needs an operator. */
export class ModelFailure extends Data.TaggedError("ModelFailure")<{
  readonly reason: "Busy" | "Broken" | "Refused"
}> {}

export class ModelStep extends Context.Service<
  ModelStep,
  {
    /** For spans and usage reports: `anthropic`, `basic`, … */
    readonly provider: string
    readonly model: string
    readonly stream: (request: StepRequest) => Stream.Stream<StepEvent, ModelFailure>
  }
>()("max/agents/ModelStep") {}
