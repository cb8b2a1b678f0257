import { Schema } from "effect"

/** The value of a principal's attribute, which rules compare with columns. */
export type AttributeValue = string | number | boolean

/** A member's attributes as they are stored; values that can't be compared are dropped, the others stay. */
export const StoredAttributes = Schema.Record(Schema.String, Schema.Unknown)

const isAttributeValue = Schema.is(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))

export const comparable = (stored: typeof StoredAttributes.Type): Readonly<Record<string, AttributeValue>> =>
  Object.fromEntries(
    Object.entries(stored).filter((entry): entry is [string, AttributeValue] => isAttributeValue(entry[1]))
  )
