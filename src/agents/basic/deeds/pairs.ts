/** Two requests in one message: "mark A as done and move B to review", "give A to Raj and B to Nia". */
import { withoutOpeners } from "./clauses.ts"
import { OTHER_REQUESTS, PHRASES } from "./lexicon.ts"
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** Places that are tried: each costs the reading of two requests. */
const MAX_PLACES = 4

const VERBS = new Set(
  ["set", "mark", "move", "rename", "assign", "delete", "later", "earlier", "create"].flatMap((name) =>
    PHRASES[name]!.map((phrase) => phrase.split(" ")[0]!)
  )
)
/** What is so is no request: "A is done and move B to review" asks for one change, or for two. */
const STATED = /^(is|are|was|were|has|have|had|'s)$/
const CONDITIONAL = /^(if|unless|when|whenever|once|until|or|either)$/

const isVerb = (word: Word | undefined): boolean =>
  word !== undefined && word.quoted !== true && (VERBS.has(word.word) || OTHER_REQUESTS.has(word.word))

/** Each way to divide the words into two requests. */
export const pairsOf = ({ text, words }: Said): ReadonlyArray<readonly [Said, Said]> => {
  const plain = words.filter(({ quoted }) => quoted !== true)
  if (plain.some(({ word }) => CONDITIONAL.test(word))) return []
  return words
    .flatMap((_, at): ReadonlyArray<readonly [Said, Said]> => {
      const [before, rest] = divided(words, at)
      const verb = withoutOpeners(before).at(-1)![0]
      // After a verb "Raj's" is whose.
      const isStated = ({ quoted, word }: Word) =>
        quoted !== true && STATED.test(word) && !(word === "'s" && isVerb(verb))
      if (before.length < 3 || rest.length < 3 || before.some(isStated)) return []
      const own = resolved(before, rest)
      const seconds = [
        ...(isVerb(withoutOpeners(rest).at(-1)![0]) ? [rest] : []),
        ...(isVerb(verb) && (rest[0]!.capital || !OTHER_REQUESTS.has(rest[0]!.word)) ? gapped(verb!, own) : []),
        ...(isLabelled(before) && isLabelled(rest) ? [rest] : [])
      ]
      return seconds.map((second) => [
        { text, words: before },
        { text, words: second }
      ])
    })
    .slice(0, MAX_PLACES)
}

/** "A: Raj", "A -> Raj", "A to Friday": a row and what it gets, without a verb. */
const isLabelled = (words: Words): boolean =>
  !isVerb(words[0]) &&
  words.filter(
    ({ after, quoted, word }, at) => after === ":" || (at > 0 && quoted !== true && /^(->|=>|→|=|to)$/.test(word))
  ).length === 1

/** The words before and after a conjunction, or the end of a sentence. */
const divided = (words: Words, at: number): readonly [Words, Words] => {
  const each = words[at]!
  const previous = words[at - 1]
  if (previous === undefined || each.quoted === true) return [[], []]
  const isJoint = /^(and|then|also|plus)$/.test(each.word)
  const ends = /[.,;!]/.test(previous.after)
  if (!isJoint && !ends) return [[], []]
  const rest = words.slice(isJoint ? at + 1 : at)
  return [[...words.slice(0, at - 1), { ...previous, after: "" }], rest]
}

/** "Give Yuki's tasks to Kofi and Raj's blocked ones to Lena": with the noun of the first request. Whose "her ones" are isn't told. */
const resolved = (before: Words, rest: Words): Words => {
  const to = before.findLastIndex(({ quoted, word }) => quoted !== true && word === "to")
  const noun = before[to - 1]
  return noun === undefined || !noun.word.endsWith("s") || !rest.some(({ word }) => word === "'s")
    ? rest
    : rest.map((each) =>
        each.quoted !== true && each.word === "ones" ? { ...each, text: noun.text, word: noun.word } : each
      )
}

/** "and B to Nia": the verb of the first request. */
const gapped = (verb: Word, rest: Words): ReadonlyArray<Words> =>
  rest.some(({ quoted, word }, at) => at > 0 && quoted !== true && /^(to|as|into)$/.test(word))
    ? [[{ ...verb, after: "" }, ...rest]]
    : []
