/** Parses a message into an intent: small talk, a question by its rule, or a person introduced in free text. */
import { PEOPLE } from "../../domain/EntityType.ts"
import type { Context } from "./readConversation.ts"
import { readFacts } from "./readFacts.ts"
import { Intent } from "./Intent.ts"
import {
  AGGREGATE_PHRASES,
  AGGREGATES,
  CLOSERS,
  COMMON_WORDS,
  CONCEPTS,
  OPENERS,
  PARTICLES,
  TITLES
} from "./lexicon.ts"
import { nounAt, readLookup } from "./readLookup.ts"
import { readNames } from "./readNames.ts"
import { byLength, endsWith, type Fits, matchPattern, parsePattern, type Pattern, startsWith } from "./patterns.ts"
import { choice } from "./buildIntent.ts"
import { QUESTIONS, type Rule, SMALL_TALK } from "./rules.ts"
import { timeAt } from "./readTime.ts"
import { folded, type Token, tokenize } from "./tokenize.ts"

const MAX_NAME = 9

const VERBS = new Set("is are was does do has have my".split(" "))

/** The intent of a message. Questions take precedence over free text that introduces a person. */
export const readIntent = (message: string, context: Context): Intent => {
  const said = tokenize(message)
  if (said.length === 0) return Intent.Unclear()
  const fits: Fits = (name, tokens) => {
    const [first] = tokens
    const sentence = tokens.slice(0, -1).some(({ after }) => /[.;!?]/.test(after))
    switch (name) {
      case "lookup":
        return !sentence && readLookup(tokens, context) !== undefined
      case "when":
        return timeAt(tokens, context.today)?.length === tokens.length
      case "n":
        return choice(tokens) !== undefined
      case "what":
        return (
          tokens.length <= 4 &&
          !sentence &&
          !tokens.some(({ word }) => VERBS.has(word)) &&
          (!tokens.every(({ capital }) => capital) || isConcept(folded(tokens)))
        )
      case "concept":
        return tokens.length <= 3 && isConcept(folded(tokens))
      case "thing":
        return (context.focus ?? []).length > 0 && tokens.length <= 2 && tokens.every(({ capital }) => !capital)
      case "bare":
        return tokens.length <= 6 && !sentence && tokens.every(isNameWord)
      case "rest":
        return true
      default:
        return tokens.length <= MAX_NAME && !sentence && !/^(my|how|why)$/.test(tokens.length === 1 ? "" : first!.word)
    }
  }
  const meant = stripped(said)
  const names = readNames(said)
  const facts = readFacts(said)
  const spoken = names.some(({ length, rank }) => rank >= 3 && length >= 2)
  if (isAggregate(meant) && !spoken) return uncountable(meant, context)
  const question = firstRule(SMALL_TALK, said, context, fits) ?? firstRule(QUESTIONS, meant, context, fits)
  const hard = facts.some(({ concept, weight }) => weight === "stated" && concept !== "city" && concept !== "state")
  const introduces =
    facts.length > 0 && names.some(({ length, rank }) => length >= 2 && (rank >= 3 || (rank === 2 && hard)))
  const ofPeople = question?._tag === "Browse" && question.lookup.noun.type.id === PEOPLE
  if (question !== undefined && !(introduces && ofPeople)) return question
  const likely =
    names.some(({ length, rank }) => rank === 2 && length >= 2) && facts.some(({ weight }) => weight === "mentioned")
  const sure = likely || names.some(({ rank }) => rank >= 3) || facts.some(({ weight }) => weight === "stated")
  if (sure || names.length > 0) return Intent.Introduce({ names, facts, sure })
  return unknownKind(meant) ? Intent.NotKnown() : Intent.Unclear()
}

const firstRule = (
  rules: ReadonlyArray<Rule>,
  tokens: ReadonlyArray<Token>,
  context: Context,
  fits: Fits
): Intent | undefined => {
  if (tokens.length > MAX_QUESTION) return undefined
  for (const [texts, build] of rules) {
    for (const text of texts) {
      const captures = matchPattern(compiled(text), tokens, fits)
      const intent = captures && build(captures, context)
      if (intent !== undefined) return intent
    }
  }
  return undefined
}

/** The longest question, in words; anything longer is free text. */
const MAX_QUESTION = 30

const patterns = new Map<string, Pattern>()
const compiled = (text: string) => {
  const pattern = patterns.get(text) ?? parsePattern(text)
  patterns.set(text, pattern)
  return pattern
}

/** The words without polite openers and closers, unless none would be left. */
const stripped = (said: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  let tokens = said
  while (true) {
    // "Max" followed by punctuation addresses Max; otherwise it can be the subject's name.
    const called = (words: ReadonlyArray<string>) => words.join() !== "max" || tokens[0]!.after !== ""
    const opener = OPENING.find((words) => words.length < tokens.length && startsWith(tokens, words) && called(words))
    const closer = CLOSING.find((words) => words.length < tokens.length && endsWith(tokens, words))
    if (opener === undefined && closer === undefined) return tokens
    tokens = tokens.slice(
      opener?.length ?? 0,
      opener === undefined && closer !== undefined ? -closer.length : undefined
    )
  }
}
const OPENING = byLength(OPENERS)
const CLOSING = byLength(CLOSERS)

const CONCEPT_WORDS = new Set<string>(Object.values(CONCEPTS).flat())
const isConcept = (words: string): boolean => CONCEPT_WORDS.has(words)

const isNameWord = ({ word }: Token): boolean =>
  !/^\d/.test(word) && (!COMMON_WORDS.has(word) || PARTICLES.has(word) || TITLES.has(word))

const isAggregate = (tokens: ReadonlyArray<Token>): boolean =>
  tokens.length <= MAX_QUESTION &&
  (tokens.some(({ word }) => AGGREGATES.has(word)) ||
    AGGREGATE_PHRASES.some((words) => ` ${folded(tokens)} `.includes(` ${words} `)))

const uncountable = (tokens: ReadonlyArray<Token>, context: Context): Intent => {
  for (let at = 0; at < tokens.length; at++) {
    const found = nounAt(tokens.slice(at), context)
    if (found !== undefined) return Intent.Uncountable({ lookup: { noun: found.noun, conditions: [] } })
  }
  return Intent.Uncountable({})
}

/** A question for a type that does not exist or that the person may not see. */
const unknownKind = (tokens: ReadonlyArray<Token>): boolean =>
  /^(how many|list|show( me)?( all)?|count|number of|what|which) [^ ]+/.test(folded(tokens)) && tokens.length <= 8
