/** Open actions for programs: each with the JSON Schema of a step, made from the action itself. */
import type { ColumnKind } from "../../domain/EntityType.ts"
import type { OpenAction as Described } from "../../wire/changes.ts"
import type { OpenAction } from "./callers.ts"

type JsonSchema = Readonly<Record<string, unknown>>

/** How the text of a value is written. An empty text empties the cell, so no format is asserted. */
const WRITTEN: Readonly<Record<ColumnKind, string>> = {
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
  references: "EntityIds, or what identifies each entity, separated by semicolons"
}

export const describeAction = (open: OpenAction): Described => {
  const { category, confirm, description, name, seconds, slug } = open.action
  return { id: slug, name, description, category, entityTypeId: open.type.slug, confirm, seconds, input: inputOf(open) }
}

/** The schema of a step as a caller writes it, with the columns that the caller may set on some row. */
const inputOf = ({ action, columns }: OpenAction): JsonSchema => {
  const fields = action.fields.filter(({ key }) => columns.includes(key))
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
