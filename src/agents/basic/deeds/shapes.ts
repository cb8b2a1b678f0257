/** Sentence shapes: patterns (patterns.ts) whose `<name>` stands for the phrases of that name in the lexicon. All matches are found. */
import { byLength, parsePattern, type Pattern, startsWith } from "../patterns.ts"
import { PHRASES } from "./lexicon.ts"
import type { Word } from "./words.ts"

export type Captures = Readonly<Record<string, ReadonlyArray<Word>>>
/** Whether a capture may take these words. */
export type Fits = (name: string, words: ReadonlyArray<Word>) => boolean

const NAMED = /<(\w+)>/g

export const shapeOf = (text: string): Pattern =>
  parsePattern(
    text.replaceAll(
      NAMED,
      (_, name: string) =>
        `(${byLength(PHRASES[name]!)
          .map((words) => words.join(" "))
          .join("|")})`
    )
  )

/** Whether the words include those that a shape can't do without: a quick check before all of its ways are tried. */
export const mayMatch = (pattern: Pattern, present: ReadonlySet<string>): boolean =>
  pattern.every(
    (element) =>
      element._tag === "Capture" ||
      element.optional ||
      element.choices.some((choice) => choice.every((word) => present.has(word)))
  )

/** Every way in which a shape matches all the words. */
export function* matches([element, ...rest]: Pattern, words: ReadonlyArray<Word>, fits: Fits): Generator<Captures> {
  if (element === undefined) {
    if (words.length === 0) yield {}
    return
  }
  if (element._tag === "Capture") {
    for (let length = 1; length <= words.length; length++) {
      const taken = words.slice(0, length)
      if (!fits(element.name, taken)) continue
      for (const captures of matches(rest, words.slice(length), fits)) yield { ...captures, [element.name]: taken }
    }
    return
  }
  for (const choice of element.choices) {
    const spoken = startsWith(words, choice) && !words.slice(0, choice.length).some(({ quoted }) => quoted)
    if (spoken) yield* matches(rest, words.slice(choice.length), fits)
  }
  if (element.optional) yield* matches(rest, words, fits)
}
