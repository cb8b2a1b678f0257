/** Tickets and e-mails: what an integration hands in, and what came of it. */
import { Schema } from "effect"
import { ChangeSummary } from "../domain/Change.ts"
import { anyTextUpTo, textUpTo } from "./scalars.ts"

/** A message of another system. */
export const Intake = Schema.Struct({
  source: Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9-]{0,39}$/)).annotate({
    description: "The system that it comes from, such as zendesk"
  }),
  sourceId: textUpTo(200).annotate({
    description: "The message's id in that system. The same id is answered once; sent again, it gets the same answer"
  }),
  from: anyTextUpTo(320).annotate({
    description: "Its author, for the people who approve. Nothing is permitted because of it"
  }),
  text: Schema.String
})
export type Intake = typeof Intake.Type

export const TakenIn = Schema.Struct({
  conversation: Schema.String,
  known: Schema.Boolean.annotate({ description: "Whether the message was answered before" }),
  reply: Schema.optionalKey(
    Schema.String.annotate({ description: "Absent where the policy or the membership has changed since" })
  ),
  changes: Schema.Array(ChangeSummary).annotate({ description: "What the message asked to change, as it stands now" })
})
export type TakenIn = typeof TakenIn.Encoded
