/** The values of an entity as texts: as a form shows them, and as a step takes them. */
import type { EntityRecord } from "../../../wire/lookup.ts"
import type { Choice, FormRow } from "./Form.ts"

interface Related {
  readonly id: string
  readonly name?: string
}

const isRelated = (value: unknown): value is Related => typeof value === "object" && value !== null && "id" in value

/** A value as text: several are separated by semicolons, and an entity is its name, if the person may see that. */
export const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (Array.isArray(value)) return value.map(textOf).join("; ")
  return isRelated(value) ? (value.name ?? "") : String(value)
}

/** A time as the browser's input writes it. */
const inputOf = (kind: string, text: string): string => {
  const found = kind === "timestamp" ? /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})/.exec(text) : null
  return found === null ? text : `${found[1]}T${found[2]}`
}

export const rowOf = (id: string, { columns, entity }: EntityRecord): FormRow => {
  const values: Record<string, string> = {}
  const chosen: Record<string, Choice> = {}
  for (const column of columns) {
    const value = entity.columns?.[column.id]
    const text = inputOf(column.kind, textOf(value))
    values[column.id] = text
    if (isRelated(value)) chosen[column.id] = { value: value.id, name: text }
  }
  return { id, values, chosen }
}
