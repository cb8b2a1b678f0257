/**
 * Questions that leave out what they are about: "how many are software?", "and the ones without a phone?". After a question for
 * rows they are about those rows; what they say besides are conditions of the same noun.
 */
import { lengthAt } from "./deeds/lengths.ts"
import { Condition, type Noun, nounAt } from "./Lookup.ts"
import { compiled, matchStart } from "./patterns.ts"
import type { Context } from "./readConversation.ts"
import { readLookup } from "./readLookup.ts"
import { folded, type Token, tokenize, written } from "./tokenize.ts"

type Tokens = ReadonlyArray<Token>

export interface Elided {
  readonly mode?: "list" | "count"
  readonly rest: Tokens
}

const LEADS = "(and|but|so|ok|okay|now|then|of those|of these|of them|from those|among those|among them)?"
const THEM = "(of|among) (them|those|these|the ones)"
const ONES = "(the ones|those ones|those|the one|ones|these|them)"
const VERB = /^(are|were|have|had|has|do|don't|aren't|haven't|is|lack|did|does)$/
const ASKS = /^(who|whom|whose|which|what|when|where|why|how|if|whether)$/
/** Shapes that point to the rows before, without any other noun. `isOpen`: what follows has to be a verb. */
const SHAPES = (
  [
    [`${LEADS} how many ${THEM}`, "count", false],
    [`${LEADS} how many`, "count", true],
    [
      `${LEADS} (which|who|what|any|list|show|show me|give me|are any|is any|do any|does any|did any|are there any)? (ones|one|all)? ${THEM}`,
      "list",
      false
    ],
    [
      `${LEADS} (only|just|list|show|show me|give me|what about|how about|which are|who are)? (only|just)? ${ONES}`,
      undefined,
      false
    ],
    [`${LEADS} (which ones|which one)`, "list", true]
  ] as const
).map(([text, mode, isOpen]) => ({ shape: compiled(text), mode, isOpen }))

const MAX_WORDS = 14

/** What a question says of rows that it doesn't name; undefined if it names any, or none are missing. */
export const elided = (tokens: Tokens, context: Context): Elided | undefined => {
  if (tokens.length < 3 || tokens.length > MAX_WORDS) return undefined
  if (tokens.some((_, at) => nounAt(tokens.slice(at), context) !== undefined)) return undefined
  for (const { isOpen, mode, shape } of SHAPES) {
    const rest = matchStart(
      shape,
      tokens,
      () => false,
      (_, after) => (after.length > 0 && (!isOpen || VERB.test(after[0]!.word)) ? after : undefined)
    )
    if (rest === undefined || rest.some(({ word }) => ASKS.test(word))) continue
    return { ...(mode === undefined ? {} : { mode }), rest }
  }
  return undefined
}

/** "How many are there?" says nothing else. */
const NOTHING =
  /^(?:are|were|is|do|did) (?:there|they|those|these|that|we have|i have)(?: in total| altogether| in all)?$/

/** The conditions of the rest, as said of this noun: "software", "are software", "without a phone". */
export const conditionsOf = ({ rest }: Elided, noun: Noun, context: Context): ReadonlyArray<Condition> | undefined => {
  if (NOTHING.test(folded(rest))) return /\bi have\b/.test(folded(rest)) ? [Condition.Mine()] : []
  const named = tokenize(noun.said)
  const read = (words: Tokens) => readLookup(words, context)
  const bare = /^(are|were|is)$/.test(rest[0]!.word) ? rest.slice(1) : rest
  const lasting = /^(are|were|is|was|took|take|last|lasted)$/.test(rest[0]!.word) ? rest.slice(1) : rest
  const long = lengthAt(lasting)
  if (long !== undefined && long.length === lasting.length)
    return [Condition.Length({ minutes: long.value, said: `of ${written(lasting)}` })]
  const found = read([...named, ...rest]) ?? read([...named, ...bare]) ?? read([...bare, ...named])
  return found !== undefined && found.order === undefined && found.limit === undefined && found.conditions.length > 0
    ? found.conditions
    : undefined
}
