/**
 * Ids. A managed entity's id is a 63-bit integer (41 bits of milliseconds, 22 random) that callers see as opaque
 * base32 text; nobody outside the store reads anything out of it.
 */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
const VALUES = new Map([...ALPHABET].map((character, value) => [character, BigInt(value)]))
const EPOCH_MS = Date.UTC(2020, 0, 1)
const RANDOM_BITS = 22n
const RANDOM_MAX = 1 << 22
const MAX_ID = (1n << 63n) - 1n

/** The text of a managed id, at most 13 characters of Crockford's base32 in lower case. */
export const encodeId = (id: bigint): string => {
  let text = ""
  for (let rest = id; rest > 0n; rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text
  return text === "" ? "0" : text
}

/** The id behind a text, or undefined when the text isn't the one canonical form of an id: look-alikes name nothing. */
export const decodeId = (text: string): bigint | undefined => {
  if (text.length === 0 || text.length > 13 || (text.length > 1 && text.startsWith("0"))) return undefined
  let id = 0n
  for (const character of text) {
    const value = VALUES.get(character)
    if (value === undefined) return undefined
    id = (id << 5n) | value
  }
  return id <= MAX_ID ? id : undefined
}

/**
 * A generator of ids for one process. Ids made within one millisecond rise by random steps, so that a large import
 * can't collide with itself however many rows it makes per millisecond.
 */
export const makeIdGenerator = (now: () => number = Date.now, random: () => number = Math.random) => {
  let millis = 0
  let low = 0
  return (): bigint => {
    const current = Math.max(now() - EPOCH_MS, millis)
    low = current === millis ? low + 1 + Math.floor(random() * 64) : Math.floor(random() * (RANDOM_MAX / 2))
    millis = current
    if (low >= RANDOM_MAX) {
      millis += 1
      low = Math.floor(random() * 1024)
    }
    return (BigInt(millis) << RANDOM_BITS) | BigInt(low)
  }
}

/** The process-wide generator. */
export const nextId = makeIdGenerator()
