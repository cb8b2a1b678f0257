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
export const matchPattern = (pattern: Pattern, tokens: ReadonlyArray<Token>, fits: Fits): Captures | undefined =>
  matchStart(pattern, tokens, fits, (captures, rest) => (rest.length === 0 ? captures : undefined))

/**
 * Matches a pattern at the beginning of the tokens. `accept` gets the captures and the other tokens; while it returns
 * undefined, other matches are tried. A capture takes as few words as possible first, or with `longest` as many.
 */
export const matchStart = <A>(
  pattern: Pattern,
  tokens: ReadonlyArray<Token>,
  fits: Fits,
  accept: (captures: Captures, rest: ReadonlyArray<Token>) => A | undefined,
  longest = false,
  index = 0
): A | undefined => {
  const element = pattern[index]
  if (element === undefined) return accept({}, tokens)
  if (element._tag === "Capture") {
    for (let tried = 1; tried <= tokens.length; tried++) {
      const length = longest ? tokens.length - tried + 1 : tried
      if (!canFollow(pattern, index + 1, tokens, length)) continue
      const taken = tokens.slice(0, length)
      if (!fits(element.name, taken)) continue
      const found = matchStart(
        pattern,
        tokens.slice(length),
        fits,
        (captures, rest) => accept({ ...captures, [element.name]: taken }, rest),
        longest,
        index + 1
      )
      if (found !== undefined) return found
    }
    return undefined
  }
  for (const choice of element.choices) {
    if (!startsWith(tokens, choice)) continue
    const found = matchStart(pattern, tokens.slice(choice.length), fits, accept, longest, index + 1)
    if (found !== undefined) return found
  }
  return element.optional ? matchStart(pattern, tokens, fits, accept, longest, index + 1) : undefined
}

/** Whether a pattern can go on at this word: a quick check before the question whether the words before it fit. */
export const canFollow = (pattern: Pattern, index: number, tokens: ReadonlyArray<Token>, at: number): boolean => {
  for (let next = index; next < pattern.length; next++) {
    const element = pattern[next]!
    if (element._tag === "Capture") return at < tokens.length
    const word = tokens[at]?.word
    for (const [first] of element.choices) if (first === word) return true
    if (!element.optional) return false
  }
  return true
}

const parsed = new Map<string, Pattern>()
/** A pattern of the rules, parsed once. */
export const compiled = (text: string): Pattern => {
  const pattern = parsed.get(text) ?? parsePattern(text)
  parsed.set(text, pattern)
  return pattern
}

export const startsWith = (tokens: ReadonlyArray<Token>, words: ReadonlyArray<string>): boolean =>
  tokens[0]?.word === words[0] && words.length <= tokens.length && words.every((word, at) => tokens[at]!.word === word)

export const endsWith = (tokens: ReadonlyArray<Token>, words: ReadonlyArray<string>): boolean =>
  words.length <= tokens.length && startsWith(tokens.slice(tokens.length - words.length), words)

/** Splits phrases into words, longest first, so that the first match is the longest. */
export const byLength = (phrases: ReadonlyArray<string>) =>
  phrases.map((text) => text.split(" ")).sort((a, b) => b.length - a.length)
