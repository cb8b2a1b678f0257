/** Reads the words for a set of rows, as a question for a list is read: "all of Akira's leads that are interested in software". */
import { CARDINALS } from "../../english.ts"
import { Condition, type Lookup, nounAt } from "../Lookup.ts"
import type { Context } from "../readConversation.ts"
import { CONDITIONS } from "../conditions.ts"
import { readLookup, WANTED } from "../readLookup.ts"
import { timeAt } from "../readTime.ts"
import { folded } from "../tokenize.ts"
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
  "whichever",
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

/** A set of rows, and how many of them the person counts: "both of Lena's tasks". */
interface CountedSet {
  readonly lookup: Lookup
  readonly count?: number
}

const COUNTED = /^(?:both|(?:all the|all|the) (\S+))(?: of)?(?: the)? /

/** The number of rows that the first words say, and how many words those are: "both of", "all three", "the two". */
const countAt = (words: Words): { readonly count: number; readonly length: number } | undefined => {
  const said = words.map(({ quoted, word }) => (quoted === true ? '"' : word)).join(" ")
  // "Both Raj's and Lena's tasks" are of two people.
  if (/^both \S+(?: \S+)? 's and /.test(said)) return undefined
  const [text, number] = COUNTED.exec(said) ?? []
  if (text === undefined) return undefined
  const count = number === undefined ? 2 : (CARDINALS[number] ?? (/^\d{1,2}$/.test(number) ? Number(number) : 0))
  return count < 2 ? undefined : { count, length: text.trim().split(" ").length }
}

const FORMS: typeof CONDITIONS = [
  [
    ["whose (the)? {column} (is|was|are|were|falls|fell|lies|lay) (on)? {when}"],
    ({ column, when }, { today }) => [Condition.Time({ when: timeAt(when!, today)!.when, by: [folded(column!)] })]
  ],
  [
    [
      "(that|which|who)? (are|is|were|was)? (interested in|keen on|looking for|after|for) either {quality} or {other}",
      "(that|which|who)? (are|is|were|was)? (interested in|keen on|looking for|after) {quality} or {other}"
    ],
    ({ other, quality }) => [
      Condition.AnyOf({ of: [quality!, other!].map((words) => Condition.Quality({ words: folded(words) })) })
    ]
  ],
  [
    ["(that|which|who)? (are|is|were|was)? not (interested in|keen on|looking for|after) {quality}"],
    ({ quality }) => [Condition.Not({ of: Condition.Quality({ words: folded(quality!) }) })]
  ],
  [
    ["minus (the)? (ones|those) {lead} (the)? {value}"],
    ({ lead, value }) => [Condition.Not({ of: Condition.At({ words: value!, preposition: lead![0]!.word }) })]
  ],
  [
    ["minus (the)? {quality}"],
    ({ quality }) => [Condition.Not({ of: Condition.Quality({ words: folded(quality!) }) })]
  ],
  [
    ["and (want|wants|need|needs|would like|is interested in|are interested in) {quality}"],
    ({ quality }) => [Condition.Quality({ words: folded(quality!) })]
  ],
  ...CONDITIONS,
  ...WANTED,
  [
    ["(and)? (that|which|who)? (have|has|having) (a|an|the)? {quality}"],
    ({ quality }) => [Condition.Quality({ words: folded(quality!) })]
  ]
]

/** The set that all the words mean; undefined if they name one row, or if any word is left. */
export const readSet = (words: Words, context: Context): CountedSet | undefined => {
  if (exceptsSeveral(words)) return undefined
  const counted = countAt(words)
  const lookup =
    counted === undefined ? setOf(words, context, false) : setOf(words.slice(counted.length), context, true)
  if (lookup === undefined) return undefined
  return counted === undefined ? { lookup } : { lookup, count: counted.count }
}

/** "except blocked and in progress": an exception with several values, which the conditions of questions can't express. */
const exceptsSeveral = (words: Words): boolean => {
  const plain = words.map(({ quoted, word }) => (quoted === true ? '"' : word))
  const from = plain.findIndex(
    (word, at) =>
      /^(except|excluding|minus|besides)$/.test(word) || (/^(apart|aside)$/.test(word) && plain[at + 1] === "from")
  )
  return from > 0 && plain.slice(from).some((word) => /^(and|or|nor|&)$/.test(word))
}

/** A singular noun with conditions, which have to leave exactly one row: "Lena's low priority task", "my blocked task". */
export const readOne = (words: Words, context: Context): Lookup | undefined =>
  words.some(({ quoted, word }) => quoted !== true && word === "'s") || isUnnamed(words) || words[0]?.word === "my"
    ? setOf(words, context, true, true)
    : undefined

/** "The unassigned Website task": no name of a row has such a word. */
export const isUnnamed = (words: Words): boolean =>
  words.some(({ quoted, word }) => quoted !== true && /^(unassigned|unowned|overdue)$/.test(word))

/** `isCounted` if a number says that all of them are meant. */
const setOf = (words: Words, context: Context, isCounted: boolean, isOne = false): Lookup | undefined => {
  const whole = WHOLE.find((texts) => texts.every((text, at) => words[at]?.word === text && words[at]?.quoted !== true))
  const [first] = words
  // "everybody at Iron Marine": all people.
  const own: Words =
    first?.quoted !== true && /^(everybody|everyone|anyone|anybody|whoever)$/.test(first?.word ?? "")
      ? [{ ...first!, word: "people", text: "people", capital: false }, ...words.slice(1)]
      : words
  const rest = own
    .slice(whole?.length ?? 0)
    .filter(({ quoted, word }) => quoted === true || word !== "yet")
    .map(({ word, ...each }): Word => ({
      ...each,
      word: word.replace(/^(\p{L}+)-(priority|level|status)$/u, "$1 $2")
    }))
  const lookup = rest.length === 0 ? undefined : readLookup(states(spaced(rest)), context, FORMS)
  // "the due date of Lena's tasks" isn't a person's.
  if (lookup?.conditions.some((each) => each._tag === "With" && each.words.some(({ word }) => word === "of")) === true)
    return undefined
  // Which of the rows a number or an order means can't be told without a time: "two leads", "the latest tasks".
  if (lookup === undefined || lookup.limit !== undefined || lookup.order !== undefined) return undefined
  const noun = rest.findIndex((_, at) => nounAt(rest.slice(at), context)?.noun.said === lookup.noun.said)
  if (noun < 0 || rest.slice(0, noun).some(({ quoted, word }) => quoted !== true && VAGUE.has(word))) return undefined
  const isLast = nounAt(rest.slice(noun), context)!.length === rest.length - noun
  const isPlural =
    PLURALS.has(last(lookup.noun.said)) ||
    lookup.noun.said.toLowerCase() === lookup.noun.type.plural.toLowerCase() ||
    /[^s]s$/i.test(lookup.noun.said)
  if (isOne ? isPlural || lookup.conditions.length < 2 || !isLast : !isPlural && !SINGULAR_AFTER.has(whole?.[0] ?? ""))
    return undefined
  // "delete leads" may be half of a sentence.
  return whole === undefined && !isCounted && lookup.conditions.length === 0 ? undefined : lookup
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
    // "that's still to do".
    if (each.quoted !== true && each.word === "'s" && /^(that|which|who)$/.test(before?.word ?? ""))
      return [{ ...each, text: "is", word: "is" }]
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
