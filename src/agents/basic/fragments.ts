/** Messages that say too little for a question of their own: read as one, they would forget what the question before said. */
import { Intent, Subject } from "./Intent.ts"
import { FOLLOWS, type Last, UNREADABLE, WHOLE } from "./continuing.ts"
import { QUESTION_STARTS } from "./lexicon.ts"
import { type Noun, nounAt } from "./Lookup.ts"
import type { Context } from "./readConversation.ts"
import { readIntent } from "./readIntent.ts"
import { asked, conditionsIn, hasNoRows, isTime, nounOf } from "./refining.ts"
import { folded, type Token, tokenize } from "./tokenize.ts"

/** "Just the demos", "and among my own?": some of the rows before. */
const NARROWS = /^(?:(?:and|but|or|so) )?(?:only|just)(?= )|^(?:and|but) (?:among|within|out of)(?= )/
/** "Also Pop": more of them. */
const WIDENS = /^(?:(?:and|but|or|so) )?(?:also|plus)(?= )/
/** "Just tell me Raj's phone", "also my meetings tomorrow": a question of its own. */
const ASKS_ANEW =
  /\b(?:how|what|when|where|list|show|give|find|count|tell|send|get|need|want|wanted|wondering|asking|checking)\b/
const HAS_OWN = / (?:my|our|i|all|is|are|do|does|did|has|have|who|which)(?= |$)/
/** "And the trainings?", "what about Spain?" */
const ADDS =
  /^(?:and|what about|how about) (?!how|what|which|who|when|where|list|show|give|find|my |are|is|do|does|did|was|were|has|have|any)/
/** "How many of those …", "how many with a phone", "the last of them". */
const OF_THOSE =
  /\b(?:of|among|from) (?:those|these|them)\b|^(?:(?:and|so|but) )?how many (?:with|without|for|in|at|from|by|on|under|over)(?= )/

/** The intent of such a message: what it can only mean, or none that can be answered. */
export const fragment = (said: string, last: Last, context: Context): Intent | undefined => {
  const tokens = tokenize(said)
  const text = folded(tokens)
  const bare = bareNoun(tokens, context)
  if (bare !== undefined) return otherwiseAsked(bare, readIntent(said, context), last())
  const isPart =
    OF_THOSE.test(text) ||
    (NARROWS.test(text) && !ASKS_ANEW.test(text)) ||
    (WIDENS.test(text) && !ASKS_ANEW.test(text) && !HAS_OWN.test(text))
  const adds = ADDS.test(text)
  // "Software customers", "check-ins", "who isn't a customer": no word of whose, when or where.
  const isShort = tokens.length <= MAX_SHORT && (WHO_IS.test(text) || !QUESTION_STARTS.has(tokens[0]?.word ?? ""))
  if (!isPart && !adds && !isShort) return undefined
  const read = readIntent(said, context)
  if (FOLLOWS.has(read._tag))
    return adds && WHOLE.test(text) && !hasNoRows(last()) && read._tag === "Instead" ? UNREADABLE : undefined
  const previous = last()
  const isDropped = isPart
    ? isOfRows(read) || read._tag === "Choose" || (OF_NAMES.has(read._tag) && !isAboutOne(previous))
    : isOfRows(read) && ((adds && forgets(read, previous)) || (isShort && isOfSame(read, previous)))
  return isDropped && !hasNoRows(previous) ? UNREADABLE : undefined
}
const MAX_SHORT = 6
const WHO_IS = /^(?:who is|who's|who are|who isn't|who aren't|which are|which is) /

const isOfRows = ({ _tag }: Intent): boolean => _tag === "Browse" || _tag === "Figures" || _tag === "Titled"
const OF_NAMES: ReadonlySet<Intent["_tag"]> = new Set(["Who", "Several", "Introduce"] as const)
const ABOUT_ONE: ReadonlySet<Intent["_tag"]> = new Set(["Who", "Several", "Introduce", "Detail", "Is"] as const)
const isAboutOne = (intent: Intent | undefined): boolean => intent !== undefined && ABOUT_ONE.has(intent._tag)

/** Whether a question has no time, order or groups where the one before has. */
const forgets = (read: Intent, previous: Intent | undefined): boolean => {
  if (read._tag === "Titled" && previous?._tag === "Unclear") return true
  const isOfSome =
    (previous?._tag === "Browse" && isOrdered(previous)) ||
    (previous?._tag === "Figures" && (previous.asked.rows !== undefined || previous.asked.by.length > 0))
  return isOfSome || (!conditionsIn(read).some(isTime) && conditionsIn(previous).some(isTime))
}

/** Whether a question says only what the rows of the one before are like or called. */
const isOfSame = (read: Intent, previous: Intent | undefined): boolean => {
  const conditions = conditionsIn(read)
  const isLike = conditions.every(({ _tag }) => _tag === "Quality" || _tag === "Not" || _tag === "Called")
  if (previous?._tag === "Titled" || read._tag === "Titled")
    return isLike && (previous?._tag === "Titled" || nounOf(previous) !== undefined)
  return isLike && conditions.length > 0 && nounOf(read)?.type.id === nounOf(previous)?.type.id
}

/** "How many invoices?", "which genres?", "customers": of all, or of what the question before was about. */
const LEADS = /^(?:(?:and|so|but) )?(?:how many|which|what|the number of|number of|the)(?= )/
interface Bare {
  readonly noun: Noun
  readonly mode: "list" | "count"
  readonly isLed: boolean
  readonly words: ReadonlyArray<Token>
}
const bareNoun = (tokens: ReadonlyArray<Token>, context: Context): Bare | undefined => {
  const lead = LEADS.exec(folded(tokens))?.[0] ?? ""
  const words = tokens.slice(lead === "" ? 0 : lead.split(" ").length)
  const found = nounAt(words, context)
  return found === undefined || found.length < words.length
    ? undefined
    : { noun: found.noun, words, isLed: lead !== "", mode: /many|number/.test(lead) ? "count" : "list" }
}

const otherwiseAsked = (
  { isLed, mode, noun, words }: Bare,
  read: Intent,
  previous: Intent | undefined
): Intent | undefined => {
  if (!isOfRows(read)) return undefined
  const before = nounOf(previous)
  // "Company?" after a question about someone: hers.
  if (isAboutOne(previous) && mode === "list" && words.at(-1)!.word === noun.type.name.toLowerCase())
    return Intent.Detail({ subject: Subject.Focus(), what: folded(words) })
  if (before?.type.id === noun.type.id && previous?._tag === "Browse" && !isOrdered(previous)) {
    const isSame = noun.kind === undefined || noun.kind === before.kind
    if (isSame && previous.mode !== mode) return asked(previous, mode) ?? UNREADABLE
    // "People at Granite Optics", "customers": those there.
    if (!isSame && previous.lookup.conditions.length > 0)
      return Intent.Browse({ mode, skip: 0, lookup: { ...previous.lookup, noun } })
  }
  // "Which companies?" after a number of leads: theirs.
  if (mode === "list" && before?.kind !== undefined && before.type.id !== noun.type.id) return UNREADABLE
  // After a question that wasn't understood, the rows are asked for in other words.
  const isAgain = previous?._tag === "Unclear" && (mode === "count" || !isLed)
  return hasNoRows(previous) || isAgain ? undefined : UNREADABLE
}
const isOrdered = ({ lookup }: Extract<Intent, { _tag: "Browse" }>): boolean =>
  lookup.order !== undefined || lookup.limit !== undefined
