/** Parses requests for lists, such as "open deals in Boston since March", without knowing the type's columns. */
import { Data } from "effect"
import { foldText } from "../../domain/keys.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import { byWord } from "../../domain/text.ts"
import type { Context, ContextType } from "./readConversation.ts"
import { GENERIC_PERSON_NOUNS, CARDINALS, CONCEPTS, PERSON_NOUNS, PRONOUNS, SYNONYMS } from "./lexicon.ts"
import { startsWith } from "./patterns.ts"
import { timeAt, type When } from "./readTime.ts"
import { folded, type Token, written } from "./tokenize.ts"

export type Condition = Data.TaggedEnum<{
  /** Within a time, by any date column. */
  Time: { readonly when: When }
  Overdue: {}
  /** With a person or a value: "with Ada Lovelace", "with status lead". */
  With: { readonly words: ReadonlyArray<Token> }
  /** In a town, at a company, of a customer. */
  At: { readonly words: ReadonlyArray<Token>; readonly preposition: string }
  Owned: { readonly words: ReadonlyArray<Token> }
  Mine: {}
  /** An adjective: "open", "enterprise". */
  Quality: { readonly words: string }
  /** A column and its value: "zip 19122", "status is lead". */
  Where: { readonly words: ReadonlyArray<Token> }
  Called: { readonly name: string }
}>
export const Condition = Data.taggedEnum<Condition>()

export interface Noun {
  readonly type: ContextType
  /** The person's own word: "customers" for the type people. */
  readonly said: string
  /** A kind of person, which can be a status in the data. */
  readonly kind?: string
}

export interface Lookup {
  readonly noun: Noun
  readonly conditions: ReadonlyArray<Condition>
  readonly order?: "latest" | "next"
  readonly limit?: number
}

export const peopleOf = (context: Context): ContextType | undefined => context.types.find((type) => type.id === PEOPLE)

interface OwnNoun {
  readonly type: ContextType
  readonly words: ReadonlyArray<string>
}

/** The folded names of a context's types: a message asks for them at every word. */
const nouns = new WeakMap<Context["types"], ReadonlyArray<OwnNoun>>()
const nounsOf = ({ types }: Context): ReadonlyArray<OwnNoun> => {
  const own =
    nouns.get(types) ??
    types.flatMap((type) => [type.name, type.plural].map((name) => ({ type, words: foldText(name).split(" ") })))
  nouns.set(types, own)
  return own
}

/** The noun at the beginning of the tokens, by the organization's own words first, and its length. */
export const nounAt = (
  tokens: ReadonlyArray<Token>,
  context: Context
): { readonly noun: Noun; readonly length: number } | undefined => {
  const own = nounsOf(context)
    .filter(({ words }) => startsWith(tokens, words))
    .sort((a, b) => b.words.length - a.words.length)[0]
  if (own !== undefined) {
    return { noun: { type: own.type, said: written(tokens.slice(0, own.words.length)) }, length: own.words.length }
  }
  const [first] = tokens
  if (first === undefined) return undefined
  const synonym = context.types.find((type) => SYNONYMS[type.id]?.has(first.word) === true)
  if (synonym !== undefined) return { noun: { type: synonym, said: first.text }, length: 1 }
  const people = peopleOf(context)
  if (people === undefined || !PERSON_NOUNS.has(first.word)) return undefined
  const noun = { type: people, said: first.text }
  return { noun: GENERIC_PERSON_NOUNS.has(first.word) ? noun : { ...noun, kind: first.word }, length: 1 }
}

const FILLERS = new Set(
  "the all any a an of me our us some there are is every each 's do we have has got you does been".split(" ")
)
const MAX_BEFORE_NOUN = 8
const MAX_QUALITY = 3
/** The longest condition, in words; anything longer is free text. */
const MAX_PHRASE = 7

/** Parses the whole request; undefined if any word does not fit. */
export const readLookup = (tokens: ReadonlyArray<Token>, context: Context): Lookup | undefined => {
  const before: Array<Token> = []
  for (let at = 0; at < Math.min(tokens.length, MAX_BEFORE_NOUN); at++) {
    const found = nounAt(tokens.slice(at), context)
    if (found !== undefined) {
      const head = readBefore(before, context)
      const tail = readAfter(tokens.slice(at + found.length), context)
      if (head === undefined || tail === undefined) return undefined
      return { ...head, noun: found.noun, conditions: [...head.conditions, ...tail] }
    }
    before.push(tokens[at]!)
  }
  return undefined
}

type Head = Pick<Lookup, "conditions" | "order" | "limit">

const readBefore = (tokens: ReadonlyArray<Token>, context: Context): Head | undefined => {
  const conditions: Array<Condition> = []
  const whose = tokens.findLastIndex(({ word }) => word === "'s")
  if (whose > 0 && timeAt(tokens.slice(0, whose), context.today) === undefined) {
    const rest = readBefore(tokens.slice(whose + 1), context)
    const [first] = tokens
    const lead = FILLERS.has(first!.word) ? 1 : 0
    return rest && { ...rest, conditions: [Condition.With({ words: tokens.slice(lead, whose) }), ...rest.conditions] }
  }
  const quality: Array<Token> = []
  let order: Lookup["order"]
  let limit: number | undefined
  for (let at = 0; at < tokens.length; at++) {
    const { word } = tokens[at]!
    const time = timeAt(tokens.slice(at), context.today)
    const number = CARDINALS[word] ?? (/^\d{1,2}$/.test(word) ? Number(word) : undefined)
    if (time !== undefined) {
      conditions.push(Condition.Time({ when: time.when }))
      at += time.length - 1
    } else if (word === "my") conditions.push(Condition.Mine())
    else if (word === "overdue" || (word === "late" && quality.length === 0)) conditions.push(Condition.Overdue())
    else if (LATEST.has(word)) order = "latest"
    else if (word === "next") order = "next"
    else if (number !== undefined) limit = number
    else if (!FILLERS.has(word) && !(word === "most" && tokens[at + 1]?.word === "recent")) quality.push(tokens[at]!)
  }
  if (quality.length > MAX_QUALITY || quality.some(({ word }) => PRONOUNS.has(word))) return undefined
  if (quality.length > 0) conditions.push(Condition.Quality({ words: folded(quality) }))
  return {
    conditions,
    ...(order === undefined ? {} : { order }),
    ...(limit === undefined ? {} : { limit })
  }
}

const LATEST = new Set("latest newest last recent".split(" "))

/** Conditions by the word that begins them. */
const STARTERS = byWord<(words: ReadonlyArray<Token>) => Condition>({
  with: (words) => Condition.With({ words }),
  in: (words) => Condition.At({ words, preposition: "in" }),
  at: (words) => Condition.At({ words, preposition: "at" }),
  from: (words) => Condition.At({ words, preposition: "from" }),
  near: (words) => Condition.At({ words, preposition: "near" }),
  of: (words) => Condition.At({ words, preposition: "of" }),
  for: (words) => Condition.At({ words, preposition: "for" }),
  by: (words) => owned(words),
  to: (words) => owned(words),
  whose: (words) => Condition.Where({ words }),
  where: (words) => Condition.Where({ words }),
  having: (words) => Condition.Where({ words }),
  called: (words) => Condition.Called({ name: written(words) }),
  named: (words) => Condition.Called({ name: written(words) })
})
const owned = (words: ReadonlyArray<Token>) =>
  words.length === 1 && words[0]!.word === "me" ? Condition.Mine() : Condition.Owned({ words })

/** Words between a noun and its conditions that carry no meaning. */
const CONNECTIVES = new Set(
  "do does did we you have has got are is was were there that which who and on owned assigned managed handled belonging work works working living live lives located based scheduled planned happening held exist am going coming been due issued created closed closing starting ending sent dated worth".split(
    " "
  )
)
/** Words that end a preceding name. */
const BOUNDARIES = new Set(
  "with whose where having called named since after before until between by owned assigned managed that which who today tomorrow yesterday overdue do does have".split(
    " "
  )
)

const readAfter = (tokens: ReadonlyArray<Token>, context: Context): ReadonlyArray<Condition> | undefined => {
  const conditions: Array<Condition> = []
  let copula = false
  for (let at = 0; at < tokens.length;) {
    const { word } = tokens[at]!
    const rest = tokens.slice(at)
    const time = timeAt(rest, context.today)
    if (time !== undefined) {
      conditions.push(Condition.Time({ when: time.when }))
      at += time.length
      continue
    }
    if (word === "overdue") conditions.push(Condition.Overdue())
    if (word === "i") conditions.push(Condition.Mine())
    if (word === "mine" || word === "overdue" || word === "i") {
      at += 1
      continue
    }
    const starter = compares(rest) ? undefined : STARTERS[word]
    if (starter !== undefined) {
      const length = extent(rest.slice(1), context)
      if (length === 0 || length > MAX_PHRASE) return undefined
      const words = rest.slice(1, 1 + length)
      conditions.push(starter(words.at(-1)?.word === "and" ? words.slice(0, -1) : words))
      at += 1 + length
      continue
    }
    if (CONNECTIVES.has(word)) {
      copula ||= /^(are|is|was|were|that|which)$/.test(word)
      at += 1
      continue
    }
    const length = extent(rest, context)
    if (compares(rest) && length <= MAX_PHRASE) {
      conditions.push(Condition.Where({ words: rest.slice(0, length) }))
      at += length
      continue
    }
    if (copula && length <= MAX_QUALITY) conditions.push(Condition.Quality({ words: folded(rest.slice(0, length)) }))
    else if (length >= 2 && beginsWithConcept(rest, length))
      conditions.push(Condition.Where({ words: rest.slice(0, length) }))
    else return undefined
    at += length
  }
  return conditions
}

/** Whether the words begin with the name of a concept: "zip 19122", "status lead". */
const beginsWithConcept = (tokens: ReadonlyArray<Token>, length: number): boolean =>
  [1, 2, 3].some((words) => words < length && CONCEPT_WORDS.has(folded(tokens.slice(0, words))))
const CONCEPT_WORDS = new Set<string>(Object.values(CONCEPTS).flat())

/** "over 20000": a comparison without a column, which is resolved later. */
const COMPARED = /^(over|above|under|below|more than|less than|at least|at most|greater than) /
const compares = (tokens: ReadonlyArray<Token>): boolean => COMPARED.test(folded(tokens.slice(0, 3)))

/** The number of words until the next condition begins. */
const extent = (tokens: ReadonlyArray<Token>, context: Context): number => {
  let length = 0
  while (length < tokens.length) {
    const { word } = tokens[length]!
    const begins =
      length > 0 &&
      (BOUNDARIES.has(word) || ((word === "in" || word === "from" || word === "at") && !compares(tokens.slice(length))))
    if (begins || (length > 0 && timeAt(tokens.slice(length), context.today) !== undefined)) break
    length += 1
    if (/[.;!?]/.test(tokens[length - 1]!.after)) break
  }
  return length
}
