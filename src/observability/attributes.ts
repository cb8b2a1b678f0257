/**
 * Attributes of a span in memory: a linked list that setting prepends to. They are filtered by the allowlist only when
 * the trace is stored, because most traces are dropped.
 */
import { ATTRIBUTES, type AttributeValue } from "./Trace.ts"

/**
 * Several attributes, set together. The keys that mark a trace as always kept are excluded: they are set with
 * `span.attribute`, which inspects its value immediately.
 */
export type Attributes = Readonly<Record<string, AttributeValue | bigint | undefined>> & {
  readonly "max.denied"?: never
  readonly "http.response.status_code"?: never
  readonly "db.query.text"?: never
}

/** One attribute (`key` is set) or several, and those that were set before. */
export interface AttributeList {
  readonly key: string | undefined
  value: AttributeValue | Attributes
  readonly previous: AttributeList | undefined
}

/** Prepends several attributes without copying them: the object must not change afterwards. */
export const prepend = (previous: AttributeList | undefined, attributes: Attributes): AttributeList => ({
  key: undefined,
  value: attributes,
  previous
})

/** Replaces a value that was set alone before, so that a span that lasts for days holds each attribute once. */
export const put = (list: AttributeList | undefined, key: string, value: AttributeValue): AttributeList => {
  for (let entry = list; entry !== undefined; entry = entry.previous) {
    if (entry.key === key) {
      entry.value = value
      return list!
    }
    if (entry.key === undefined && key in (entry.value as Attributes)) break
  }
  return { key, value, previous: list }
}

/** The latest value of one attribute. */
export const latest = (list: AttributeList | undefined, name: string): Attributes[string] => {
  for (let entry = list; entry !== undefined; entry = entry.previous) {
    if (entry.key === name) return entry.value as AttributeValue
    if (entry.key !== undefined) continue
    const value = (entry.value as Attributes)[name]
    if (value !== undefined) return value
  }
  return undefined
}

/** Adds the attributes of the allowlist to `target`, oldest first. */
export const collect = (
  list: AttributeList | undefined,
  target: Record<string, AttributeValue>
): Record<string, AttributeValue> => {
  if (list === undefined) return target
  const { key, previous, value } = list
  collect(previous, target)
  if (key !== undefined) {
    target[key] = value as AttributeValue
    return target
  }
  const attributes = value as Attributes
  for (const name in attributes) {
    const one = attributes[name]
    if (one !== undefined && ATTRIBUTES.has(name)) target[name] = typeof one === "bigint" ? String(one) : one
  }
  return target
}
