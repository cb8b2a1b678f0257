/**
 * Rewrites a question that no rule reads: without a light verb and its frame ("do a search for …" asks for a list), with a leading
 * group at the end ("per product, …"), or without a stranded preposition ("what product do we have the fewest leads for").
 */
import { nounAt } from "../Lookup.ts"
import { compiled, matchStart } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { type Token, tokenize } from "../tokenize.ts"

type Tokens = ReadonlyArray<Token>

/** Light verbs: the noun after them carries the meaning. */
const LIGHT =
  "(i need|i want|i would like|we need|give me|get me|show me|send me|make|make me|do|do me|run|run me|perform|pull|pull me|prepare|compile|put together|generate|create|draw up|build|have|let me have|let me see|see|provide|produce|print|what is|what are)?"
const ARTICLE = "(a|an|the|my|our)? (quick|short|full|complete|little|simple|brief|current|whole|entire|exact|overall)?"
const FRAMES = (
  [
    [
      `${LIGHT} ${ARTICLE} (search|lookup|look-up|query|list|listing|report|overview|rundown|summary) (for|of|on|with|about|showing)`,
      "list"
    ],
    [`${LIGHT} ${ARTICLE} (count|tally|number|total number|headcount) (for|of)`, "how many"],
    ["(look for|search for|look up|search|filter for|filter by|track down|hunt for)", "list"]
  ] as const
).map(([text, lead]) => ({ shape: compiled(text), lead }))

const NOTHING = () => false

/** "Do a quick search for consulting leads": a list of them. */
const unframed = (tokens: Tokens, context: Context): Tokens | undefined => {
  for (const { lead, shape } of FRAMES) {
    const rest = matchStart(shape, tokens, NOTHING, (_, after) => (after.length > 1 ? after : undefined))
    if (rest === undefined) continue
    return rest.some((_, at) => nounAt(rest.slice(at), context) !== undefined)
      ? [...tokenize(lead), ...rest]
      : undefined
  }
  return undefined
}

const PER = /^(per|by|for|in|across)$/
/** "Per product, how many are lost": the groups go to the end. */
const groupLast = (tokens: Tokens): Tokens | undefined => {
  const end = tokens.findIndex(({ after }) => after.includes(","))
  if (end < 1 || end > 2 || end === tokens.length - 1 || !PER.test(tokens[0]!.word)) return undefined
  if (tokens[0]!.word !== "per" && tokens[0]!.word !== "by" && !/^(each|every)$/.test(tokens[1]!.word)) return undefined
  const by = tokens.slice(0, end + 1).map((token) => ({ ...token, after: "" }))
  return [...tokens.slice(end + 1, -1), { ...tokens.at(-1)!, after: "" }, ...by]
}

const STRANDED = /^(for|in|with|from|of|under|on|at|by)$/
/** "Which product do we have the most leads for". */
const unstranded = (tokens: Tokens): Tokens | undefined =>
  tokens.length > 3 && STRANDED.test(tokens.at(-1)!.word) ? tokens.slice(0, -1) : undefined

/** The wordings, each from the one before it. */
export const framedOf = (tokens: Tokens, context: Context): ReadonlyArray<Tokens> => {
  const steps = [unframed(tokens, context), groupLast(tokens), unstranded(tokens)]
  return steps.filter((one) => one !== undefined)
}
