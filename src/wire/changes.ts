/** Changes over HTTP: what can be done, what is proposed, what a viewer is shown of it, and what came of it. */
import { Schema } from "effect"
import { Confirmation } from "../domain/Action.ts"
import { ChangeState, ChangeSummary, HistoryEntry, Preview, Receipt } from "../domain/Change.ts"
import { between, Id, Strings, textUpTo, Timestamp } from "./scalars.ts"

const { optionalKey } = Schema

export { Preview }

/** A change's id. */
export const ChangeId = Id

const formField = {
  slug: Schema.String,
  name: Schema.String,
  kind: Schema.String,
  needed: Schema.Boolean,
  description: optionalKey(Schema.String),
  values: optionalKey(Strings),
  default: optionalKey(Schema.String),
  min: optionalKey(Schema.Finite),
  max: optionalKey(Schema.Finite),
  maxLength: optionalKey(Schema.Int),
  pattern: optionalKey(Schema.String),
  check: optionalKey(Schema.String)
}

/** A field as a form shows it. What a value becomes, and whether it fits, is decided when it is proposed. */
export const FormField = Schema.Struct({
  ...formField,
  chosen: optionalKey(
    Schema.Literal(true).annotate({ description: "It stands for an entity: POST /v1/actions/:id/choices finds it" })
  ),
  within: optionalKey(Schema.String.annotate({ description: "The field whose entity it belongs to" })),
  fields: optionalKey(Schema.Array(Schema.Struct(formField)).annotate({ description: "Of a group's entries" }))
})
export type FormField = typeof FormField.Encoded

export const OpenAction = Schema.Struct({
  id: Schema.String.annotate({ description: "What a step names, such as people.update" }),
  name: Schema.String,
  description: Schema.String,
  category: Schema.String,
  entityTypeId: optionalKey(Schema.String.annotate({ description: "Absent for an action of another system" })),
  confirm: Confirmation.annotate({ description: "The least confirmation; a change may need a stricter one" }),
  seconds: Schema.Int.annotate({ description: "How long a draft of it can be confirmed" }),
  input: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description: "JSON Schema of a step, with the columns that the caller may set on some row"
  }),
  fields: Schema.Array(FormField).annotate({ description: "The values that the caller may set, for a form" })
})
export type OpenAction = typeof OpenAction.Encoded

export const OpenActions = Schema.Struct({ actions: Schema.Array(OpenAction) })
export type OpenActions = typeof OpenActions.Encoded

export const Choosing = Schema.Struct({
  field: textUpTo(200).annotate({ description: "The slug of a field that stands for an entity" }),
  text: Schema.String.check(Schema.isMaxLength(400)).annotate({
    description: "A part of what names it; an empty text lists the first ones"
  }),
  values: optionalKey(
    Schema.Record(Schema.String, Schema.String).annotate({ description: "The values of the other fields so far" })
  )
})

export const FieldChoices = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({ value: Schema.String.annotate({ description: "What the field takes" }), name: Schema.String })
  )
})
export type FieldChoices = typeof FieldChoices.Encoded

/** An action's slug, as a path parameter. */
export const ActionId = textUpTo(200)

const Pointer = Schema.Struct({
  step: Schema.Int.annotate({ description: "The place of an earlier step, from 0" }),
  result: textUpTo(60).annotate({ description: "The name of one of its results" })
})

const Values = Schema.Union([Schema.Record(Schema.String, Schema.Union([Schema.String, Pointer])), Strings]).annotate({
  description:
    'By column, { "status": "Won" }, or as ["status=Won"]. An empty text empties the cell. { "step": 0, "result": "Number" } takes what an earlier step has read, or is answered when it is done; "id" is the id of a row that it adds'
})

const Step = Schema.Struct({
  actionId: Schema.String,
  entityIds: optionalKey(Strings),
  values: optionalKey(Values)
})
/** One action on one or more entities, as programs write it. */
export type Step = typeof Step.Type

export const Propose = Schema.Struct({
  steps: Schema.Array(Step).annotate({ description: "Applied together or not at all" }),
  key: optionalKey(
    textUpTo(200).annotate({ description: "Idempotency key: the same key is the same change, whatever became of it" })
  )
})

export const Draft = Schema.Struct({
  changeId: Schema.String,
  known: Schema.Boolean.annotate({ description: "Whether the same proposal existed before" }),
  preview: Preview,
  reads: optionalKey(
    Schema.Array(
      Schema.Struct({
        actionId: Schema.String,
        rows: Schema.Array(Schema.Record(Schema.String, Schema.String))
      })
    ).annotate({ description: "What its steps have read, in their order" })
  )
})
export type Draft = typeof Draft.Encoded

/** The lists of changes. */
const LISTS = ["waiting", "mine", "decided"] as const

export const ChangesQuery = {
  list: optionalKey(
    Schema.Literals(LISTS).annotate({
      description:
        "waiting (default): for the caller's decision; mine: proposed by the caller; decided: proposed or decided by the caller, and final"
    })
  ),
  /** Of one conversation. */
  session: optionalKey(Id),
  /** That touch rows of this type. */
  type: optionalKey(textUpTo(200)),
  /** Proposed by this person: an entity id in People. */
  proposer: optionalKey(Id),
  state: optionalKey(ChangeState),
  /** `next` of the previous page. */
  after: optionalKey(ChangeId),
  limit: optionalKey(Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 100 })))
}

/** The same for programs in the same process. */
export const ListChanges = Schema.Struct({
  list: ChangesQuery.list,
  after: ChangesQuery.after,
  limit: optionalKey(between(1, 100))
})

export const ChangePage = Schema.Struct({ changes: Schema.Array(ChangeSummary), next: optionalKey(Schema.String) })
export type ChangePage = typeof ChangePage.Encoded

export const Confirm = Schema.Struct({
  digest: Schema.String.annotate({ description: "The digest of the preview that the person saw" }),
  rows: optionalKey(
    between(0, 1_000_000).annotate({
      description: "At the second confirmation of level twice: the number of rows, as the person typed it"
    })
  )
})

export const Applied = Schema.TaggedStruct("Applied", { receipt: Receipt })
export type Applied = typeof Applied.Encoded

/** Confirmed, and not applied yet. */
export const Pending = Schema.Union([
  /** Level `twice`: confirm again with the number of rows, a second later at the earliest. */
  Schema.TaggedStruct("Again", { rows: Schema.Int }),
  /** Level `second`: a person with one of these roles decides. */
  Schema.TaggedStruct("Waiting", { approvers: Strings })
])
export type Pending = typeof Pending.Encoded

export const ChangeEvents = Schema.Struct({
  events: Schema.Array(
    Schema.Struct({
      at: Timestamp,
      phase: Schema.String,
      outcome: Schema.String,
      who: Schema.String.annotate({ description: "An entity id in People" }),
      channel: Schema.String
    })
  )
})
export type ChangeEvents = typeof ChangeEvents.Encoded

export const History = Schema.Struct({ entries: Schema.Array(HistoryEntry) })
export type History = typeof History.Encoded
