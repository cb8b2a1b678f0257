/** Short messages that adjust the question before: what it leaves out, its other end, its number, whom its meetings were with. */
import { isNamed } from "./alsoOf.ts"
import { type Last, ofAllRows, UNREADABLE } from "./continuing.ts"
import { conditionsOf } from "./ellipsis.ts"
import { Intent } from "./Intent.ts"
import { Condition, type Noun, nounAt } from "./Lookup.ts"
import { stripped } from "./polite.ts"
import type { Context } from "./readConversation.ts"
import { asked, changed, nounOf } from "./refining.ts"
import { folded, type Token, tokenize } from "./tokenize.ts"

type Tokens = ReadonlyArray<Token>

/** "Not the training ones", "apart from Akira's", "without Lena". */
const EXCLUDES =
  /^(?<lead>not counting|not including|leaving out|apart from|except for|excluding|except|without|minus|not) (?<article>the ones |those |the )?(?<rest>.+?)(?<ones> ones?)?$/
/** What rows can be left out by. */
const EXCLUDED: ReadonlySet<Condition["_tag"]> = new Set(["Quality", "With", "Owned", "At", "Mine", "Not"] as const)

const wordsIn = (text = ""): number => (text.trim() === "" ? 0 : text.trim().split(" ").length)

const excluded = (rest: Tokens, hasOnes: boolean, noun: Noun, context: Context): Condition | undefined => {
  if (rest.at(-1)!.word === "'s") return rest.length > 1 ? Condition.With({ words: rest.slice(0, -1) }) : undefined
  if (rest.every(({ capital }) => capital)) return Condition.With({ words: rest })
  const named = nounAt(rest, context)
  // "Not the leads".
  if (named?.length === rest.length && named.noun.type.id === noun.type.id)
    return named.noun.kind === undefined ? undefined : Condition.Quality({ words: named.noun.kind })
  const [one, ...more] = conditionsOf({ rest }, noun, context) ?? []
  const found = one ?? (hasOnes ? Condition.Quality({ words: folded(rest) }) : undefined)
  return more.length === 0 && found !== undefined && EXCLUDED.has(found._tag) ? found : undefined
}

const without = (meant: Tokens, last: Last, context: Context): Intent | undefined => {
  const found = EXCLUDES.exec(folded(meant))
  if (found?.groups === undefined || meant.some(({ after }) => after.includes(","))) return undefined
  const { article, lead, ones, rest } = found.groups as Partial<Record<string, string>>
  const end = meant.length - wordsIn(ones)
  const words = meant.slice(end - wordsIn(rest), end)
  // "Without a phone" says what rows are like, rather than which to leave out.
  const isRows =
    ones !== undefined || article !== undefined || words.every(({ capital, word }) => capital || word === "'s")
  const previous = last()
  const noun = nounOf(previous)
  if (noun === undefined || previous === undefined || (lead === "without" && !isRows)) return undefined
  if (isOfSome(previous) || isNamed(previous)) return undefined
  const condition = excluded(words, ones !== undefined, noun, context)
  if (condition === undefined) return undefined
  const other = condition._tag === "Not" ? condition.of : Condition.Not({ of: condition })
  return changed(previous, (before) => [...before, other])
}

/** Whether a question is for some rows in an order, or for some groups. */
const isOfSome = (intent: Intent): boolean =>
  (intent._tag === "Browse" && (intent.lookup.order !== undefined || intent.lookup.limit !== undefined)) ||
  (intent._tag === "Figures" &&
    [intent.asked.best, intent.asked.having, intent.asked.rows, intent.asked.part].some((one) => one !== undefined))

/** "And the fewest?" after which has the most. */
const OTHER_END =
  /^(?:and |what about |how about )?(?:the )?(?:(most|highest|biggest|largest|busiest)|(?:fewest|least|lowest|smallest|quietest))$/
const otherEnd = (text: string, last: Last): Intent | undefined => {
  const found = OTHER_END.exec(text)
  const previous = found === null ? undefined : last()
  if (previous?._tag !== "Figures" || previous.asked.best === undefined || previous.asked.best.nth !== undefined)
    return undefined
  const upwards = found![1] === undefined
  // "And the biggest?" after who has the most invoices: another figure.
  const isOfNumber = /(?:most|fewest|least|busiest|quietest)$/.test(text)
  if (upwards === previous.asked.best.upwards || (previous.asked.measure.figure === "count" && !isOfNumber))
    return undefined
  return Intent.Figures({ asked: { ...previous.asked, best: { ...previous.asked.best, upwards } } })
}

/** "How many?" after a list, "who with?" after meetings, whose rows say so. */
const COUNTS = /^(?:and |so )?how many(?: (?:is that|are (?:those|these|they)))?$/
const WITH_WHOM =
  /^(?:and )?(?:who with|with whom|with who|who was it with|who is it with|who were they with|who are they with)$/
const OF_OTHERS = /^(?:and |so )?(?:who|whom|(?:which|what) (?:people|persons|colleagues|companies|customers))\b/i
const inMode = (text: string, before: string, last: Last): Intent | undefined => {
  const mode = COUNTS.test(text) ? "count" : WITH_WHOM.test(text) ? "list" : undefined
  const previous = mode === undefined ? undefined : last()
  const isOfMeetings = previous?._tag === "Titled" || nounOf(previous)?.type.id === "meetings"
  if (previous === undefined || (mode === "list" && !isOfMeetings)) return undefined
  // "How many?" after whom I met: people rather than meetings.
  if (mode === "count" && OF_OTHERS.test(before.trim()) && isOfMeetings) return UNREADABLE
  // "Tracks by Nirvana" are no groups.
  const figures = previous._tag === "Figures" ? previous : undefined
  const rows = figures === undefined ? previous : isNamed(previous) ? figures.otherwise : ofAllRows(figures)
  const found = asked(rows, mode!)
  return mode === "count" && found !== undefined && isOfSome(found) ? undefined : found
}

/** The question before with what a short message changes. */
export const adjusted = (said: string, before: string, last: Last, context: Context): Intent | undefined => {
  const tokens = tokenize(said)
  // Also with its last words: "how many in total?" may be all of them.
  const text = folded(tokens)
  return inMode(text, before, last) ?? otherEnd(text, last) ?? without(stripped(tokens), last, context)
}
