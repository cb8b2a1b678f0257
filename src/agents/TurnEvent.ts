/** What a turn says while it goes on, for every channel. */
import { Schema } from "effect"
import { Presented } from "../domain/Presented.ts"

const { optionalKey } = Schema

/** One of several that could be meant: `handle` is what a button sends back. */
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

const TURN_FAILURES = ["NotAdmitted", "InvalidInput", "Budget", "Model", "Unavailable", "Timeout", "Stopped"] as const

export const TurnEvent = Schema.Union([
  /** Something is being looked up, in people's words. */
  Schema.TaggedStruct("tool", { message: Schema.String }),
  Schema.TaggedStruct("delta", { text: Schema.String }),
  /** Everything that was said in this turn so far is taken back. */
  Schema.TaggedStruct("retract", {}),
  Schema.TaggedStruct("matches", { choices: Schema.Array(Choice) }),
  /** The answer is whole and kept. `reference` opens the turn's trace. */
  Schema.TaggedStruct("done", {
    session: Schema.String,
    text: Schema.String,
    references: Schema.Array(Presented),
    usage: TurnUsage,
    reference: Schema.String
  }),
  /** There is no answer; `message` is for the person as it is. Nothing of the turn is kept. */
  Schema.TaggedStruct("error", {
    reason: Schema.Literals(TURN_FAILURES),
    message: Schema.String,
    reference: optionalKey(Schema.String)
  })
])
export type TurnEvent = typeof TurnEvent.Type
export type TurnFailure = (typeof TURN_FAILURES)[number]
