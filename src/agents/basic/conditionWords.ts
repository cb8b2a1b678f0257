/** Words that several rules of conditions share. */
import { CONCEPTS } from "./lexicon.ts"

export const CONCEPT_WORDS: ReadonlySet<string> = new Set<string>(Object.values(CONCEPTS).flat())

/** What may follow the noun before its verb. */
export const WHO = "(that|which|who|whom)?"
export const NOT = "(aren't|arent|isn't|isnt|wasn't|wasnt|weren't|werent|are not|is not|was not|were not|not|but not)"
