/** Sentence shapes: patterns (patterns.ts) whose `<name>` stands for the phrases of that name in the lexicon. All matches are found. */
import { byLength, canFollow, parsePattern, type Pattern, startsWith } from "../patterns.ts"
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

interface Shape {
  readonly pattern: Pattern
}

/** The first words of the elements that a shape can't do without, the fewest first. */
const neededBy = (pattern: Pattern): ReadonlyArray<ReadonlySet<string>> =>
  pattern
    .flatMap((element) =>
      element._tag === "Capture" || element.optional ? [] : [new Set(element.choices.map(([first]) => first!))]
    )
    .toSorted((a, b) => a.size - b.size)

/** Finds the shapes whose needed words are all there, in their order, through an index of the fewest words of each. */
export const indexed = <S extends Shape>(
  shapes: ReadonlyArray<S>
): ((words: ReadonlyArray<Word>) => ReadonlyArray<S>) => {
  const needed = shapes.map(({ pattern }) => neededBy(pattern))
  const byWord = new Map<string, Array<number>>()
  for (const [at, [fewest]] of needed.entries())
    for (const word of fewest ?? [ANY]) byWord.set(word, [...(byWord.get(word) ?? []), at])
  return (words) => {
    const present = [...new Set(words.map(({ word }) => word))]
    return [...new Set([ANY, ...present].flatMap((word) => byWord.get(word) ?? []))]
      .filter((at) => needed[at]!.every((choices) => present.some((word) => choices.has(word))))
      .sort((a, b) => a - b)
      .map((at) => shapes[at]!)
  }
}

/** Stands for the words of a shape that needs none. */
const ANY = ""

/** Every way in which a shape matches all the words. */
export function* matches(pattern: Pattern, words: ReadonlyArray<Word>, fits: Fits, index = 0): Generator<Captures> {
  const element = pattern[index]
  if (element === undefined) {
    if (words.length === 0) yield {}
    return
  }
  if (element._tag === "Capture") {
    const isLast = index === pattern.length - 1
    for (let length = isLast ? Math.max(1, words.length) : 1; length <= words.length; length++) {
      if (!canFollow(pattern, index + 1, words, length)) continue
      const taken = words.slice(0, length)
      if (!fits(element.name, taken)) continue
      for (const captures of matches(pattern, words.slice(length), fits, index + 1))
        yield { ...captures, [element.name]: taken }
    }
    return
  }
  for (const choice of element.choices) {
    const spoken = startsWith(words, choice) && !words.slice(0, choice.length).some(({ quoted }) => quoted)
    if (spoken) yield* matches(pattern, words.slice(choice.length), fits, index + 1)
  }
  if (element.optional) yield* matches(pattern, words, fits, index + 1)
}
