/** A request whose verb is misspelt, with the verb as it is spelt: "chnage", "delte". */
import { isNear } from "../respell.ts"
import { PHRASES } from "./lexicon.ts"
import type { Said } from "./words.ts"

const MIN_LENGTH = 5
/** The verbs that begin a request. */
const VERBS = [
  ...new Set(
    ["set", "adjust", "mark", "move", "rename", "assign", "delete", "create", "later"]
      .flatMap((name) => PHRASES[name]!)
      .map((phrase) => phrase.split(" ")[0]!)
  )
].filter((word) => word.length >= MIN_LENGTH - 1)
/** Words before the verb. */
const MAX_BEFORE = 6

/** "mvoe": two letters in the wrong order. */
export const isSwapped = (said: string, word: string): boolean =>
  said[0] === word[0] &&
  said.length === word.length &&
  [...said].some((_, at) => said.slice(0, at) + (said[at + 1] ?? "") + said[at] + said.slice(at + 2) === word)

/** Whether a word is another one with a mistake. */
export const isMistaken = (said: string, word: string): boolean => isNear(said, word) || isSwapped(said, word)

/** Undefined if no word among the first is nearly one verb and no word itself. */
export const respelt = ({ text, words }: Said): Said | undefined => {
  for (const [at, each] of words.slice(0, MAX_BEFORE).entries()) {
    if (each.quoted === true || (each.capital && at > 0) || !/^[a-z]{4,}$/.test(each.word)) continue
    if (VERBS.includes(each.word)) return undefined
    const near = VERBS.filter((verb) => each.word.length >= MIN_LENGTH - 1 && isMistaken(each.word, verb))
    if (near.length === 1)
      return { text, words: words.map((word, index) => (index === at ? { ...word, word: near[0]! } : word)) }
  }
  return undefined
}
