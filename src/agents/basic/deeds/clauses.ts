/** Divides a request into clauses, in each way that its commas and conjunctions allow, without its polite words. */
import { byLength, endsWith, startsWith } from "../patterns.ts"
import { CLOSERS, OPENERS, PLACE_LEADS, PLACES } from "./lexicon.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** Conjunctions that a clause can begin with. */
export const JOINERS = new Set(["and", "so", "then", "but", "because", "since", "as", "while"])
const EXCEPTING = /^(except|excluding|besides)$/
/** Commas and conjunctions that are tried as ends of clauses. */
const MAX_JOINTS = 5

/** The sentences of a request. */
const sentences = (words: Words): ReadonlyArray<Words> => {
  const found: Array<Words> = []
  let from = 0
  for (let at = 0; at < words.length; at++) {
    if (!/[.;!?]/.test(words[at]!.after) && at < words.length - 1) continue
    found.push(words.slice(from, at + 1))
    from = at + 1
  }
  return found
}

/** Where a clause can begin within a sentence: after a comma, or with a conjunction. */
const joints = (words: Words): ReadonlyArray<number> =>
  words.flatMap(({ quoted, word }, at) =>
    at > 0 && ((quoted !== true && (JOINERS.has(word) || EXCEPTING.test(word))) || /[,:—–-]/.test(words[at - 1]!.after))
      ? [at]
      : []
  )

/** Each way in which the words are a sequence of clauses. */
export function* clausesOf(words: Words): Generator<ReadonlyArray<Words>> {
  const whole = sentences(words)
  const places = whole.flatMap((sentence, index) => joints(sentence).map((at) => ({ index, at }))).slice(0, MAX_JOINTS)
  for (let mask = 0; mask < 1 << places.length; mask++) {
    const chosen = places.filter((_, index) => (mask & (1 << index)) !== 0)
    const clauses = whole.flatMap((sentence, index) => {
      const cuts = [0, ...chosen.filter((place) => place.index === index).map(({ at }) => at), sentence.length]
      return cuts.slice(1).map((end, at) => sentence.slice(cuts[at]!, end))
    })
    // A conjunction alone joins two cuts: ", and".
    yield clauses.filter((clause) => clause.length > 1 || !JOINERS.has(clause[0]?.word ?? ""))
  }
}

const OPENING = byLength(OPENERS)
const CLOSING = byLength(CLOSERS)
const LEADS = byLength(PLACE_LEADS)

/** The words with fewer and fewer of the polite words before them; an opener of one word may be all that there is. */
export const withoutOpeners = (words: Words): ReadonlyArray<Words> => {
  const stages: Array<Words> = [words]
  let rest = words
  for (let count = 0; count < 6; count++) {
    const joiner = rest.length > 1 && JOINERS.has(rest[0]!.word) && rest[0]!.quoted !== true ? 1 : 0
    const opener = OPENING.find((phrase) => phrase.length < rest.length && startsWith(rest, phrase))
    const length = opener?.length ?? joiner
    if (length === 0) break
    rest = rest.slice(length)
    stages.push(rest)
  }
  return stages
}

/** The words without the polite words after them, and without the place where rows are kept unless it is `kept`. */
export const withoutClosers = (words: Words, isPlace: (words: Words) => boolean, kept: boolean): Words => {
  let rest = words
  while (rest.length > 1) {
    // "three days from now".
    if (rest.at(-1)!.quoted === true || (rest.at(-1)!.word === "now" && rest.at(-2)?.word === "from")) return rest
    const closer = CLOSING.find((phrase) => phrase.length < rest.length && endsWith(rest, phrase))
    const place = kept ? 0 : placeLength(rest, isPlace)
    const length = Math.max(closer?.length ?? 0, place)
    if (length === 0 || length >= rest.length) return rest
    rest = rest.slice(0, -length)
  }
  return rest
}

/** The number of words of "in the crm" at the end. */
const placeLength = (words: Words, isPlace: (words: Words) => boolean): number => {
  for (let length = Math.min(6, words.length - 1); length >= 2; length--) {
    const last = words.slice(-length)
    const lead = LEADS.find((phrase) => startsWith(last, phrase))
    if (lead !== undefined && isPlace(last.slice(lead.length))) return length
  }
  return 0
}

/** Whether words mean where rows are kept: "the crm", "my calendar", "the customer list". */
export const isPlaceOf =
  (isNoun: (words: Words) => boolean) =>
  (words: Words): boolean => {
    const bare = /^(the|our|my|your)$/.test(words[0]?.word ?? "") ? words.slice(1) : words
    const last = bare.at(-1)
    if (last === undefined || bare.length > 3 || bare.some(({ quoted }) => quoted)) return false
    if (PLACES.has(last.word))
      return (
        bare.length === 1 ||
        bare
          .slice(0, -1)
          .every(
            ({ word }) =>
              PLACES.has(word) || isNoun([{ ...last, word, text: word }]) || /^(team|company|work|sales)$/.test(word)
          )
      )
    return bare.length < words.length && isNoun(bare)
  }
