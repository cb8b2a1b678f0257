/** Cues around a value in free text: its clause, negation, and whether it belongs to something else than the person. */
import { UNRELATED_CUES } from "./lexicon.ts"
import { folded, type Token } from "./tokenize.ts"

/** Words before a value that can qualify it. */
const NEAR = 7

/** The words before a position in the same clause. */
export const wordsBefore = (tokens: ReadonlyArray<Token>, at: number, count = NEAR): ReadonlyArray<Token> => {
  const near = tokens.slice(Math.max(0, at - count), at)
  const end = near.findLastIndex(({ after, word }) => /[.;!?]/.test(after) || CLAUSE_BREAKS.has(word))
  return near.slice(end + 1)
}

/** Whether a value belongs to a journey, a parcel or a change instead of the person's record. */
export const isAside = (tokens: ReadonlyArray<Token>, at: number): boolean => {
  const lead = wordsBefore(tokens, at)
  if (
    tokens[at]!.after === "" &&
    /^(as|is) (my|his|her|their|the) (zip|postal|post)/.test(folded(tokens.slice(at + 1, at + 4)))
  )
    return false
  // "my zip code is" and "I live in" state the person's own value, whatever precedes them in the sentence.
  if (lead.slice(-3).some(({ word }) => OWN_VALUE_CUES.has(word)))
    return lead.some(({ word }) => word === "new" || word === "old" || word === "former")
  return lead.some(({ word }) => UNRELATED_CUES.has(word))
}

/** Whether a value is negated: it then states nothing. */
export const isDenied = (tokens: ReadonlyArray<Token>, at: number): boolean =>
  wordsBefore(tokens, at, 5).some(({ after, word }) => DENIALS.has(word) && !after.includes(","))
const DENIALS = new Set(["not", "never", "isn't", "isnt", "wasn't"])

/** Words that begin another clause. */
const CLAUSE_BREAKS = new Set(["but", "however", "though", "although"])
const OWN_VALUE_CUES = new Set(
  "zip zipcode postcode postal live lives living reside based located email e-mail phone".split(" ")
)
