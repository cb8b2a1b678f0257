/**
 * Declared actions: what an organization's members can have done in other systems. A declaration is data, published as an
 * immutable version; it has typed fields, and one HTTP request as a template over them.
 */
import { Schema } from "effect"
import { Confirmation } from "./Action.ts"

const { optionalKey } = Schema
const Texts = Schema.Record(Schema.String, Schema.String)

/**
 * The kinds of fields. A `group` is a list of entries with fields of their own, such as the items of an order; a `reference` is an
 * entity of the organization that the person names.
 */
export const FIELD_KINDS = [
  "text",
  "email",
  "phone",
  "integer",
  "number",
  "boolean",
  "date",
  "timestamp",
  "list",
  "group",
  "reference"
] as const
export type FieldKind = (typeof FIELD_KINDS)[number]

/** The checks of texts that name files: a relative path without `..`, and a pattern of such paths. */
export const FIELD_CHECKS = ["path", "glob"] as const

const fieldProperties = {
  slug: Schema.String,
  name: Schema.String,
  kind: Schema.Literals(FIELD_KINDS),
  needed: Schema.Boolean,
  description: optionalKey(Schema.String),
  /** The closed list of values. */
  values: optionalKey(Schema.Array(Schema.String)),
  default: optionalKey(Schema.String),
  min: optionalKey(Schema.Finite),
  max: optionalKey(Schema.Finite),
  /** In characters; of a list or group, the most entries. */
  maxLength: optionalKey(Schema.Int),
  /** A regular expression that the whole text matches. */
  pattern: optionalKey(Schema.String),
  check: optionalKey(Schema.Literals(FIELD_CHECKS))
}

export const ActionField = Schema.Struct({
  ...fieldProperties,
  /** Of a reference: the slug of its type. */
  target: optionalKey(Schema.String),
  /** Of a reference without a type: the action that reads its candidates, which result is sent, and which ones name it. */
  from: optionalKey(Schema.Struct({ action: Schema.String, sends: Schema.String, match: Schema.Array(Schema.String) })),
  /** Of a reference: the slug of the column whose value is sent; without it, the entity's id is. */
  sends: optionalKey(Schema.String),
  /** Of a reference: the slug of another reference that the entity belongs to, and of the column that leads there. */
  within: optionalKey(Schema.Struct({ field: Schema.String, column: Schema.String })),
  /** Of a group. */
  fields: optionalKey(Schema.Array(Schema.Struct(fieldProperties)))
})
export type ActionField = typeof ActionField.Type

export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
/** The category of actions that only read: they are answered at once, without a change. */
export const READ = "read"
export const DECLARED_CATEGORIES = ["write", "destructive", "external", READ] as const

export const HttpRequest = Schema.TaggedStruct("Http", {
  method: Schema.Literals(METHODS),
  /** A template whose scheme and host are literal. */
  url: Schema.String,
  /** Literal, except for names of secrets. */
  headers: Texts,
  /** JSON; its texts are templates. */
  body: optionalKey(Schema.Unknown),
  /** References: `env:NAME` or `file:/path`. */
  secrets: Texts,
  /** The time that the service has to answer. */
  seconds: Schema.Int,
  /** The most requests. */
  attempts: Schema.Int,
  /** The header of the idempotency key that the service honors. Without it, a request that may have arrived isn't repeated. */
  key: optionalKey(Schema.String),
  /** JSON pointers into the answer, by what they are called. */
  result: optionalKey(Texts),
  /** Of a read: a JSON pointer to the list whose entries the pointers of `result` are about; without it, the answer is one. */
  entries: optionalKey(Schema.String),
  /** JSON pointers into the answer of a refusal; `*` stands for every entry. */
  problem: Schema.Array(Schema.String)
})
export type HttpRequest = typeof HttpRequest.Type

/** A function of a program that embeds Max. Only this program runs it, for the organization that it declared it for. */
const CodeRun = Schema.TaggedStruct("Code", {
  seconds: Schema.Int,
  attempts: Schema.Int,
  /** Whether the same idempotency key does it once. Without it, what may have run is never run again. */
  idempotent: Schema.Boolean
})

const Executor = Schema.Union([HttpRequest, CodeRun])
export type Executor = typeof Executor.Type

/** Whether a call that may have been done can be sent again under its key. */
export const isRepeatable = (executor: Executor): boolean =>
  executor._tag === "Http" ? executor.key !== undefined : executor.idempotent

/** Where a call goes, in words. */
export const placeOf = (executor: Executor): string =>
  executor._tag === "Http" ? (executor.url.split("/")[2] ?? "") : "a program of your organization"

/** How and where a call goes, for operators. */
export const targetOf = (executor: Executor): string =>
  executor._tag === "Http" ? `${executor.method} ${placeOf(executor)}` : "program"

/**
 * The action that takes back what this one did. Each of its fields has its value from a field of this action, or from what the
 * service answered.
 */
const Inverse = Schema.Struct({
  action: Schema.String,
  fields: Schema.Record(
    Schema.String,
    Schema.Union([Schema.Struct({ field: Schema.String }), Schema.Struct({ result: Schema.String })])
  )
})

export const DeclaredAction = Schema.Struct({
  /** Also its key: an action keeps its slug, and a retired slug names no other action. */
  slug: Schema.String,
  name: Schema.String,
  description: Schema.String,
  examples: Schema.Array(Schema.String),
  category: Schema.Literals(DECLARED_CATEGORIES),
  fields: Schema.Array(ActionField),
  confirm: Confirmation,
  /** How long a draft can be confirmed. */
  seconds: Schema.Int,
  /** At most `n` of a person within so many seconds. */
  limits: Schema.Array(Schema.Struct({ n: Schema.Int, seconds: Schema.Int })),
  inverse: optionalKey(Inverse),
  executor: Executor,
  version: Schema.Int
})
export type DeclaredAction = typeof DeclaredAction.Type

/** The values of a call: texts by the field's slug, checked and in one form. A group's text is JSON. */
export type CallValues = Readonly<Record<string, string>>
