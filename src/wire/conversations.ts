/** A person's stored conversations: the list and the turns of one. */
import { Schema } from "effect"
import { Figures, Presented, PresentedList } from "../domain/Presented.ts"
import { Name } from "./chat.ts"
import { anyTextUpTo, between } from "./scalars.ts"
import { Choice } from "./TurnEvent.ts"

const { optionalKey } = Schema
const limit = optionalKey(between(1, 200))

export type Reference = typeof Presented.Encoded
export type ShownFigures = typeof Figures.Encoded
export type Cell = NonNullable<Reference["cells"]>[number]

const summary = {
  id: Schema.String,
  /** The first question. */
  title: Schema.String,
  createdAt: Schema.String,
  updatedAt: Schema.String
}

export const ConversationSummary = Schema.Struct({
  ...summary,
  turns: Schema.Int,
  /** The part of a question that contains the words of a search; absent if the title shows them. */
  matched: optionalKey(Schema.String)
})
export type ConversationSummary = typeof ConversationSummary.Encoded

export const ConversationsQuery = {
  /** Words that one of the conversation's questions contains. */
  search: optionalKey(anyTextUpTo(200)),
  /** `next` of the previous page. */
  after: optionalKey(Name),
  limit
}

export const ConversationPage = Schema.Struct({
  conversations: Schema.Array(ConversationSummary),
  next: optionalKey(Schema.String)
})
export type ConversationPage = typeof ConversationPage.Encoded

/** A stored turn; the answer is omitted if the policy or the membership has changed since. */
export const StoredTurn = Schema.Struct({
  /** Counts from 1. */
  position: Schema.Int,
  asked: Schema.String,
  at: Schema.String,
  reference: Schema.String,
  answered: optionalKey(Schema.String),
  references: optionalKey(Schema.Array(Presented)),
  list: optionalKey(PresentedList),
  figures: optionalKey(Schema.Array(Figures)),
  /** Only on the conversation's last turn: the choices that the answer offers. */
  choices: optionalKey(Schema.Array(Choice))
})
export type StoredTurn = typeof StoredTurn.Encoded

export const TurnsQuery = {
  /** Only turns before this position. */
  before: optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  limit
}

export const Conversation = Schema.Struct({ ...summary, turns: Schema.Array(StoredTurn) })
export type Conversation = typeof Conversation.Encoded
