/**
 * Ids. A managed entity's id is a 63-bit integer (41 bits of milliseconds, 22 random) that callers see as opaque text
 * of letters; nobody outside the store reads anything out of it. Letters alone cost a model fewer tokens than base32
 * and can't be taken for a number (docs/adr/0002-ids.md).
 */
const LETTERS = "abcdefghijklmnopqrstuvwxyz"
const BASE = BigInt(LETTERS.length)
const EPOCH_MS = Date.UTC(2020, 0, 1)
const RANDOM_BITS = 22n
const RANDOM_MAX = 1 << 22
const MAX_ID = (1n << 63n) - 1n
const MAX_LENGTH = 14

/** The text of a managed id: 13 letters today, never more than 14. */
export const encodeId = (id: bigint): string => {
  let text = ""
  for (let rest = id; rest > 0n; rest /= BASE) text = LETTERS[Number(rest % BASE)] + text
  return text === "" ? LETTERS[0]! : text
}

/** The id behind a text, or undefined when the text isn't the one canonical form of an id: look-alikes name nothing. */
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
