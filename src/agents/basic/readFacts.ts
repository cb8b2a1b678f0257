/**
 * Extracts facts about a person from free text: e-mail address, phone number, postcode, town, state, street, account
 * number.
 */
import type { Fact } from "./Fact.ts"
import { readCodes } from "./readCodes.ts"
import { readPlaces } from "./readPlaces.ts"
import type { Token } from "./tokenize.ts"

export const readFacts = (tokens: ReadonlyArray<Token>): ReadonlyArray<Fact> => {
  const { asides, facts: towns } = readPlaces(tokens)
  const facts = [...readCodes(tokens, asides), ...towns]
  const seen = new Set<string>()
  return facts.filter(({ concept, values }) => {
    const key = `${concept} ${values[0]!.toLowerCase()}`
    return seen.has(key) ? false : (seen.add(key), true)
  })
}
