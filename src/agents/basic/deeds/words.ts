/**
 * Splits a request into words that remember where they stood: a value is the original text between two words, so that "Health &
 * Wellness" keeps its sign. A quotation is one word.
 */
import { foldText } from "../../../domain/keys.ts"
import { byWord, printable } from "../../../domain/text.ts"
import type { Token } from "../tokenize.ts"

export interface Word extends Token {
  /** The word's place in the text. */
  readonly start: number
  readonly end: number
  /** The content of a quotation, which no pattern matches. */
  readonly quoted?: true
}

/** A request's text and its words. */
export interface Said {
  readonly text: string
  readonly words: ReadonlyArray<Word>
}

/** A longer request is cut. */
export const MAX_CHARACTERS = 600
/** A request with more words is not read. */
export const MAX_WORDS = 48

const QUOTED = /"([^"]+)"|“([^“”]+)”|«([^«»]+)»|(?<![^\s(:])['‘]([^'‘’]+)['’](?![^\s.,;:!?)])/gu
const PIECE = /\S+/gu
const SIGNS = new Set(["&", "->", "=>", "→", "=", "+", "@"])
const ABBREVIATIONS = new Set("mr mrs ms dr prof st jr sr vs".split(" "))

/** Contractions that aren't a word and 's. */
const CONTRACTIONS = byWord<readonly [string, string]>({
  "can't": ["can", "not"],
  "won't": ["will", "not"],
  cannot: ["can", "not"],
  "let's": ["let", "us"],
  dont: ["do", "not"],
  doesnt: ["does", "not"],
  isnt: ["is", "not"],
  havent: ["have", "not"],
  hasnt: ["has", "not"],
  theyre: ["they", "are"],
  ive: ["I", "have"],
  weve: ["we", "have"],
  im: ["I", "am"],
  cant: ["can", "not"],
  arent: ["are", "not"],
  wasnt: ["was", "not"],
  werent: ["were", "not"],
  wont: ["will", "not"],
  didnt: ["did", "not"],
  shouldnt: ["should", "not"],
  thats: ["that", "is"],
  youre: ["you", "are"],
  todays: ["today", "'s"],
  tomorrows: ["tomorrow", "'s"],
  mondays: ["monday", "'s"],
  tuesdays: ["tuesday", "'s"],
  wednesdays: ["wednesday", "'s"],
  thursdays: ["thursday", "'s"],
  fridays: ["friday", "'s"]
})
const ENDINGS = byWord<string>({
  "n't": "not",
  "'re": "are",
  "'ve": "have",
  "'ll": "will",
  "'d": "would",
  "'m": "am",
  "'s": "'s"
})

export const readWords = (message: string): Said => {
  const text = printable(message.slice(0, MAX_CHARACTERS).replaceAll(/[\r\n]/g, ";")).replaceAll("’", "'")
  const words: Array<Word> = []
  let at = 0
  for (const match of text.matchAll(QUOTED)) {
    plain(text, at, match.index, words)
    const inner = (match[1] ?? match[2] ?? match[3] ?? match[4])!
    const start = match.index + 1
    words.push({ ...word(inner.trim(), start, start + inner.length), quoted: true })
    at = match.index + match[0].length
  }
  plain(text, at, text.length, words)
  return { text, words }
}

const word = (text: string, start: number, end: number): Word => ({
  text,
  word: foldText(text),
  after: "",
  capital: /^\P{L}*\p{Lu}/u.test(text),
  start,
  end
})

/** Appends the words of the text from one place to another. */
const plain = (text: string, from: number, to: number, words: Array<Word>): void => {
  for (const match of text.slice(from, to).matchAll(PIECE)) {
    const start = from + match.index
    const [piece] = match
    if (SIGNS.has(piece)) {
      words.push(word(piece, start, start + piece.length))
      continue
    }
    // A phone number begins with its parenthesis.
    const lead = /^(?:\((?!\d)|[^\p{L}\p{N}#$+@(])*/u.exec(piece)![0].length
    const rest = piece.slice(lead)
    const last = [...rest.matchAll(/[\p{L}\p{N}]+/gu)].at(-1)
    const inner = last === undefined ? "" : rest.slice(0, last.index + last[0].length)
    if (lead > 0) mark(words, piece.slice(0, lead))
    if (inner === "") continue
    // "Jordan,Moore" and "11:30-12" stay whole; readers of values split them.
    words.push(...parted(inner, start + lead))
    mark(words, piece.slice(lead + inner.length))
  }
}

/** A word, or the words of a contraction or possessive. */
const parted = (inner: string, start: number): ReadonlyArray<Word> => {
  const end = start + inner.length
  const [first, second] = CONTRACTIONS[inner.toLowerCase()] ?? []
  if (first !== undefined && second !== undefined) return [word(first, start, end), word(second, start, end)]
  const [ending] = /n't$|'(?:re|ve|ll|d|m|s)$/i.exec(inner) ?? []
  const head = ending === undefined ? "" : inner.slice(0, -ending.length)
  if (ending === undefined || head === "") return [word(inner, start, end)]
  return [word(head, start, start + head.length), word(ENDINGS[ending.toLowerCase()]!, start + head.length, end)]
}

/** Appends punctuation to the last word, unless it belongs to an abbreviation. */
const mark = (words: Array<Word>, after: string): void => {
  const last = words.at(-1)
  if (last === undefined || after === "") return
  // "🎉" ends a sentence.
  if (/\p{Extended_Pictographic}/u.test(after)) {
    words[words.length - 1] = { ...last, after: last.after === "" ? "." : last.after }
    return
  }
  if (
    after === "." &&
    (ABBREVIATIONS.has(last.word) ||
      // "phone no.".
      (last.word === "no" && /^(phone|telephone|tel|mobile|cell|fax)$/.test(words.at(-2)?.word ?? "")) ||
      /^[ap]\.m$/.test(last.word) ||
      (last.text.length === 1 && last.capital))
  )
    return
  if (after === "'" && /s$/i.test(last.text)) words.push({ ...word("'s", last.end, last.end) })
  else words[words.length - 1] = { ...last, after: last.after + after }
}

/** The original text of words that stand side by side. */
export const textOf = ({ text }: Said, words: ReadonlyArray<Token>): string => {
  const first = words[0] as Word | undefined
  const last = words.at(-1) as Word | undefined
  if (first === undefined || last === undefined) return ""
  // Words that no one has said, such as "done" for "tick off".
  if (last.end === 0) return words.map((word) => word.text).join(" ")
  const plain = text.slice(first.start, last.end)
  return plain.includes("(") && !plain.includes(")") && text[last.end] === ")" ? `${plain})` : plain
}
