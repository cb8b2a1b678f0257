/** Rewrites a request before it is read: without polite words, with a name for its pronoun, with a sign for its colon. */
import type { Context } from "../readConversation.ts"
import { timeAt } from "../readTime.ts"
import { withoutOpeners } from "./clauses.ts"
import { couldBeName } from "./readSubject.ts"
import { reasonsOf } from "./reasons.ts"
import { type Fits, matches, shapeOf } from "./shapes.ts"
import { readWords, type Said, textOf, type Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const PLEASE = /^(please|pls|plz|kindly)$/

/** "One more task for Kofi please: …": the polite word can stand anywhere. */
export const withoutPlease = ({ text, words }: Said): Said => ({
  text,
  words: words.flatMap((each, at) => {
    if (at > 0 && at < words.length - 1 && each.quoted !== true && PLEASE.test(each.text)) return []
    const next = words[at + 1]
    const isBefore = at < words.length - 2 && next !== undefined && next.quoted !== true && PLEASE.test(next.text)
    return [isBefore ? { ...each, after: each.after + next.after } : each]
  })
})

/** "Order laptops: in progress", with the colon as a sign; undefined without exactly one colon. */
export const assigned = ({ text, words }: Said): Said | undefined => {
  const at = words.findIndex(({ after }) => after === ":")
  if (at < 0 || at === words.length - 1 || words.slice(at + 1).some(({ after }) => after.includes(":")))
    return undefined
  const { end } = words[at]!
  const sign: Word = { text: "=", word: "=", after: "", capital: false, start: end, end: end + 1 }
  return { text, words: [...words.slice(0, at), { ...words[at]!, after: "" }, sign, ...words.slice(at + 1)] }
}

const ABSENT = ["{p} <away>", "{p} <away> (until|from|for|since|the|all)? {w}"].map(shapeOf)
const PRONOUN = /^(his|her|their)$/
const NO_NOUN = /^(the|a|an|all|every|each|my|our|it|them|this|that|to)$/

/** "Raj is on holiday. Give his tasks to Lena": the request alone, with the name in place of the pronoun. */
export const withoutAbsence = (said: Said, context: Context): Said => {
  const { text, words } = said
  const end = words.findIndex(({ after }) => /[.,;!]/.test(after))
  const rest = words.slice(end + 1)
  if (end < 1 || end > 12 || rest.length === 0) return said
  const fits: Fits = (name, taken) =>
    name === "p" ? couldBeName(taken) : timeAt(taken, context.today)?.length === taken.length
  const [found] = ABSENT.flatMap((pattern) => [...matches(pattern, words.slice(0, end + 1), fits)])
  const isTheirs = ({ quoted, word }: Word, next: Word | undefined) =>
    quoted !== true && PRONOUN.test(word) && next !== undefined && !NO_NOUN.test(next.word)
  const named = found?.["p"] ?? reasoner(words.slice(0, end + 1))
  if (named === undefined || !rest.some((each, at) => isTheirs(each, rest[at + 1]))) return said
  const name = textOf(said, named)
  let from = rest[0]!.start
  let whole = ""
  for (const [at, each] of rest.entries()) {
    if (!isTheirs(each, rest[at + 1])) continue
    whole += `${text.slice(from, each.start)}${name}'s`
    from = each.end
  }
  return readWords(whole + text.slice(from))
}

/** The name that a reason begins with: "Kofi works half days now". */
const reasoner = (words: Words): Words | undefined => {
  const own = withoutOpeners(words).at(-1)!
  const length = own.findIndex(({ capital, quoted }) => !capital || quoted === true)
  const isReason = length > 0 && length <= 3 && reasonsOf(own, () => undefined).length > 0
  return isReason && couldBeName(own.slice(0, length)) ? own.slice(0, length) : undefined
}
