/** JSON values of unknown shape. */
export type JsonObject = Record<string, unknown>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether objects and lists are nested deeper than a limit; by a list of its own, because a recursion would overflow the stack. */
export const isNestedDeeper = (value: unknown, levels: number): boolean => {
  const open: Array<readonly [unknown, number]> = [[value, 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, depth] = next
    if (typeof part !== "object" || part === null) continue
    if (depth >= levels) return true
    for (const inner of Object.values(part)) open.push([inner, depth + 1])
  }
  return false
}
