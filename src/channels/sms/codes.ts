/**
 * The words of a confirmation by text: `OK 4821` and `NO 4821`. A text is stored with a place instead of its code, which is
 * made when the text is sent; what a person sends is stored without it, too.
 */
import { keywordOf } from "./keywords.ts"

export interface CodeMessage {
  /** `other`: a word of the carrier's, which is never a yes or a no. */
  readonly word: "ok" | "no" | "other"
  readonly code: string
}

const PLACE = "####"
/** What a message with a code is stored as. */
export const REDACTED = "(code)"

const MESSAGE = /^(\p{L}{2,12})[\s:.,-]{0,3}#?(\d{4})[.!]?$/u
/** Characters. */
const MAX_MESSAGE = 24

/** The word and the code that make up the whole message. */
export const codeIn = (body: string): CodeMessage | undefined => {
  const text = body.normalize("NFKC").trim()
  if (text.length > MAX_MESSAGE) return undefined
  const [, word = "", code = ""] = MESSAGE.exec(text) ?? []
  const lower = word.toLowerCase()
  if (lower === "ok" || lower === "no") return { word: lower, code }
  return keywordOf(word) === undefined ? undefined : { word: "other", code }
}

/** The end of a text that asks for a confirmation. */
export const askingFor = (seconds: number, code = PLACE): string => {
  const minutes = Math.max(1, Math.floor(seconds / 60))
  return `Reply OK ${code} within ${minutes} min, or NO ${code}.`
}

const ASKING = / Reply OK (?:####|\d{4}) within (\d{1,3}) min, or NO (?:####|\d{4})\.$/

/** A text with this code in its place; the place is at the end, so that no value of a row can be taken for it. */
export const withCode = (body: string, code: string): string =>
  body.replace(ASKING, (_, minutes: string) => ` ${askingFor(Number(minutes) * 60, code)}`)

/** A text as it is stored, without its code. */
export const withoutCode = (body: string): string => withCode(body, PLACE)
