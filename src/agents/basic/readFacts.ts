/**
 * Extracts facts about a person from free text: e-mail address, phone number, postcode, town, state, street, account
 * number.
 */
import type { Fact } from "./Fact.ts"
import { readCodes } from "./readCodes.ts"
import { readPlaces } from "./readPlaces.ts"
import { MONTHS } from "../english.ts"
import { type Token, tokenize } from "./tokenize.ts"

/** Months that a name can be. */
const AMBIGUOUS = /^(april|june|august|march)$/

export const readFacts = (tokens: ReadonlyArray<Token>): ReadonlyArray<Fact> => {
  const { asides, facts: towns } = readPlaces(tokens)
  const facts = [...readCodes(tokens, asides), ...towns]
  const seen = new Set<string>()
  return facts.filter(({ concept, values }) => {
    // "In October 2023" is no town.
    if (
      concept === "city" &&
      tokenize(values[0]!).some(({ word }) => MONTHS[word] !== undefined && word.length > 3 && !AMBIGUOUS.test(word))
    )
      return false
    const key = `${concept} ${values[0]!.toLowerCase()}`
    return seen.has(key) ? false : (seen.add(key), true)
  })
}
