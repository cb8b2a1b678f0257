/** The audit log and the verification of its hash chains. */
import { Schema } from "effect"
import { Id, PageSize, textUpTo, Timestamp } from "../scalars.ts"

const { optionalKey } = Schema

const Chain = Schema.Literals(["changes", "reads"])
export type Chain = typeof Chain.Encoded

export const AuditQuery = {
  chain: optionalKey(Chain),
  /** Prefix of the action. */
  action: optionalKey(textUpTo(100)),
  /** The actor or the subject: an entity id, or `operator`. */
  who: optionalKey(Id),
  /** ISO 8601: a date, or a time in UTC. */
  since: optionalKey(Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}(T[\d:.]{5,15}Z)?$/))),
  before: optionalKey(Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0))),
  limit: PageSize
}

const AuditRecord = Schema.Struct({
  sequence: Schema.Int,
  at: Timestamp,
  actor: Schema.String.annotate({ description: "An entity id, or `operator`" }),
  actorName: optionalKey(Schema.String),
  action: Schema.String,
  subject: Schema.String,
  subjectName: optionalKey(Schema.String),
  personName: optionalKey(Schema.String.annotate({ description: "The name of `details.person`" })),
  details: Schema.Record(Schema.String, Schema.Unknown)
})
export type AuditRecord = typeof AuditRecord.Encoded

export const AuditPage = Schema.Struct({
  records: Schema.Array(AuditRecord),
  next: optionalKey(Schema.Int.annotate({ description: "`before` of the next page." }))
})
export type AuditPage = typeof AuditPage.Encoded

const Verification = Schema.Struct({
  chain: Chain,
  records: Schema.Int,
  head: optionalKey(Schema.String.annotate({ description: "NUMBER:HASH; store it outside of Max" })),
  broken: optionalKey(Schema.Int.annotate({ description: "The first record that was changed or is missing" }))
})
export type Verification = typeof Verification.Encoded

export const Verifications = Schema.Struct({ chains: Schema.Array(Verification) })
export type Verifications = typeof Verifications.Encoded
