/**
 * Checks the values of a form as the server does, in the same words, as far as the page can: it never refuses what the server
 * takes. The server decides.
 */
import type { FormField } from "../../../wire/changes.ts"

export interface FieldProblem {
  /** A field's slug, or its place in a group: `items/0/quantity`. */
  readonly field: string
  readonly message: string
}

/** A text, or the entries of a group. */
type Value = string | ReadonlyArray<Readonly<Record<string, string>>>
export type Values = Readonly<Record<string, Value>>

/** The server's limits (fieldValues.ts), where a field has none of its own. */
const MAX_TEXT = 2000
const MAX_MATCHED = 200
export const MAX_ENTRIES = 100
const MAX_NAMED = 12
const PLAIN_NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/

const quoted = (text: string): string => `"${text.length > 40 ? `${text.slice(0, 39)}…` : text}"`

const problemOf = (field: FormField, text: string): string | undefined => {
  const { kind, max, maxLength, min, pattern, values } = field
  if (values !== undefined && !values.includes(text))
    return `${quoted(text)} isn't one of ${values.slice(0, MAX_NAMED).join(", ")}`
  if ((kind === "integer" || kind === "number") && PLAIN_NUMBER.test(text)) {
    if (min !== undefined && Number(text) < min) return `it must be at least ${min}`
    if (max !== undefined && Number(text) > max) return `it must be at most ${max}`
  }
  if (kind !== "text") return undefined
  const most = maxLength ?? (pattern === undefined ? MAX_TEXT : MAX_MATCHED)
  if ([...text].length > most) return `it has more than ${most} characters`
  if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`, "u").test(text))
    return `${quoted(text)} doesn't fit ${field.name}`
  return undefined
}

/** Everything that is wrong with the values, in the order of the fields. */
export const checkFields = (
  fields: ReadonlyArray<FormField>,
  values: Values,
  place = ""
): ReadonlyArray<FieldProblem> =>
  fields.flatMap((field): ReadonlyArray<FieldProblem> => {
    const path = `${place}${field.slug}`
    const value = values[field.slug] ?? ""
    if (typeof value !== "string") {
      const { fields: inner = [], maxLength: most = MAX_ENTRIES } = field
      if (value.length > most) return [{ field: path, message: `it has more than ${most} entries` }]
      return value.flatMap((entry, at) => checkFields(inner, entry, `${path}/${at}/`))
    }
    const text = value.replaceAll(/\r\n?/g, "\n").trim()
    if (text === "")
      return field.needed && field.default === undefined ? [{ field: path, message: "it is needed" }] : []
    const message = problemOf(field, text)
    return message === undefined ? [] : [{ field: path, message }]
  })
