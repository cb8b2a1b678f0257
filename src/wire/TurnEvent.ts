/** The events of a running turn: every channel consumes them, and HTTP sends them as server-sent events. */
import { Schema } from "effect"
import { Preview } from "../domain/Change.ts"
import { Figures, Presented, PresentedList } from "../domain/Presented.ts"

const { optionalKey } = Schema

/** One of several entities that a question may mean; a client sends `handle` back to choose it. */
export const Choice = Schema.Struct({
  handle: Schema.String,
  name: Schema.String,
  status: optionalKey(Schema.String)
})
export type Choice = typeof Choice.Type

export const TurnUsage = Schema.Struct({
  model: Schema.String,
  steps: Schema.Int,
  inputTokens: Schema.Int,
  outputTokens: Schema.Int
})
export type TurnUsage = typeof TurnUsage.Type

const RequestedForm = Schema.Struct({
  actionId: Schema.String,
  values: Schema.Record(Schema.String, Schema.String)
})
export type RequestedForm = typeof RequestedForm.Type

const TURN_FAILURES = ["NotAdmitted", "InvalidInput", "Budget", "Model", "Unavailable", "Timeout", "Stopped"] as const

export const TurnEvent = Schema.Union([
  /** A lookup has started; `message` describes it for the person. */
  Schema.TaggedStruct("tool", { message: Schema.String }),
  Schema.TaggedStruct("delta", { text: Schema.String }),
  /** Discards all text that this turn has sent so far. `preface`: it announced a lookup, and is no part of the answer. */
  Schema.TaggedStruct("retract", { preface: optionalKey(Schema.Literal(true)) }),
  Schema.TaggedStruct("matches", { choices: Schema.Array(Choice) }),
  /**
   * A change that this answer has opened, or whose state it has changed. `notes` are sentences for its card, such as one about a
   * value that the person didn't say.
   */
  Schema.TaggedStruct("draft", { draft: Preview, notes: Schema.Array(Schema.String) }),
  /** Groups and figures behind the answer, from a lookup's result and never from the model's words. */
  Schema.TaggedStruct("figures", { figures: Figures }),
  /** The answer is complete and stored. `reference` names the turn's trace. */
  Schema.TaggedStruct("done", {
    session: Schema.String,
    text: Schema.String,
    references: Schema.Array(Presented),
    usage: TurnUsage,
    reference: Schema.String,
    /** The lookup behind the answer's list. */
    list: optionalKey(PresentedList),
    /** Those of the answer's `figures` events. */
    figures: optionalKey(Schema.Array(Figures)),
    /** The changes of the answer's `draft` events. */
    drafts: optionalKey(Schema.Array(Preview)),
    /** An action that lacks values, with those that were said: a form can ask for the rest. */
    form: optionalKey(RequestedForm)
  }),
  /** The turn failed and nothing of it is stored; `message` can be shown to the person unchanged. */
  Schema.TaggedStruct("error", {
    reason: Schema.Literals(TURN_FAILURES),
    message: Schema.String,
    reference: optionalKey(Schema.String)
  })
])
export type TurnEvent = typeof TurnEvent.Type
export type TurnFailure = (typeof TURN_FAILURES)[number]
