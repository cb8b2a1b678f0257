/**
 * Finds a key that occurs twice in one object of a JSON text. `JSON.parse` silently keeps the last occurrence, which in
 * a policy would drop a condition.
 */
export const repeatedKey = (json: string): string | undefined => {
  /** A stack of the enclosing objects' keys; undefined for an array. */
  const open: Array<Set<string> | undefined> = []
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\[^]?)*"?(?:\s*:)?|[{}[\]]/g)) {
    if (token === "{") open.push(new Set())
    else if (token === "[") open.push(undefined)
    else if (token === "}" || token === "]") open.pop()
    else if (token.endsWith(":")) {
      const key: string = JSON.parse(token.slice(0, -1))
      if (open.at(-1)?.has(key) === true) return key
      open.at(-1)?.add(key)
    }
  }
  return undefined
}
