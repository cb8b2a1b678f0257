/** The policy in plain words, its history, and explanations of what a person sees. */
import { Schema } from "effect"
import { Strings, textUpTo } from "../scalars.ts"
import { personReference } from "./people.ts"

const { optionalKey } = Schema

const Extent = Schema.Literals(["all", "some", "none"]).annotate({
  description: "Every row, the rows that match a condition, or no row"
})
export type Extent = typeof Extent.Encoded

const RuleEffect = Schema.Literals(["allow", "deny"])

export const Rules = Schema.Array(Schema.Struct({ id: Schema.String, effect: RuleEffect, words: Schema.String }))

const Role = Schema.Struct({
  role: Schema.String,
  inherits: Strings,
  administers: Schema.Boolean,
  powers: Strings.annotate({ description: "What the role may change here besides suspending members." }),
  members: Schema.Int.annotate({ description: "Number of active members with this role." }),
  rules: Rules,
  reach: Schema.Array(
    Schema.Struct({
      type: Schema.String,
      typeName: Schema.String,
      rows: Extent,
      columns: Schema.Array(Schema.Struct({ column: Schema.String, name: Schema.String, extent: Extent }))
    })
  )
})
export type Role = typeof Role.Encoded

export const Policy = Schema.Struct({ version: Schema.Int, roles: Schema.Array(Role) })
export type Policy = typeof Policy.Encoded

const PolicyVersion = Schema.Struct({
  version: Schema.Int,
  author: Schema.String,
  authorName: optionalKey(Schema.String),
  publishedAt: Schema.String.annotate({ description: "In the organization's time zone" }),
  sha256: Schema.String,
  rules: Schema.Int,
  inForce: Schema.Boolean
})
export type PolicyVersion = typeof PolicyVersion.Encoded

export const PolicyVersions = Schema.Struct({ versions: Schema.Array(PolicyVersion) })
export type PolicyVersions = typeof PolicyVersions.Encoded

export const VersionPair = {
  from: Schema.FiniteFromString.check(Schema.isInt()),
  to: Schema.FiniteFromString.check(Schema.isInt())
}

export const PolicyChanges = Schema.Struct({
  changes: Schema.Array(Schema.Struct({ mark: Schema.Literals(["+", "-", "~"]), what: Schema.String }))
})
export type PolicyChanges = typeof PolicyChanges.Encoded

export const Types = Schema.Struct({ types: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String })) })
export type Types = typeof Types.Encoded

export const TypeQuestion = Schema.Struct({ ...personReference, type: optionalKey(textUpTo(63)) })
export type TypeQuestion = typeof TypeQuestion.Encoded

const TypeExplanation = Schema.Struct({
  who: Schema.String,
  roles: Strings,
  type: Schema.String,
  total: Schema.Int.annotate({ description: "Rows of the type that you see yourself." }),
  visible: Schema.Int.annotate({
    description:
      "How many of these rows the person sees, without those that depend on a reference to data that you may not see."
  }),
  /** Why the whole type is denied. */
  denied: optionalKey(Schema.String),
  rules: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      role: Schema.String,
      effect: RuleEffect,
      words: Schema.String,
      /** Rows that it matches; for a deny, including those on which its condition is unknown. */
      rows: Schema.Int
    })
  ),
  /** The rules that aren't in force now, as sentences. */
  notInForce: Strings,
  columns: Schema.Array(Schema.Struct({ column: Schema.String, rows: Schema.Int, because: Schema.String }))
})
export type TypeExplanation = typeof TypeExplanation.Encoded

const RefusedExplanation = Schema.Struct({
  type: Schema.String,
  refused: Schema.String.annotate({ description: "Why this type isn't explained." })
})
export type RefusedExplanation = typeof RefusedExplanation.Encoded

export const TypeExplanations = Schema.Struct({
  explanations: Schema.Array(Schema.Union([TypeExplanation, RefusedExplanation]))
})
export type TypeExplanations = typeof TypeExplanations.Encoded

export const RowQuestion = Schema.Struct({ ...personReference, type: textUpTo(63), row: textUpTo(200) })
export type RowQuestion = typeof RowQuestion.Encoded

const Truth = Schema.Literals(["yes", "no", "unknown"])
export type Truth = typeof Truth.Encoded

export const RowExplanation = Schema.Struct({
  who: Schema.String,
  roles: Strings,
  type: Schema.String,
  entityId: Schema.String,
  name: Schema.String,
  visible: Schema.Boolean,
  because: Schema.String,
  rules: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      role: Schema.String,
      effect: RuleEffect,
      words: Schema.String,
      truth: Truth,
      /** The columns that a deny of cells hides; absent for a deny of rows. */
      hides: optionalKey(Schema.String),
      /** Conditions, and the connectives of the conditions one level deeper. */
      conditions: Schema.Array(
        Schema.Struct({ depth: Schema.Int, words: Schema.String, truth: Truth, column: optionalKey(Schema.String) })
      )
    })
  ),
  columns: Schema.Array(
    Schema.Struct({
      column: Schema.String,
      value: optionalKey(Schema.String.annotate({ description: "As text; omitted if you may not see it." })),
      visible: Schema.Boolean,
      because: Schema.String
    })
  )
})
export type RowExplanation = typeof RowExplanation.Encoded
