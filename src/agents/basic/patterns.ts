/**
 * Sentence patterns such as `what is {name} 's {what}`. A word matches itself, `(a|b c)` matches one alternative, `?` makes
 * either optional, and `{name}` captures one or more words, as few as possible.
 */
import type { Token } from "./tokenize.ts"

type Element =
  | { readonly _tag: "Words"; readonly choices: ReadonlyArray<ReadonlyArray<string>>; readonly optional: boolean }
  | { readonly _tag: "Capture"; readonly name: string }

export type Pattern = ReadonlyArray<Element>
export type Captures = Readonly<Record<string, ReadonlyArray<Token>>>
/** Whether a capture may take these words. */
export type Fits = (name: string, tokens: ReadonlyArray<Token>) => boolean

const ELEMENT = /\{(\w+)\}|\(([^)]*)\)(\??)|([^\s?]+)(\??)/g

export const parsePattern = (text: string): Pattern =>
  [...text.matchAll(ELEMENT)].map(([, name, choices, optionalChoices, word, optionalWord]) =>
    name === undefined
      ? {
          _tag: "Words",
          choices: (choices ?? word ?? "").split("|").map((choice) => choice.split(" ")),
          optional: (optionalChoices ?? optionalWord) === "?"
        }
      : { _tag: "Capture", name }
  )

/** The captures of a pattern that matches all tokens; undefined if it does not match. */
export const matchPattern = (
  [element, ...rest]: Pattern,
  tokens: ReadonlyArray<Token>,
  fits: Fits
): Captures | undefined => {
  if (element === undefined) return tokens.length === 0 ? {} : undefined
  if (element._tag === "Capture") {
    for (let length = 1; length <= tokens.length; length++) {
      const taken = tokens.slice(0, length)
      if (!fits(element.name, taken)) continue
      const captures = matchPattern(rest, tokens.slice(length), fits)
      if (captures !== undefined) return { ...captures, [element.name]: taken }
    }
    return undefined
  }
  for (const choice of element.choices) {
    if (!startsWith(tokens, choice)) continue
    const captures = matchPattern(rest, tokens.slice(choice.length), fits)
    if (captures !== undefined) return captures
  }
  return element.optional ? matchPattern(rest, tokens, fits) : undefined
}

export const startsWith = (tokens: ReadonlyArray<Token>, words: ReadonlyArray<string>): boolean =>
  words.length <= tokens.length && words.every((word, index) => tokens[index]!.word === word)

export const endsWith = (tokens: ReadonlyArray<Token>, words: ReadonlyArray<string>): boolean =>
  words.length <= tokens.length && startsWith(tokens.slice(tokens.length - words.length), words)

/** Splits phrases into words, longest first, so that the first match is the longest. */
export const byLength = (phrases: ReadonlyArray<string>) =>
  phrases.map((text) => text.split(" ")).sort((a, b) => b.length - a.length)
