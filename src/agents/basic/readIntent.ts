/**
 * Parses a message into an intent: small talk, a question by its rule, or a person introduced in free text. A question is
 * understood only if every word of it has a part in its rule; otherwise it is declined.
 */
import { PEOPLE } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"
import { browse, choice, detailsIn, isCovered, type Rule } from "./buildIntent.ts"
import { isPhrase } from "./figures/measures.ts"
import { readAsked, readOnly, readRegrouping } from "./figures/readAsked.ts"
import { isValue, structures } from "./conditionParts.ts"
import { FIGURE_WORDS } from "./figures/lexicon.ts"
import { COMPARISONS } from "./comparing.ts"
import { Intent, Subject } from "./Intent.ts"
import { languageOf } from "./languages.ts"
import {
  AGGREGATE_PHRASES,
  AGGREGATES,
  COMMON_WORDS,
  CONCEPTS,
  DATE_VERBS,
  ME,
  PARTICLES,
  QUESTION_STARTS,
  REQUESTS,
  TITLES
} from "./lexicon.ts"
import { DONE, TAIL_STARTS } from "./shorthand.ts"
import { nounAt } from "./Lookup.ts"
import { compiled, type Fits, matchPattern } from "./patterns.ts"
import { follows, stripped } from "./polite.ts"
import type { Context } from "./readConversation.ts"
import { whenOf } from "./readClock.ts"
import { readFacts } from "./readFacts.ts"
import { readConditions, readLookup } from "./readLookup.ts"
import { readNames, type SpokenName } from "./readNames.ts"
import { timeAt } from "./readTime.ts"
import { QUESTIONS, SMALL_TALK } from "./rules.ts"
import { COMMONEST } from "./spoken.ts"
import { inTurn, questionsIn } from "./separate.ts"
import { readTitled } from "./titled.ts"
import { folded, type Token, tokenize } from "./tokenize.ts"

const MAX_NAME = 9
/** The longest question, in words; anything longer is free text. */
const MAX_QUESTION = 30
/** The longest free text that introduces a person without saying so, in words. */
const MAX_STORY = 60

/** "and the leads?" after a list: the same list of something else. */
const continued = (intent: Intent, said: ReadonlyArray<Token>, meant: ReadonlyArray<Token>): Intent => {
  if (intent._tag !== "Browse" || intent.lookup.conditions.length > 0 || intent.lookup.order !== undefined)
    return intent
  return follows(said, meant) ? Intent.Instead({ noun: intent.lookup.noun }) : intent
}

const VERBS = new Set("is are was does do has have my".split(" "))
const SUBJECT_PRONOUNS = new Set("me i her him his them it she he they that this".split(" "))
const POINTED = /^(that|this|the) (one|person|meeting|company)$/

/** Intents of words that can be part of a question instead. */
const PARTIAL: ReadonlySet<Intent["_tag"]> = new Set(["Who", "Introduce", "Unclear", "NotKnown"] as const)
const HOW_MANY = "how many (do|does|did|has|have) {name} (have|got|own|look after|manage|handle)?"

/** "And Samir?", "what about at Cedar Labs?": part of a question, which the one before completes. */
const also = (message: string, otherwise: Intent, context: Context): Intent => {
  const said = tokenize(message)
  if (!PARTIAL.has(otherwise._tag) || said.length > MAX_NAME) return otherwise
  const meant = stripped(said)
  if (!follows(said, meant)) return otherwise
  const asked = matchPattern(compiled(HOW_MANY), meant, fitsIn(context))?.["name"] ?? meant
  const words = asked.at(-1)!.word === "'s" ? asked.slice(0, -1) : asked
  if (words.length === 0) return otherwise
  const conditions = ME.test(folded(words)) ? undefined : readConditions(words, context)
  if (conditions?.length === 1) return Intent.Also({ words, conditions, otherwise })
  return isValue(words, context) || ME.test(folded(words)) ? Intent.Also({ words, otherwise }) : otherwise
}

/** The intent of a message, which can continue the one before. */
export const readIntent = (message: string, context: Context): Intent =>
  also(message, readAlone(message, context), context)

/** The intent of a message by itself. Questions take precedence over free text that introduces a person. */
const readAlone = (message: string, context: Context): Intent => {
  const said = tokenize(message)
  if (said.length === 0) return Intent.Unclear({ tokens: said })
  const language = languageOf(message, said)
  if (language !== undefined) return Intent.Foreign({ reply: language.reply, tokens: said })
  const meant = stripped(said)
  const names = readNames(said)
  const facts = readFacts(said)
  const spoken = names.some(({ length, rank }) => rank >= 3 && length >= 2)
  const fits = fitsIn(context)
  const compared = firstRule(COMPARISONS, meant, context, fits)
  if (compared !== undefined) return compared
  const figures = meant.length > MAX_QUESTION ? undefined : readFigures(meant, context, fits)
  if (figures !== undefined) return figures
  const commonest = firstRule(COMMONEST, meant, context, fits)
  if (commonest !== undefined) return commonest
  if (isAggregate(meant) && !spoken) return uncountable(meant, context)
  const question = firstRule(SMALL_TALK, said, context, fits) ?? firstRule(QUESTIONS, meant, context, fits)
  const hard = facts.some(({ concept, weight }) => weight === "stated" && concept !== "city" && concept !== "state")
  const introduces =
    facts.length > 0 && names.some(({ length, rank }) => length >= 2 && (rank >= 3 || (rank === 2 && hard)))
  const ofPeople = question?._tag === "Browse" && question.lookup.noun.type.id === PEOPLE
  if (question !== undefined && !(introduces && ofPeople)) return continued(question, said, meant)
  const parts = separate(meant, context, fits)
  if (parts !== undefined) return parts
  const story = readStory(said, meant, names, facts, spoken, context)
  const titled =
    story._tag === "Introduce" && meant.length <= MAX_QUESTION ? readTitled(meant, story, context) : undefined
  // "Process reviews in December": with a time it is a list rather than a person.
  return titled?.conditions.some(({ _tag }) => _tag === "Time") === true ? titled : story
}

/** A request, a person who is introduced in free text, rows by what they are called, or nothing that is understood. */
const readStory = (
  said: ReadonlyArray<Token>,
  meant: ReadonlyArray<Token>,
  names: ReadonlyArray<SpokenName>,
  facts: ReturnType<typeof readFacts>,
  spoken: boolean,
  context: Context
): Intent => {
  const firm = names.some(({ rank }) => rank >= 3) || facts.some(({ weight }) => weight === "stated")
  const asks = (QUESTION_STARTS.has(meant[0]!.word) && !spoken) || measures(meant, names)
  const request = requestOf(meant)
  if (request !== undefined && !spoken && (said[0] === meant[0] || !firm)) return request
  if (!asks || (said.length <= MAX_QUESTION && isCovered(meant))) {
    const likely =
      names.some(({ length, rank }) => rank === 2 && length >= 2) && facts.some(({ weight }) => weight === "mentioned")
    const sure = likely || firm
    if (sure || (isStory(said, names) && said.length <= MAX_STORY))
      return sure || said.length > MAX_PHRASE || tellsMore(said, names) || isCovered(meant)
        ? Intent.Introduce({ names, facts, sure })
        : withWords(meant, context)
  }
  const otherwise = unknownKind(meant, context) ? Intent.NotKnown() : Intent.Unclear({ tokens: meant })
  return meant.length > MAX_QUESTION ? otherwise : (readTitled(meant, otherwise, context) ?? otherwise)
}

/** "Total minutes of meetings …", "share of revenue from …": a question, although a name or a place is in it. */
const measures = ([first]: ReadonlyArray<Token>, names: ReadonlyArray<SpokenName>): boolean =>
  FIGURE_WORDS.has(first!.word) &&
  first!.word !== "number" &&
  !names.some(({ name }) => foldText(name).startsWith(first!.word))

/**
 * Whether a message without facts is about a person: a few words that lead to a name are a question that no rule knows,
 * such as "proposals handled by Raj Patel", and the person is no answer to it.
 */
const isStory = (said: ReadonlyArray<Token>, names: ReadonlyArray<SpokenName>): boolean => {
  const [first] = names
  if (first === undefined || first.rank === 0) return false
  return said.length > MAX_PHRASE || first.rank >= 3 || folded(said).startsWith(foldText(first.name))
}
const MAX_PHRASE = 8

/** "Max Müller wants to return a fan": more words after a name than a column's label has. */
const tellsMore = (said: ReadonlyArray<Token>, [first]: ReadonlyArray<SpokenName>): boolean =>
  first !== undefined &&
  folded(said).startsWith(foldText(first.name)) &&
  said.length - first.name.split(" ").length > MAX_LABEL
const MAX_LABEL = 3

/** A name and words that aren't part of it: they must be part of another name, or name a column ("Hull coating margin"). */
const withWords = (tokens: ReadonlyArray<Token>, context: Context): Intent =>
  readTitled(tokens, Intent.Who({ subject: Subject.Named({ tokens }) }), context) ??
  (isName(tokens, context) ? Intent.Who({ subject: Subject.Named({ tokens }) }) : Intent.Unclear({ tokens }))

const fitsIn =
  (context: Context): Fits =>
  (name, tokens) => {
    const sentence = tokens.slice(0, -1).some(({ after }) => /[.;!?]/.test(after))
    if (sentence && name !== "rest") return false
    switch (name) {
      case "lookup":
        return readLookup(tokens, context) !== undefined
      case "when":
        return whenOf(tokens, context.today) !== undefined
      case "n":
        return choice(tokens) !== undefined
      case "what":
        return (
          tokens.length <= 7 &&
          tokens.slice(0, -1).every(({ after }) => after === "") &&
          !tokens.some((token) => VERBS.has(token.word) || structures(token)) &&
          (!tokens.every(({ capital }) => capital) || isConcept(folded(tokens)))
        )
      case "concept":
        return tokens.length <= 3 && isConcept(folded(tokens)) && !isNoun(tokens, context)
      case "concepts":
        return detailsIn(tokens, isConcept) !== undefined && !isNoun(tokens, context)
      case "place":
      case "value":
        return isValue(tokens, context)
      case "pronoun":
        return tokens.length === 1 && /^(her|his|their|its)$/.test(tokens[0]!.word)
      case "via":
        return tokens.length <= 2 && isConcept(folded(tokens))
      case "tail":
        // "who is Ada" asks for a person, "who is in Boston" for people.
        return !/^(is|are|was|were|am)$/.test(tokens[0]!.word) || TAIL_STARTS.has(tokens[1]?.word ?? "")
      case "thing":
        return (context.focus ?? []).length > 0 && tokens.length <= 2 && tokens.every(({ capital }) => !capital)
      case "family":
        return tokens.length === 1 && /^\p{Lu}\p{Ll}{2,}s$/u.test(tokens[0]!.text)
      case "bare":
        return (
          tokens.length <= 6 &&
          tokens.every(
            (token, at) =>
              (token.word === "and" && at > 0 && at < tokens.length - 1) ||
              isNameWord(token) ||
              (token.capital && tokens.length > 1 && !structures(token))
          )
        )
      case "i":
        return tokens.length === 1 && /^(i|we)$/.test(tokens[0]!.word)
      case "done":
        return tokens.length === 1 && DONE[tokens[0]!.word] !== undefined
      case "by":
        return isPhrase(tokens, context, 4)
      case "row": {
        const found = readLookup(tokens, context)
        if (found !== undefined) return found.order !== undefined || found.noun.type.id === "meetings"
        return readTitled(tokens, Intent.Unclear({ tokens }), context) !== undefined
      }
      case "meeting":
        return readLookup(tokens, context)?.noun.type.id === "meetings"
      case "possessor":
        return tokens.length >= 2 && /[^s]s$/.test(tokens.at(-1)!.word) && isName(tokens, context)
      case "noun":
        return nounAt(tokens, context)?.length === tokens.length
      case "dated":
        return tokens.length === 1 && (DATE_VERBS[tokens[0]!.word] ?? []).length > 0
      case "conds":
        return readConditions(tokens, context) !== undefined
      case "one":
        return tokens.length === 1 && !structures(tokens[0]!) && !tokens[0]!.capital
      case "quality":
        return (
          tokens.length <= 3 &&
          !tokens.some((token) => structures(token) || timeAt([token], context.today) !== undefined)
        )
      case "rest":
        return true
      default:
        return isName(tokens, context)
    }
  }

/** Whether words can name a subject: no word of them structures the question. */
const isName = (tokens: ReadonlyArray<Token>, context: Context): boolean => {
  if (tokens.length === 1 && SUBJECT_PRONOUNS.has(tokens[0]!.word)) return true
  if (POINTED.test(folded(tokens))) return true
  if (/^(the|a|an|our|any)$/.test(folded(tokens))) return false
  return (
    tokens.length <= MAX_NAME &&
    !tokens.some((token) => structures(token) || token.word === "'s") &&
    nounAt(tokens, context)?.length !== tokens.length &&
    timeAt(tokens, context.today)?.length !== tokens.length
  )
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

/** A question for figures, with what else its words can mean. */
const readFigures = (tokens: ReadonlyArray<Token>, context: Context, fits: Fits): Intent | undefined => {
  const by = readRegrouping(tokens, context)
  if (by !== undefined) return Intent.Regroup({ by })
  const only = readOnly(tokens, context)
  if (only !== undefined) return Intent.Only(only)
  const asked = readAsked(tokens, context)
  if (asked === undefined) return undefined
  const { either, lookup } = asked.measure
  const otherwise = either === true ? browse("count", lookup) : firstRule(QUESTIONS, tokens, context, fits)
  return Intent.Figures({ asked, ...(otherwise?._tag === "Browse" ? { otherwise } : {}) })
}

/** Questions that follow each other: "who is Ada? how many deals are there?", "who is Ada and who is Bo". */
const separate = (tokens: ReadonlyArray<Token>, context: Context, fits: Fits): Intent | undefined => {
  if (tokens.length > 4 * MAX_QUESTION) return undefined
  const asked = questionsIn(tokens)
  // No question of several is about the answer before the message.
  const { focus: _, ...fresh } = context
  const intents = asked.map((part) => {
    const meant = stripped(part)
    return QUESTION_STARTS.has(meant[0]!.word) ? firstRule(QUESTIONS, meant, fresh, fits) : undefined
  })
  return inTurn(asked, intents, tokens)
}

const CONCEPT_WORDS = new Set<string>(Object.values(CONCEPTS).flat())
const isConcept = (words: string): boolean =>
  CONCEPT_WORDS.has(words) || (words.endsWith("s") && CONCEPT_WORDS.has(words.slice(0, -1)))
/** "contacts" and "customers" are lists; "company" and its other words are also a detail. */
const isNoun = (tokens: ReadonlyArray<Token>, context: Context): boolean =>
  tokens.length === 1 && !EMPLOYERS.has(tokens[0]!.word) && nounAt(tokens, context)?.length === 1
const EMPLOYERS = new Set("company employer firm business organization organisation".split(" "))

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

const requestOf = ([first]: ReadonlyArray<Token>): Intent | undefined => {
  const of =
    first!.after === "" ? (["send", "change"] as const).find((kind) => REQUESTS[kind].has(first!.word)) : undefined
  return of && Intent.Request({ of })
}

/** A question for a type that does not exist or that the person may not see. */
const unknownKind = (tokens: ReadonlyArray<Token>, context: Context): boolean =>
  /^(how many|list|show( me)?( all)?|count|number of|what|which) [^ ]+/.test(folded(tokens)) &&
  tokens.length <= 8 &&
  !tokens.some((_, at) => nounAt(tokens.slice(at), context) !== undefined)
