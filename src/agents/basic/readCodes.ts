/** Reads the facts that are codes: e-mail addresses, account numbers, phone numbers, zip codes and postcodes. */
import type { Fact } from "./Fact.ts"
import { isAside, isDenied, wordsBefore } from "./factCues.ts"
import { OTHER_NUMBER_CUES, STREETS } from "./lexicon.ts"
import { folded, type Token, written } from "./tokenize.ts"

const ZIP_CUE = /^(zip|zipcode|zip-code|postcode|postalcode|postal|post|plz|zips)$/
const EMAIL = /^[^\s@]+@[^\s@]+$/
const HANDLE = /^\p{L}[\p{L}.]*_[\p{L}\d_]*\d$/u

/** Reads e-mail addresses, account numbers, phone numbers and postcodes; `asides` are positions of values that are asides. */
export const readCodes = (tokens: ReadonlyArray<Token>, asides: ReadonlySet<number>): ReadonlyArray<Fact> => {
  const facts: Array<Fact> = []
  for (let at = 0; at < tokens.length; at++) {
    const { text, word } = tokens[at]!
    if (isDenied(tokens, at)) continue
    const weight = asides.has(at) || isAside(tokens, at) ? "aside" : "stated"
    if (EMAIL.test(text)) {
      facts.push({ concept: "email", values: [text.replace(/^mailto:/i, "")], said: text, weight })
      continue
    }
    if (HANDLE.test(text)) {
      facts.push({ concept: "handle", values: [text], said: text, weight })
      continue
    }
    const phone = phoneAt(tokens, at)
    if (phone !== undefined) {
      facts.push({ concept: "phone", values: [phone.said], said: phone.said, weight })
      at += phone.length - 1
      continue
    }
    const zip = zipAt(tokens, at)
    if (zip !== undefined) {
      facts.push({ concept: "zip", values: zip.values, said: zip.said, weight })
      at += zip.length - 1
      continue
    }
    if (/[\d_]/.test(word) && handleCue(wordsBefore(tokens, at, 3))) {
      facts.push({ concept: "handle", values: [text.replace(/^#/, "")], said: text, weight })
    }
  }
  return facts
}

const handleCue = (lead: ReadonlyArray<Token>): boolean =>
  /(^| )(user|customer|account|member|membership|loyalty|client)( (id|number|no|nr))?( is)?$/.test(folded(lead)) ||
  /(^| )(username|login|userid)( is)?$/.test(folded(lead))

/** The most digits of a phone number: E.164. */
const MAX_DIGITS = 15

const phoneAt = (
  tokens: ReadonlyArray<Token>,
  at: number
): { readonly said: string; readonly length: number } | undefined => {
  let digitsSoFar = 0
  let length = 0
  while (at + length < tokens.length) {
    const next = tokens[at + length]!
    if (!/^\+?[\d().‑-]+$/.test(next.text)) break
    digitsSoFar += next.text.replace(/\D/g, "").length
    if (digitsSoFar > MAX_DIGITS) break
    length += 1
    if (/[,;!?]/.test(next.after)) break
  }
  for (; length > 0; length--) {
    const said = written(tokens.slice(at, at + length))
    const digits = said.replace(/\D/g, "").length
    const lead = wordsBefore(tokens, at, 3)
    if (digits < 7 || digits > MAX_DIGITS || ZIP.test(said) || /^\d{4}-\d{2}-\d{2}$/.test(said)) continue
    if (lead.some(({ word }) => OTHER_NUMBER_CUES.has(word) && word !== "number" && word !== "no" && word !== "at"))
      continue
    if (
      digits >= 10 ||
      /[-.() ]/.test(said) ||
      said.startsWith("+") ||
      lead.some(({ word }) => /phone|mobile|cell|call|tel|number/.test(word))
    )
      return { said, length }
  }
  return undefined
}

export const ZIP = /^\d{5}(-\d{4})?$/
/** Postcode formats that are unambiguous: GB, CA, NL, JP and forms such as D-10115. */
const POSTCODES: ReadonlyArray<readonly [words: number, pattern: RegExp]> = [
  [2, /^[a-z]{1,2}\d[a-z\d]? \d[a-z]{2}$/],
  [2, /^[a-z]\d[a-z] \d[a-z]\d$/],
  [2, /^\d{4} [a-z]{2}$/],
  [1, /^[a-z]{1,2}\d[a-z\d]?\d[a-z]{2}$/],
  [1, /^[a-z]\d[a-z]\d[a-z]\d$/],
  [1, /^\d{3}-\d{4}$/],
  [1, /^[a-z]{1,2}-\d{4,6}$/]
]

interface SpelledValue {
  readonly values: ReadonlyArray<string>
  readonly said: string
  readonly length: number
}

/** The zip code or postcode at a position, in its spellings. */
export const zipAt = (tokens: ReadonlyArray<Token>, at: number): SpelledValue | undefined => {
  const current = tokens[at]!
  const lead = wordsBefore(tokens, at, 4)
  const cue = lead.some(({ word }) => ZIP_CUE.test(word))
  for (const [words, pattern] of POSTCODES) {
    const taken = tokens.slice(at, at + words)
    if (taken.length < words || taken.slice(0, -1).some(({ after }) => after !== "")) continue
    if (!pattern.test(folded(taken)) || (words === 2 && /^\d/.test(current.word) && COMMON_ENDS.has(taken[1]!.word)))
      continue
    const said = written(taken)
    const other =
      words === 2
        ? said.replace(" ", "")
        : /^[a-z]/i.test(said) && !said.includes("-")
          ? `${said.slice(0, -3)} ${said.slice(-3)}`
          : undefined
    return {
      values: [
        said,
        ...(other === undefined ? [] : [other]),
        ...(/^[a-z]{1,2}-/i.test(said) ? [said.replace(/^.*-/, "")] : [])
      ],
      said,
      length: words
    }
  }
  if (cue && /^\d{5} \d{4}$/.test(folded(tokens.slice(at, at + 2))) && current.after === "") {
    return {
      values: [`${current.text}-${tokens[at + 1]!.text}`, current.text],
      said: written(tokens.slice(at, at + 2)),
      length: 2
    }
  }
  const numbered = lead
    .slice(-2)
    .some(({ word }) => OTHER_NUMBER_CUES.has(word) && word !== "no" && word !== "at" && word !== "code")
  if (
    ZIP.test(current.word) &&
    (cue || !(numbered || STREETS.has(tokens[at + 2]?.word ?? "") || STREETS.has(tokens[at + 1]?.word ?? "")))
  ) {
    return {
      values: /-/.test(current.text) ? [current.text, current.text.slice(0, 5)] : [current.text],
      said: current.text,
      length: 1
    }
  }
  return cue && /^[a-z-]*\d[a-z\d-]*$/.test(current.word) && current.word.length >= 3
    ? { values: [current.text], said: current.text, length: 1 }
    : undefined
}
const COMMON_ENDS = new Set(
  "am pm st nd rd th in is to of at on or my me we he it so as an by be do go if no up us".split(" ")
)
