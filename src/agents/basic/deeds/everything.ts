/** "Everything on Apollo", "the ones that Kofi has": rows that a request calls by no noun, with the noun of a type. */
import type { Context } from "../readConversation.ts"
import { readWords, type Said } from "./words.ts"

const EVERYTHING = /^(everything|anything|whatever)$/
const BE = /^(is|'s|are|was|were|has|have)$/
const EACH = /^(single|every|each|any)$/
/** Words for rows of any type. */
export const THINGS = /^(work|stuff|ones|items|things|entries|rows|records)$/

/** "What Nia has on Website", as the first words. */
const isWhat = (words: Said["words"], at: number): boolean =>
  at === 0 && words[0]!.word === "what" && words[1]?.capital === true && /^(has|owns|holds)$/.test(words[2]?.word ?? "")

/** The words with the noun of a type; undefined without such a word. */
export const withNoun = (said: Said, { plural }: Context["types"][number]): Said | undefined => {
  const words = said.words.flatMap((each, at) => {
    // "Everything is done" asks for nothing.
    if (
      each.quoted === true ||
      (each.capital && !EVERYTHING.test(each.word)) ||
      (at === 0 && each.word !== "whatever" && BE.test(said.words[1]?.word ?? ""))
    )
      return [each]
    const noun = readWords(plural.toLowerCase()).words.map((one) => ({
      ...one,
      start: each.start,
      end: each.end,
      after: ""
    }))
    const last = { ...noun.at(-1)!, after: each.after }
    // "All that Raj has".
    if (each.word === "that" && said.words[at - 1]?.word === "all") return [...noun, each]
    if (EVERYTHING.test(each.word) || isWhat(said.words, at))
      return [{ ...each, text: "all", word: "all", after: "", capital: false }, ...noun.slice(0, -1), last]
    const isThing = THINGS.test(each.word) || (each.word === "thing" && EACH.test(said.words[at - 1]?.word ?? ""))
    return isThing ? [...noun.slice(0, -1), last] : [each]
  })
  return words.length === said.words.length && words.every((each, at) => each === said.words[at])
    ? undefined
    : { ...said, words }
}
