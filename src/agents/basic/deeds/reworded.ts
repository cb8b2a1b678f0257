/** Names in other words: "the contract review" is the row "Review the contract", "certificate renewal" is "Renew certificates". */
import { foldText } from "../../../domain/keys.ts"

/** Words that a name may have or not. */
const LIGHT = new Set(["a", "an", "the", "of", "for", "to", "on", "our", "my"])
/** The shortest common beginning of two forms of a word. */
const MIN_BEGINNING = 4
const MAX_ENDING = 4
/** The shortest word with a plural of its own: "key" and "keys". */
const MIN_PLURAL = 3
/** Endings of the forms of one word, after their common beginning. */
const ENDINGS = new Set(["", "e", "s", "es", "ed", "d", "ing", "al", "ion", "ation", "ment"])
const MAX_WORDS = 8

const wordsOf = (name: string): ReadonlyArray<string> =>
  foldText(name)
    .split(/[\s,-]+/)
    .filter((word) => word !== "" && !LIGHT.has(word))

/** What the name of a row in question has in it, whatever the form of its words. Words of one or two letters are left out. */
export const beginningsOf = (name: string): ReadonlyArray<string> =>
  wordsOf(name)
    .map((word) => [...word])
    .filter(({ length }) => length > 2)
    .slice(0, MAX_WORDS)
    .map((word) => word.slice(0, Math.max(MIN_BEGINNING, word.length - MAX_ENDING)).join(""))

/** Whether two texts have the same words, in any order and form, apart from light ones. */
export const isReworded = (one: string, other: string): boolean =>
  wordsOf(one).length === wordsOf(other).length && isAmong(wordsOf(one), wordsOf(other))

/**
 * Whether a name has all the words that were said: "login bug" is in "Fix login bug". A word alone is too little if the name begins with
 * it ("the call" is hardly "Call the printer").
 */
export const isPartOf = (said: string, name: string): boolean => {
  const [words, whole] = [wordsOf(said), wordsOf(name)]
  const [only] = words
  return (
    isAmong(words, whole) && (words.length > 1 || ([...only!].length >= MIN_BEGINNING && !isSame(only!, whole[0]!)))
  )
}

/** Whether each of the words is one of the others, which are left out as they are found. */
const isAmong = (words: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean => {
  const left = [...others]
  return (
    words.length > 0 &&
    words.length <= MAX_WORDS &&
    words.every((word) => {
      const at = left.findIndex((each) => isSame(word, each))
      if (at >= 0) left.splice(at, 1)
      return at >= 0
    })
  )
}

/** Whether two words are forms of one: "renewal" and "renew", "planning" and "plan". */
const isSame = (one: string, other: string): boolean => {
  if (
    one === other ||
    (one.length >= MIN_PLURAL && other.length >= MIN_PLURAL && (`${one}s` === other || one === `${other}s`))
  )
    return true
  let common = 0
  while (common < one.length && one[common] === other[common]) common += 1
  if (common < MIN_BEGINNING) return false
  return [one, other].every((word) => ENDINGS.has(ending(word, common)))
}

/** What follows the beginning, without the consonant that is doubled before it. */
const ending = (word: string, from: number): string =>
  word[from] === word[from - 1] ? word.slice(from + 1) : word.slice(from)
