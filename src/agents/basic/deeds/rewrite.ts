/** Rewrites a request before it is read: without polite words, with a name for its pronoun, with a sign for its colon. */
import { MONTH_NAMES } from "../../english.ts"
import type { Context } from "../readConversation.ts"
import { timeAt } from "../readTime.ts"
import { withoutOpeners } from "./clauses.ts"
import { couldBeName } from "./readSubject.ts"
import { reasonsOf } from "./reasons.ts"
import { isMistaken, isSwapped } from "./respelt.ts"
import { type Fits, matches, shapeOf } from "./shapes.ts"
import { readWords, type Said, textOf, type Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const PLEASE = /^(please|pls|plz|pleas|plese|kindly)$/

/** "One more task for Kofi please: …": the polite word can stand anywhere. */
export const withoutPlease = ({ text, words }: Said): Said => ({
  text,
  words: words.flatMap((each, at) => {
    if (at > 0 && at < words.length - 1 && each.quoted !== true && PLEASE.test(each.text)) return []
    const next = words[at + 1]
    const isBefore = at < words.length - 2 && next !== undefined && next.quoted !== true && PLEASE.test(next.text)
    return [isBefore ? { ...each, after: each.after + next.after } : each]
  })
})

/** A colon, or a dash between spaces. */
const COLON = /^([:–—-]|--)$/

/** "Order laptops: in progress", with the colon as a sign; undefined without exactly one colon. */
export const assigned = ({ text, words }: Said): Said | undefined => {
  const at = words.findIndex(({ after }) => COLON.test(after))
  if (at < 0 || at === words.length - 1 || words.slice(at + 1).some(({ after }) => COLON.test(after))) return undefined
  const { end } = words[at]!
  const named = withoutRequest(words.slice(0, at + 1))
  const sign: Word = { text: "=", word: "=", after: "", capital: false, start: end, end: end + 1 }
  return { text, words: [...named.slice(0, -1), { ...named.at(-1)!, after: "" }, sign, ...words.slice(at + 1)] }
}

/** "Decmber 6th", "on Thrusday", "the priorty": months, days of the week and columns, as they are spelt. */
export const withSpelling = ({ text, words }: Said): Said => ({
  text,
  words: words.map((each, at) => {
    const [before, next] = [words[at - 1]?.word ?? "", words[at + 1]?.word ?? ""]
    if (each.quoted === true || !/^[a-z]{5,}$/.test(each.word)) return each
    const known =
      NUMBERED.test(before) || NUMBERED.test(next) ? MONTH_NAMES : BEFORE_DAY.test(before) ? WEEKDAYS : COLUMNS
    if (known === COLUMNS && (each.capital || NO_COLUMN.has(each.word))) return each
    // "Frida" and "Sundar" are no days: only letters in the wrong order count there.
    const near = known.filter((name) => (known === WEEKDAYS ? isSwapped : isMistaken)(each.word, name))
    return near.length === 1 && !known.includes(each.word) ? { ...each, word: near[0]! } : each
  })
})
const NUMBERED = /^\d{1,2}(st|nd|rd|th)?$/
const BEFORE_DAY = /^(on|by|until|till|to|for|next|this|before|after)$/
/** Words for columns whose misspellings are no other words. */
const COLUMNS = ["priority", "deadline", "status", "assignee"]
const NO_COLUMN = new Set([
  "states",
  "stats",
  "statue",
  "statues",
  "stated",
  "assigned",
  "assigns",
  "assigner",
  "assignees",
  "deadlines"
])
const WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ")

/** "I'm out on December 13, cancel my meetings that day": with the day in place of the pronoun. */
export const withThatDay = (said: Said, context: Context): Said => {
  const { text, words } = said
  const at = words.findIndex(({ word }, index) => index > 3 && word === "that" && words[index + 1]?.word === "day")
  const day =
    at < 0 ? -1 : words.findIndex((_, from) => from < at && timeAt(words.slice(from), context.today) !== undefined)
  const end = words.findIndex(({ after }, index) => index >= day && /[.,;!]/.test(after))
  if (day < 0 || end < 0 || end >= at) return said
  const first = words.slice(0, end + 1)
  const length = timeAt(words.slice(day), context.today)!.length
  const isAbsence = AWAY.some(
    (pattern) =>
      [
        ...matches(
          pattern,
          first,
          (name, taken) => name === "p" || timeAt(taken, context.today)?.length === taken.length
        )
      ].length > 0
  )
  if (!isAbsence) return said
  const when = text.slice(words[day]!.start, words[day + length - 1]!.end)
  const from = words[end + 1]!.start
  return readWords(`${text.slice(from, words[at]!.start)}${when}${text.slice(words[at + 1]!.end)}`)
}
const AWAY = [
  "(i am|we are) (out|away|off|on leave|on holiday|on vacation|sick|busy|travelling|traveling|not in|not available|unavailable|not here|out of office|out of the office) (on)? {w}"
].map(shapeOf)

const DO_IT = shapeOf("<doit> <it>")
/** "new phone for Ada, please save it: …", without the request between the comma and the colon. */
const withoutRequest = (words: Words): Words => {
  const comma = words.findLastIndex(({ after }, at) => at < words.length - 1 && after === ",")
  const isRequest =
    comma > 0 &&
    withoutOpeners(words.slice(comma + 1)).some((said) => [...matches(DO_IT, said, () => false)].length > 0)
  return isRequest ? words.slice(0, comma + 1) : words
}

const ABSENT = ["{p} <away>", "{p} <away> (until|from|for|since|the|all)? {w}"].map(shapeOf)
const PRONOUN = /^(his|her|their)$/
const NO_NOUN = /^(the|a|an|all|every|each|my|our|it|them|this|that|to)$/

/** "Raj is on holiday. Give his tasks to Lena": the request alone, with the name in place of the pronoun. */
export const withoutAbsence = (said: Said, context: Context): Said => {
  const { text, words } = said
  const end = words.findIndex(({ after }) => /[.,;!]/.test(after))
  const rest = words.slice(end + 1)
  if (end < 1 || end > 12 || rest.length === 0) return said
  const fits: Fits = (name, taken) =>
    name === "p" ? couldBeName(taken) : timeAt(taken, context.today)?.length === taken.length
  const [found] = ABSENT.flatMap((pattern) => [...matches(pattern, words.slice(0, end + 1), fits)])
  const isTheirs = ({ quoted, word }: Word, next: Word | undefined) =>
    quoted !== true && PRONOUN.test(word) && next !== undefined && !NO_NOUN.test(next.word)
  const named = found?.["p"] ?? reasoner(words.slice(0, end + 1))
  if (named === undefined || !rest.some((each, at) => isTheirs(each, rest[at + 1]))) return said
  const name = textOf(said, named)
  let from = rest[0]!.start
  let whole = ""
  for (const [at, each] of rest.entries()) {
    if (!isTheirs(each, rest[at + 1])) continue
    whole += `${text.slice(from, each.start)}${name}'s`
    from = each.end
  }
  return readWords(whole + text.slice(from))
}

/** The name that a reason begins with: "Kofi works half days now". */
const reasoner = (words: Words): Words | undefined => {
  const own = withoutOpeners(words).at(-1)!
  const length = own.findIndex(({ capital, quoted }) => !capital || quoted === true)
  const isReason = length > 0 && length <= 3 && reasonsOf(own, () => undefined).length > 0
  return isReason && couldBeName(own.slice(0, length)) ? own.slice(0, length) : undefined
}
