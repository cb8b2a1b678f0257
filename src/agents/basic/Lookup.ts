/** What a question for a list asks for: a noun and its conditions. */
import { Data } from "effect"
import { foldText } from "../../domain/keys.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import { DEAL_NOUNS, GENERIC_PERSON_NOUNS, OTHER_NOUNS, PERSON_NOUNS, STAGE_NOUNS, SYNONYMS } from "./lexicon.ts"
import { startsWith } from "./patterns.ts"
import type { Context, ContextType } from "./readConversation.ts"
import type { When } from "./readTime.ts"
import { type Token, written } from "./tokenize.ts"

/** A name in a condition; a pronoun stands for the entity in focus. */
export interface Named {
  readonly words: ReadonlyArray<Token>
  readonly id?: string
  /** The type of the entity with this id. */
  readonly type?: string
  /** The condition of the question before in whose place this one is: it must be about the same column. */
  readonly instead?: Condition
}

export type Condition = Data.TaggedEnum<{
  /**
   * Within a time: by the date columns with these labels, or by any. `overlaps` means under way at that time. `latest` is the
   * end of the time where the column keeps only the latest date, as of the last contact: a later one hides an earlier one within the time.
   */
  Time: {
    readonly when: When
    readonly by?: ReadonlyArray<string>
    readonly overlaps?: true
    readonly latest?: string
  }
  Overdue: {}
  /** With a person or a value: "with Ada Lovelace", "with status lead". */
  With: Named
  /** In a town, at a company, of a customer. */
  At: Named & { readonly preposition: string }
  Owned: Named
  Mine: {}
  /** An adjective or a noun for a status: "open", "enterprise", "a customer". */
  Quality: { readonly words: string; readonly instead?: Condition }
  /** A column and its value: "zip 19122", "status is lead". */
  Where: { readonly words: ReadonlyArray<Token> }
  Called: { readonly name: string }
  /** A name that begins with a text, contains it, or is one of the names that end with it. */
  Part: { readonly name: string; readonly begins: boolean; readonly names?: ReadonlyArray<string> }
  /** Without a value in a column: "without an owner". */
  Empty: { readonly words: string }
  Not: { readonly of: Condition }
  AnyOf: { readonly of: ReadonlyArray<Condition> }
  /** That an amount is in this currency, where a column says so: "over 15 dollars". */
  Currency: { readonly code: string }
  /** That takes so long: "longer than an hour", "90 minutes". */
  Length: { readonly how?: string; readonly minutes: number; readonly said: string; readonly before?: true }
  /** Rows of another type that lead here, or to which these lead: "with a meeting this week", "of customers in Berlin". */
  Related: { readonly lookup: Lookup; readonly none: boolean; readonly said: string }
}>
export const Condition = Data.taggedEnum<Condition>()

export interface Noun {
  readonly type: ContextType
  /** The person's own word: "customers" for the type people. */
  readonly said: string
  /** A kind of person, which must be a status in the data. */
  readonly kind?: string
}

export interface Lookup {
  readonly noun: Noun
  readonly conditions: ReadonlyArray<Condition>
  readonly order?: "latest" | "next" | "first"
  readonly limit?: number
}

/** A context with this many types may be incomplete. */
export const MANY_TYPES = 8

export const peopleOf = (context: Context): ContextType | undefined => context.types.find((type) => type.id === PEOPLE)

const MAX_PERSON_TYPES = 3

/** The types of people: the built-in one, and the organization's own customers, users, … */
export const personTypes = (context: Context): ReadonlyArray<ContextType> =>
  context.types
    .filter(({ id, name, plural }) => id === PEOPLE || [name, plural].some((word) => PERSON_NOUNS.has(foldText(word))))
    .slice(0, MAX_PERSON_TYPES)

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
  const [first, second] = tokens
  if (first === undefined) return undefined
  const synonym = context.types.find(
    (type) => SYNONYMS[type.id]?.has(first.word) === true || OTHER_NOUNS[foldText(type.name)]?.has(first.word) === true
  )
  if (synonym !== undefined) return { noun: { type: synonym, said: first.text }, length: 1 }
  const people = peopleOf(context)
  // With many types, one that isn't known yet can be called so.
  const isDeal = DEAL_NOUNS.has(first.word) && context.types.length < MANY_TYPES
  if (people === undefined || !(PERSON_NOUNS.has(first.word) || STAGE_NOUNS.has(first.word) || isDeal)) return undefined
  const noun = { type: people, said: first.text }
  // "staff members" are staff.
  const compound = first.word === "staff" && /^members?$/.test(second?.word ?? "")
  const length = compound ? 2 : 1
  return { noun: GENERIC_PERSON_NOUNS.has(first.word) ? noun : { ...noun, kind: first.word }, length }
}
