/** Completes follow-ups ("and next week?", "and Samir?", "more") from the question before. */
import { adjusted } from "./adjusting.ts"
import { alsoOf, isNamed } from "./alsoOf.ts"
import { conditionsOf, elided } from "./ellipsis.ts"
import { isConcept } from "./fits.ts"
import { fragment } from "./fragments.ts"
import { Intent } from "./Intent.ts"
import { QUESTION_STARTS } from "./lexicon.ts"
import { Condition, nounAt } from "./Lookup.ts"
import { beside, stepIn } from "./nextTime.ts"
import { stripped } from "./polite.ts"
import type { Context } from "./readConversation.ts"
import { readByParts, readIntent } from "./readIntent.ts"
import { readConditions } from "./readLookup.ts"
import { readNames } from "./readNames.ts"
import { continuing, FOLLOWS, type Last, PERSONAL, UNREADABLE } from "./continuing.ts"
import { asked, changed, conditionsIn, carriesNothing, isTime, nounOf, refinedBy } from "./refining.ts"
import { lastWeekday, saysPast } from "./reword.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import { MONTHS } from "../english.ts"
import { YEAR } from "./partOfYear.ts"
import { whenOf } from "./readClock.ts"
import { folded, tokenize, written } from "./tokenize.ts"

/** The last question, skipping messages that only selected from an answer. */
export const previousIntent = (earlier: ReadonlyArray<string>, context: Context): Intent | undefined => {
  for (let at = earlier.length - 1; at >= 0; at--) {
    const intent = readTurn(earlier[at]!, earlier.slice(0, at), context)
    if (intent._tag !== "Choose" && intent._tag !== "More" && intent._tag !== "Thanks")
      return byPartsToo(intent, earlier[at]!, context)
  }
  return undefined
}

/** Where no row has the title, the question is read by its parts instead. */
const byPartsToo = (intent: Intent, said: string, context: Context): Intent => {
  const open = intent._tag === "Titled" && NOT_READ.has(intent.otherwise._tag)
  const otherwise = open ? readByParts(said, context)[0] : undefined
  return otherwise === undefined || intent._tag !== "Titled" ? intent : Intent.Titled({ ...intent, otherwise })
}
const NOT_READ: ReadonlySet<Intent["_tag"]> = new Set(["Unclear", "NotKnown"] as const)

/** "And December?" after a question of November 2023 is in that year; columns that its time is about stay. */
const sameYear = (
  { condition, words }: Pick<Extract<Intent, { _tag: "Again" }>, "condition" | "words">,
  before: ReadonlyArray<Condition>,
  { today }: Context
): Condition => {
  const times = before.filter((one) => one._tag === "Time")
  // "How many took place in October 2023" also says that they are over.
  const old = times.find(({ when }) => when.from !== undefined) ?? times[0]
  const year = (old?.when.from ?? old?.when.to)?.slice(0, 4)
  const isNamed = words.some(({ word }) => MONTHS[word] !== undefined) && !words.some(({ word }) => YEAR.test(word))
  const found = isNamed && year !== undefined ? whenOf([...words, ...tokenize(year)], today) : undefined
  const when = found && year !== today.slice(0, 4) ? { ...found, said: `${written(words)} of the same year` } : found
  const by = old?.by === undefined ? {} : { by: old.by }
  return condition._tag === "Time"
    ? Condition.Time({ ...condition, ...(when === undefined ? {} : { when }), ...by })
    : condition
}

/** Conditions whose months have the year of the question before. A year in what a time says is one that Max has added. */
const inSameYear = (
  conditions: ReadonlyArray<Condition>,
  before: ReadonlyArray<Condition>,
  context: Context
): ReadonlyArray<Condition> =>
  conditions.map((one) =>
    one._tag === "Time"
      ? sameYear(
          { condition: one, words: tokenize(one.when.said).filter(({ word }) => !YEAR.test(word)) },
          before,
          context
        )
      : one
  )

/** Completes a follow-up from the intent before it. */
const resolveFollowUp = (
  intent: Intent,
  earlier: ReadonlyArray<string>,
  context: Context,
  last: Last = () => previousIntent(earlier, context)
): Intent => {
  switch (intent._tag) {
    case "Regroup": {
      const all = last()
      const before = isNamed(all) ? all.otherwise : all
      // "And by Van Halen": someone else instead of a column.
      // One word may be a column: "and by Product?".
      const isName =
        intent.by.length > 1 &&
        intent.by.every(({ capital }) => capital) &&
        !isConcept(folded(intent.by)) &&
        nounAt(intent.by, context) === undefined
      const conditions = isName ? readConditions([...tokenize("by"), ...intent.by], context) : undefined
      if (conditions?.length === 1)
        return alsoOf(before, Intent.Also({ words: intent.by, conditions, otherwise: UNREADABLE }), context)
      const previous = before?._tag === "Titled" ? before.otherwise : before
      const refine = (one: Intent) =>
        changed(one, (before) =>
          refinedBy(intent.isOfYear ? intent.conditions : inSameYear(intent.conditions, before, context))(before)
        ) ?? UNREADABLE
      if (previous?._tag === "Figures" && previous.asked.rows === undefined && previous.asked.part === undefined) {
        const { best: _, having: __, ...asked } = previous.asked
        return refine(Intent.Figures({ asked: { ...asked, by: [intent.by] } }))
      }
      return previous?._tag === "Browse" && previous.lookup.order === undefined && previous.lookup.limit === undefined
        ? refine(Intent.Figures({ asked: { measure: { figure: "count", lookup: previous.lookup }, by: [intent.by] } }))
        : UNREADABLE
    }
    case "Only": {
      const previous = last()
      const { conditions, isOfYear, limit } = intent
      if (previous?._tag === "Figures" && limit !== undefined && previous.asked.by.length > 0)
        return Intent.Figures({ asked: { ...previous.asked, best: { upwards: false, ...previous.asked.best, limit } } })
      const refine = (before: ReadonlyArray<Condition>) =>
        refinedBy(isOfYear === true ? conditions : inSameYear(conditions, before, context))(before)
      return (limit === undefined ? changed(previous, refine) : undefined) ?? UNREADABLE
    }
    case "Again": {
      const previous = last()
      return (
        changed(previous, (before) =>
          // "And December?" after the Mondays of October: those of December, or the whole month?
          before.some((one) => one._tag === "Time" && one.when.days !== undefined)
            ? undefined
            : refinedBy([sameYear(intent, before, context)])(before)
        ) ?? UNREADABLE
      )
    }
    case "Also":
      return resolveFollowUp(alsoOf(last(), intent, context), earlier, context, last)
    case "Instead": {
      const previous = last()
      if (previous?._tag !== "Figures" && previous?._tag !== "Browse" && !carriesNothing(previous)) return UNREADABLE
      // "Leads by product", "and the proposals?": in the same groups.
      if (previous?._tag === "Figures") {
        const { asked } = previous
        const lookup = { ...asked.measure.lookup, noun: intent.noun }
        return Intent.Figures({ asked: { ...asked, measure: { ...asked.measure, lookup } } })
      }
      const before = conditionsIn(previous)
      const isOther = previous !== undefined && nounOf(previous)?.type.id !== intent.noun.type.id
      // "And customers?" after companies that aren't leads: people, or companies in another state.
      if (
        isOther &&
        intent.noun.kind !== undefined &&
        before.some(({ _tag }) => !PERSONAL.has(_tag) && _tag !== "Time")
      )
        return UNREADABLE
      const { lookup, mode } =
        previous?._tag === "Browse" ? previous : { lookup: { conditions: [] }, mode: "list" as const }
      return Intent.Browse({ mode, skip: 0, lookup: { ...lookup, noun: intent.noun } })
    }
    case "More": {
      const previous = last()
      if (previous?._tag !== "Browse") return Intent.Unclear({ tokens: [] })
      const times = earlier.length - earlier.findLastIndex((text) => readIntent(text, context)._tag !== "More")
      return Intent.Browse({ ...previous, mode: "list", skip: 5 * (previous.mode === "count" ? times - 1 : times) })
    }
    case "Choose": {
      // Two lists have two rows of each number, and one that was chosen has none.
      const isChosen = readIntent(earlier.at(-1) ?? "", context)._tag === "Choose"
      const isOne = (context.focus ?? []).length === 1 && intent.index < 2 && isChosen
      return isOne || last()?._tag === "Both" ? UNREADABLE : intent
    }
    case "Introduce": {
      // "she lives in Boston" adds a fact to the person of the last question.
      if (intent.names.some(({ rank }) => rank >= 2) || (context.focus ?? []).length < 2) return intent
      const previous = last()
      if (previous?._tag === "Introduce")
        return Intent.Introduce({ ...previous, facts: [...previous.facts, ...intent.facts] })
      if ((previous?._tag === "Who" || previous?._tag === "Detail") && previous.subject._tag === "Named") {
        return Intent.Introduce({
          ...intent,
          names: readNames(previous.subject.tokens, true),
          sure: true,
          ...(previous._tag === "Detail" ? { what: previous.what } : {})
        })
      }
      return intent
    }
    default:
      return intent
  }
}

/** "How many?" after a question for a list. */
const COUNTED = /^(?:and )?(?:how many|how many times|how often)(?: (?:are there|is that|are they|in total|of them))?$/

/** "What was it?" after a question for a list, which names its rows. */
const LISTED =
  /^(?:and )?(?:(?:what|which|who)(?: ones?)? (?:was|were|is|are) (?:it|they|that|those|them)|which ones?|who|what)$/

/** Two sentences, the second of which continues the first: "meetings this weekend? how many?" */
const continuedWithin = (said: string, earlier: ReadonlyArray<string>, context: Context): Intent | undefined => {
  const [first, second, ...others] = said.slice(0, MAX_READ).split(/(?<=[?.!])\s+/)
  if (first === undefined || second === undefined || others.length > 0) return undefined
  const before = resolveFollowUp(readIntent(first, context), earlier, context)
  const next = readIntent(second, context)
  if (before._tag !== "Browse" && before._tag !== "Figures") return undefined
  if (before._tag === "Browse" && COUNTED.test(folded(tokenize(second))))
    return Intent.Browse({ ...before, mode: "count" })
  if (before._tag === "Browse" && LISTED.test(folded(tokenize(second))))
    return Intent.Browse({ ...before, mode: "list" })
  const those = ofThoseBefore(second, () => previousIntent([...earlier, first], context), context)
  // "How many leads are there? How many of them are mine?": two numbers.
  if (those?._tag === "Browse" && before._tag === "Browse" && before.mode === "count")
    return Intent.Both({ intents: [before, those] })
  if (those !== undefined) return those
  const all = resolveFollowUp(next, [...earlier, first], context)
  switch (next._tag) {
    case "Regroup":
    case "Only":
      return all
    case "Also":
    case "Again":
      return all._tag === before._tag ? Intent.Both({ intents: [before, all] }) : undefined
    default:
      return undefined
  }
}
const MAX_READ = 300

/** Words by which people take back what they have just written. */
const TAKES_BACK =
  /\b(?:no wait|no, wait|wait no|wait, no|hang on|hold on|scratch that|forget that|never mind that|never mind|nevermind|correction|make that|sorry i mean|sorry, i mean|sorry i meant|sorry, i meant|no sorry|no, sorry|no i mean|no, i mean|no i meant|no, i meant|or rather|i mean|i meant)\b/gi

/** "How many leads has Raj got, no wait, Nadia": the question after the correction, or the one before with another part. */
const corrected = (said: string, earlier: ReadonlyArray<string>, context: Context): Intent | undefined => {
  const text = said.slice(0, MAX_READ)
  const last = [...text.matchAll(TAKES_BACK)].at(-1) ?? SORRY.exec(text)
  if (!last) return undefined
  const [before, after] = [text.slice(0, last.index), text.slice(last.index + last[0].length)]
  const alone = readIntent(after, context)
  const isWhole = alone._tag !== "Browse" || alone.mode === "count" || alone.lookup.conditions.length > 0
  if (CORRECTS.has(alone._tag) && isWhole && QUESTION_STARTS.has(tokenize(after)[0]?.word ?? "")) return alone
  const next = readIntent(`and ${after}`, context)
  if (!FOLLOWS.has(next._tag)) return undefined
  // "Sorry, Nadia": the question before is corrected.
  if (tokenize(before).every(({ word }) => FILLER.test(word)))
    return next._tag === "Also" || next._tag === "Again" ? resolveFollowUp(next, earlier, context) : undefined
  return CORRECTS.has(readIntent(before, context)._tag)
    ? resolveFollowUp(next, [...earlier, before], context)
    : undefined
}
const SORRY = /^(?:(?:oh|oops),? )?(?:sorry,?|no,) (?=\S)/i
const FILLER = /^(?:no|oh|oops|sorry|actually|wait|well|and|please)$/
const CORRECTS: ReadonlySet<Intent["_tag"]> = new Set(["Browse", "Figures", "Detail", "Is", "Comparison"] as const)

/** Intents of a message that can be a question with a correction. */
const OPEN: ReadonlySet<Intent["_tag"]> = new Set([
  "Unclear",
  "NotKnown",
  "Uncountable",
  "Separate",
  "Introduce",
  "Browse",
  "Titled",
  "Who",
  "Detail",
  "Request"
] as const)

/** "And the day after?": the last question of the period beside its own. */
const besideLast = (said: string, last: Last): Intent | undefined => {
  const step = stepIn(stripped(tokenize(said))) ?? stepIn(tokenize(said))
  const previous = step && last()
  if (previous?._tag !== "Browse" && previous?._tag !== "Figures") return undefined
  const { lookup } = previous._tag === "Browse" ? previous : previous.asked.measure
  const times = lookup.conditions.filter((one) => one._tag === "Time")
  const when = step && times.length === 1 ? beside(times[0]!.when, step) : undefined
  if (when === undefined) return UNREADABLE
  const time = Condition.Time({ ...times[0]!, when })
  return changed(previous, (before) => before.map((one) => (one === times[0] ? time : one)))
}

/** "How many are software?": of the rows of the last question; undefined if the message isn't about those. */
const ofThoseBefore = (said: string, last: Last, context: Context): Intent | undefined => {
  const found = elided(stripped(tokenize(said)), context)
  const previous = found && last()
  const noun = previous && nounOf(previous)
  if (found === undefined || noun === undefined) return undefined
  const conditions = conditionsOf(found, noun, context)
  // "How many do I have?" after someone else's, "how many are Raj's?" after one's own.
  const has = (all: ReadonlyArray<Condition> | undefined, tags: RegExp) => all?.some(({ _tag }) => tags.test(_tag))
  const isOther =
    (has(conditions, /^Mine$/) && has(conditionsIn(previous), /^(?:With|Owned)$/)) ||
    (has(conditions, /^Owned$/) && has(conditionsIn(previous), /^(?:Mine|Owned)$/))
  // "And the ones from Norway?" after those from France: instead of them.
  const all = conditionsIn(previous).flatMap((one) =>
    one._tag === "Related" ? [one, ...one.lookup.conditions] : [one]
  )
  const isInstead = conditions?.some(({ _tag }) => PERSONAL.has(_tag) && all.some((one) => one._tag === _tag))
  if (isOther === true || isInstead === true) return UNREADABLE
  const whole = found.mode === undefined ? previous : asked(previous, found.mode)
  const isOfYear = tokenize(said).some(({ word }) => YEAR.test(word))
  const refine = (before: ReadonlyArray<Condition>) =>
    refinedBy(isOfYear ? conditions! : inSameYear(conditions!, before, context))(before)
  return (conditions && !denies(conditions, previous) && changed(whole, refine)) || UNREADABLE
}

/** Whether conditions deny what the rows before are: "how many lost ones have I?", "how many are not lost?". */
const denies = (conditions: ReadonlyArray<Condition>, previous: Intent | undefined): boolean => {
  const before =
    previous?._tag === "Browse"
      ? previous.lookup.conditions.flatMap((one) => (one._tag === "Quality" ? [one.words] : []))
      : []
  const kind = previous && nounOf(previous)?.kind
  return conditions.some(
    (one) => one._tag === "Not" && one.of._tag === "Quality" && [...before, kind].includes(one.of.words)
  )
}

/** Whether a message is about the question before it: "and by owner?". */
export const continues = (said: string, earlier: ReadonlyArray<string>, context: Context): boolean =>
  earlier.length > 0 && (FOLLOWS.has(readIntent(said, context)._tag) || goingOn(said, earlier, context) !== undefined)

/** "Who are they?" after a number of rows: those rows. */
const NAMED =
  /^(?:and |so |ok |okay )?(?:(?:who|what|which) are they|who is (?:it|that)|which ones?(?: are they)?|(?:the |their |all )?names|(?:list|show|name|give|tell)(?: me)? (?:them|those|the names|their names|all of them|them all))$/
const namesOfLast = (said: string, last: Last): Intent | undefined => {
  if (!NAMED.test(folded(stripped(tokenize(said))))) return undefined
  const previous = last()
  return previous?._tag === "Browse" && previous.mode === "count"
    ? Intent.Browse({ ...previous, mode: "list" })
    : undefined
}

/** The intent of the question before, read once: each message before is completed from those before it, too. */
const lastOf = (earlier: ReadonlyArray<string>, context: Context): Last => {
  let found: { readonly previous: Intent | undefined } | undefined
  return () => (found ??= { previous: previousIntent(earlier, context) }).previous
}

/** The intent of a message that says only what differs from the question before. */
const goingOn = (
  said: string,
  earlier: ReadonlyArray<string>,
  context: Context,
  last = lastOf(earlier, context)
): Intent | undefined => {
  const before = {
    last,
    said: earlier.at(-1) ?? "",
    read: (text: string) => readTurn(text, earlier.slice(0, -1), context)
  }
  return (
    namesOfLast(said, last) ??
    (said.length > MAX_READ
      ? undefined
      : (adjusted(said, before.said, last, context) ?? continuing(said, before, context))) ??
    ofThoseBefore(said, last, context) ??
    besideLast(said, last) ??
    fragment(said, last, context)
  )
}

/** "Who did I meet yesterday? And on Friday?": on the last one. */
const inTense = (said: string, earlier: ReadonlyArray<string>, last: Last, context: Context): string => {
  const tokens = tokenize(said.slice(0, MAX_READ))
  const past = lastWeekday(tokens, true)
  if (past === tokens || saysPast(tokens) || !FOLLOWS.has(readIntent(said, context)._tag)) return said
  const times = conditionsIn(last()).filter(isTime)
  const isOver =
    times.length > 0 &&
    times.every(({ when: { now, to } }) => now === "to" || (to !== undefined && to <= context.today))
  return isOver && earlier.some((text) => saysPast(tokenize(text.slice(0, MAX_READ)))) ? written(past) : said
}

/** The intents of a turn's messages: a message is completed from those before it, which are read once. */
const intentsOf = new WeakMap<Context, Map<string, Intent>>()

/** The intent of a message, completed from those before it. */
export const readTurn = (message: string, earlier: ReadonlyArray<string>, context: Context): Intent => {
  const known = intentsOf.get(context) ?? new Map<string, Intent>()
  intentsOf.set(context, known)
  const key = JSON.stringify([...earlier, message])
  const intent = known.get(key) ?? readNext(message, earlier, context)
  known.set(key, intent)
  return intent
}

/** Whether the words for the one in focus can't mean it: a person isn't "it", and people don't call themselves "he". */
const isOfAnother = (read: Intent, said: string, { focus = [], person }: Context): boolean => {
  if (!("subject" in read) || read.subject._tag !== "Focus" || focus.length === 0) return false
  const isIt = IT.test(said) && !SOMEONE.test(said) && focus.every(({ type }) => type === PEOPLE)
  return isIt || (SOMEONE.test(said) && focus.every(({ name, type }) => type === PEOPLE && name === person?.name))
}
const IT = /\b(?:it|its)\b(?!['’])/i
const SOMEONE = /\b(?:he|she|him|his|her|hers)\b/i

const readNext = (message: string, earlier: ReadonlyArray<string>, context: Context): Intent => {
  const last = lastOf(earlier, context)
  const said = earlier.length === 0 ? message : inTense(message, earlier, last, context)
  const stepped = earlier.length === 0 ? undefined : goingOn(said, earlier, context, last)
  if (stepped !== undefined) return stepped
  const read = readIntent(said, context)
  if (isOfAnother(read, said, context)) return UNREADABLE
  const intent =
    (OPEN.has(read._tag) ? corrected(said, earlier, context) : undefined) ??
    resolveFollowUp(read, earlier, context, last)
  return intent._tag === "Unclear" || intent._tag === "Separate"
    ? (continuedWithin(said, earlier, context) ?? intent)
    : intent
}
