/** "Dakota Taylor's phone is dead. Erase it": "it" is the cell that the sentence before is about, and not its row. */
import type { Context } from "../readConversation.ts"
import { withoutOpeners } from "./clauses.ts"
import { type Fits, matches, shapeOf } from "./shapes.ts"
import { readWords, type Said, textOf, type Word } from "./words.ts"

const PART_OF = /^('s|of|for|on|from)$/
const HAS = /^(has|have|had)$/
const A_CELL = /^(a|an|the|no|wrong|old|outdated)$/

/** Whether words speak of what a row has, and not of the row named from one place to another: "Ada's phone", "Ada has an old phone". */
export const isOfCell = (words: ReadonlyArray<Word>, from: number, to: number): boolean => {
  const isPart = (at: number) => words[at] !== undefined && words[at].quoted !== true && PART_OF.test(words[at].word)
  const has = HAS.test(words[to]?.word ?? "") && A_CELL.test(words[to + 1]?.word ?? "")
  return isPart(from - 1) || isPart(to) || has
}

const STATED = [
  "(the|this|that)? {c} (we have|we got|i have|on file)? (of|for|on|from) {x} (is|'s|was|are|were|has|had|does|did|no longer|stopped|seems|looks|bounces|bounced|changed) {rest}",
  "(the|this|that)? {c} (we have|we got|i have|on file)? (of|for|on|from) {x} (changed|bounces|bounced|stopped)",
  "{x} 's {c} (is|'s|was|are|were|has|had|does|did|no longer|stopped|seems|looks|bounces|bounced|changed) {rest}",
  "{x} 's {c} (changed|bounces|bounced|stopped)"
].map(shapeOf)
const ERASED = ["<delete> (it|that|this)", "(clear|empty|blank) (it|that|this)"].map(shapeOf)
const CLOSER = /^(please|pls|now|then|thanks|thx|thank|you|cheers)$/
const MAX_COLUMN = 3
const MAX_NAME = 7

/** The request to clear the cell; without a cell that is erased, the message as it is. */
export const withCellMeant = (said: Said, { types }: Context): Said => {
  const end = said.words.findIndex(({ after }) => /[.,:;!–—-]/.test(after))
  const rest = said.words.slice(end + 1)
  if (end < 2 || rest.length === 0) return said
  const order = rest.slice(0, rest.findLastIndex(({ word }) => !CLOSER.test(word)) + 1)
  const isErased = withoutOpeners(order).some((words) =>
    ERASED.some((shape) => !matches(shape, words, () => false).next().done)
  )
  if (!isErased) return said
  const nouns = new Set(types.flatMap(({ name, plural }) => [name.toLowerCase(), plural.toLowerCase()]))
  const fits: Fits = (name, words) =>
    name === "rest" ||
    (name === "x"
      ? words.length <= MAX_NAME
      : words.length <= MAX_COLUMN &&
        words.every(({ capital, quoted, word }) => !capital && quoted !== true && !nouns.has(word)))
  const own = withoutOpeners(said.words.slice(0, end + 1)).at(-1)!
  for (const shape of STATED) {
    const { value: found } = matches(shape, own, fits).next()
    if (found !== undefined) return readWords(`clear the ${textOf(said, found["c"]!)} of ${textOf(said, found["x"]!)}`)
  }
  return said
}
