/** All changes of the organization with their phases; never a value of a row. */
import { Schema } from "effect"
import { Confirmation } from "../../domain/Action.ts"
import { ChangeState } from "../../domain/Change.ts"
import { Id, PageSize, Timestamp } from "../scalars.ts"

const { optionalKey } = Schema

export const ChangeLogQuery = {
  /** The id of a change; the page contains changes that were proposed before it. */
  before: optionalKey(Id),
  limit: PageSize
}

const Who = Schema.Struct({
  id: Schema.String,
  name: optionalKey(Schema.String.annotate({ description: "The person's name, if you may see it" }))
})

const ChangePhase = Schema.Struct({
  at: Timestamp,
  phase: Schema.String.annotate({ description: "Such as `opened`, `confirmed` or `applied`" }),
  outcome: Schema.String,
  who: Who,
  channel: Schema.String,
  ms: optionalKey(Schema.Int.annotate({ description: "How long Max took, in milliseconds" }))
})

const LoggedChange = Schema.Struct({
  id: Schema.String,
  at: Timestamp,
  state: ChangeState,
  level: Confirmation,
  actionIds: Schema.Array(Schema.String),
  rows: Schema.Int,
  channel: Schema.String,
  token: optionalKey(Schema.String.annotate({ description: "The name of the token that proposed it" })),
  proposer: Who,
  phases: Schema.Array(ChangePhase)
})
export type LoggedChange = typeof LoggedChange.Encoded

export const ChangeLog = Schema.Struct({
  changes: Schema.Array(LoggedChange),
  next: optionalKey(Schema.String.annotate({ description: "`before` of the next page." }))
})
export type ChangeLog = typeof ChangeLog.Encoded
