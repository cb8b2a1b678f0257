/**
 * A small language for what people say: `what is {name} 's {what}`. Words stand for themselves, `(a|b c)` for either,
 * a `?` after either makes it optional, and `{slot}` takes one or more words, as few as will do.
 */
import type { Token } from "./tokenize.ts"

type Element =
  | { readonly _tag: "Words"; readonly choices: ReadonlyArray<ReadonlyArray<string>>; readonly optional: boolean }
  | { readonly _tag: "Slot"; readonly name: string }

export type Phrase = ReadonlyArray<Element>
export type Captures = Readonly<Record<string, ReadonlyArray<Token>>>
/** Whether words can fill a slot. */
export type Fits = (slot: string, tokens: ReadonlyArray<Token>) => boolean

const ELEMENT = /\{(\w+)\}|\(([^)]*)\)(\??)|([^\s?]+)(\??)/g

export const phrase = (text: string): Phrase =>
  [...text.matchAll(ELEMENT)].map(([, slot, choices, optionalChoices, word, optionalWord]) =>
    slot === undefined
      ? {
          _tag: "Words",
          choices: (choices ?? word ?? "").split("|").map((choice) => choice.split(" ")),
          optional: (optionalChoices ?? optionalWord) === "?"
        }
      : { _tag: "Slot", name: slot }
  )

/** What the slots of a phrase take when it says the whole message, or nothing when it doesn't. */
export const matchPhrase = (
  [element, ...rest]: Phrase,
  tokens: ReadonlyArray<Token>,
  fits: Fits
): Captures | undefined => {
  if (element === undefined) return tokens.length === 0 ? {} : undefined
  if (element._tag === "Slot") {
    for (let length = 1; length <= tokens.length; length++) {
      const taken = tokens.slice(0, length)
      if (!fits(element.name, taken)) continue
      const captures = matchPhrase(rest, tokens.slice(length), fits)
      if (captures !== undefined) return { ...captures, [element.name]: taken }
    }
    return undefined
  }
  for (const choice of element.choices) {
    if (!startsWith(tokens, choice)) continue
    const captures = matchPhrase(rest, tokens.slice(choice.length), fits)
    if (captures !== undefined) return captures
  }
  return element.optional ? matchPhrase(rest, tokens, fits) : undefined
}

export const startsWith = (tokens: ReadonlyArray<Token>, words: ReadonlyArray<string>): boolean =>
  words.length <= tokens.length && words.every((word, index) => tokens[index]!.word === word)

export const endsWith = (tokens: ReadonlyArray<Token>, words: ReadonlyArray<string>): boolean =>
  words.length <= tokens.length && startsWith(tokens.slice(tokens.length - words.length), words)
