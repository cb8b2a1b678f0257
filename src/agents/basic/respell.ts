/** A message with its misspelt words of questions as they are spelt: "nubmer", "meetigns". Names are suggested instead (suggest.ts). */
import { MONTH_NAMES } from "../english.ts"
import {
  COMMON_WORDS,
  CONCEPTS,
  INTRODUCING,
  NEXT_CONDITION,
  PERSON_NOUNS,
  QUESTION_STARTS,
  STRUCTURE,
  SYNONYMS
} from "./lexicon.ts"
import type { Context } from "./readConversation.ts"
import { DONE } from "./shorthand.ts"
import { tokenize } from "./tokenize.ts"

const AMOUNTS = "many much most fewest total average highest lowest often"
const DAYS = "monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday week weeks month months"

/** The words that a question consists of, besides names and values. */
const VOCABULARY = new Set(
  [
    ...[STRUCTURE, QUESTION_STARTS, PERSON_NOUNS, ...Object.values(SYNONYMS)].flatMap((words) => [...words]),
    ...Object.values(CONCEPTS).flat(2),
    ...MONTH_NAMES,
    ...DAYS.split(" "),
    ...AMOUNTS.split(" ")
  ].filter((word) => /^[a-z]{3,}$/.test(word))
)
/** Words of offices that are one letter from one of these, and no misspelling of it. */
const OTHER_WORDS = new Set(
  "mondays tuesdays wednesdays thursdays fridays saturdays sundays contract contracts content contents context quest quests quote quotes guess stuff term terms loan loans load loads heads ready prize state skate county trucks truck trick tricks tack meal meals dial dials ideal ideals melting seating greeting vendors sender fans band bands brand brands cars card cards care order orders offer offers office offices task tasks ticket tickets visit visits note notes vote votes rate rates date dates data sale sales tale tales plan plans plane place places price prices page pages wage wages stage stages file files site sites sheet sheets team teams item items line lines link links list lists unit units user users group groups room rooms roles rule rules phase phrase".split(
    " "
  )
)
const KNOWN = [VOCABULARY, COMMON_WORDS, INTRODUCING, NEXT_CONDITION, OTHER_WORDS, new Set(Object.keys(DONE))]

/** Whether questions have the word besides names and values. */
export const isQuestionWord = (word: string): boolean => KNOWN.some((words) => words.has(word))

const MIN_LENGTH = 5
const MAX_CHANGED = 2

export interface Respelt {
  readonly text: string
  readonly changed: ReadonlyArray<{ readonly said: string; readonly meant: string }>
}

/** The message with such words replaced; undefined if it has none, or several words could be meant. */
export const respell = (message: string, { types }: Context): Respelt | undefined => {
  const own = types.flatMap(({ name, plural }) => tokenize(`${name} ${plural}`).map(({ word }) => word))
  const vocabulary = [...VOCABULARY, ...own]
  let text = message
  const changed: Array<{ said: string; meant: string }> = []
  for (const { capital, text: said, word } of tokenize(message)) {
    if (capital || !/^[a-z]+$/.test(word) || own.includes(word) || isQuestionWord(word)) continue
    const near = [...new Set(vocabulary.filter((one) => isNear(word, one)))]
    if (near.length !== 1) continue
    const meant = near[0]!
    text = text
      .split(/(\p{L}+)/u)
      .map((piece) => (piece === said ? meant : piece))
      .join("")
    changed.push({ said, meant })
  }
  return changed.length === 0 || changed.length > MAX_CHANGED ? undefined : { text, changed }
}

/** One letter too many, too few or wrong, or two in the wrong order; a short word only lacks a letter. */
export const isNear = (said: string, word: string): boolean => {
  if (said === word || Math.abs(said.length - word.length) > 1 || word.length < 3) return false
  if (said.length < MIN_LENGTH)
    return said[0] === word[0] && (lacksOne(said, word) || (said.length >= 4 && isTurned(said, word)))
  if (said.length === word.length) {
    const apart = [...said].flatMap((letter, at) => (letter === word[at] ? [] : [at]))
    const [first, second] = apart
    return (
      apart.length === 1 ||
      (apart.length === 2 && second === first! + 1 && said[first!] === word[second] && said[second] === word[first!])
    )
  }
  return said.length < word.length ? lacksOne(said, word) : lacksOne(word, said)
}

/** Two letters in the wrong order: "mnay". */
const isTurned = (said: string, word: string): boolean =>
  said.length === word.length &&
  [...said].some((_, at) => said.slice(0, at) + (said[at + 1] ?? "") + said[at]! + said.slice(at + 2) === word)

const lacksOne = (short: string, long: string): boolean =>
  long.length === short.length + 1 && [...long].some((_, at) => long.slice(0, at) + long.slice(at + 1) === short)
