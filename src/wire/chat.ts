/** Asking: the request that starts a turn, the events of its answer, and turns that a client can listen to again. */
import { Schema } from "effect"
import { streamOf } from "./serverSentEvents.ts"
import { TurnEvent } from "./TurnEvent.ts"

const { optionalKey } = Schema
const atLeast = (minimum: number) => Schema.Int.check(Schema.isGreaterThanOrEqualTo(minimum))

/** The name of a turn or the id of a conversation. */
export const Name = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/))

const context = {
  /** The conversation to continue; without it, or with another person's, a new conversation begins. */
  conversation: optionalKey(Name),
  /** The client's name for this turn: a named turn survives a lost connection and can be resumed. */
  turn: optionalKey(Name),
  /** How many turns of the conversation to keep; the answer replaces the later ones. */
  after: optionalKey(atLeast(0))
}

/** A question, or the handle of an offered choice. */
export const Say = Schema.Union([
  Schema.Struct({ text: Schema.String, ...context }),
  Schema.Struct({ choice: Schema.String, ...context })
])
export type Say = typeof Say.Encoded

/** A turn's events, each with its number as the id. */
export const TurnEvents = streamOf(TurnEvent)

export const ResumeHeaders = { "last-event-id": optionalKey(atLeast(0)) }

/** What the person can ask about, with example questions in the organization's vocabulary. */
export const Welcome = Schema.Struct({
  organization: Schema.String,
  person: optionalKey(Schema.String),
  /** Whether rules or a language model answer. */
  mode: Schema.Literals(["basic", "model"]),
  /** Plural names of the types that can be looked up: "people", "meetings". */
  kinds: Schema.Array(Schema.String),
  examples: Schema.Array(Schema.Struct({ about: Schema.String, questions: Schema.Array(Schema.String) })),
  /** Questions about an entity of a type; `{name}` stands for its name. */
  next: Schema.Array(Schema.Struct({ type: Schema.String, label: Schema.String, question: Schema.String }))
})
export type Welcome = typeof Welcome.Encoded

/** A named turn that can be listened to. */
export const NamedTurn = Schema.Struct({
  turn: Schema.String,
  asked: optionalKey(Schema.String),
  /** The handle of the choice that started the turn. */
  choice: optionalKey(Schema.String),
  conversation: optionalKey(Schema.String),
  after: optionalKey(Schema.Int),
  /** False for a turn that ended within the last minute. */
  answering: Schema.Boolean
})
export type NamedTurn = typeof NamedTurn.Encoded

export const NamedTurns = Schema.Struct({ turns: Schema.Array(NamedTurn) })
export type NamedTurns = typeof NamedTurns.Encoded
