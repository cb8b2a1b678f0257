/**
 * Ids of managed entities: 63-bit integers (41 bits of milliseconds, 22 random), shown to callers as opaque letters.
 * Letters cost a model fewer tokens than base32 and can't be mistaken for a number (docs/adr/0002-ids.md).
 */
const LETTERS = "abcdefghijklmnopqrstuvwxyz"
const BASE = BigInt(LETTERS.length)
const EPOCH_MS = Date.UTC(2020, 0, 1)
const RANDOM_BITS = 22n
const RANDOM_MAX = 1 << 22
const MAX_ID = (1n << 63n) - 1n
const MAX_LENGTH = 14

/** Encodes a managed id as 1 to 14 letters. */
export const encodeId = (id: bigint): string => {
  let text = ""
  for (let rest = id; rest > 0n; rest /= BASE) text = LETTERS[Number(rest % BASE)] + text
  return text === "" ? LETTERS[0]! : text
}

/** Decodes the canonical text of an id; undefined for any other text. */
export const decodeId = (text: string): bigint | undefined => {
  if (text.length === 0 || text.length > MAX_LENGTH || (text.length > 1 && text.startsWith(LETTERS[0]!)))
    return undefined
  let id = 0n
  for (const character of text) {
    const value = LETTERS.indexOf(character)
    if (value < 0) return undefined
    id = id * BASE + BigInt(value)
  }
  return id <= MAX_ID ? id : undefined
}

/**
 * Creates a monotonic id generator. Ids of one millisecond increase by random steps, so that a large import can't
 * collide with itself at any rate.
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
