/** Splits a message into words, each with its folded form and the punctuation after it. */
import { foldText } from "../../domain/keys.ts"
import { byWord, printable } from "../../domain/text.ts"
import { SHORTHAND } from "./shorthand.ts"

export interface Token {
  /** The original word without surrounding punctuation. */
  readonly text: string
  /** The folded form, for comparison with the lexicon. */
  readonly word: string
  /** The punctuation directly after it, or empty. */
  readonly after: string
  readonly capital: boolean
}

/** Abbreviations whose full stop does not end a sentence. */
const ABBREVIATIONS = new Set(["mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr"])
/** After these words 's is the verb "is"; otherwise it is the possessive. */
const BEFORE_IS = new Set(
  "who what when where how long far it that there here he she name names this which customer client caller".split(" ")
)
const RUN_TOGETHER = byWord<ReadonlyArray<string>>({
  im: ["I", "am"],
  ive: ["I", "have"],
  whos: ["who", "is"],
  whats: ["what", "is"],
  wheres: ["where", "is"],
  whens: ["when", "is"],
  hows: ["how", "is"]
})
/** "mtg w/ Yuki". */
const WITH = /(?<=\s)w(?:\/(o)?\s?(?=\S)|\s(?=\p{Lu}))/gu
/** "Email 4 Ada". */
const FOR = /(?<=\s(?:number|phone|mobile|email|e-mail|mail|address)\s)4(?=\s\p{Lu})/gu
const BEGINS = /[\p{L}\p{N}#$+@]/u
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u

/** A word with the punctuation before and after it. */
const parted = (piece: string): readonly [before: string, inner: string, after: string] => {
  const start = piece.search(BEGINS)
  if (start < 0) return [piece, "", ""]
  const characters = Array.from(piece.slice(start))
  const last = characters.findLastIndex((character) => LETTER_OR_DIGIT.test(character))
  return [piece.slice(0, start), characters.slice(0, last + 1).join(""), characters.slice(last + 1).join("")]
}

/** The words of a message's first 4,000 characters. */
export const tokenize = (message: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  const text = message
    .slice(0, MAX_CHARACTERS)
    .replace(WITH, (_, out) => (out === undefined ? "with " : "without "))
    .replace(FOR, "for")
    .replace(/(?<=\s|^)%(?=\s)/g, "percent")
    .replace(/[\r\n]+/g, " \n ")
    .replace(/[—–]|\s-\s|(?<!\d):(?=\S)|:(?=[^\s\d])/g, " , ")
  for (const piece of text.split(/[^\S\n]+/)) {
    const [before, inner, after] = parted(piece === "\n" ? ";" : printable(piece))
    if (before !== "" || inner === "") close(tokens, before + (inner === "" ? after : ""))
    if (inner === "") continue
    // "AC/DC" and "ac/dc" are names.
    const all = /^(?:\p{Lu}+\/\p{Lu}+|\p{L}{1,2}\/\p{L}{1,2})$/u.test(inner)
      ? [inner]
      : inner.split(/[,;/](?=\p{L})|(?<=\p{L})[,;]/u)
    for (const part of all) {
      if (part === "") continue
      close(tokens, part === inner || inner.startsWith(part) ? "" : ",")
      tokens.push(...words(part, tokens.length === 0))
    }
    // "James' number": the apostrophe is a possessive, unless it closes a quotation.
    if (/^['’]/.test(after) && /s$/i.test(inner) && before === "") tokens.push(token("'s"))
    close(tokens, after)
  }
  return tokens
}

const MAX_CHARACTERS = 4000

/** Appends punctuation to the last word, unless it belongs to an abbreviation. */
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

const words = (text: string, isFirst: boolean): ReadonlyArray<Token> => {
  // A short form begins with a capital only at the beginning: elsewhere it is a name.
  const short = isFirst ? `${text.slice(0, 1).toLowerCase()}${text.slice(1)}` : text
  const joined = RUN_TOGETHER[foldText(text)] ?? SHORTHAND[short]
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

/** The original text of the tokens. */
export const written = (tokens: ReadonlyArray<Token>): string => tokens.map(({ text }) => text).join(" ")

/** The folded tokens, joined by spaces. */
export const folded = (tokens: ReadonlyArray<Token>): string => tokens.map(({ word }) => word).join(" ")
