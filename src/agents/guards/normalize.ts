/** Text normalization, words and sentence boundaries: replies are judged and shown in the normal form. */
import { foldText } from "../../domain/keys.ts"

/** The most characters of one text that grounds a reply: a person's message or a cell. */
const MAX_TEXT = 8_000

/** Stream-safe text: normalization sorts a run of combining marks, which takes the square of its length. */
const MARKS = /(\p{M}{30})\p{M}+/gu

/**
 * NFKC without format characters and without control characters other than line ends and tabs. Cut before and after,
 * because NFKC makes up to 18 characters of one.
 */
export const normalize = (text: string, most = MAX_TEXT): string =>
  text
    .slice(0, most)
    .replace(MARKS, "$1")
    .normalize("NFKC")
    .replace(/[\p{Cf}\p{Variation_Selector}]/gu, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
    .slice(0, most)

/** The words of a text, folded, with one space between them. */
export const words = (text: string): string =>
  foldText(text.slice(0, MAX_TEXT))
    .replace(/[^\p{L}\p{N}@+]+/gu, " ")
    .trim()

/** The same as a list. */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  words(text)
    .split(" ")
    .filter((word) => word !== "")

const DIGIT = /\p{Nd}/u

/** The value of each non-ASCII digit seen so far; Unicode has fewer than a thousand. */
const digits = new Map<string, string>()

const valueOf = (digit: string): string => {
  const point = digit.codePointAt(0)!
  let value = 0
  while (value < 9 && DIGIT.test(String.fromCodePoint(point - value - 1))) value += 1
  return String(value).padEnd(digit.length)
}

/** Replaces the digits of every script by 0 to 9. Unicode encodes each script's ten digits in one run, zero first. */
export const asciiDigits = (text: string): string =>
  text.replace(/[^\p{ASCII}]/gu, (character) => {
    if (!DIGIT.test(character)) return character
    const value = digits.get(character) ?? valueOf(character)
    digits.set(character, value)
    return value
  })

/** The end of a sentence or line, including the white space that follows. */
const SENTENCE_END = /(?:[.!?…]["'”’)\]]*\s+(?=["'“‘(\p{Lu}\p{N}*•-]))|\n+/gu
const ABBREVIATION = /(?:^|[\s(])(?:\p{L}|Dr|Mr|Mrs|Ms|St|Jr|Sr|Inc|Ltd|Co|Corp|No|vs|approx|[ap]\.m|e\.g|i\.e)\.$/iu
/** Longer than an abbreviation and the character before it. */
const ABBREVIATION_LENGTH = 12

/** Splits text after each complete sentence and line; the last part may be incomplete. */
export const sentences = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let from = 0
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length
    const before = text.slice(Math.max(from, match.index - ABBREVIATION_LENGTH), match.index + 1)
    if (/^\.\s/.test(match[0]) && ABBREVIATION.test(before)) continue
    parts.push(text.slice(from, end))
    from = end
  }
  return [...parts, text.slice(from)]
}
