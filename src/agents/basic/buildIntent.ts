/** Builds the intents of the rules from their captures. */
import { Intent, Subject } from "./Intent.ts"
import { CARDINALS, ORDINALS, PRONOUNS } from "./lexicon.ts"
import type { Captures } from "./patterns.ts"
import type { Context } from "./readConversation.ts"
import { readFacts } from "./readFacts.ts"
import { Condition, type Lookup, peopleOf, readLookup } from "./readLookup.ts"
import { readNames } from "./readNames.ts"
import { timeAt } from "./readTime.ts"
import { folded, type Token } from "./tokenize.ts"

const meetings = (context: Context): Lookup["noun"] | undefined => {
  const type = context.types.find(({ id }) => id === "meetings")
  return type && { type, said: type.plural }
}

export const browse = (mode: "list" | "count", lookup: Lookup | undefined, ...more: ReadonlyArray<Condition>) =>
  lookup && Intent.Browse({ mode, lookup: { ...lookup, conditions: [...lookup.conditions, ...more] }, skip: 0 })

export const listOf = ({ lookup, name, when }: Captures, context: Context) => {
  const mine = name !== undefined && name.length === 1 && name[0]!.word === "i"
  const time = when === undefined ? undefined : timeAt(when, context.today)
  return browse(
    "list",
    readLookup(lookup!, context),
    ...(name === undefined ? [] : mine ? [Condition.Mine()] : [Condition.With({ words: name })]),
    ...(time === undefined ? [] : [Condition.Time({ when: time.when })])
  )
}

export const agenda = ({ when }: Captures, context: Context) => {
  const noun = meetings(context)
  const time = when === undefined ? undefined : timeAt(when, context.today)
  return (
    noun &&
    Intent.Browse({
      mode: "list",
      skip: 0,
      lookup: {
        noun,
        conditions: [Condition.Mine(), ...(time === undefined ? [] : [Condition.Time({ when: time.when })])]
      }
    })
  )
}

export const detail = ({ name, what }: Captures, context: Context): Intent | undefined => {
  const lookup = readLookup(what!, context)
  if (lookup !== undefined && name !== undefined) {
    const [first] = name
    return browse("list", lookup, first?.word === "my" ? Condition.Mine() : Condition.With({ words: name }))
  }
  const subject = name === undefined ? Subject.Focus() : subjectOf(name)
  return subject._tag === "Named"
    ? (introduced(subject.tokens, folded(what!)) ?? Intent.Detail({ subject, what: folded(what!) }))
    : Intent.Detail({ subject, what: folded(what!) })
}
export const detailOf =
  (what: string) =>
  ({ name }: Captures) =>
    Intent.Detail({ subject: subjectOf(name!), what })

export const whoIs = ({ name }: Captures): Intent => {
  // "who are all my reps": the noun is not a type that the person may see.
  if (/^(all|my|any|every|our)$/.test(name![0]!.word)) return Intent.NotKnown()
  if (name!.slice(0, -1).some(({ after }) => after !== "")) {
    return Intent.Introduce({ names: readNames(name!, true), facts: readFacts(name!), sure: true })
  }
  const subject = subjectOf(name!)
  const found = subject._tag === "Named" ? introduced(subject.tokens) : undefined
  return found ?? Intent.Who({ subject })
}

export const asCount = (intent: Intent | undefined): Intent | undefined =>
  intent?._tag === "Browse" ? Intent.Browse({ ...intent, mode: "count" }) : intent

export const peopleWhere = (context: Context, condition: Condition): Intent | undefined => {
  const type = peopleOf(context)
  return (
    type &&
    Intent.Browse({ mode: "list", skip: 0, lookup: { noun: { type, said: "people" }, conditions: [condition] } })
  )
}

export const againWith = (when: ReadonlyArray<Token>, context: Context): Intent | undefined => {
  const time = timeAt(when, context.today)
  return time && Intent.Again({ condition: Condition.Time({ when: time.when }) })
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
