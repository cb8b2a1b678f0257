/** Open actions for programs: each with the JSON Schema of a step, made from the action itself. */
import type { ColumnKind } from "../../domain/EntityType.ts"
import type { FormField, OpenAction as Described } from "../../wire/changes.ts"
import type { ActionField, FieldKind } from "../../domain/DeclaredAction.ts"
import type { OpenAction, OpenDeclaredAction, OpenRowAction } from "./callers.ts"

type JsonSchema = Readonly<Record<string, unknown>>

/** How the text of a value is written. An empty text empties the cell, so no format is asserted. */
const WRITTEN: Readonly<Record<ColumnKind | FieldKind, string>> = {
  text: "Text",
  phone: "A phone number",
  email: "An e-mail address",
  integer: "A whole number",
  number: "A number",
  boolean: "true or false",
  date: "A date such as 2026-03-31",
  timestamp: "A time such as 2026-03-31 14:00",
  list: "Texts separated by semicolons",
  reference: "An entityId, or what identifies one entity: its name, e-mail address or phone number",
  group: "A JSON list of objects",
  references: "EntityIds, or what identifies each entity, separated by semicolons"
}

export const describeAction = (open: OpenAction): Described => {
  const { category, confirm, description, name, seconds, slug } = open.action
  const about = { id: slug, name, description, category, confirm, seconds }
  return open.type === undefined
    ? { ...about, input: inputOfDeclared(open), fields: open.action.fields.map(formFieldOf) }
    : { ...about, entityTypeId: open.type.slug, input: inputOf(open), fields: settable(open).map(formFieldOf) }
}

/** The fields of an action on rows that the caller may set. */
const settable = ({ action, columns }: OpenRowAction) => action.fields.filter(({ key }) => columns.includes(key))

/** A field as a form shows it: without where its choices come from and what is sent for them. */
const formFieldOf = (field: ActionField | OpenRowAction["action"]["fields"][number]): FormField => {
  if ("key" in field) {
    const { kind, name, needed, slug, target, values } = field
    const isChosen = kind === "reference" && target !== undefined
    return {
      slug,
      name,
      kind,
      needed,
      ...(values === undefined ? {} : { values }),
      ...(isChosen ? { chosen: true } : {})
    }
  }
  const { from: _, sends: __, target: ___, within, ...shown } = field
  return {
    ...shown,
    ...(field.kind === "reference" ? { chosen: true } : {}),
    ...(within === undefined ? {} : { within: within.field })
  }
}

const inputOfDeclared = ({ action: { fields, slug } }: OpenDeclaredAction): JsonSchema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { actionId: { const: slug }, values: valuesOf(fields) },
  required: ["actionId", ...(fields.some(isRequired) ? ["values"] : [])],
  additionalProperties: false
})

const isRequired = ({ default: standard, needed }: ActionField): boolean => needed && standard === undefined

/** Every value is a text; a group's is JSON, whose entries have these fields. */
const valuesOf = (fields: ReadonlyArray<ActionField>): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(
    fields.map(({ default: standard, description, fields: inner, kind, maxLength, name, pattern, slug, values }) => [
      slug,
      {
        type: "string",
        title: name,
        description: description ?? WRITTEN[kind],
        ...(values === undefined ? {} : { enum: values }),
        ...(standard === undefined ? {} : { default: standard }),
        ...(pattern === undefined ? {} : { pattern: `^(?:${pattern})$` }),
        ...(maxLength === undefined || inner !== undefined || kind === "list" ? {} : { maxLength }),
        ...(inner === undefined
          ? {}
          : { contentMediaType: "application/json", contentSchema: { type: "array", items: valuesOf(inner) } })
      }
    ])
  ),
  required: fields.filter(isRequired).map(({ slug }) => slug),
  additionalProperties: false
})

/** The schema of a step as a caller writes it, with the columns that the caller may set on some row. */
const inputOf = (open: OpenRowAction): JsonSchema => {
  const { action } = open
  const fields = settable(open)
  const { executor, subject } = action
  const properties = {
    actionId: { const: action.slug },
    ...(executor.op === "create"
      ? {}
      : { entityIds: { type: "array", items: { type: "string" }, minItems: 1, maxItems: subject.most } }),
    ...(executor.op === "delete"
      ? {}
      : {
          values: {
            type: "object",
            properties: Object.fromEntries(
              fields.map(({ kind, name, slug, values }) => [
                slug,
                {
                  type: "string",
                  title: name,
                  description: WRITTEN[kind],
                  ...(values === undefined ? {} : { enum: values })
                }
              ])
            ),
            required: fields.filter(({ needed }) => needed).map(({ slug }) => slug),
            minProperties: 1,
            additionalProperties: false
          }
        })
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false
  }
}
