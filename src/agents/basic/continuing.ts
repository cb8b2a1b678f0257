/** Short messages that go on from the question before: its rows of another kind, its other end, a time of day, someone it names. */
import { Intent } from "./Intent.ts"
import { CONCEPTS } from "./lexicon.ts"
import { Condition, nounAt } from "./Lookup.ts"
import { follows, stripped } from "./polite.ts"
import { isHours } from "./readClock.ts"
import type { Context } from "./readConversation.ts"
import { readAsked } from "./figures/readAsked.ts"
import { readIntent } from "./readIntent.ts"
import { readLookup } from "./readLookup.ts"
import { asked, isOfHours } from "./refining.ts"
import { DONE } from "./shorthand.ts"
import { folded, tokenize } from "./tokenize.ts"

/** The intent of the question before. */
export type Last = () => Intent | undefined

interface Before {
  readonly last: Last
  readonly said: string
  /** Reads another text in its place. */
  readonly read: (text: string) => Intent
}

/** Conditions that say whose rows are meant. */
export const PERSONAL: ReadonlySet<Condition["_tag"]> = new Set(["With", "Owned", "Mine", "At"] as const)
export const UNREADABLE = Intent.Unclear({ tokens: [] })
/** Intents that say only what differs from the question before. */
export const FOLLOWS: ReadonlySet<Intent["_tag"]> = new Set(["Also", "Again", "Only", "Instead", "Regroup"] as const)

/** The longest question that another one is made of, in characters. */
const MAX_BEFORE = 300

/** "Which of them are leads?", "and how many won?": the last question's rows, in another state. */
const OF_KIND =
  /^(?<and>and |so )?(?<asks>which|who|what|how many)(?: ones?| people)?(?<those> (?:of|among) (?:them|those|these))?(?<verb> (?:are|is|were|have been|has been))?(?: an?)? (?<kind>[a-z]+)(?<ones> ones?)?(?: are there)?$/
/** Words for a state: of two of them, rows have one. */
const STATES = new Set(
  [...Object.values(DONE), ..."lead qualified proposal active inactive open pending prospect".split(" ")].flatMap(
    (one) => [one, `${one}s`]
  )
)
export const isState = (words: string): boolean => STATES.has(words)

/** "And lost?" after a question for rows: asks as it did. */
const AND_KIND = /^(?<and>and |what about |how about |and what about )(?:the )?(?<kind>[a-z]+)(?<ones> ones?)?$/
const ofKind = (said: string, before: Before, context: Context): Intent | undefined => {
  const tokens = tokenize(said)
  const text = folded(tokens)
  const short = AND_KIND.exec(text)?.groups
  const isShort = short !== undefined && isState(short["kind"]!) && nounAt(tokens.slice(-1), context) === undefined
  const found = isShort ? { ...short, asks: undefined, those: undefined, verb: undefined } : OF_KIND.exec(text)?.groups
  if (found === undefined) return undefined
  const { and, asks, kind, ones, those, verb } = found as Partial<Record<string, string>>
  const noun = nounAt(tokens.slice(-1), context)?.noun
  // "How many customers" is a question of its own.
  if (those === undefined && verb === undefined && ones === undefined && (and === undefined || noun !== undefined))
    return undefined
  const state = noun === undefined ? (isShort ? (DONE[kind!] ?? kind) : DONE[kind!]) : noun.kind
  if (state === undefined) return undefined
  const previous = before.last()
  // "And lost?" after a share of won ones is another share.
  if (isShort && previous?._tag === "Figures") return undefined
  if (previous?._tag !== "Browse") return noun === undefined && verb !== undefined ? undefined : UNREADABLE
  const { lookup } = previous
  const { kind: own, ...rest } = lookup.noun
  const others = lookup.conditions.filter((one) => one._tag === "Quality" && isState(one.words))
  const states = others.length + (own !== undefined && isState(own) ? 1 : 0)
  const isPlain = lookup.conditions.every(({ _tag }) => _tag !== "Not" && _tag !== "AnyOf" && _tag !== "Where")
  const isOther = noun !== undefined && (!isState(state) || noun.type.id !== rest.type.id)
  // Rows that aren't lost, or are won or lost, in another state: which of the two is meant isn't known.
  if (lookup.order !== undefined || lookup.limit !== undefined || !isPlain || isOther) return UNREADABLE
  if (states > (those === undefined ? 1 : 0)) return UNREADABLE
  const conditions = [...lookup.conditions.filter((one) => !others.includes(one)), Condition.Quality({ words: state })]
  const isReplaced = states > 0 && others.length === 0
  return Intent.Browse({
    mode: asks === undefined ? previous.mode : asks === "how many" ? "count" : "list",
    skip: 0,
    lookup: { ...lookup, noun: isReplaced ? { ...rest, said: rest.type.plural } : lookup.noun, conditions }
  })
}

/** "And the last one?" after a question for the first. */
const PLACE =
  /^(and|what about|how about|and what about)?(?:(?:^| )(?:on|in))?(?:^| )(?:the |my )?(first|last|next|latest|earliest|previous|longest|shortest|largest|smallest|highest|lowest|newest|oldest)(?: (?:one|of them))?$/
// "Last week" has no other end.
const PLACED =
  /\b(first|last|next|latest|earliest|previous|longest|shortest|largest|smallest|highest|lowest|newest|oldest)\b(?! (?:week|month|year|quarter|day|half|few|couple|\d|mon|tue|wed|thu|fri|sat|sun|two|three|contact))/gi
const otherPlace = (said: string, before: Before): Intent | undefined => {
  const [, and, place] = PLACE.exec(folded(tokenize(said))) ?? []
  if (place === undefined || before.said.length > MAX_BEFORE) return undefined
  const found = before.said.match(PLACED) ?? []
  // "The first one" of a list, or of "my latest meetings".
  if (and === undefined && !(found.length === 1 && isOneInTime(before.last()))) return undefined
  if (found.length !== 1) return UNREADABLE
  // "And the next one?" after the next one: another.
  if (found[0]!.toLowerCase() === place) return undefined
  const other = before.read(before.said.replace(PLACED, place))
  // Of the rows that one was chosen from, only that one is known.
  return other._tag === "Choose" ? UNREADABLE : other
}

/** "My next meeting", "the last invoice". */
const isOneInTime = (intent: Intent | undefined): boolean =>
  intent?._tag === "Browse" &&
  /^(?:first|latest|next)$/.test(intent.lookup.order ?? "") &&
  !intent.lookup.noun.said.toLowerCase().endsWith("s")

/** "Only those after 1 pm", "how many of them start before noon?": the question before, with a time of day. */
const ONLY_AT =
  /^(?:and )?(?:(?:only|just)(?: (?:those|the ones|the meetings|meetings|ones))? |(?<asks>which|how many|do any|did any) of (?:them|those|these) (?:start|starts|started|begin|begins|began|are|were) )?(?<hours>(?:after|before|from|until|between|at) .+)$/
const atHours = (said: string, before: Before): Intent | undefined => {
  const { asks, hours } = ONLY_AT.exec(folded(stripped(tokenize(said))))?.groups ?? {}
  if (hours === undefined || before.said.length > MAX_BEFORE || !isHours(tokenize(hours))) return undefined
  const previous = before.last()
  if (previous?._tag === "Browse" && previous.lookup.conditions.some((one) => one._tag === "Time" && isOfHours(one)))
    return UNREADABLE
  const whole = before.read(`${before.said.trimEnd().replace(/[?.!]$/, "")} ${hours}`)
  return asks === undefined ? whole : (asked(whole, asks === "how many" ? "count" : "list") ?? UNREADABLE)
}

const WHOLE = /\b(?:all|overall|altogether|total|everyone|now|together|list|crm|system)\b/
/** Conditions that another question about the same rows has, too. */
export const KEPT: ReadonlySet<Condition["_tag"]> = new Set([...PERSONAL, "Time"] as const)
/** "How many paused companies has Samir? And lead companies?": his, too. */
const otherRows = (said: string, before: Before, context: Context): Intent | undefined => {
  const tokens = tokenize(said)
  const meant = stripped(tokens)
  if (!follows(tokens, meant)) return undefined
  // "And lost customers overall": all of them.
  if (WHOLE.test(folded(tokens))) return undefined
  const lookup = readLookup(meant, context)
  if (lookup === undefined || !lookup.conditions.some(({ _tag }) => _tag === "Quality")) return undefined
  if (lookup.order !== undefined || lookup.limit !== undefined) return undefined
  const previous = before.last()
  if (previous === undefined) return undefined
  if (previous._tag !== "Browse" || previous.lookup.noun.type.id !== lookup.noun.type.id) return UNREADABLE
  const isKept = (one: Condition) => KEPT.has(one._tag) || (one._tag === "Quality" && isState(one.words))
  // What else the rows were like can be meant again, or not.
  if (!previous.lookup.conditions.every(isKept)) return UNREADABLE
  const isGiven = (tags: ReadonlySet<Condition["_tag"]>) => lookup.conditions.some(({ _tag }) => tags.has(_tag))
  const kept = previous.lookup.conditions.filter(
    ({ _tag }) => KEPT.has(_tag) && !isGiven(PERSONAL.has(_tag) ? PERSONAL : new Set([_tag]))
  )
  return Intent.Browse({
    mode: previous.mode,
    skip: 0,
    lookup: { ...lookup, conditions: [...kept, ...lookup.conditions] }
  })
}

const THEIRS = /^(?:his|her|their|he|she|they|him|them)$/
const ITS = /^(?:it|its)$/
/** "Who is the rep of Ada? And his e-mail?": the rep's, or Ada's. "What's her company? Who owns it?": the company's owner. */
const ofEither = (said: string, before: Before, context: Context): Intent | undefined => {
  const isIts = tokenize(said).some(({ word }) => ITS.test(word))
  if (!isIts && !tokenize(said).some(({ word }) => THEIRS.test(word))) return undefined
  const read = readIntent(said, context)
  if (read._tag !== "Detail" || read.subject._tag !== "Focus") return undefined
  const previous = before.last()
  if (previous?._tag !== "Detail" || !(isIts ? CONCEPTS.company.includes(previous.what) : isPerson(previous.what)))
    return undefined
  const { subject, what: via } = previous
  if (!isIts && subject._tag !== "Named" && subject._tag !== "Me") return undefined
  const theirs = Intent.Via({ subject, via, what: read.what })
  return isIts || subject._tag === "Me" || !CONCEPTS.owner.includes(via)
    ? theirs
    : Intent.Both({ intents: [theirs, Intent.Detail({ subject, what: read.what })] })
}
const isPerson = (what: string): boolean =>
  CONCEPTS.owner.includes(what) || /^(?:reports? to|boss|manager|supervisor)$/.test(what)

/** "How many don't?" after "how many customers have a phone?": the others. */
const OTHERS =
  /^(?:and |but )?how many (?:of them |of those )?(?:do not|don't|dont|does not|doesn't|are not|aren't|arent|were not|weren't|have not|haven't|havent|have none|have no|is not|isn't)(?: have (?:one|any|it|that))?$/
/** "With a phone", "from France": not whose rows they are. */
const isOfRows = (one: Condition): boolean =>
  (one._tag === "With" && one.words.every(({ capital }) => !capital)) ||
  (one._tag === "At" && !/^(of|for)$/.test(one.preposition))
const ASSIGNS = /\b(?:mine|yours|ours|belongs?|owned|assigned|managed|looked after)\b/i
const opposite = (said: string, before: Before): Intent | undefined => {
  if (!OTHERS.test(folded(tokenize(said)))) return undefined
  const previous = before.last()
  if (previous?._tag !== "Browse" || "order" in previous.lookup || "limit" in previous.lookup) return UNREADABLE
  const { lookup } = previous
  const [own, ...more] = lookup.conditions.filter((one) => !KEPT.has(one._tag) || isOfRows(one))
  if (own === undefined || more.length > 0) return UNREADABLE
  // "How many customers in France are mine? How many aren't?": what is denied is whose they are.
  const isSubject = (one: Condition) =>
    one._tag === "Mine" ? /\bmy\b/i.test(before.said) : one._tag !== "Time" && /['’]s? |\bof\b/.test(before.said)
  if (ASSIGNS.test(before.said) || !lookup.conditions.every((one) => one === own || isSubject(one))) return UNREADABLE
  const other =
    own._tag === "Not"
      ? own.of
      : own._tag === "Related"
        ? Condition.Related({ ...own, none: !own.none, said: own.said.replace(/^with /, "without ") })
        : Condition.Not({ of: own })
  return Intent.Browse({
    mode: "count",
    skip: 0,
    lookup: { ...lookup, conditions: lookup.conditions.map((one) => (one === own ? other : one)) }
  })
}

const THOSE = "those|these|them|it|that|him|her|all of them|all of those"
/** "And the total amount of those?", "how many minutes is that in total?": a figure of the rows of the question before. */
const FIGURE_OF = new RegExp(
  `^(?:and |so )?(?:(?:what is|what was|what are|what were|give me) )?(?:the |their |its )?((?:grand )?(?:total|sum|average|mean|avg)(?: (?!of |for )[a-z]+){0,2}?)(?: (?:of|for|with|in|from) (?:${THOSE})| together| altogether| in all)?$`
)
const UNIT_OF = new RegExp(
  `^(?:and |so )?how many (minutes|hours) (?:is|are|was|were|does|do|did) (?:${THOSE}|they)(?: (?:make|take|add up to|come to|last))?(?: in total| together| altogether| in all| overall)?$`
)
/** "How many is that?", "how many tracks are those?": the number of the rows of the question before, never of all. */
const COUNT_OF = new RegExp(
  `^(?:and |so )?how many(?: (?<of>[a-z]+(?: [a-z]+)?))? (?:is|are|was|were) (?:${THOSE}|they)(?: in total| together| altogether| in all| overall)?$`
)
const countOfThose = (said: string, before: Before, context: Context): Intent | undefined => {
  const found = COUNT_OF.exec(folded(stripped(tokenize(said))))?.groups
  if (found === undefined) return undefined
  const previous = before.last()
  const words = tokenize(found["of"] ?? "")
  const noun = nounAt(words, context)
  const counted = previous && asked(previous._tag === "Figures" ? ofAllRows(previous) : previous, "count")
  if (counted?._tag !== "Browse" || "order" in counted.lookup || "limit" in counted.lookup) return UNREADABLE
  const isSame = noun !== undefined && noun.length === words.length && noun.noun.type.id === counted.lookup.noun.type.id
  return words.length === 0 || (isSame && noun.noun.kind === undefined) ? counted : UNREADABLE
}
/** The number of the rows that a figure is of. */
export const ofAllRows = ({ asked }: Extract<Intent, { _tag: "Figures" }>): Intent | undefined => {
  const { by, measure, part, rows } = asked
  return by.length === 0 && part === undefined && rows === undefined && /^(?:count|sum|avg)$/.test(measure.figure)
    ? Intent.Browse({ mode: "count", skip: 0, lookup: measure.lookup })
    : undefined
}

const POINTING = new RegExp(` (?:${THOSE})$`)
const otherFigure = (said: string, before: Before, context: Context): Intent | undefined => {
  const text = folded(stripped(tokenize(said))).replace(/ instead$/, "")
  const unit = UNIT_OF.exec(text)?.[1]
  const phrase = unit === undefined ? FIGURE_OF.exec(text)?.[1] : `total ${unit}`
  // "The average deal" is a question of its own.
  if (phrase === undefined || tokenize(phrase).some((_, at, all) => nounAt(all.slice(at), context) !== undefined))
    return undefined
  const previous = before.last()
  const isRows = previous?._tag === "Browse" && !("order" in previous.lookup || "limit" in previous.lookup)
  const figures = previous?._tag === "Figures" && previous.asked.part === undefined ? previous.asked : undefined
  const lookup = isRows ? previous.lookup : figures?.measure.lookup
  if (lookup === undefined) return undefined
  // The longest of several, the groups with the most: a figure of those isn't one of all.
  const isOfSome = figures !== undefined && (figures.best !== undefined || figures.having !== undefined)
  const isTheirs = / (?:him|her)$/.test(text)
  const names = lookup.conditions.filter(({ _tag }) => _tag === "With" || _tag === "Owned" || _tag === "At")
  if (isOfSome || (figures?.rows !== undefined && !isTheirs) || (isTheirs && names.length !== 1)) return UNREADABLE
  const { of } = figures?.measure ?? {}
  // The total of numbers of rows is their number.
  if (figures !== undefined && figures.by.length > 0 && figures.measure.figure === "count") return UNREADABLE
  const about = / /.test(phrase) || of === undefined ? "" : ` ${folded(of)}`
  const read = readAsked(tokenize(`${phrase}${about} of ${lookup.noun.type.plural.toLowerCase()}`), context)
  // "What is the total revenue?" is a question of its own.
  if (read === undefined) return unit === undefined && !POINTING.test(text) ? undefined : UNREADABLE
  if (read.by.length > 0 || read.rows !== undefined || read.measure.either === true) return UNREADABLE
  return Intent.Figures({ asked: { measure: { ...read.measure, lookup }, by: figures?.by ?? [] } })
}

/** "Blues?" after "how many tracks are reggae?" */
const BARE = /^\p{Ll}[\p{Ll}-]*(?: \p{Ll}[\p{Ll}-]*)?\?$/u
const otherQuality = (said: string, before: Before, context: Context): Intent | undefined => {
  if (!BARE.test(said.trim()) || readIntent(said, context)._tag !== "Who") return undefined
  const previous = before.last()
  if (previous?._tag !== "Browse" || previous.mode !== "count") return undefined
  const [own, ...others] = previous.lookup.conditions
  if (own?._tag !== "Quality" || others.length > 0) return undefined
  const conditions = [Condition.Quality({ words: folded(tokenize(said)), instead: own })]
  return Intent.Browse({ ...previous, skip: 0, lookup: { ...previous.lookup, conditions } })
}

/** "What time is the first one?" after a question for meetings. */
const ONE_OF_THOSE =
  /^(?:and )?(?:what time|when|at what time) (?:is|was|does|did|will) (?:the )?(first|last|latest|earliest) (?:one|of them|of those)(?: start| begin| be)?$/
const oneOfThose = (said: string, before: Before): Intent | undefined => {
  const place = ONE_OF_THOSE.exec(folded(stripped(tokenize(said))))?.[1]
  const previous = place === undefined ? undefined : before.last()
  if (previous?._tag !== "Browse" || previous.lookup.noun.type.id !== "meetings") return undefined
  if ("order" in previous.lookup || "limit" in previous.lookup) return undefined
  const order = /^(?:last|latest)$/.test(place!) ? "latest" : "first"
  return Intent.Browse({ mode: "list", skip: 0, lookup: { ...previous.lookup, order, limit: 1 } })
}

/** A short message that goes on from the question before. */
export const continuing = (said: string, before: Before, context: Context): Intent | undefined =>
  otherQuality(said, before, context) ??
  oneOfThose(said, before) ??
  opposite(said, before) ??
  otherFigure(said, before, context) ??
  countOfThose(said, before, context) ??
  ofKind(said, before, context) ??
  otherPlace(said, before) ??
  atHours(said, before) ??
  otherRows(said, before, context) ??
  ofEither(said, before, context)
