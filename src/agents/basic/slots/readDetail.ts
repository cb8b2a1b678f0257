/** Reads a question about one person or thing by its parts: the name, and the words that say which detail is asked for. */
import { isName } from "../fits.ts"
import { byLength, startsWith } from "../patterns.ts"
import { isQuestionWord } from "../respell.ts"
import type { Context } from "../readConversation.ts"
import { folded, type Token, tokenize } from "../tokenize.ts"
import { DETAIL_FILLERS, DETAILS } from "./words.ts"

type Tokens = ReadonlyArray<Token>

const CUES = DETAILS.flatMap(([phrases, what, asks]) => byLength(phrases).map((words) => ({ words, what, asks }))).sort(
  (a, b) => b.words.length - a.words.length
)
const FILLERS = byLength(DETAIL_FILLERS)
const MAX_WORDS = 20
const MAX_NAME = 3
const ASKS = /^(what|which|who|whom|whose|when|where|how)$/

const isNamed = (rest: Tokens): boolean =>
  rest.length >= 2 &&
  rest[0]!.after === "" &&
  [0, 1].every((at) => {
    const { capital, word } = rest[at]!
    const isKnown = FILLERS.some(([one, ...more]) => one === word && more.length === 0) || isQuestionWord(word)
    return !capital && /^\p{L}{3,}$/u.test(word) && !isKnown && !CUES.some(({ words }) => words.includes(word))
  })

/** "Who spoke to Ada Lovelace about the account", "who should look after her", "is anyone working on her": not a detail of hers. */
const OTHERS =
  /^which account |\b(?:of|for|from|with) (?:somebody|someone|anybody|anyone)\b|\bwork(?:s|ed|ing)? on\b|^(?:.* )?(?:who|whom) (?:(?:has |had |have |last )?(?:spoke|spoken|talked|called)|should|would|could|must|can)\b(?! (?:i|we|you)\b)/

/** "Who has the account of Ada Lovelace" as "Ada Lovelace's owner"; undefined if any other word is in it. */
export const readDetail = (tokens: Tokens, context: Context): Tokens | undefined => {
  if (tokens.length < 3 || tokens.length > MAX_WORDS || OTHERS.test(folded(tokens))) return undefined
  const asked: Array<string> = []
  const questions = new Set<string>()
  let name: Tokens | undefined
  let isJoined = false
  for (let at = 0; at < tokens.length;) {
    const rest = tokens.slice(at)
    let length = 0
    while (
      rest[length]?.capital === true &&
      rest[length]!.word !== "i" &&
      (length === 0 || rest[length - 1]!.after === "")
    )
      length++
    // The first word of a sentence isn't a name by itself.
    if (length > 0 && !(at === 0 && length === 1)) {
      if (name !== undefined || length > MAX_NAME || !isName(rest.slice(0, length), context)) return undefined
      name = rest.slice(0, length).map((token) => ({ ...token, after: "" }))
      at += length + (rest[length]?.word === "'s" ? 1 : 0)
      continue
    }
    const cue = CUES.find(({ words }) => startsWith(rest, words))
    if (cue !== undefined) {
      // "The phone of Ada's owner" is one detail of another one.
      if (asked.length > 0 && !isJoined && !asked.includes(cue.what)) return undefined
      isJoined = /[,;:?&+]/.test(rest[cue.words.length - 1]!.after)
      if (!asked.includes(cue.what)) asked.push(cue.what)
      at += cue.words.length
      continue
    }
    const filler = FILLERS.find((words) => startsWith(rest, words))
    if (filler === undefined) {
      // "shannon garcia": two words that mean nothing else.
      if (name !== undefined || !isNamed(rest)) return undefined
      name = rest.slice(0, 2).map((token) => ({ ...token, after: "" }))
      at += 2 + (rest[2]?.word === "'s" ? 1 : 0)
      continue
    }
    if (ASKS.test(filler[0]!)) questions.add(filler[0]!)
    if (ASKS.test(filler[0]!) || /^(and|also)$/.test(filler[0]!)) isJoined = true
    at += filler.length
  }
  // "What is the follow up date?" after an answer about one.
  if (name === undefined && asked.length === 1 && questions.size > 0 && context.focus?.length === 1)
    return tokenize(`their ${asked[0]!}`)
  if (name === undefined || name.length < 2 || asked.length === 0 || asked.length > 2) return undefined
  const fits = (what: string, question: string) => DETAILS.some(([, one, asks]) => one === what && asks.test(question))
  // Each question word goes with a detail, and each detail with a question word, if there are any.
  const isAsked =
    [...questions].every((question) => asked.some((what) => fits(what, question))) &&
    (questions.size === 0 || asked.every((what) => [...questions].some((question) => fits(what, question))))
  return isAsked ? [...name, ...tokenize("x's").slice(1), ...tokenize(asked.join(" and "))] : undefined
}
