/**
 * The grammar of questions for figures: a measure ("average total of invoices in 2023"), its groups ("by country"), their
 * order ("the most", "top 5") or condition ("more than 10"). Every word has a part in it, or the question is another one.
 */
import type { Intent } from "../Intent.ts"
import { isValue } from "../conditionParts.ts"
import { Condition, type Noun, nounAt } from "../Lookup.ts"
import { byLength, compiled, endsWith, matchPattern, startsWith } from "../patterns.ts"
import type { Context } from "../readConversation.ts"
import { byWord } from "../../../domain/text.ts"
import { readConditions } from "../readLookup.ts"
import { timeAt } from "../readTime.ts"
import { lengthAt } from "../deeds/lengths.ts"
import { folded, written } from "../tokenize.ts"
import type { Asked, Words } from "./Asked.ts"
import { numberOf } from "./asking.ts"
import { AGAIN, CUES, LEADS, ORDERS } from "./lexicon.ts"
import { firstOf, fitsIn, isPhrase, withParts } from "./measures.ts"
import { FIGURE_QUESTIONS } from "./questions.ts"

const LEADING = byLength(LEADS)

/** The words without asking ones at their beginning, from the fewest words to all. */
const withoutLeads = (tokens: Words): ReadonlyArray<Words> => {
  const lead = LEADING.find((words) => words.length < tokens.length && startsWith(tokens, words))
  return lead === undefined ? [tokens] : [...withoutLeads(tokens.slice(lead.length)), tokens]
}

/** A time at the beginning goes to the end: "in 2023, how many invoices per country". */
const timeLast = (tokens: Words, { today }: Context): Words => {
  const time = timeAt(tokens, today)
  return time === undefined || time.length === tokens.length
    ? tokens
    : [...tokens.slice(time.length), ...tokens.slice(0, time.length).map((token) => ({ ...token, after: "" }))]
}

/** "…, top 5": the first of the groups. */
const limited = (tokens: Words): { readonly tokens: Words; readonly limit?: number } => {
  const [top, n] = [tokens.at(-2), tokens.at(-1)]
  if (top?.word !== "top" || n === undefined || tokens.length < 4 || !/^\d{1,2}$|^(three|five|ten)$/.test(n.word))
    return { tokens }
  const rest = tokens.slice(0, -2)
  const shorter = /^(only|just|the)$/.test(rest.at(-1)!.word) ? rest.slice(0, -1) : rest
  return { tokens: shorter, limit: numberOf([n]) }
}

const ORDERED = byLength(ORDERS)

/** Whether a message can be a question for figures. */
export const hasCue = (tokens: Words): boolean => tokens.some(({ word }) => CUES.has(word))

const PLACES = byWord<number>({ second: 2, "2nd": 2, third: 3, "3rd": 3, fourth: 4, "4th": 4, fifth: 5, "5th": 5 })
const SUPERLATIVES =
  /^(most|fewest|least|highest|lowest|largest|biggest|smallest|longest|shortest|busiest|greatest|best|cheapest|priciest|weakest|strongest)$/

/** "The second most": a place in an order. */
const placed = (tokens: Words): { readonly tokens: Words; readonly nth?: number } => {
  const at = tokens.findIndex(({ word }, index) => {
    const next = tokens[index + 1]?.word === "-" ? tokens[index + 2] : tokens[index + 1]
    return PLACES[word] !== undefined && next !== undefined && SUPERLATIVES.test(next.word)
  })
  if (at < 0) return { tokens }
  const rest = tokens.slice(tokens[at + 1]!.word === "-" ? at + 2 : at + 1)
  return { tokens: [...tokens.slice(0, at), ...rest], nth: PLACES[tokens[at]!.word]! }
}

/** With a place, where one row or group is asked for. */
const atPlace = (asked: Asked, nth: number): Asked | undefined => {
  const { best, rows } = asked
  if (best !== undefined && (best.limit ?? 1) === 1) return { ...asked, best: { ...best, limit: 1, nth } }
  return rows !== undefined && (rows.limit ?? 1) === 1 ? { ...asked, rows: { ...rows, limit: 1, nth } } : undefined
}

/** The longest ending of AGAIN, in words. */
const MAX_AGAIN = 9
/** "The most minutes, and how many". */
const COUNTED = /^(minutes|hours)$/
const ASKED_AGAIN = Object.entries(AGAIN).map(([of, text]) => ({ of, shape: compiled(text) }))

/** "And how many tracks is that", where tracks are counted. */
const isCounted = (noun: Words, { measure, rows }: Asked, context: Context): boolean =>
  COUNTED.test(folded(noun))
    ? folded(measure.of ?? []) === folded(noun)
    : rows === undefined && measure.figure === "count" && isSameNoun(nounAt(noun, context)?.noun, measure.lookup.noun)

const isSameNoun = (one: Noun | undefined, other: Noun): boolean =>
  one?.type.id === other.type.id && (one.kind === undefined || one.kind === other.kind)

/** A question without an ending that asks for what the answer has anyway; undefined if there is none. */
const readTwice = (tokens: Words, context: Context): Asked | undefined => {
  for (let at = Math.max(3, tokens.length - MAX_AGAIN); at < tokens.length; at++) {
    const endings = ASKED_AGAIN.flatMap(({ of, shape }) => {
      const captures = matchPattern(shape, tokens.slice(at), (_, words) => words.length === 1)
      return captures === undefined ? [] : [{ of, noun: captures["noun"] }]
    })
    const asked = endings.length === 0 ? undefined : readOnce(tokens.slice(0, at), context)
    if (asked === undefined || (asked.by.length === 0 && asked.rows === undefined)) continue
    const { noun, of: ending } = endings[0]!
    if (noun !== undefined) return isCounted(noun, asked, context) ? asked : undefined
    const { figure, of = [] } = asked.measure
    const isCount = asked.rows === undefined && (figure === "count" || COUNTED.test(folded(of)))
    switch (ending) {
      case "figure":
        return asked
      case "count":
        return isCount ? asked : undefined
      case "money":
        return figure === "count" ? undefined : asked
      default:
        return figure === "sum" && asked.rows === undefined ? asked : undefined
    }
  }
  return undefined
}

/** What a question for figures asks for; undefined if it is none, or any word of it is not understood. */
export const readAsked = (tokens: Words, context: Context): Asked | undefined =>
  hasCue(tokens) ? (readTwice(tokens, context) ?? readOnce(tokens, context)) : undefined

const readOnce = (tokens: Words, context: Context): Asked | undefined => {
  const unordered = ORDERED.find((words) => words.length < tokens.length && endsWith(tokens, words))
  const { limit, tokens: words } = limited(unordered === undefined ? tokens : tokens.slice(0, -unordered.length))
  const { nth, tokens: plain } = placed(words)
  for (const rest of withoutLeads(timeLast(plain, context))) {
    const asked = inUnit(rest, context) ?? firstOf(FIGURE_QUESTIONS, rest, context)
    if (asked === undefined) continue
    if (nth !== undefined) return limit === undefined ? atPlace(asked, nth) : undefined
    if (limit === undefined) return asked
    return asked.by.length === 0 || asked.best?.limit !== undefined
      ? undefined
      : { ...asked, best: { upwards: false, ...asked.best, limit } }
  }
  return undefined
}

/** "Total time of meetings in minutes". */
const inUnit = (tokens: Words, context: Context): Asked | undefined => {
  const [joint, last] = tokens.slice(-2)
  if (tokens.length < 4 || joint!.word !== "in" || !/^(hours|minutes|seconds)$/.test(last!.word)) return undefined
  const asked = firstOf(FIGURE_QUESTIONS, tokens.slice(0, -2), context)
  if (asked === undefined || asked.measure.figure === "count") return undefined
  return { ...asked, measure: { ...asked.measure, unit: last!.word } }
}

const REGROUPINGS = [
  "(count|counts|number|numbers|how many|broken down|split|split up)? <per> (the|our)? {by}",
  "(split|break|divide|group|give|separate)? (me)? (that|those|them|these|it|this|the same|the result) (down|up|out)? <per> (the|our)? {by}",
  "(split|break|divide|group|give|separate)? (me)? (that|those|them|these|it|this|the same|the result) (down|up|out)? <per> (the|our)? {by} {tail}"
].map((text) => compiled(withParts(text)))

/** "By country?", "split that by country" after another question: its groups. */
export const readRegrouping = (
  tokens: Words,
  context: Context
): Omit<Extract<Intent, { _tag: "Regroup" }>, "_tag" | "isOfYear"> | undefined => {
  for (const shape of REGROUPINGS) {
    const { by, tail } = matchPattern(shape, tokens, fitsIn(context)) ?? {}
    const conditions = tail === undefined ? [] : readConditions(tail, context)
    if (by !== undefined && conditions !== undefined) return { by, conditions }
  }
  return undefined
}

/** "Only 2023", "just the open ones": conditions that the last question gets besides. */
export const readOnly = (
  tokens: Words,
  context: Context
): Omit<Extract<Intent, { _tag: "Only" }>, "_tag"> | undefined => {
  const conditions = conditionsOnly(tokens, context)
  if (conditions !== undefined) return { conditions }
  const top = matchPattern(compiled("(only|just|show|and)? (the)? top {n}"), tokens, fitsIn(context))?.["n"]
  return top && { conditions: [], limit: numberOf(top) }
}

const conditionsOnly = (tokens: Words, context: Context): ReadonlyArray<Condition> | undefined => {
  const [first] = tokens
  // "With Dmitri only".
  if (tokens.length > 2 && tokens.at(-1)!.word === "only" && /^(with|in|on|for|at|during)$/.test(first!.word))
    return readConditions(tokens.slice(0, -1), context)
  if (tokens.length < 2 || !/^(only|just)$/.test(first!.word)) return undefined
  const ones = /^(ones|one)$/.test(tokens.at(-1)!.word)
  const rest = tokens.slice(tokens[1]!.word === "the" || tokens[1]!.word === "those" ? 2 : 1, ones ? -1 : undefined)
  if (rest.length === 0) return undefined
  // "Only Akira's".
  if (rest.length > 1 && rest.length < 4 && rest.at(-1)!.word === "'s" && isValue(rest.slice(0, -1), context))
    return [Condition.With({ words: rest.slice(0, -1) })]
  const long = ones ? lengthAt(rest) : undefined
  if (long !== undefined && long.length === rest.length)
    return [Condition.Length({ minutes: long.value, said: written(rest), before: true })]
  return ones && isPhrase(rest, context, 2)
    ? [Condition.Quality({ words: folded(rest) })]
    : (readConditions(rest, context) ?? valueOf(rest, context))
}

/** "Only consulting": a value. */
const valueOf = (rest: Words, context: Context): ReadonlyArray<Condition> | undefined =>
  rest.length === 1 && isValue(rest, context) && !/[\d]/.test(rest[0]!.word)
    ? [rest[0]!.capital ? Condition.With({ words: rest }) : Condition.Quality({ words: folded(rest) })]
    : undefined
