/** Text messages: the organization's numbers and the log, without any message's content. */
import { Schema } from "effect"
import { PageSize, Timestamp } from "../scalars.ts"

const { optionalKey } = Schema

export const TextsQuery = {
  /** `at` of an entry; the page contains older entries. */
  before: optionalKey(Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z$/))),
  limit: PageSize
}

const LoggedText = Schema.Struct({
  at: Timestamp,
  direction: Schema.Literals(["in", "out"]),
  number: Schema.String.annotate({ description: "The person's number, masked" }),
  line: Schema.String.annotate({ description: "The organization's number, masked" }),
  person: optionalKey(
    Schema.Struct({ id: Schema.String, name: Schema.String }).annotate({
      description: "The admitted person, if you may see the name."
    })
  ),
  state: Schema.String.annotate({ description: "How a message was handled, or how far a text was delivered" }),
  kind: optionalKey(Schema.String),
  segments: optionalKey(Schema.Int),
  error: optionalKey(Schema.String.annotate({ description: "An error code of the provider or of Max" }))
})
export type LoggedText = typeof LoggedText.Encoded

export const TextLog = Schema.Struct({
  lines: Schema.Array(
    Schema.Struct({
      number: Schema.String.annotate({ description: "The organization's number, in full" }),
      provider: Schema.String
    })
  ),
  openRole: optionalKey(
    Schema.String.annotate({
      description: "The role that every identified sender gets; omitted while only members are admitted"
    })
  ),
  texts: Schema.Array(LoggedText),
  next: optionalKey(Timestamp.annotate({ description: "`before` of the next page." }))
})
export type TextLog = typeof TextLog.Encoded
