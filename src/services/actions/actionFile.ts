/** The shape of a file of actions, as Schema: its JSON Schema for editors is made from it. What it can't say, `readActions` checks. */
import { Schema } from "effect"
import { CONFIRMATIONS } from "../../domain/Action.ts"
import { isJsonObject } from "../../domain/json.ts"
import { DECLARED_CATEGORIES, FIELD_CHECKS, FIELD_KINDS, METHODS } from "../../domain/DeclaredAction.ts"

const { optionalKey } = Schema
const text = (most: number, description?: string) =>
  Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(most)).annotate(
    description === undefined ? {} : { description }
  )
const whole = (minimum: number, maximum: number, description?: string) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum })).annotate(description === undefined ? {} : { description })
const slug = (description: string) =>
  Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9_]{0,62}$/)).annotate({ description })
const texts = (most: number) => Schema.Record(Schema.String, text(most))
const some = <S extends Schema.Top>(item: S, most: number) => Schema.Array(item).check(Schema.isMaxLength(most))

const fieldProperties = {
  slug: slug("What callers write"),
  name: text(60, "What people read"),
  kind: Schema.Literals(FIELD_KINDS),
  needed: optionalKey(Schema.Boolean),
  description: optionalKey(text(200)),
  values: optionalKey(some(text(200), 100).annotate({ description: "The closed list of values" })),
  default: optionalKey(text(200)),
  min: optionalKey(Schema.Finite),
  max: optionalKey(Schema.Finite),
  maxLength: optionalKey(whole(1, 10_000, "In characters; of a list or group, the most entries")),
  pattern: optionalKey(text(200, "A regular expression that the whole text matches")),
  check: optionalKey(
    Schema.Literals(FIELD_CHECKS).annotate({
      description: "path: a relative path without ..; glob: a pattern of such paths"
    })
  )
}

const Field = Schema.Struct({
  ...fieldProperties,
  target: optionalKey(slug("Of a reference: the type of the entity that the person names")),
  from: optionalKey(
    Schema.Struct({
      action: slug("A read action of this file; its fields have their values from the fields of the same slugs"),
      sends: text(60, "The result whose value is sent"),
      match: some(text(60), 8).annotate({ description: "The results in which a person's words are looked for" })
    }).annotate({ description: "Of a reference without a target: the other system's own entries" })
  ),
  sends: optionalKey(slug("Of a reference: the column whose value is sent; without it, the entity's id is")),
  within: optionalKey(
    slug("Of a reference: another reference, which the entity leads to, as an item leads to its order")
  ),
  fields: optionalKey(
    some(Schema.Struct(fieldProperties), 50).annotate({ description: "Of a group: the fields of each entry" })
  )
})

const Http = Schema.Struct({
  method: Schema.Literals(METHODS),
  url: text(2000, "https://host/path/{field}?filter={field}: scheme and host are literal"),
  headers: optionalKey(texts(1000).annotate({ description: "Literal, or with {secret}; never with a field" })),
  body: optionalKey(Schema.Unknown.annotate({ description: 'JSON in which "{field}" stands for a value' })),
  secrets: optionalKey(texts(500).annotate({ description: "env:NAME or file:/path, by the name that headers use" })),
  seconds: optionalKey(whole(1, 60, "Seconds that the service has to answer (10)")),
  attempts: optionalKey(whole(1, 20, "The most requests (5)")),
  key: optionalKey(text(60, "The header in which the service honors an idempotency key, such as Idempotency-Key")),
  once: optionalKey(
    Schema.Literal(true).annotate({
      description: "The service honors no key: what may have arrived is never sent again"
    })
  ),
  result: optionalKey(texts(200).annotate({ description: "What to show of the answer: names and JSON pointers" })),
  entries: optionalKey(
    text(200, "Of a read: a JSON pointer to a list; the pointers of `result` are about each of its entries")
  ),
  problem: optionalKey(
    some(text(200), 8).annotate({ description: "JSON pointers to the reasons of a refusal; * is every entry" })
  )
})

const FileAction = Schema.Struct({
  slug: slug("What callers and policies write"),
  name: text(60, "What people read, such as Send a reminder"),
  description: text(200),
  examples: optionalKey(some(text(200), 8)),
  category: Schema.Literals(DECLARED_CATEGORIES),
  confirm: optionalKey(
    Schema.Literals(CONFIRMATIONS).annotate({ description: "The least confirmation; a policy only raises it" })
  ),
  seconds: optionalKey(whole(30, 86_400, "Seconds that a draft can be confirmed (300)")),
  limits: optionalKey(some(Schema.Struct({ n: whole(1, 1_000_000), seconds: whole(1, 86_400) }), 4)),
  fields: some(Field, 50),
  inverse: optionalKey(
    Schema.Struct({
      action: slug("An action of this file"),
      fields: Schema.Record(
        Schema.String,
        Schema.Union([
          Schema.Struct({ field: slug("A field of this action") }),
          Schema.Struct({ result: text(60, "A result of this action, which the service answered") })
        ])
      ).annotate({ description: "Where each field of that action has its value from" })
    }).annotate({
      description: "The action that takes back what this one did; it is proposed when a person undoes this"
    })
  ),
  http: Http
})
export type FileAction = typeof FileAction.Type

export const ActionFile = Schema.Struct({
  $schema: optionalKey(Schema.String),
  version: Schema.Literal(1),
  actions: some(FileAction, 100)
})

/** The JSON Schema of a file of actions. */
export const actionFileSchema = (): Readonly<Record<string, unknown>> => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(ActionFile)
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Actions of Max",
    description: "What members can have done in other systems. An action permits nothing: a policy does.",
    ...(strict(schema) as object),
    ...(Object.keys(definitions).length === 0 ? {} : { $defs: strict(definitions) })
  }
}

/** The schema with objects that have no other properties, as the reader has it. */
const strict = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(strict)
  if (!isJsonObject(schema)) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, strict(part)]))
  return isJsonObject(parts["properties"]) && parts["type"] === "object"
    ? { ...parts, additionalProperties: false }
    : parts
}
