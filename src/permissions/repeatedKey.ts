/**
 * A key that an object of a JSON text has twice. `JSON.parse` keeps the last one without a word, and in a policy that
 * would drop a condition.
 */
export const repeatedKey = (json: string): string | undefined => {
  /** The keys of the objects that are open at this point; nothing for a list. */
  const open: Array<Set<string> | undefined> = []
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]]/g)) {
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
