/**
 * Reasons beside a request: "Raj has too much work, give …", "… she signed this morning". A reason says why and nothing else, so it
 * needs no reading. A clause that could be a condition, a value or another request is no reason.
 */
import { CARDINALS } from "../../english.ts"
import { Part, type Subject } from "./Deed.ts"
import { CLOSERS, OPENERS, OTHER_REQUESTS } from "./lexicon.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const set = (words: string): ReadonlySet<string> => new Set(words.split(" "))

/** Whole sentences that ask for nothing. */
const POLITE = new Set([...OPENERS, ...CLOSERS])
const MAX_REASON = 14
/** Words of conditions, of obligations, and of what could be meant of other rows. */
const MORE = set(
  "if unless until when whenever once except but or either whether maybe perhaps should must need needs want wants ought shall let please same also too others other rest likewise ditto instead and then each every all both remind ask tell email notify call monday tuesday wednesday thursday friday saturday sunday tomorrow next"
)
const PRONOUNS = set(
  "i we he she it they you nobody everybody everyone someone somebody noone that this there he's she's"
)
const VERBS = set(
  "is are was were has have had 's does did can could will would told said came went left got gave knows thinks found lost won paid sent took bought quit chose says feels looks seems works likes agreed became began fell keeps kept wrote"
)
const PAST = /^[a-z]{3,}ed$/
const PRESENT = /^[a-z]{3,}[^s]s$/
/** "do not …", "never …": what isn't to be done. */
const ORDERED_NOT = /^(do not|never|not)\b/

/** The reason that a clause is, also with the row that it is about; none if it could be more than a reason. */
export const reasonsOf = (
  words: Words,
  read: (words: Words) => Subject | undefined,
  isLoose = false
): ReadonlyArray<Part> => {
  const [first] = words
  if (POLITE.has(words.map(({ word }) => word).join(" "))) return [Part.Reason({ isLoose })]
  if (first === undefined || words.length < 2 || words.length > MAX_REASON) return []
  const said = words.map(({ word }) => word)
  if (
    words.some(({ after, quoted, text }) => quoted === true || /[\d@]/.test(text) || after.includes("?")) ||
    said.some((word) => MORE.has(word) || (CARDINALS[word] ?? 1) > 1) ||
    said.some((word) => OTHER_REQUESTS.has(word)) ||
    words.slice(0, -1).some(({ after }) => /[,:;—–-]/.test(after)) ||
    ORDERED_NOT.test(said.slice(0, 2).join(" "))
  )
    return []
  const isPronoun = PRONOUNS.has(first.word)
  const verb = said.findIndex(
    (word, at) =>
      at > 0 &&
      !words[at]!.capital &&
      (VERBS.has(word) || PAST.test(word) || (isPronoun && at <= 2 && PRESENT.test(word)))
  )
  const begins = isPronoun || first.capital || /^(the|our|my|their|his|her)$/.test(first.word)
  if (verb < 1 || verb > 6) return []
  const subject = isPronoun ? undefined : read(words.slice(0, verb))
  if (!begins && subject === undefined) return []
  return [Part.Reason({ isLoose }), ...(subject?._tag === "Named" ? [Part.Reason({ isLoose, subject })] : [])]
}
