/** Two questions in one, the second of which isn't whole: it is about the one whom the first names, or shares its verb. */
import { Intent } from "../Intent.ts"
import { nounAt } from "../Lookup.ts"
import type { Context } from "../readConversation.ts"
import { pointingTo } from "../statements.ts"
import { folded, type Token } from "../tokenize.ts"

const WH = /^(who|whom|whose|what|which|when|where|how)$/
/** Whether a question can be answered without what was said before it. */
export const isAlone = (intent: Intent): boolean =>
  intent._tag === "Figures" ||
  intent._tag === "Browse" ||
  (intent._tag === "Detail" && intent.subject._tag !== "Focus") ||
  (intent._tag === "Is" && intent.subject._tag !== "Focus") ||
  intent._tag === "HowLong"

const TAIL = /^(do|does|did|has|have|had|are|were)$/

/** "How many won and how many lost customers does Nadia have": two numbers, with what is said of both. */
export const asCounts = (
  tokens: ReadonlyArray<Token>,
  readOne: (words: ReadonlyArray<Token>) => Intent | undefined,
  context: Context
): Intent | undefined => {
  const at = tokens.findIndex(({ word }) => word === "and")
  const end = tokens.findIndex(({ word }, index) => index > at && TAIL.test(word))
  if (!folded(tokens).startsWith("how many ") || at < 3 || end < at + 2) return undefined
  const again = folded(tokens.slice(at + 1, at + 3)) === "how many" ? 2 : 0
  const [first, second, tail] = [tokens.slice(2, at), tokens.slice(at + 1 + again, end), tokens.slice(end)]
  if (second.length === 0 || first.some(({ after, word }) => after !== "" || TAIL.test(word))) return undefined
  const hasNoun = first.some((_, index) => nounAt(first.slice(index), context) !== undefined)
  const nouns = hasNoun ? first : [...first, second.at(-1)!]
  const [one, two] = [nouns, second].map((words) => readOne([...tokens.slice(0, 2), ...words, ...tail]))
  return one?._tag === "Browse" && two?._tag === "Browse" ? Intent.Both({ intents: [one, two] }) : undefined
}

/** "Nadia's e-mail and how many leads she has": the second question is about the one whom the first names. */
export const asTwo = (
  tokens: ReadonlyArray<Token>,
  readOne: (words: ReadonlyArray<Token>) => Intent | undefined
): Intent | undefined => {
  const at = tokens.findIndex(({ word }, index) => word === "and" && WH.test(tokens[index + 1]?.word ?? ""))
  const one = at < 2 ? undefined : readOne(tokens.slice(0, at))
  const name = one === undefined || !isAlone(one) ? undefined : nameIn(one)
  const second = name && pointingTo(tokens.slice(at + 1), name)
  const two = second && readOne(second)
  return one !== undefined && two !== undefined && isAlone(two) ? Intent.Both({ intents: [one, two] }) : undefined
}

/** The one name that a question is about. */
const nameIn = (intent: Intent): ReadonlyArray<Token> | undefined => {
  if (intent._tag === "Detail") return intent.subject._tag === "Named" ? intent.subject.tokens : undefined
  const names =
    intent._tag === "Browse"
      ? intent.lookup.conditions.flatMap((one) => (one._tag === "With" || one._tag === "Owned" ? [one.words] : []))
      : []
  return names.length === 1 && names[0]!.every(({ capital }) => capital) ? names[0] : undefined
}
