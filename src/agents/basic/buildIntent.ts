/** Builds the intents of the rules from their captures. */
import { Intent, Subject } from "./Intent.ts"
import { CARDINALS } from "../english.ts"
import { CONCEPTS, INTRODUCING, ORDINALS, PRONOUNS, VAGUE } from "./lexicon.ts"
import type { Captures } from "./patterns.ts"
import type { Context } from "./readConversation.ts"
import { readFacts } from "./readFacts.ts"
import { Condition, type Lookup, peopleOf } from "./Lookup.ts"
import { named } from "./conditionBuilders.ts"
import { isValue } from "./conditionParts.ts"
import { readLookup } from "./readLookup.ts"
import { readNames } from "./readNames.ts"
import { whenOf } from "./readClock.ts"
import { folded, type Token, tokenize } from "./tokenize.ts"

export type Rule = readonly [
  patterns: ReadonlyArray<string>,
  build: (captures: Captures, context: Context) => Intent | undefined
]

const meetings = (context: Context): Lookup["noun"] | undefined => {
  const type = context.types.find(({ id }) => id === "meetings")
  return type && { type, said: type.plural }
}

export const browse = (mode: "list" | "count", lookup: Lookup | undefined, ...more: ReadonlyArray<Condition>) =>
  lookup && Intent.Browse({ mode, lookup: { ...lookup, conditions: [...lookup.conditions, ...more] }, skip: 0 })

export const listOf = ({ lookup, name, when }: Captures, context: Context) => {
  const mine = name !== undefined && name.length === 1 && name[0]!.word === "i"
  const whose = name === undefined || mine ? undefined : named(name, context)
  if (name !== undefined && !mine && whose === undefined) return undefined
  const time = when === undefined ? undefined : whenOf(when, context.today)
  return browse(
    "list",
    readLookup(lookup!, context),
    ...(mine ? [Condition.Mine()] : whose === undefined ? [] : [Condition.With(whose)]),
    ...(time === undefined ? [] : [Condition.Time({ when: time })])
  )
}

export const agenda = ({ when }: Captures, context: Context) => agendaOf(when, context)
/** Whether one is free: meetings that are under way at the time count, too. */
export const busy = ({ when }: Captures, context: Context) => agendaOf(when, context, true)
export const busyOther = ({ name, when }: Captures, context: Context) => {
  const whose = named(name!, context)
  return whose && agendaOf(when, context, true, Condition.With(whose))
}

const agendaOf = (
  when: Captures[string] | undefined,
  context: Context,
  overlaps = false,
  whose: Condition = Condition.Mine()
) => {
  const noun = meetings(context)
  const time = when === undefined ? undefined : whenOf(when, context.today)
  return (
    noun &&
    Intent.Browse({
      mode: "list",
      skip: 0,
      lookup: {
        noun,
        conditions: [
          whose,
          ...(time === undefined ? [] : [Condition.Time({ when: time, ...(overlaps ? { overlaps: true } : {}) })])
        ]
      }
    })
  )
}

/** "Last contact", "customer number": columns, although a noun is in them. */
const COLUMN_PHRASES = new Set<string>(Object.values(CONCEPTS).flat())

export const detail = ({ name, what }: Captures, context: Context): Intent | undefined => {
  const lookup = what!.length > 1 && COLUMN_PHRASES.has(folded(what!)) ? undefined : readLookup(what!, context)
  if (lookup !== undefined && name !== undefined) {
    if (name.length === 1 && /^(my|me|i)$/.test(name[0]!.word)) return browse("list", lookup, Condition.Mine())
    const whose = named(name, context)
    return whose && isValue(whose.words, context) ? browse("list", lookup, Condition.With(whose)) : undefined
  }
  if (name !== undefined && several(name).length > 1) return severalOf(name, folded(what!))
  const subject = name === undefined ? Subject.Focus() : subjectOf(name)
  return subject._tag === "Named"
    ? (introduced(subject.tokens, folded(what!)) ?? Intent.Detail({ subject, what: folded(what!) }))
    : Intent.Detail({ subject, what: folded(what!) })
}
/** The details of "phone, the e-mail and the owner", or undefined if one is none. */
export const detailsIn = (tokens: ReadonlyArray<Token>, isOne: (words: string) => boolean): string | undefined => {
  const all: Array<Array<Token>> = [[]]
  for (const token of tokens) {
    if (/^(and|plus)$/.test(token.word)) all.push([])
    else if (!/^(the|a|an)$/.test(token.word)) all.at(-1)!.push(token)
    if (/^[,+&]$/.test(token.after) && token !== tokens.at(-1)) all.push([])
  }
  const said = all.filter((words) => words.length > 0).map(folded)
  return said.length > 0 && said.every(isOne) ? said.join(" and ") : undefined
}

export const detailOf =
  (what: string) =>
  ({ name }: Captures): Intent =>
    several(name!).length > 1 ? severalOf(name!, what) : Intent.Detail({ subject: subjectOf(name!), what })

/** The names that "and" joins, unless they are too many. */
const several = (tokens: ReadonlyArray<Token>): ReadonlyArray<ReadonlyArray<Token>> => {
  const parts: Array<Array<Token>> = [[]]
  for (const token of tokens) {
    if (token.word === "and" || token.word === "&") parts.push([])
    else parts.at(-1)!.push({ ...token, after: "" })
  }
  return parts.some((part) => part.length === 0) ? [tokens] : parts
}
const severalOf = (tokens: ReadonlyArray<Token>, what?: string): Intent =>
  Intent.Several({
    subjects: several(tokens).map(subjectOf),
    whole: Subject.Named({ tokens }),
    ...(what === undefined ? {} : { what })
  })

/** Words before the town or employer of a person. */
const PLACING = new Set(["in", "at", "from", "near", "with"])

/** Whether the words are the names, the facts, and words that accompany them: then an answer leaves nothing out. */
export const isCovered = (tokens: ReadonlyArray<Token>): boolean => {
  const known = new Set(
    [...readNames(tokens, true).map(({ name }) => name), ...readFacts(tokens).map(({ said }) => said)]
      .flatMap((text) => tokenize(text))
      .map(({ word }) => word)
  )
  return tokens.every(({ word }) => known.has(word) || INTRODUCING.has(word))
}

export const whoIs = ({ name }: Captures): Intent | undefined => {
  // "who are all my reps": the noun is not a type that the person may see.
  if (/^(all|my|any|every|our)$/.test(name![0]!.word)) return Intent.NotKnown()
  // "Raj, Nadia: leads" asks for something of theirs.
  if (name!.some(({ after }) => after === ":")) return undefined
  // "What's new" isn't about what is called so.
  if (name!.length === 1 && !name![0]!.capital && VAGUE.has(name![0]!.word)) return undefined
  const placed = name!.some(({ word }) => PLACING.has(word))
  if (name!.slice(0, -1).some(({ after }) => after !== "")) {
    return isCovered(name!)
      ? Intent.Introduce({ names: readNames(name!, true), facts: readFacts(name!), sure: true })
      : undefined
  }
  if (!placed && several(name!).length > 1) return severalOf(name!)
  const subject = subjectOf(name!)
  const found = subject._tag === "Named" ? introduced(subject.tokens) : undefined
  if (placed && (found === undefined || !isCovered(name!))) return undefined
  return found ?? Intent.Who({ subject })
}

export const asCount = (intent: Intent | undefined): Intent | undefined =>
  intent?._tag === "Browse" ? Intent.Browse({ ...intent, mode: "count" }) : intent

/** "who works at Amber Marine" as "people who work at Amber Marine". */
export const peopleWho = (tail: ReadonlyArray<Token>, context: Context): Lookup | undefined =>
  readLookup([...tokenize(PLACING.has(tail[0]!.word) ? "people" : "people who"), ...tail], context)

export const peopleWhere = (context: Context, ...conditions: ReadonlyArray<Condition>): Intent | undefined => {
  const type = peopleOf(context)
  return type && Intent.Browse({ mode: "list", skip: 0, lookup: { noun: { type, said: "people" }, conditions } })
}

export const againWith = (when: ReadonlyArray<Token>, context: Context): Intent | undefined => {
  const time = whenOf(when, context.today)
  return time && Intent.Again({ condition: Condition.Time({ when: time }), words: when })
}

/** The number of a choice, from 1; 0 means the last one. */
export const choice = (tokens: ReadonlyArray<Token>): number | undefined => {
  const word = tokens.length === 1 ? tokens[0]!.word.replace(/^#/, "") : ""
  if (/^\d{1,2}$/.test(word)) return Number(word)
  return word === "last" ? 0 : (ORDINALS[word] ?? CARDINALS[word])
}

export const subjectOf = (tokens: ReadonlyArray<Token>): Subject => {
  const [first] = tokens
  if (tokens.length === 1 && (first!.word === "me" || first!.word === "i")) return Subject.Me()
  const points =
    tokens.length === 1 ||
    (tokens.length <= 3 &&
      /^(that|this|the)$/.test(first!.word) &&
      /^(one|person|meeting|company)$/.test(tokens.at(-1)!.word))
  return points && (PRONOUNS.has(first!.word) || tokens.length > 1) ? Subject.Focus() : Subject.Named({ tokens })
}

/** An introduction if facts accompany the name, because then the name alone is not enough to find the person. */
const introduced = (tokens: ReadonlyArray<Token>, what?: string): Intent | undefined => {
  const belongs = tokens.some(({ word }) => word === "of")
  const facts = readFacts(tokens).filter(
    ({ concept, weight }) => weight === "stated" && !(belongs && concept === "city")
  )
  return facts.length === 0
    ? undefined
    : Intent.Introduce({ names: readNames(tokens, true), facts, sure: true, ...(what === undefined ? {} : { what }) })
}
