/** A request after what leads to it: "the budget came through this morning, so please approve PO-1005". */
import { withoutOpeners } from "./clauses.ts"
import { PHRASES } from "./lexicon.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** What is said before a request, and the request. */
export interface Led {
  readonly reason: Words
  readonly request: Words
}

const MAX_REASON = 20
const MIN_REASON = 3
const VERBS = new Set([
  ..."close finish complete resolve approve reject accept confirm archive reopen restart resume unassign block unblock escalate let".split(
    " "
  ),
  ...["set", "mark", "move", "rename", "assign", "delete", "later", "earlier"].flatMap((name) =>
    PHRASES[name]!.map((phrase) => phrase.split(" ")[0]!)
  )
])
/** Verbs of requests that a reason often has, too. */
const NO_REQUEST = /^(need|needs|want|wants|have|has|get|gets|call|take|update|updates|record|list|note|drop|call)$/
/** What makes a condition, an exception, an example or another time of the words before a request. */
const CONDITIONAL =
  /^(if|unless|when|whenever|once|until|till|whether|except|excluding|besides|but|only|or|either|instead|example|imagine|suppose|supposing|assuming|provided|pretend|hypothetically|maybe|perhaps|might|could|would|should|may|shall|next time|not yet|soon|later)$/
const NO_BEGINNING =
  /^(after|before|tomorrow|later|next|on|in|at|by|from|for|during|every|each|always|never|not|do|as|while|to|like|per|with|without|which|who|what|why|how|where)$/
/** Words that tell what another person says, thinks or wants. */
const REPORTED =
  /^(say|says|said|write|writes|wrote|think|thinks|thought|ask|asks|asked|tell|tells|told|suggest|suggests|suggested|want|wants|wanted|wish|wishes|hope|hopes|believe|believes|guess|wonder|propose|proposes|proposed|claims|claimed|insists|insisted)$/

/** The request at the end of the words, where what stands before it says no more than why. */
export const ledBy = (words: Words): Led | undefined => {
  for (let at = MIN_REASON; at < words.length - 1; at++) {
    const isSo = words[at]!.quoted !== true && words[at]!.word === "so"
    if (!isSo && !/[,.;!–—-]/.test(words[at - 1]!.after)) continue
    const reason = words.slice(0, at)
    const request = withoutOpeners(words.slice(isSo ? at + 1 : at)).at(-1)!
    if (request.length < 2 || request[0]!.quoted === true) continue
    const isOrder = isSo || VERBS.has(request[0]!.word) || request.length < words.length - at
    if (isOrder) return isHarmless(reason) && !refersBack(request) ? { reason, request } : undefined
  }
  return undefined
}

const isHarmless = (reason: Words): boolean =>
  reason.length <= MAX_REASON &&
  !NO_BEGINNING.test(reason[0]!.word) &&
  !/[:?]/.test(reason.map(({ after }) => after).join("")) &&
  !reason.some(
    ({ quoted, word }) =>
      quoted !== true && (CONDITIONAL.test(word) || REPORTED.test(word) || (VERBS.has(word) && !NO_REQUEST.test(word)))
  )

/** "Give the ones in review to Nia", "move his tasks": rows that only the words before tell. */
const refersBack = (request: Words): boolean =>
  request.some(
    ({ quoted, word }, at) =>
      quoted !== true &&
      (/^(one|ones|those|these|his|their|its|rest|other|others|same|such|both)$/.test(word) ||
        (word === "her" &&
          /^[a-z]/.test(request[at + 1]?.word ?? "") &&
          !/^(to|from|in|into|as|at|back|over|up)$/.test(request[at + 1]!.word)))
  )

const PRONOUN = /^(it|him|her|them|this|that)$/

/** Where the request has a pronoun for its rows. */
export const pronounIn = (request: Words): number =>
  request.findIndex(
    ({ quoted, word }, at) =>
      at > 0 &&
      quoted !== true &&
      PRONOUN.test(word) &&
      (at === request.length - 1 || !/^(one|is)$/.test(request[at + 1]!.word))
  )
