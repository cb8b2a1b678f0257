/** Whether words fit a placeholder of a rule's pattern, such as {lookup}, {when} or {name}. */
import { choice, detailsIn } from "./buildIntent.ts"
import { isValue, structures } from "./conditionParts.ts"
import { WEEKDAYS } from "../english.ts"
import { BUCKET_WORDS } from "./figures/lexicon.ts"
import { isPhrase } from "./figures/measures.ts"
import { readAsked } from "./figures/readAsked.ts"
import { Intent } from "./Intent.ts"
import { COMMON_WORDS, CONCEPTS, DATE_VERBS, PARTICLES, QUESTION_STARTS, TITLES } from "./lexicon.ts"
import { nounAt } from "./Lookup.ts"
import type { Fits } from "./patterns.ts"
import { isHours, whenOf } from "./readClock.ts"
import type { Context } from "./readConversation.ts"
import { readConditions, readLookup } from "./readLookup.ts"
import { timeAt } from "./readTime.ts"
import { DONE, TAIL_STARTS } from "./shorthand.ts"
import { readTitled } from "./titled.ts"
import { folded, type Token, tokenize } from "./tokenize.ts"

const VERBS = new Set("is are was does do has have my".split(" "))
const AT = tokenize("at")
const SUBJECT_PRONOUNS = new Set("me i her him his them it she he they that this".split(" "))
const POINTED = /^(that|this|the) (one|person|meeting|company)$/

/** The longest name, in words. */
export const MAX_NAME = 9

export const fitsIn =
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
          !/^(a|an|the)$/.test(tokens.at(-1)!.text) &&
          (!tokens.every(({ capital }) => capital) || isConcept(folded(tokens)))
        )
      case "column":
        return fitsIn(context)("what", tokens) && readLookup(tokens, context) === undefined
      case "concept":
        return tokens.length <= 3 && isConcept(folded(tokens)) && !isNoun(tokens, context)
      case "concepts":
        return detailsIn(tokens, isConcept) !== undefined && !isNoun(tokens, context)
      case "headed":
        return (
          /[,:]/.test(tokens.at(-1)!.after) &&
          !tokens.slice(0, -1).some(({ after }) => after !== "") &&
          isName(tokens, context)
        )
      case "labels":
        return labelsIn(tokens) !== undefined
      case "place":
        // "Busy at 10", "at noon": no company.
        return isValue(tokens, context) && !isHours([...AT, ...tokens])
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
      case "plural":
        return (
          tokens.length <= 4 &&
          !QUESTION_STARTS.has(tokens[0]!.word) &&
          tokens.every(
            (token) => !token.capital && token.after === "" && !structures(token) && !/\d/.test(token.word)
          ) &&
          /[^s]s$/.test(tokens.at(-1)!.word) &&
          isValue(tokens, context)
        )
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
      case "past":
        return tokens.length === 1 && /^(did|have)$/.test(tokens[0]!.word)
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
      case "other":
        return tokens.length === 1 && !structures(tokens[0]!) && !tokens[0]!.capital
      case "quality":
        return (
          tokens.length <= 3 &&
          !tokens.some((token) => structures(token) || timeAt([token], context.today) !== undefined)
        )
      case "proper":
        return (
          isName(tokens, context) &&
          tokens.every(({ capital, word }) => capital || /^(of|the|and|for|to|in|a)$/.test(word)) &&
          tokens[0]!.capital
        )
      case "answer":
        return readLookup(tokens, context)?.order !== undefined || readAsked(tokens, context)?.rows !== undefined
      case "full":
        return (
          isName(tokens, context) &&
          !/^(the|this|that|my|our|a|an|any|i)$/.test(tokens[0]!.word) &&
          (tokens[0]!.capital ||
            (tokens.length === 2 &&
              tokens.every((token) => !COMMON_WORDS.has(token.word) && nounAt([token], context) === undefined)))
        )
      case "address":
        return tokens.length === 1 && tokens[0]!.word.includes("@") ? true : isNumber(tokens)
      case "clock":
        return isHours([...AT, ...tokens])
      case "hour":
        // "My one meeting" is the only one.
        return folded(tokens) !== "one" && isHours([...AT, ...tokens])
      case "weekday":
        return tokens.length === 1 && WEEKDAYS[tokens[0]!.word] !== undefined
      case "period":
        return BUCKET_WORDS[folded(tokens)] !== undefined
      case "person":
        // "The sync up" works nowhere.
        return isName(tokens, context) && !/^(the|this|that|my|our|a|an|any)$/.test(tokens[0]!.word)
      case "rest":
        return true
      default:
        return isName(tokens, context)
    }
  }

/** Whether words can name a subject: no word of them structures the question. */
export const isName = (tokens: ReadonlyArray<Token>, context: Context): boolean => {
  if (tokens.length === 1 && SUBJECT_PRONOUNS.has(tokens[0]!.word)) return true
  if (POINTED.test(folded(tokens))) return true
  if (/^(the|a|an|our|any)$/.test(folded(tokens)) || /^(the|an?)$/.test(tokens.at(-1)!.text)) return false
  // "A lead" is no name either.
  if (/^an?$/.test(tokens[0]!.text) && nounAt(tokens.slice(1), context)?.length === tokens.length - 1) return false
  return (
    tokens.length <= MAX_NAME &&
    !tokens.some((token) => structures(token) || token.word === "'s") &&
    nounAt(tokens, context)?.length !== tokens.length &&
    timeAt(tokens, context.today)?.length !== tokens.length
  )
}

/** "Status, owner and product" after a name: columns, of which one at least is a common one. */
export const labelsIn = (tokens: ReadonlyArray<Token>): string | undefined => {
  const isLabel = (words: string) => words.split(" ").length <= MAX_LABEL
  const plain = tokens.every((token) => !token.capital && /^[\p{L}-]+$/u.test(token.word) && !structures(token))
  const all = plain ? detailsIn(tokens, isLabel) : undefined
  return all?.split(" and ").some(isConcept) === true ? all : undefined
}
const MAX_LABEL = 3

const CONCEPT_WORDS = new Set<string>(Object.values(CONCEPTS).flat())
export const isConcept = (said: string): boolean => {
  const words = said.replaceAll("-", " ")
  return CONCEPT_WORDS.has(words) || (words.endsWith("s") && CONCEPT_WORDS.has(words.slice(0, -1)))
}
const MIN_DIGITS = 7
const MAX_NUMBER = 6
/** A telephone number, in one word or in several. */
const isNumber = (tokens: ReadonlyArray<Token>): boolean =>
  tokens.length <= MAX_NUMBER &&
  tokens.every(({ word }) => /^[+\d().-]+$/.test(word)) &&
  tokens.map(({ word }) => word.replace(/\D/g, "")).join("").length >= MIN_DIGITS

/** "contacts" and "customers" are lists; "company" and its other words are also a detail. */
const isNoun = (tokens: ReadonlyArray<Token>, context: Context): boolean =>
  tokens.length === 1 && !EMPLOYERS.has(tokens[0]!.word) && nounAt(tokens, context)?.length === 1
const EMPLOYERS = new Set("company employer firm business organization organisation".split(" "))

const isNameWord = ({ word }: Token): boolean =>
  !/^\d/.test(word) && (!COMMON_WORDS.has(word) || PARTICLES.has(word) || TITLES.has(word))
