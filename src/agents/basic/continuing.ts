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

/** "Which of them are leads?", "and how many won?": the last question's rows, of a kind. */
const OF_KIND =
  /^(?<and>and |so )?(?<asks>which|who|what|how many)(?: ones?| people)?(?<those> (?:of|among) (?:them|those|these))?(?<verb> (?:are|is|were|have been|did we|have we|has been))?(?: an?)? (?<kind>[a-z]+)$/
const ofKind = (said: string, before: Before, context: Context): Intent | undefined => {
  const tokens = tokenize(said)
  const found = OF_KIND.exec(folded(tokens))?.groups
  if (found === undefined) return undefined
  const { and, asks, kind, those, verb } = found
  const noun = nounAt(tokens.slice(-1), context)?.noun
  // "How many customers" is a question of its own.
  if (those === undefined && verb === undefined && (and === undefined || noun !== undefined)) return undefined
  const state = noun === undefined ? DONE[kind!] : noun.kind
  const previous = state === undefined ? undefined : before.last()
  if (state === undefined || previous?._tag !== "Browse") return undefined
  const { lookup } = previous
  const isOf = those !== undefined
  if (lookup.order !== undefined || lookup.limit !== undefined) return UNREADABLE
  if (noun !== undefined && noun.type.id !== lookup.noun.type.id) return UNREADABLE
  const quality = Condition.Quality({ words: state })
  const mode = asks === "how many" ? ("count" as const) : ("list" as const)
  const qualities = lookup.conditions.filter(({ _tag }) => _tag === "Quality")
  // "How many leads has Ada? And how many won?": not those of her leads that are won.
  const isOther = !isOf && (lookup.noun.kind !== undefined || qualities.length > 0)
  if (!isOf && qualities.length > 1) return UNREADABLE
  const { kind: _, ...rest } = lookup.noun
  const other = isOther
    ? {
        noun: { ...rest, said: rest.type.plural },
        conditions: [...lookup.conditions.filter((one) => !qualities.includes(one)), quality]
      }
    : { noun: lookup.noun, conditions: [...lookup.conditions, quality] }
  return Intent.Browse({ ...previous, mode, skip: 0, lookup: { ...lookup, ...other } })
}

/** "And the last one?" after a question for the first. */
const PLACE =
  /^(?:and|what about|how about|and what about)(?: (?:on|in))? (?:the |my )?(first|last|next|latest|earliest|previous|longest|shortest|largest|smallest|highest|lowest|newest|oldest)(?: (?:one|of them))?$/
const PLACED =
  /\b(first|last|next|latest|earliest|previous|longest|shortest|largest|smallest|highest|lowest|newest|oldest)\b/gi
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

const KEPT: ReadonlySet<Condition["_tag"]> = new Set([...PERSONAL, "Time"] as const)
/** "How many paused companies has Samir? And lead companies?": his, too. */
const otherRows = (said: string, before: Before, context: Context): Intent | undefined => {
  const tokens = tokenize(said)
  const meant = stripped(tokens)
  if (!follows(tokens, meant)) return undefined
  const lookup = readLookup(meant, context)
  if (lookup === undefined || !lookup.conditions.some(({ _tag }) => _tag === "Quality")) return undefined
  if (lookup.order !== undefined || lookup.limit !== undefined) return undefined
  const previous = before.last()
  if (previous?._tag !== "Browse" || previous.lookup.noun.type.id !== lookup.noun.type.id) return undefined
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

const THEIRS = /^(?:his|her|their)$/
/** "Who is the rep of Ada? And his e-mail?": the rep's, or Ada's. */
const ofEither = (said: string, before: Before, context: Context): Intent | undefined => {
  const tokens = stripped(tokenize(said))
  if (!tokens.some(({ word }) => THEIRS.test(word))) return undefined
  const read = readIntent(said, context)
  if (read._tag !== "Detail" || read.subject._tag !== "Focus") return undefined
  const previous = before.last()
  if (previous?._tag !== "Detail" || previous.subject._tag !== "Named" || !isPerson(previous.what)) return undefined
  const { subject, what: via } = previous
  return Intent.Both({
    intents: [Intent.Via({ subject, via, what: read.what }), Intent.Detail({ subject, what: read.what })]
  })
}
const isPerson = (what: string): boolean => CONCEPTS.owner.includes(what) || /^reports? to$/.test(what)

/** A short message that goes on from the question before. */
export const continuing = (said: string, before: Before, context: Context): Intent | undefined =>
  ofKind(said, before, context) ??
  otherPlace(said, before) ??
  atHours(said, before) ??
  otherRows(said, before, context) ??
  ofEither(said, before, context)
