/** Corrections that end a request: "assign it to Olga. Sorry, I meant Amir", "due Tuesday, no wait, Wednesday". */
import { byLength, startsWith } from "../patterns.ts"
import { type Calendar, momentAt } from "./moments.ts"
import { couldBeName } from "./readSubject.ts"
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** What begins a correction, after a comma, a dash or the end of a sentence: "oh", then "no wait" or "scratch that", then "make that". */
const HESITATION = /^(oh|um|uh|hmm|ah|err|er|well)$/
const TAKEN_BACK = byLength(
  "no|nope|sorry|oops|actually|wait|hang on|hold on|correction|scratch that|strike that|forget that|no not that".split(
    "|"
  )
)
const MEANT = byLength(
  "i mean|i meant|make that|make it|let us say|let us make it|or rather|rather|better|or better".split("|")
)
/** What takes back all that was said before. */
const RETRACTIONS = new Set(
  [
    "wait|no wait|oh wait|wait no|no|oh no|never mind|nevermind|forget it|forget that|forget about it|scratch that|strike that|cancel that|ignore that|ignore me",
    "no do not|do not|better not|rather not|no rather not|not really|just kidding|only joking|just joking|on second thought|on second thoughts|leave it|no leave it|let us not|not yet"
  ].flatMap((texts) => texts.split("|"))
)
const MAX_RETRACTION = 4

/** Whether a message ends by taking back what it said: "…, no, wait", "… never mind". */
export const isRetracted = (words: Words): boolean =>
  words.some(
    (_, at) =>
      at > 1 &&
      at >= words.length - MAX_RETRACTION &&
      ENDS.test(words[at - 1]!.after) &&
      RETRACTIONS.has(
        words
          .slice(at)
          .map(({ quoted, word }) => (quoted === true ? '"' : word))
          .join(" ")
      )
  )

/** Whether a message asks if something is so: "…, right?" */
export const isTagged = ({ text }: Said): boolean => TAG.test(text.slice(-MAX_TAG))
const MAX_TAG = 20
const TAG = /, ?(?:right|correct|true|no|yes|is it|isn't it|are they|aren't they|hasn't it|doesn't it|won't it) ?\?+$/i

/** Words after what is meant. */
const AFTER = /^(actually|please|instead|rather|sorry|then|thanks)$/

/** The words of a correction's beginning; none for "make it" alone, which after a full stop is a request of its own. */
const markOf = (words: Words, isSentence: boolean): number => {
  const next = (from: number, phrases: ReadonlyArray<ReadonlyArray<string>>) =>
    words[from]?.quoted === true ? 0 : (phrases.find((phrase) => startsWith(words.slice(from), phrase))?.length ?? 0)
  let at = 0
  let isBack = false
  for (;;) {
    const length = HESITATION.test(words[at]?.word ?? "") ? 1 : next(at, TAKEN_BACK)
    if (length === 0) break
    isBack ||= !HESITATION.test(words[at]!.word)
    at += length
  }
  const meant = next(at, MEANT)
  // "It won't make the 19th. Make it the 20th."
  if (isSentence && at === 0 && meant > 0 && /^(make|let|it|that)$/.test(words[0]!.word)) return 0
  return isBack || meant > 0 ? at + meant : 0
}
/** Where the correction's beginning at a place ends; 0 if none is there. */
const markEnd = (words: Words, at: number): number => {
  const sign = words[at - 1]!.after
  const length = words[at]!.quoted === true || !ENDS.test(sign) ? 0 : markOf(words.slice(at), /[.;!]/.test(sign))
  return length === 0 ? 0 : at + length
}
const LEADS = /^(to|for|on|by|as|until|till|in|into|with|under|at)$/
const MAX_CORRECTION = 6
const ENDS = /[.,;!–—-]/

const STRONGLY = byLength("no wait|wait no|oh wait|hang on|hold on|scratch that|strike that|forget that".split("|"))

/** Whether a message takes back what it began with, and goes on: "…, no wait, she has those. It's the other one". */
export const isTakenBack = (words: Words): boolean =>
  words.some(
    (word, at) =>
      at > 1 &&
      word.quoted !== true &&
      ENDS.test(words[at - 1]!.after) &&
      STRONGLY.some((phrase) => startsWith(words.slice(at), phrase))
  )

/** The request without the correction, and the one with it; undefined without a correction. */
export const corrected = (
  { text, words }: Said,
  calendar: Calendar
): { readonly before: Said; readonly after: Said } | undefined => {
  for (let at = words.length - 2; at >= 2; at--) {
    const end = markEnd(words, at)
    const said = end === 0 ? [] : words.slice(end)
    const value = said.slice(0, said.findLastIndex(({ quoted, word }) => quoted === true || !AFTER.test(word)) + 1)
    if (value.length === 0 || value.length > MAX_CORRECTION) continue
    // "Oh, wait, make that": from its first word.
    const start =
      [4, 3, 2, 1].map((count) => at - count).find((from) => from >= 2 && markEnd(words, from) === end) ?? at
    const last = { ...words[start - 1]!, after: "" }
    const before = [...words.slice(0, start - 1), last]
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
