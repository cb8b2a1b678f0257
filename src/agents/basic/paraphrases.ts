/**
 * Questions in other words: each shape with the shorter question that means the same. What is captured stands in the shorter
 * question as it was said, so every word is used there; a question of no shape stays as it is.
 */
import { compiled, type Captures, type Fits, matchPattern } from "./patterns.ts"
import { DONE } from "./shorthand.ts"
import { type Token, tokenize } from "./tokenize.ts"

import { DETAIL_PARAPHRASES } from "./paraphrases/details.ts"
import { LIST_PARAPHRASES } from "./paraphrases/lists.ts"
import { MEETING_PARAPHRASES } from "./paraphrases/meetings.ts"
import { FIGURE_PARAPHRASES } from "./paraphrases/figures.ts"
import type { Paraphrases } from "./paraphrases/table.ts"

type Tokens = ReadonlyArray<Token>

/** The first shape that fits is meant. */
const TABLE: Paraphrases = [...DETAIL_PARAPHRASES, ...LIST_PARAPHRASES, ...MEETING_PARAPHRASES, ...FIGURE_PARAPHRASES]

/** A question is put into shorter words so many times at most. */
const MAX_TIMES = 3

const render = (means: string, captures: Captures, last: Token): Tokens => {
  const words = means.split(" ").flatMap((part): Tokens => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (part === "'s") return tokenize("x's").slice(1)
    if (name === undefined) return tokenize(part)
    if (name === "state") return tokenize(DONE[captures["done"]![0]!.word]!)
    const taken = captures[name]!
    return [...taken.slice(0, -1), { ...taken.at(-1)!, after: "" }]
  })
  return [...words.slice(0, -1), { ...words.at(-1)!, after: last.after }]
}

/** The question in shorter words; undefined if it has no shape of these. */
export const paraphrased = (tokens: Tokens, fits: Fits): Tokens | undefined => {
  let current = tokens
  for (let time = 0; time < MAX_TIMES; time++) {
    const next = once(current, fits)
    if (next === undefined) break
    current = next
  }
  return current === tokens ? undefined : current
}

/** What a question can mean besides, tried where its first meaning finds nothing: "who is at Cedar Labs" asks for guests of a meeting first. */
const OTHERWISE: Paraphrases = [
  [["(who|who all) (is|are) (at|with|in|from) {place}"], "who works at {place}"],
  // Where invoices have no owner: those of the customers whom someone looks after.
  [["(what are|what is|what were)? my (sales|revenue|turnover|income)"], "sales of my customers"],
  [["(what are|what is|what were)? my (sales|revenue|turnover|income) {conds}"], "sales of my customers {conds}"],
  [["{proper} (sales|revenue|turnover)"], "sales in {proper}"]
]

export const otherwise = (tokens: Tokens, fits: Fits): Tokens | undefined => once(tokens, fits, OTHERWISE)

const once = (tokens: Tokens, fits: Fits, table = TABLE): Tokens | undefined => {
  for (const [shapes, means] of table) {
    for (const shape of shapes) {
      const captures = matchPattern(compiled(shape), tokens, fits)
      if (captures !== undefined) return render(means, captures, tokens.at(-1)!)
    }
  }
  return undefined
}
