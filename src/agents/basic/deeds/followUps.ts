/** "Tomorrow's follow-ups": the follow-up dates of rows, which have no noun of their own, as the column of a set of customers. */
import type { Context } from "../readConversation.ts"
import { timeAt } from "../readTime.ts"
import { readWords, type Said, textOf, type Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const DETERMINER = /^(all|the|my|any|every|of|these|those)$/
const LEAD = /^(for|on|from|in|due|of|scheduled|planned)$/
/** What ends the words for a set after "of". */
const ENDS = /^(to|by|until|till|should|must|need|needs|can|have|has|will|back|forward|out|up|into|ahead|one|two|a)$/

/** The request with the words for a set in the place of its follow-ups. */
export const withFollowUps = (said: Said, { today }: Context): Said => {
  const { text, words } = said
  const from = words.findIndex((_, at) => lengthAt(words, at) > 0)
  if (from < 0 || words.some(({ quoted }) => quoted === true)) return said
  const to = from + lengthAt(words, from)
  const before = timeBefore(words, from, today)
  const after = before === undefined ? timeAfter(words, to, today) : undefined
  const when = before ?? after
  if (when === undefined) return said
  let start = before === undefined ? from : before.from
  while (start > 0 && DETERMINER.test(words[start - 1]!.word)) start -= 1
  const isMine = words.slice(start, from).some(({ word }) => word === "my")
  const next = after?.to ?? to
  const end = words[next]?.word === "of" ? endOf(words, next + 1) : next
  const rows = end > next ? textOf(said, words.slice(next + 1, end)) : `all ${isMine ? "my " : ""}customers`
  const meant = `the follow up of ${rows} whose follow up is ${when.words.map(({ word }) => word).join(" ")}`
  const rest = words.slice(end)
  const them = rest.findIndex(({ word }) => word === "them")
  // "Follow-ups for today: push them all to Monday".
  if (start === 0 && /[:,–—-]/.test(words[end - 1]!.after) && them > 0) {
    const last = rest[them + 1]?.word === "all" ? them + 1 : them
    return readWords(`${text.slice(rest[0]!.start, rest[them]!.start)}${meant}${text.slice(rest[last]!.end)}`)
  }
  return readWords(`${text.slice(0, words[start]!.start)}${meant}${text.slice(words[end - 1]!.end)}`)
}

/** The number of words of "follow-ups". */
const lengthAt = (words: Words, at: number): number =>
  /^(follow-ups|followups)$/.test(words[at]!.word)
    ? 1
    : words[at]!.word === "follow" && words[at + 1]?.word === "ups"
      ? 2
      : 0

interface Time {
  readonly from: number
  readonly to: number
  readonly words: Words
}

/** "Tomorrow's", "the December": right before the noun. */
const timeBefore = (words: Words, at: number, today: string): Time | undefined => {
  const to = words[at - 1]?.word === "'s" ? at - 1 : at
  for (let from = Math.max(0, to - 4); from < to; from++) {
    const own = words.slice(from, to)
    if (timeAt(own, today)?.length === own.length) return { from, to, words: own }
  }
  return undefined
}

/** "For today", "due next week": right after it. */
const timeAfter = (words: Words, at: number, today: string): Time | undefined => {
  let from = at
  while (LEAD.test(words[from]?.word ?? "")) from += 1
  const length = from === at ? undefined : timeAt(words.slice(from), today)?.length
  return length === undefined ? undefined : { from, to: from + length, words: words.slice(from, from + length) }
}

const endOf = (words: Words, from: number): number => {
  const end = words.findIndex(({ word }, at) => at > from && ENDS.test(word))
  return end < 0 ? words.length : end
}
