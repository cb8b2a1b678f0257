/** A message as words: each with its folded form and whether something (a comma, a bracket, a line's end) parts it from the next. */
import { foldText } from "../../domain/keys.ts"
import { byWord, printable } from "../../domain/text.ts"

export interface Token {
  /** As it was written, without the punctuation around it. */
  readonly text: string
  /** Folded, to be compared with the lexicon. */
  readonly word: string
  /** The punctuation right after it, if any. */
  readonly after: string
  readonly capital: boolean
}

/** Words that are written with a full stop without ending anything. */
const ABBREVIATIONS = new Set(["mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr"])
/** After these, 's is a verb; after everything else it says whose something is. */
const BEFORE_IS = new Set(
  "who what when where how it that there here he she name names this which customer client caller".split(" ")
)
const RUN_TOGETHER = byWord<ReadonlyArray<string>>({
  im: ["I", "am"],
  ive: ["I", "have"],
  whos: ["who", "is"],
  whats: ["what", "is"],
  wheres: ["where", "is"],
  whens: ["when", "is"]
})
const EDGE = /^([^\p{L}\p{N}#$+@]*)(.*?)([^\p{L}\p{N}]*)$/su

/** The words of a message. What is longer than a person writes is cut. */
export const tokenize = (message: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  const text = message
    .slice(0, MAX_CHARACTERS)
    .replace(/[\r\n]+/g, " \n ")
    .replace(/[—–]|\s-\s|:(?=\S)/g, " , ")
  for (const piece of text.split(/[^\S\n]+/)) {
    const [, before = "", inner = "", after = ""] = EDGE.exec(piece === "\n" ? ";" : printable(piece)) ?? []
    if (before !== "" || inner === "") close(tokens, before + (inner === "" ? after : ""))
    if (inner === "") continue
    for (const part of inner.split(/[,;/](?=\p{L})|(?<=\p{L})[,;]/u)) {
      if (part === "") continue
      close(tokens, part === inner || inner.startsWith(part) ? "" : ",")
      tokens.push(...words(part))
    }
    // "James' number": the mark says whose something is, unless it closes what was quoted.
    if (/^['’]/.test(after) && /s$/i.test(inner) && before === "") tokens.push(token("'s"))
    close(tokens, after)
  }
  return tokens
}

const MAX_CHARACTERS = 4000

/** Puts punctuation after the last word, unless it only marks an abbreviation. */
const close = (tokens: Array<Token>, mark: string): void => {
  const last = tokens.at(-1)
  if (last === undefined || mark === "") return
  if (mark === "." && (ABBREVIATIONS.has(last.word) || (last.text.length === 1 && last.capital))) return
  const marks = mark.replace(/['’"“”‘]/g, "")
  tokens[tokens.length - 1] = { ...last, after: last.after + marks }
}

const token = (text: string): Token => {
  const word = foldText(text)
  return { text, word, after: "", capital: /^\P{L}*\p{Lu}/u.test(text) }
}

const words = (text: string): ReadonlyArray<Token> => {
  const joined = RUN_TOGETHER[foldText(text)]
  if (joined !== undefined) return joined.map(token)
  const match = /^(.+)['’](s|m|re|ve|ll|d)$/iu.exec(text)
  const [, head, tail] = match ?? []
  if (head === undefined || tail === undefined) return [token(text)]
  const first = token(head)
  switch (tail.toLowerCase()) {
    case "s":
      return [first, token(BEFORE_IS.has(first.word) ? "is" : "'s")]
    case "m":
      return [first, token("am")]
    case "re":
      return [first, token("are")]
    case "ve":
      return [first, token("have")]
    case "ll":
      return [first, token("will")]
    default:
      return [first, token("would")]
  }
}

/** The tokens as they were written. */
export const written = (tokens: ReadonlyArray<Token>): string => tokens.map(({ text }) => text).join(" ")

/** The tokens folded, one space between two. */
export const folded = (tokens: ReadonlyArray<Token>): string => tokens.map(({ word }) => word).join(" ")
