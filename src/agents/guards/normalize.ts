/** Text normalization and sentence boundaries: replies are judged and shown in the normal form. */

/** NFKC without format characters and without control characters other than line ends and tabs. */
export const normalize = (text: string): string =>
  text
    .normalize("NFKC")
    .replace(/[\p{Cf}\p{Variation_Selector}]/gu, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")

const DIGIT = /\p{Nd}/u

/** Replaces the digits of every script by 0 to 9. Unicode encodes each script's ten digits in one run, zero first. */
export const asciiDigits = (text: string): string =>
  text.replace(/[^\p{ASCII}]/gu, (character) => {
    if (!DIGIT.test(character)) return character
    const point = character.codePointAt(0)!
    let value = 0
    while (value < 9 && DIGIT.test(String.fromCodePoint(point - value - 1))) value += 1
    return String(value).padEnd(character.length)
  })

/** The end of a sentence or line, including the white space that follows. */
const SENTENCE_END = /(?:[.!?…]["'”’)\]]*\s+(?=["'“‘(\p{Lu}\p{N}*•-]))|\n+/gu
const ABBREVIATION = /(?:^|[\s(])(?:\p{L}|Dr|Mr|Mrs|Ms|St|Jr|Sr|Inc|Ltd|Co|Corp|No|vs|approx|[ap]\.m|e\.g|i\.e)\.\s*$/iu

/** Splits text after each complete sentence and line; the last part may be incomplete. */
export const sentences = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let from = 0
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length
    const part = text.slice(from, end)
    if (!match[0].startsWith("\n") && ABBREVIATION.test(part)) continue
    parts.push(part)
    from = end
  }
  return [...parts, text.slice(from)]
}
