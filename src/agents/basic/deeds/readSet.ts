/** Reads the words for a set of rows, as a question for a list is read: "all of Akira's leads that are interested in software". */
import { type Lookup, nounAt } from "../Lookup.ts"
import type { Context } from "../readConversation.ts"
import { CONDITIONS } from "../conditions.ts"
import { readLookup } from "../readLookup.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** What asks for all rows, before the noun and its conditions. */
const WHOLE = [
  "every single one of",
  "every one of",
  "each one of",
  "the whole of",
  "each of",
  "all of",
  "any of",
  "every single",
  "all the",
  "every",
  "each",
  "all",
  "any"
].map((text) => text.split(" "))
/** Words before the noun that leave open which rows are meant. */
const VAGUE = new Set(
  "some several most half few many couple these those this that both other another more certain".split(" ")
)
/** Nouns that are many without an s. */
const PLURALS = new Set("people staff folks calendar schedule agenda".split(" "))
const SINGULAR_AFTER = new Set(["every", "each", "any"])

/** The set that all the words mean; undefined if they name one row, or if any word is left. */
export const readSet = (words: Words, context: Context): Lookup | undefined => {
  const whole = WHOLE.find((texts) => texts.every((text, at) => words[at]?.word === text && words[at]?.quoted !== true))
  const [first] = words
  // "everybody at Iron Marine": all people.
  const own: Words =
    first?.quoted !== true && /^(everybody|everyone)$/.test(first?.word ?? "")
      ? [{ ...first!, word: "people", text: "people", capital: false }, ...words.slice(1)]
      : words
  const rest = own.slice(whole?.length ?? 0).map(({ word, ...each }): Word => ({
    ...each,
    word: word.replace(/^(\p{L}+)-(priority|level|status)$/u, "$1 $2")
  }))
  const lookup = rest.length === 0 ? undefined : readLookup(states(spaced(rest)), context, CONDITIONS)
  // "the due date of Lena's tasks" isn't a person's.
  if (lookup?.conditions.some((each) => each._tag === "With" && each.words.some(({ word }) => word === "of")) === true)
    return undefined
  // Which of the rows a number or an order means can't be told without a time: "two leads", "the latest tasks".
  if (lookup === undefined || lookup.limit !== undefined || lookup.order !== undefined) return undefined
  const noun = rest.findIndex((_, at) => nounAt(rest.slice(at), context)?.noun.said === lookup.noun.said)
  if (noun < 0 || rest.slice(0, noun).some(({ quoted, word }) => quoted !== true && VAGUE.has(word))) return undefined
  const isPlural =
    PLURALS.has(last(lookup.noun.said)) ||
    lookup.noun.said.toLowerCase() === lookup.noun.type.plural.toLowerCase() ||
    /[^s]s$/i.test(lookup.noun.said)
  if (!isPlural && !SINGULAR_AFTER.has(whole?.[0] ?? "")) return undefined
  // "delete leads" may be half of a sentence.
  return whole === undefined && lookup.conditions.length === 0 ? undefined : lookup
}

const last = (said: string): string => said.toLowerCase().split(" ").at(-1)!

/** The words, with the state "to do" as one of them. */
const states = (words: Words): Words =>
  words.flatMap((each, at) => {
    // "with no owner and no date".
    if (
      each.quoted !== true &&
      each.word === "no" &&
      words[at - 1]?.word === "and" &&
      words.slice(0, at).some(({ word }) => word === "no")
    )
      return [{ ...each, text: "with", word: "with", after: "" }, each]
    const [before, next] = [words[at - 1], words[at + 1]]
    if (each.quoted !== true && each.word === "to" && next?.word === "do" && next.quoted !== true)
      return [{ ...next, text: "to do", word: "to do", start: each.start }]
    return each.quoted !== true && each.word === "do" && before?.word === "to" ? [] : [each]
  })

/** The words, with those of "high-priority" apart. */
const spaced = (words: Words): Words =>
  words.flatMap((each) =>
    each.quoted !== true && each.word.includes(" ")
      ? each.word.split(" ").map((word) => ({ ...each, text: word, word, capital: false }))
      : [each]
  )
