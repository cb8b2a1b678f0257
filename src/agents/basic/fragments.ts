/** Messages that say too little for a question of their own: read as one, they would forget what the question before said. */
import { alsoOf } from "./alsoOf.ts"
import { Intent, Subject } from "./Intent.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import { FOLLOWS, isState, KEPT, type Last, ofAllRows, UNREADABLE } from "./continuing.ts"
import { type Noun, nounAt } from "./Lookup.ts"
import { stripped } from "./polite.ts"
import type { Context } from "./readConversation.ts"
import { readIntent } from "./readIntent.ts"
import { asked, conditionsIn, carriesNothing, isTime, nounOf } from "./refining.ts"
import { folded, type Token, tokenize } from "./tokenize.ts"

/** "Just the demos", "and among my own?": some of the rows before. */
const NARROWS = /^(?:(?:and|but|or|so) )?(?:only|just)(?= )|^(?:and|but) (?:among|within|out of)(?= )/
/** "Also Pop": more of them. */
const WIDENS = /^(?:(?:and|but|or|so) )?(?:also|plus)(?= )/
/** "Just tell me Raj's phone", "just out of curiosity, how many": a question of its own. */
const ASKS_ANEW =
  /\b(?:how|what|when|where|list|show|give|find|count|tell|send|get|need|want|wanted|wondering|asking|checking)\b|^(?:only|just|also|plus) (?:who|which|whose|do|does|did|is|are|has|have) /
const ASKS = /^(?:who|which|whose|do|does|did|is|are|has|have)$/
/** "And the trainings?", "what about Spain?", "the quarterly review, who is it with?" */
const ADDS =
  /^the |^(?:and|what about|how about) (?!how|what|which|who|when|where|list|show|give|find|my |are|is|do|does|did|was|were|has|have|any)/
/** "The last of them", "which were contacted in May", "is anyone there mine", "how many with Samir's customers". */
const OF_THOSE =
  /\b(?:of|among|from) (?:those|these|them)\b|\bof the (?:[a-z]+ ){0,2}ones?\b|\bthe (?:two|three|four|five|other|others|rest)\b|\b(?:any(?:one|body)|else) there\b|^(?:(?:and|so|but) )?(?:which|how many) (?:is|are|was|were|has|have|had)(?= )(?! there\b)|^(?:(?:and|so|but) )?how many (?:with|without|for|in|at|from|by|on|under|over)(?= )/
/** "Any with lost people": which rows are meant isn't said. */
const OF_ANY = /^(?:(?:and|but|so|only|just) )?(?:any|those|the ones|ones) (?:with|without)(?= )/
const POINTS = /\b(?:of|among|from) (?:those|these|them)\b/
/** "And how many customers are there?", "and all companies": not those of the question before. */
const GOES_ON = /^(?:and|what about|how about) /
const OF_ALL = /\b(?:are there|do we have|have we got|all|overall|altogether|in total)\b/

/** The intent of such a message: the only one that it can have, or Unclear. */
export const fragment = (said: string, last: Last, context: Context): Intent | undefined => {
  const tokens = tokenize(said)
  const text = folded(tokens)
  const meant = stripped(tokens)
  const bare = bareNoun(meant, context)
  if (bare !== undefined) return otherwiseAsked(bare, readIntent(said, context), last())
  const anew = ASKS_ANEW.test(text) || ASKS.test(meant[0]?.word ?? "")
  const widens = WIDENS.test(text) && !anew
  const isAlone = meant.length <= MAX_ALONE && !VERBS.test(folded(meant))
  const narrows = OF_THOSE.test(text) || (NARROWS.test(text) && !anew) || (isAlone && IN_THOSE.test(text) && !anew)
  const adds = ADDS.test(text)
  const isOfAll = GOES_ON.test(text) && OF_ALL.test(text)
  const ranks = RANKS.test(text) && !meant.some((_, at) => nounAt(meant.slice(at), context) !== undefined)
  if (!widens && !narrows && !adds && !isAlone && !isOfAll && !ranks) return undefined
  const read = readIntent(said, context)
  if (ranks && (read._tag === "Figures" || read._tag === "Commonest")) return bestOf(read, last())
  if (isOfAll && read._tag === "Instead")
    return last()?._tag === "Figures" ? UNREADABLE : readIntent(text.replace(GOES_ON, ""), context)
  if (FOLLOWS.has(read._tag)) return undefined
  if (OF_ANY.test(text) && isOfRows(read)) return UNREADABLE
  // "And of Noah Mendes, who works there?" after a status.
  const isOfOne = read._tag === "Detail" || OF_NAMES.has(read._tag)
  const hasComma = meant.slice(0, -1).some(({ after }) => after.includes(","))
  if (adds && isOfOne && hasComma && last()?._tag === "Detail") return UNREADABLE
  // "Amir?" after a question about Raj: the same about him.
  const other = OF_NAMES.has(read._tag) && NAMES.test(said.trim()) ? readIntent(`and ${said}`, context) : undefined
  if (other?._tag === "Also" && canReplace(meant, last())) return alsoOf(last(), other, context)
  // "Blues?" after a number of jazz tracks, "and contract renewals" after the pricing calls of a month.
  const isBare = other !== undefined && (meant.length === 1 || !meant.every(({ capital }) => capital))
  const isOfTitle =
    adds &&
    read._tag === "Detail" &&
    read.subject._tag === "Named" &&
    read.subject.tokens.every(({ capital }) => !capital) &&
    !OFTEN_ASKED.test(read.what)
  if ((isBare || isOfTitle) && isOfSeveral(last())) return UNREADABLE
  if (OF_NAMES.has(read._tag))
    return (narrows || widens || adds || isState(text)) && isOfSeveral(last()) ? UNREADABLE : undefined
  if (!isOfRows(read) && !(narrows && read._tag === "Choose")) return undefined
  const previous = last()
  // "How many of those are won?" after a figure that can't be worked out.
  if (POINTS.test(text) && previous?._tag === "Uncountable") return UNREADABLE
  const isDropped =
    narrows ||
    (widens && !saysWhose(read)) ||
    (adds && forgets(read, previous)) ||
    (isAlone && !saysWhose(read) && isOfSame(read, previous))
  return isDropped && !carriesNothing(previous) ? UNREADABLE : undefined
}
const MAX_ALONE = 6
const NAMES = /^[\p{L}\d'’/&.-]+(?: [\p{L}\d'’/&.-]+){0,2}(?:\?|(?<=['’]s))$/u
/** "And raj phone": what people ask of a person. */
const OFTEN_ASKED = /^(?:phone|mobile|number|e-?mail|address|owner|status|company|product|city|contact|follow)/
/** "In the metal genre?" */
const IN_THOSE = /^(?:in|with|without|from|by|at|of|under|over) /
/** Whether a question has a name that this one can replace. "Quinn Harris?" after Sofia's customers is one of them. */
const canReplace = (meant: ReadonlyArray<Token>, intent: Intent | undefined): boolean =>
  intent?._tag === "Detail"
    ? intent.subject._tag === "Named"
    : meant.length === 1 && conditionsIn(intent).filter(({ _tag }) => /^(?:With|Owned|At)$/.test(_tag)).length === 1
/** Words of a whole question; "who isn't a customer" needs the rows before. */
const VERBS =
  /\b(?:are there|do|does|did|have|has|had|was|were|can|list|show|give|find|tell|count)\b|^(?:is|are|am) |^what |^(?:which|who|how many) .* (?:is|are|was|were)\b/

/** "Which product has the fewest?", "which day is busiest?" */
const RANKS =
  /\b(?:(?<!at )(?:most|least)|fewest|busiest|quietest|commonest|highest|lowest|largest|biggest|smallest|best|worst)\b/
/** Of the groups before where they are the same; of all rows only where the question before was for all. */
const bestOf = (read: Intent, previous: Intent | undefined): Intent | undefined => {
  const [old, own] = [conditionsIn(previous), conditionsIn(read)]
  const isOfOthers = own.length > 0 && nounOf(read)?.type.id !== nounOf(previous)?.type.id
  // "Who did I meet most in October? Who did I meet most in December?"
  const isWhole = own.length > 0 && old.every(({ _tag }) => own.some((one) => one._tag === _tag))
  if (nounOf(previous) === undefined || carriesNothing(previous) || isOfOthers || isWhole) return undefined
  const [before, now] = [previous, read].map((one) => (one?._tag === "Figures" ? one.asked : undefined))
  const isSame =
    before !== undefined &&
    now?.best !== undefined &&
    before.best === undefined &&
    before.having === undefined &&
    before.part === undefined &&
    before.rows === undefined &&
    folded(before.measure.of ?? []) === folded(now.measure.of ?? []) &&
    before.measure.figure === now.measure.figure &&
    now.measure.lookup.conditions.length === 0 &&
    now.by.map(folded).join() === before.by.map(folded).join()
  return isSame ? Intent.Figures({ asked: { ...before, best: now.best } }) : UNREADABLE
}

const isOfRows = ({ _tag }: Intent): boolean => _tag === "Browse" || _tag === "Figures" || _tag === "Titled"
const OF_NAMES: ReadonlySet<Intent["_tag"]> = new Set(["Who", "Several", "Introduce"] as const)
const ABOUT_ONE: ReadonlySet<Intent["_tag"]> = new Set([
  "Who",
  "Several",
  "Introduce",
  "Detail",
  "Is",
  "Via",
  "HowLong"
] as const)
const isAboutOne = (intent: Intent | undefined): boolean => intent !== undefined && ABOUT_ONE.has(intent._tag)
const isOfSeveral = (intent: Intent | undefined): boolean => !isAboutOne(intent) && !carriesNothing(intent)

/** Whether a question says whose rows are meant, where, or when. */
const saysWhose = (read: Intent): boolean => conditionsIn(read).some(({ _tag }) => KEPT.has(_tag))

/** Whether a question has no time, order or groups where the one before has. */
const forgets = (read: Intent, previous: Intent | undefined): boolean => {
  if (read._tag === "Titled" && previous?._tag === "Unclear") return true
  // "What about Raj in November?" after the meetings with Nadia.
  if (read._tag === "Titled" && OF_NAMES.has(read.otherwise._tag) && read.conditions.length > 0) return true
  if (saysWhose(read) && nounOf(read)?.type.id !== nounOf(previous)?.type.id) return false
  const isOfSome =
    (previous?._tag === "Browse" && isOrdered(previous)) ||
    (previous?._tag === "Figures" && (previous.asked.rows !== undefined || previous.asked.by.length > 0))
  return isOfSome || (!conditionsIn(read).some(isTime) && conditionsIn(previous).some(isTime))
}

/** Whether a question can be for rows of the one before. A title is one of meetings and the like. */
const isOfSame = (read: Intent, previous: Intent | undefined): boolean => {
  const type = nounOf(previous)?.type.id
  if (previous?._tag === "Titled") return true
  if (read._tag === "Titled") return type !== undefined && type !== PEOPLE && type !== "companies"
  const conditions = conditionsIn(read)
  const isLike = conditions.every(({ _tag }) => _tag === "Quality" || _tag === "Not" || _tag === "Called")
  // "Invoice total?" after someone's last invoice.
  const isFigure = read._tag === "Figures" && previous?._tag === "Browse" && isOrdered(previous)
  return isLike && (conditions.length > 0 || isFigure) && nounOf(read)?.type.id === type
}

/** "How many invoices?", "which genres?", "customers": of all, or of what the question before was about. */
const LEADS = /^(?:(?:and|so|but) )?(?:how many|which|what|any|the number of|number of|the)(?= )/
/** "How many meetings were there?" */
const THEN = / (?:was|were) there$/
interface Bare {
  readonly noun: Noun
  readonly mode: "list" | "count"
  readonly isLed: boolean
  readonly words: ReadonlyArray<Token>
}
const bareNoun = (tokens: ReadonlyArray<Token>, context: Context): Bare | undefined => {
  const text = folded(tokens)
  const lead = LEADS.exec(text)?.[0] ?? ""
  const words = tokens.slice(lead === "" ? 0 : lead.split(" ").length, THEN.test(text) ? -2 : undefined)
  const found = nounAt(words, context)
  return found === undefined || found.length < words.length
    ? undefined
    : { noun: found.noun, words, isLed: lead !== "", mode: /many|number/.test(lead) ? "count" : "list" }
}

const otherwiseAsked = (
  { isLed, mode, noun, words }: Bare,
  read: Intent,
  question: Intent | undefined
): Intent | undefined => {
  const previous = (question?._tag === "Figures" ? ofAllRows(question) : undefined) ?? question
  if (!isOfRows(read)) return undefined
  const before = nounOf(previous)
  // "Company?" after a question about someone, "genre?" of a track: hers, or its.
  if (isAboutOne(previous) && mode === "list" && words.at(-1)!.word === noun.type.name.toLowerCase())
    return Intent.Detail({ subject: Subject.Focus(), what: folded(words) })
  if (before?.type.id === noun.type.id && previous?._tag === "Browse" && !isOrdered(previous)) {
    const isSame = noun.kind === undefined || noun.kind === before.kind
    if (isSame && previous.lookup.conditions.length > 0) return asked(previous, mode) ?? UNREADABLE
    // "People at Granite Optics", "customers": those there.
    if (
      !isSame &&
      previous.lookup.conditions.length > 0 &&
      previous.lookup.conditions.every(({ _tag }) => KEPT.has(_tag))
    )
      return Intent.Browse({ mode, skip: 0, lookup: { ...previous.lookup, noun } })
  }
  // "Which companies?" after a number of leads: theirs.
  if (mode === "list" && before?.kind !== undefined && before.type.id !== noun.type.id) return UNREADABLE
  // After a question that wasn't understood, the rows are asked for in other words.
  const isAgain = (previous?._tag === "Unclear" || previous?._tag === "NotKnown") && (mode === "count" || !isLed)
  return carriesNothing(previous) || isAgain ? undefined : UNREADABLE
}
const isOrdered = ({ lookup }: Extract<Intent, { _tag: "Browse" }>): boolean =>
  lookup.order !== undefined || lookup.limit !== undefined
