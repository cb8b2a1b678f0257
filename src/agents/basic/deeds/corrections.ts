/** Corrections that end a request: "assign it to Olga. Sorry, I meant Amir", "due Tuesday, no wait, Wednesday". */
import { byLength, startsWith } from "../patterns.ts"
import { type Calendar, momentAt } from "./moments.ts"
import { couldBeName } from "./readSubject.ts"
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** What begins a correction, after a comma, a dash or the end of a sentence. */
const MARKS = byLength(
  "no|nope|sorry|oops|actually|wait|no wait|wait no|no sorry|sorry no|no actually|actually no|i mean|i meant|no i mean|no i meant|sorry i mean|sorry i meant|oops i meant|oops sorry i meant|or rather|rather|make that|make it|scratch that|no make that|no make it|actually make that|actually make it|correction|no not that|hmm no|sorry make that|sorry make it|no let us say|better|or better|no better|err no|uh no|ah no".split(
    "|"
  )
)
const LEADS = /^(to|for|on|by|as|until|till|in|into|with|under|at)$/
const MAX_CORRECTION = 6
const ENDS = /[.,;!–—-]/

/** The request without the correction, and the one with it; undefined without a correction. */
export const corrected = (
  { text, words }: Said,
  calendar: Calendar
): { readonly before: Said; readonly after: Said } | undefined => {
  for (let at = words.length - 2; at >= 2; at--) {
    if (words[at]!.quoted === true || !ENDS.test(words[at - 1]!.after)) continue
    const mark = MARKS.find((phrase) => startsWith(words.slice(at), phrase) && at + phrase.length < words.length)
    // "It won't make the 19th. Make it the 20th" is a request of its own.
    if (mark?.includes("make") === true && /[.;!]/.test(words[at - 1]!.after)) continue
    const value = mark === undefined ? [] : words.slice(at + mark.length)
    if (value.length === 0 || value.length > MAX_CORRECTION) continue
    const last = { ...words[at - 1]!, after: "" }
    const before = [...words.slice(0, at - 1), last]
    const from = replacedFrom(before, value, calendar)
    if (from === undefined) return undefined
    return { before: { text, words: before }, after: { text, words: [...before.slice(0, from), ...value] } }
  }
  return undefined
}

/** Where what is corrected begins: a day for a day, or else what follows the last preposition. */
const replacedFrom = (before: Words, value: Words, calendar: Calendar): number | undefined => {
  const [first] = value
  const isLed = LEADS.test(first!.word) && first!.quoted !== true
  const lead = before.findLastIndex(
    ({ quoted, word }) => quoted !== true && (isLed ? word === first!.word : LEADS.test(word))
  )
  if (isLed) return lead < 0 ? undefined : lead
  const isMoment = momentAt(value, calendar, true)?.length === value.length
  const moment = isMoment
    ? before.findIndex((_, at) => momentAt(before.slice(at), calendar)?.length === before.length - at)
    : -1
  if (moment > 0) return LEADS.test(before[moment]!.word) ? moment + 1 : moment
  return lead > 0 && lead < before.length - 1 && couldBeName(before.slice(lead + 1)) ? lead + 1 : undefined
}
