/** Words before and after a question: polite ones, and those that continue the question before. */
import { CLOSERS, INDIRECT, OPENERS } from "./lexicon.ts"
import { byLength, endsWith, startsWith } from "./patterns.ts"
import { folded, type Token } from "./tokenize.ts"

/** The words without polite openers and closers, unless none would be left. */
export const stripped = (said: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  let tokens = said
  while (true) {
    // "Max" followed by punctuation addresses Max; otherwise it can be the subject's name.
    const called = (words: ReadonlyArray<string>) => !ADDRESSES.test(words.join()) || tokens[0]!.after !== ""
    const opener =
      OPENING.find((words) => words.length < tokens.length && startsWith(tokens, words) && called(words)) ??
      INDIRECTLY.find((words) => startsWith(tokens, words) && ASKING.test(tokens[words.length]?.word ?? ""))
    const closer = CLOSING.find((words) => words.length < tokens.length && endsWith(tokens, words))
    if (opener === undefined && closer === undefined) return tokens
    tokens = tokens.slice(
      opener?.length ?? 0,
      opener === undefined && closer !== undefined ? -closer.length : undefined
    )
  }
}
const OPENING = byLength(OPENERS)
const CLOSING = byLength(CLOSERS)
const INDIRECTLY = byLength(INDIRECT)
/** These are also a name, and a part of a day. */
const ADDRESSES = /^(max|morning)$/
const ASKING = /^(who|whom|whose|what|which|when|where|how|if|whether)$/

const FOLLOWING = /^(and|what about|how about|and what about|and how about)$/

/** Whether the words before the question continue the one before: "and …", "what about …". */
export const follows = (said: ReadonlyArray<Token>, meant: ReadonlyArray<Token>): boolean =>
  FOLLOWING.test(folded(said.slice(0, Math.max(0, said.indexOf(meant[0]!)))))
