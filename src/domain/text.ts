/** Makes text from rows and callers safe to print, and suggests close matches. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g
const INVISIBLE = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** One line of text: control characters become a space; format and bidirectional control characters are removed. */
export const printable = (text: string): string => text.replace(INVISIBLE, "").replace(CONTROL, " ")

/** A text without the given characters at its end; a pattern such as `/x+$/` reads every run of them again. */
export const withoutFinal = (text: string, characters: string): string => {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1
  return text.slice(0, end)
}

/** A decimal without the zeros that end its fraction, and without a final point. */
export const withoutFinalZeros = (decimal: string): string =>
  decimal.includes(".") ? withoutFinal(withoutFinal(decimal, "0"), ".") : decimal

/** A lookup table without a prototype, for keys that a caller chooses: `constructor` is not in it. */
export const byWord = <A>(entries: Readonly<Record<string, A>>): Readonly<Record<string, A>> =>
  Object.assign(Object.create(null), entries)

const MAX_QUOTED = 1000

/** Quotes a caller's text for an error message: printable and at most 40 characters. */
export const quoted = (text: string): string => {
  const clean = printable(text.slice(0, MAX_QUOTED))
  return `"${clean.length > 40 ? `${clean.slice(0, 39)}…` : clean}"`
}

/** Redacts an e-mail address or phone number to a recognizable hint: `t…@atlas.com`, `…2625`. */
export const masked = (identifier: string): string => {
  const at = identifier.lastIndexOf("@")
  return printable(at < 0 ? `…${identifier.slice(-4)}` : `${identifier.slice(0, 1)}…${identifier.slice(at)}`)
}

const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]!
}

const MAX_CANDIDATES = 1000

/** The candidate with the smallest edit distance to a word; undefined if none is close. */
export const closest = (word: string, candidates: ReadonlyArray<string>): string | undefined => {
  const lower = word.slice(0, 60).toLowerCase()
  const most = Math.max(2, Math.floor(lower.length / 3))
  const ranked = candidates
    .slice(0, MAX_CANDIDATES)
    // The distance is at least the difference of the lengths.
    .filter((candidate) => Math.abs(candidate.length - lower.length) <= most)
    .map((candidate) => ({ candidate, away: distance(lower, candidate.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
  const best = ranked[0]
  return best !== undefined && best.away <= most ? best.candidate : undefined
}
