import { Schema } from "effect"
import { quoted } from "./text.ts"

/** The value of a principal's attribute, which rules compare with columns. */
export type AttributeValue = string | number | boolean

/** A member's attributes as they are stored; values that can't be compared are dropped, the others stay. */
export const StoredAttributes = Schema.Record(Schema.String, Schema.Unknown)

const isAttributeValue = Schema.is(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))

export const comparable = (stored: typeof StoredAttributes.Type): Readonly<Record<string, AttributeValue>> =>
  Object.fromEntries(
    Object.entries(stored).filter((entry): entry is [string, AttributeValue] => isAttributeValue(entry[1]))
  )

const ATTRIBUTE_NAME = /^[a-z][a-z0-9_]{0,62}$/
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/

/** Attributes as they are typed: true, false and numbers aren't texts. A text says which name can't be one. */
export const readAttributes = (
  typed: Readonly<Record<string, string>>
): Readonly<Record<string, AttributeValue>> | string => {
  const wrong = Object.keys(typed).find((name) => !ATTRIBUTE_NAME.test(name))
  return wrong === undefined
    ? Object.fromEntries(Object.entries(typed).map(([name, text]) => [name, readAttribute(text)]))
    : `${quoted(wrong)} is not an attribute name: use lower-case letters, digits and _, starting with a letter.`
}

const readAttribute = (text: string): AttributeValue =>
  text === "true" ? true : text === "false" ? false : NUMBER.test(text) ? Number(text) : text
