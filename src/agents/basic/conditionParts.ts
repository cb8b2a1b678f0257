/** Which words the captures of a condition's pattern may take. */
import { CURRENCIES, FOCUS } from "./conditionBuilders.ts"
import { lengthAt } from "./deeds/lengths.ts"
import { DONE, OUTCOMES } from "./shorthand.ts"
import { ALSO_NAMES, COMPARATORS, DATE_VERBS, ME, NEXT_CONDITION, STRUCTURE } from "./lexicon.ts"
import type { Fits } from "./patterns.ts"
import { daysIn, isHours } from "./readClock.ts"
import type { Context } from "./readConversation.ts"
import { MONTHS } from "../english.ts"
import { timeAt } from "./readTime.ts"
import { folded, type Token } from "./tokenize.ts"

const MAX_VALUE = 7
const PREPOSITION = /^(in|on|by|at|before|after|until|within|between)$/
const MAX_QUALITY = 3

/** Whether a word structures the question: "IT", "US" and "Will" are values if written so. */
export const structures = ({ capital, text, word }: Token): boolean =>
  STRUCTURE.has(word) && !(ALSO_NAMES.has(word) && capital && (word.length > 2 || text === word.toUpperCase()))

/** Whether words can be one name or value: none of them structures the question or begins another condition. */
export const isValue = (tokens: ReadonlyArray<Token>, context: Context): boolean =>
  tokens.length > 0 &&
  tokens.length <= MAX_VALUE &&
  !tokens.some((token) => structures(token) || token.word === "'s") &&
  (!/^(at|in|on)$/.test(tokens[0]!.word) || tokens[0]!.capital) &&
  !tokens.slice(0, -1).some(({ after }) => after !== "") &&
  !tokens.some(({ word }, at) => at > 0 && (word === "last" || DATE_VERBS[word] !== undefined)) &&
  !tokens.some(
    (_, at) => at > 0 && (NEXT_CONDITION.has(tokens[at]!.word) || timeAt(tokens.slice(at), context.today) !== undefined)
  ) &&
  timeAt(tokens, context.today)?.length !== tokens.length

/** The three or more alternatives of "lead, qualified or proposal". */
export const alternativesIn = (tokens: ReadonlyArray<Token>): ReadonlyArray<ReadonlyArray<Token>> | undefined => {
  if (!tokens.some(({ word }) => word === "or")) return undefined
  const all: Array<Array<Token>> = [[]]
  for (const [at, token] of tokens.entries()) {
    if (token.word === "or") {
      if (all.at(-1)!.length > 0) all.push([])
    } else all.at(-1)!.push({ ...token, after: "" })
    if (token.after === "," && at < tokens.length - 1) all.push([])
    else if (token.after !== "" && at < tokens.length - 1) return undefined
  }
  return all.length >= 3 && all.length <= MAX_ALTERNATIVES && all.every(({ length }) => length > 0) ? all : undefined
}
const MAX_ALTERNATIVES = 6

/** Words that compare or equate, between a column and its value. */
const COMPARING = new Set(
  "is are was were be over above under below more less than at least most greater fewer before after since until between equals".split(
    " "
  )
)

/** Words of the longest comparison. */
const MAX_COMPARISON = 5
/** Comparisons before a number. */
const COMPARISONS = new Set(Object.keys(COMPARATORS))

const isWhere = (tokens: ReadonlyArray<Token>, { today }: Context): boolean => {
  if (tokens.length < 2 || tokens.length > MAX_VALUE) return false
  // "with Kofi between December 4 and 11" names a person.
  const range = tokens.findIndex(({ word }) => /^(between|since|until|before|after)$/.test(word))
  if (range > 0 && tokens.slice(0, range).every(({ capital, word }) => capital || /^(and|or)$/.test(word))) return false
  const between = tokens.findIndex(({ word }) => word === "between")
  if (between >= 0 && !tokens.slice(between).some(({ word }) => word === "and")) return false
  const compares = tokens.some(({ word }) => COMPARING.has(word))
  return (
    !structures(tokens[0]!) &&
    !/^(a|an|any|some)$/.test(tokens[0]!.word) &&
    !structures(tokens.at(-1)!) &&
    !/^(and|or|but)$/.test(tokens.at(-1)!.word) &&
    !COMPARING.has(tokens.at(-1)!.word) &&
    !tokens.some(
      (token) => token.word === "'s" || (structures(token) && !COMPARING.has(token.word) && token.word !== "or")
    ) &&
    (compares ||
      !tokens.some(
        ({ word }, at) => NEXT_CONDITION.has(word) || (at > 0 && timeAt(tokens.slice(at), today) !== undefined)
      ))
  )
}

export const fitsCondition =
  (context: Context): Fits =>
  (name, tokens) => {
    const [first] = tokens
    switch (name) {
      case "value":
      case "other":
        return isValue(tokens, context) || (tokens.length === 1 && FOCUS.has(first!.word))
      case "either":
        return alternativesIn(tokens)?.every((words) => isValue(words, context)) === true
      case "who":
      case "whom":
        return isValue(tokens, context) || (tokens.length === 1 && ME.test(first!.word))
      case "lead":
      case "second":
        return tokens.length === 1 && /^(in|at|on|under)$/.test(first!.word)
      case "quality":
        return tokens.length <= MAX_QUALITY && !/^(with|by|of|for|to)$/.test(first!.word) && isValue(tokens, context)
      case "column":
      case "unit":
        // "due in December" needs no column called "in".
        return tokens.length <= MAX_QUALITY && !PREPOSITION.test(first!.word) && isValue(tokens, context)
      case "where":
        return isWhere(tokens, context)
      case "number":
      case "amount":
        return tokens.length === 1 && /^[$€£]?\d[\d.,]*[km]?$/.test(first!.word)
      case "length":
        return lengthAt(tokens)?.length === tokens.length
      case "currency":
        return tokens.length === 1 && CURRENCIES[first!.word] !== undefined
      case "compared":
        return tokens.length <= MAX_COMPARISON && COMPARISONS.has(folded(tokens))
      case "when":
        return timeAt(tokens, context.today)?.length === tokens.length
      case "range":
        // A range of numbers is a column's: "with price between 5 and 10", "with year between 1990 and 2000".
        return (
          first!.word === "between" &&
          tokens.some(({ word }) => MONTHS[word] !== undefined) &&
          timeAt(tokens, context.today)?.length === tokens.length
        )
      case "done":
        return tokens.length === 1 && DONE[first!.word] !== undefined
      case "won":
        return tokens.length === 1 && OUTCOMES[first!.word] !== undefined
      case "letter":
        return tokens.length === 1 && /^\p{L}$/u.test(tokens[0]!.text)
      case "hours":
        return isHours(tokens)
      case "span":
        return daysIn(tokens) !== undefined
      case "verb":
        return tokens.length === 1 && DATE_VERBS[first!.word] !== undefined
      default:
        return false
    }
  }
