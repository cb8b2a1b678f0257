/** Short messages that go on from the question before: its rows of another kind, its other end, a time of day, someone it names. */
import { Intent } from "./Intent.ts"
import { CONCEPTS } from "./lexicon.ts"
import { Condition, nounAt } from "./Lookup.ts"
import { follows, stripped } from "./polite.ts"
import { isHours } from "./readClock.ts"
import type { Context } from "./readConversation.ts"
import { readIntent } from "./readIntent.ts"
import { readLookup } from "./readLookup.ts"
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
const isState = (words: string): boolean => STATES.has(words)

const ofKind = (said: string, before: Before, context: Context): Intent | undefined => {
  const tokens = tokenize(said)
  const found = OF_KIND.exec(folded(tokens))?.groups
  if (found === undefined) return undefined
  const { and, asks, kind, ones, those, verb } = found
  const noun = nounAt(tokens.slice(-1), context)?.noun
  // "How many customers" is a question of its own.
  if (those === undefined && verb === undefined && ones === undefined && (and === undefined || noun !== undefined))
    return undefined
  const state = noun === undefined ? DONE[kind!] : noun.kind
  if (state === undefined) return undefined
  const previous = before.last()
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
    mode: asks === "how many" ? "count" : "list",
    skip: 0,
    lookup: { ...lookup, noun: isReplaced ? { ...rest, said: rest.type.plural } : lookup.noun, conditions }
  })
}

/** "And the last one?" after a question for the first. */
const PLACE =
  /^(?:and|what about|how about|and what about)(?: (?:on|in))? (?:the |my )?(first|last|next|latest|earliest|previous|longest|shortest|largest|smallest|highest|lowest|newest|oldest)(?: (?:one|of them))?$/
// "Last week" has no other end.
const PLACED =
  /\b(first|last|next|latest|earliest|previous|longest|shortest|largest|smallest|highest|lowest|newest|oldest)\b(?! (?:week|month|year|quarter|day|half|few|couple|\d|mon|tue|wed|thu|fri|sat|sun|two|three|contact))/gi
const otherPlace = (said: string, before: Before): Intent | undefined => {
  const place = PLACE.exec(folded(tokenize(said)))?.[1]
  if (place === undefined || before.said.length > MAX_BEFORE) return undefined
  const found = before.said.match(PLACED) ?? []
  if (found.length !== 1) return UNREADABLE
  // "And the next one?" after the next one: another.
  if (found[0]!.toLowerCase() === place) return undefined
  return before.read(before.said.replace(PLACED, place))
}

/** "Only those after 1 pm": the question before, with a time of day. */
const ONLY_AT =
  /^(?:and )?(?:only|just)(?: (?:those|the ones|the meetings|meetings|ones))? ((?:after|before|from|until|between|at) .+)$/
const atHours = (said: string, before: Before): Intent | undefined => {
  const hours = ONLY_AT.exec(folded(stripped(tokenize(said))))?.[1]
  if (hours === undefined || before.said.length > MAX_BEFORE || !isHours(tokenize(hours))) return undefined
  return before.read(`${before.said.trimEnd().replace(/[?.!]$/, "")} ${hours}`)
}

const WHOLE = /\b(?:all|overall|altogether|total|everyone|now|together|list|crm|system)\b/
const KEPT: ReadonlySet<Condition["_tag"]> = new Set([...PERSONAL, "Time"] as const)
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
/** "Who is the rep of Ada? And his e-mail?": the rep's, or Ada's. */
const ofEither = (said: string, before: Before, context: Context): Intent | undefined => {
  if (!tokenize(said).some(({ word }) => THEIRS.test(word))) return undefined
  const read = readIntent(said, context)
  if (read._tag !== "Detail" || read.subject._tag !== "Focus") return undefined
  const previous = before.last()
  if (previous?._tag !== "Detail" || !isPerson(previous.what)) return undefined
  const { subject, what: via } = previous
  if (subject._tag !== "Named" && subject._tag !== "Me") return undefined
  const theirs = Intent.Via({ subject, via, what: read.what })
  return subject._tag === "Me" || !CONCEPTS.owner.includes(via)
    ? theirs
    : Intent.Both({ intents: [theirs, Intent.Detail({ subject, what: read.what })] })
}
const isPerson = (what: string): boolean =>
  CONCEPTS.owner.includes(what) || /^(?:reports? to|boss|manager|supervisor)$/.test(what)

/** A short message that goes on from the question before. */
export const continuing = (said: string, before: Before, context: Context): Intent | undefined =>
  ofKind(said, before, context) ??
  otherPlace(said, before) ??
  atHours(said, before) ??
  otherRows(said, before, context) ??
  ofEither(said, before, context)
