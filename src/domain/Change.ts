/**
 * Changes: one immutable proposal of one or more steps, its document, what a viewer is shown of it, and what came of it.
 * `before` and `after` hold stored texts, not displayed ones, so that equal texts mean equal values.
 */
import { Schema } from "effect"
import { Confirmation } from "./Action.ts"

const optional = Schema.optionalKey

/**
 * `drafted`: its conversation's turn isn't kept yet, and its proposer doesn't see it. `open`: waits for its proposer. `waiting`: waits for
 * another person. The others are final.
 */
const CHANGE_STATES = [
  "drafted",
  "open",
  "waiting",
  "applied",
  "rejected",
  "withdrawn",
  "expired",
  "stale",
  "failed"
] as const
export const ChangeState = Schema.Literals(CHANGE_STATES)
export type ChangeState = typeof ChangeState.Type

/** Stored texts by column key; NULL for an empty cell. Lists and relations to many are Postgres arrays. */
const Texts = Schema.Record(Schema.String, Schema.NullOr(Schema.String))

/** One action on one entity. */
export const ChangeStep = Schema.Struct({
  /** The action's key. */
  action: Schema.String,
  version: Schema.Int,
  /** The type's key and version. */
  type: Schema.String,
  typeVersion: Schema.Int,
  /** The entity's id in its stored form; of a create, the id that the row will have. */
  entity: Schema.String,
  before: Texts,
  after: Texts,
  /** What identified the row to the person: its name. */
  shown: Texts,
  /** Of a delete: the whole row and its own links, as an undo writes them back; of an undone delete, what to write. */
  row: optional(Schema.String),
  /** Of a delete: how many rows of other tables go along or change, by schema.table. */
  carried: optional(Schema.Record(Schema.String, Schema.Int))
})
export type ChangeStep = typeof ChangeStep.Type

/** A declared action with its values, which another system carries out after the rows are written. */
export const ChangeCall = Schema.Struct({
  /** The action's slug. */
  action: Schema.String,
  version: Schema.Int,
  /** Texts by the field's slug. */
  values: Schema.Record(Schema.String, Schema.String),
  /**
   * What values were found for, by the field's slug: an entity, as callers write type and id; or an entry that an action has read
   * in the other system, with its name there.
   */
  refers: optional(
    Schema.Record(
      Schema.String,
      Schema.Union([
        Schema.Struct({ type: Schema.String, entity: Schema.String, sends: optional(Schema.String) }),
        Schema.Struct({ action: Schema.String, name: Schema.String })
      ])
    )
  ),
  /**
   * Values that are filled in before it is sent, by the field's slug: what an earlier call of the change is answered. `call` is its
   * place among the calls, from 0.
   */
  later: optional(Schema.Record(Schema.String, Schema.Struct({ call: Schema.Int, result: Schema.String })))
})
export type ChangeCall = typeof ChangeCall.Type

/**
 * `queued`: waits to be sent, also again. `trying`: a process is sending it. `refused` and `dead`: not done; the service refused
 * it, or it couldn't be sent. `unknown`: it may have been done.
 */
export const CallState = Schema.Literals(["queued", "trying", "done", "refused", "unknown", "dead"])
export type CallState = typeof CallState.Type

/** A policy file that a change publishes over the version that it was made from. */
export const Publication = Schema.Struct({
  replaces: Schema.Int,
  /** Of the text, in hex; as the version and its audit event have it. */
  sha256: Schema.String,
  text: Schema.String
})
export type Publication = typeof Publication.Type

/** The document of a change. Its canonical JSON is stored, and the digest is the SHA-256 of that text. */
export const ChangeDocument = Schema.Struct({
  /** 2: it publishes a policy. A process of an older version can't read it, and so doesn't apply it without publishing. */
  v: Schema.Literals([1, 2]),
  organization: Schema.String,
  change: Schema.String,
  proposer: Schema.String,
  actor: optional(Schema.String),
  steps: Schema.Array(ChangeStep),
  /** Sent in this order, after the steps are applied. */
  calls: optional(Schema.Array(ChangeCall)),
  /** Alone: a change that publishes a policy has no steps and no calls. */
  publishes: optional(Publication),
  level: Confirmation,
  approvers: optional(Schema.Array(Schema.String)),
  /** SHA-256 of the actions, entities and values of a proposal with a key, in hex. */
  request: optional(Schema.String),
  undoes: optional(Schema.String),
  /** Of an undo: the names of actions that another system did or may have done, and that it doesn't take back. */
  remains: optional(Schema.Array(Schema.String))
})
export type ChangeDocument = typeof ChangeDocument.Type

/** One cell of a preview; both texts are printable, and absent for an empty cell. */
export const PreviewCell = Schema.Struct({
  columnId: Schema.String,
  name: Schema.String,
  was: optional(Schema.String),
  becomes: optional(Schema.String)
})
export type PreviewCell = typeof PreviewCell.Type

export const PreviewStep = Schema.Struct({
  /** The action's slug and name. */
  actionId: Schema.String,
  action: Schema.String,
  /** Empty for an action of another system, as its entity's id is. */
  entityTypeId: Schema.String,
  entityId: Schema.String,
  /** The name of the entity; absent where the viewer may not see it. */
  displayName: optional(Schema.String),
  cells: Schema.Array(PreviewCell),
  /** Of an action of another system: its host and, once it is confirmed, what came of it. */
  call: optional(Schema.Struct({ host: Schema.String, state: optional(CallState), message: optional(Schema.String) }))
})
export type PreviewStep = typeof PreviewStep.Type

/** What publishing a policy file would change, or did: from the version that it replaces. */
export const PreviewPolicy = Schema.Struct({
  replaces: Schema.Int,
  changes: Schema.Array(Schema.Struct({ mark: Schema.Literals(["+", "-", "~"]), what: Schema.String })),
  /** Empty once it is decided. */
  warnings: Schema.Array(Schema.String),
  /** The file's own tests, as they pass now, while it isn't decided: how many there are, and which fail. */
  tests: optional(Schema.Struct({ count: Schema.Int, failing: Schema.Array(Schema.String) })),
  /** Why it can't be published any more. */
  problems: Schema.Array(Schema.String)
})
export type PreviewPolicy = typeof PreviewPolicy.Type

/** What came of a decided change; no values. */
export const Receipt = Schema.Struct({
  state: ChangeState,
  /** One sentence. */
  message: Schema.String,
  rows: Schema.Int,
  /** How many of the rows are actions of other systems. */
  calls: optional(Schema.Int),
  /** Whether one of those that are done declares an inverse, which undoing the change proposes. */
  invertible: optional(Schema.Boolean),
  /** Whether it stays for good: nothing here undoes it. */
  lasting: optional(Schema.Literal(true)),
  /** Of a publication: the version of the policy that it put in force. */
  version: optional(Schema.Int),
  /** ISO 8601, UTC. */
  at: Schema.String,
  by: Schema.String,
  entities: Schema.Array(
    Schema.Struct({ actionId: Schema.String, entityTypeId: Schema.String, entityId: Schema.String })
  )
})
export type Receipt = typeof Receipt.Type

/** The ticket or e-mail that a change was read from; nothing is permitted because of its author. */
export const MessageSource = Schema.Struct({ source: Schema.String, sourceId: Schema.String, from: Schema.String })
export type MessageSource = typeof MessageSource.Type

/** What a viewer is shown of a change: a function of the document and the viewer's own plan. */
export const Preview = Schema.Struct({
  changeId: Schema.String,
  state: ChangeState,
  level: Confirmation,
  /** Present with a complete preview: what a confirmation sends back. */
  digest: optional(Schema.String),
  /** Whether the viewer sees everything that the change touches; only such a viewer can confirm or approve it. */
  complete: Schema.Boolean,
  destructive: Schema.Boolean,
  rows: Schema.Int,
  /** Whether the proposer has confirmed a change of level `twice` once. */
  confirmedOnce: Schema.Boolean,
  /** Whole seconds until it expires; absent once it is decided. */
  seconds: optional(Schema.Int),
  proposer: Schema.String,
  /** Whether the viewer proposed it. */
  own: Schema.Boolean,
  /** Absent where the viewer may not see it. */
  proposerName: optional(Schema.String),
  /** The channel that it was proposed through. */
  channel: Schema.String,
  /** The name of the token that proposed it: a program wrote it, so no words of the person can be compared with it. */
  token: optional(Schema.String),
  source: optional(MessageSource),
  /** ISO 8601, UTC. */
  createdAt: Schema.String,
  /** The roles of which an approver needs one. */
  approvers: Schema.Array(Schema.String),
  /** Empty after the values have been erased. */
  steps: Schema.Array(PreviewStep),
  /** Of a publication, for viewers who may change the policy. */
  policy: optional(PreviewPolicy),
  receipt: optional(Receipt),
  undoes: optional(Schema.String),
  /** Of an undo: the names of actions that it doesn't take back. */
  remains: optional(Schema.Array(Schema.String)),
  /** Whether it can't be undone here once it is confirmed, as the deletion of a row that Max doesn't read whole. */
  lasting: optional(Schema.Literal(true)),
  undoneBy: optional(Schema.String),
  replacedBy: optional(Schema.String)
})
export type Preview = typeof Preview.Type

/** An entry of a list of changes. */
export const ChangeSummary = Schema.Struct({
  changeId: Schema.String,
  state: ChangeState,
  level: Confirmation,
  actionIds: Schema.Array(Schema.String),
  rows: Schema.Int,
  proposer: Schema.String,
  /** Of another person's change; absent where the reader may not see that person. */
  proposerName: optional(Schema.String),
  channel: Schema.String,
  /** ISO 8601, UTC. */
  createdAt: Schema.String,
  /** The position of its turn in its conversation. */
  turn: optional(Schema.Int),
  seconds: optional(Schema.Int),
  receipt: optional(Receipt),
  replacedBy: optional(Schema.String)
})
export type ChangeSummary = typeof ChangeSummary.Type

/** One applied change of one entity. */
export const HistoryEntry = Schema.Struct({
  changeId: Schema.String,
  actionId: Schema.String,
  /** Entity ids of who proposed and who decided. */
  proposer: Schema.String,
  decider: Schema.String,
  /** Absent where the reader may not see that person. */
  proposerName: optional(Schema.String),
  deciderName: optional(Schema.String),
  channel: Schema.String,
  /** ISO 8601, UTC. */
  at: Schema.String,
  /** The slugs of the changed columns that the reader may see now. */
  columnIds: Schema.Array(Schema.String),
  /** Absent after the values have been erased. */
  cells: optional(Schema.Array(PreviewCell))
})
export type HistoryEntry = typeof HistoryEntry.Type
