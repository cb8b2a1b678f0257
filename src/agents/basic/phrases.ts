/** Words the conditions of a lookup as its reply repeats them. */
import { uncapitalized } from "../english.ts"
import type { Named } from "../../domain/Page.ts"
import { labelOf } from "./conceptColumns.ts"
import type { Choice } from "./Choice.ts"
import { wordForms } from "./filterChoices.ts"
import { COMPARATORS, NOUN_FAMILIES } from "./lexicon.ts"
import { NATIONALITIES } from "./placeNames.ts"
import type { Condition } from "./Lookup.ts"
import { folded, written } from "./tokenize.ts"

type Columns = ReadonlyArray<Named>

/** The conditions in words, with what their columns and values made of them. */
export type Said = ReadonlyArray<{
  readonly before: boolean
  readonly text: string
  /** The text where values may be hidden: a hidden one looks like none. */
  readonly limited?: string
}>

/** The status that a word stands for, if it is another word: "clients" are people with the status customer. */
export const otherWord = (word: string, choice: Choice): string => {
  const [filter] = choice
  if (filter !== undefined && NATIONALITIES[word]?.includes(filter.value) === true) return ""
  return filter === undefined || wordForms(word).slice(0, 2).includes(filter.value) ? "" : `with status ${filter.value}`
}

/** The dates that a question means without naming them. */
const OBVIOUS = /^(starts?|date|when|day)$/

export const sayingOf = (
  condition: Condition,
  choices: ReadonlyArray<Choice>,
  used: number,
  columns: Columns
): Said => {
  const phrase = phraseOf(condition)
  switch (condition._tag) {
    case "Mine":
      return []
    case "Currency":
      return choices[used]!.length === 0 ? [] : [{ before: false, text: phrase }]
    case "Quality":
      if (choices[used]![0]!.op === "ilike") return [{ before: false, text: `with “${phrase}” in the name` }]
      return [
        { before: true, text: singular(phrase) },
        { before: false, text: otherWord(condition.words, choices[used]!) }
      ]
    case "Overdue":
      return [{ before: true, text: phrase }]
    // "Tracks under 50": of which number was meant.
    case "Where":
      return isBare(condition)
        ? [{ before: false, text: `with ${uncapitalized(labelOf(choices[used]![0]!.columnId, columns))} ${phrase}` }]
        : [{ before: false, text: phrase }]
    case "Time": {
      // Which date was meant, where a type has several.
      const others = new Set(choices.map(([first]) => first!.columnId)).size > 1
      const label = uncapitalized(labelOf(choices[used]![0]!.columnId, columns))
      return [{ before: false, text: others && !OBVIOUS.test(label) ? `${phrase} by ${label}` : phrase }]
    }
    case "Length":
      // "10 120 minute meetings" reads as one number.
      return condition.before === true && /^\d/.test(phrase)
        ? [{ before: false, text: `of ${phrase.replace(/(?<!^1 )(minute|hour|second)$/, "$1s")}` }]
        : [{ before: condition.before === true, text: phrase }]
    case "Called":
      return [
        { before: false, text: choices[used]![0]!.op === "ilike" ? `with “${condition.name}” in the name` : phrase }
      ]
    case "Not": {
      const filter = choices[used]![0]!
      // "Isn't" includes what has no value at all.
      const empty =
        filter.op === "eq" && filter.columnId !== "name"
          ? ` (or without ${uncapitalized(labelOf(filter.columnId, columns))})`
          : ""
      return [{ before: false, text: `${phrase}${empty}` }]
    }
    case "Related":
      return [{ before: false, text: phrase, ...(condition.none ? { limited: `${phrase} that you can see` } : {}) }]
    case "Empty":
      return [{ before: false, text: phrase, limited: `with no ${condition.words} that you can see` }]
    default:
      return [{ before: false, text: phrase }]
  }
}

/** "Under 50", of whichever number. */
export const isBare = (condition: Condition): boolean =>
  condition._tag === "Where" && COMPARATORS[folded(condition.words.slice(0, -1))] !== undefined

/** "Lead companies": a kind of people stands in the singular before the noun. */
const singular = (phrase: string): string =>
  NOUN_FAMILIES.some((words) => words.has(phrase.replace(/s$/, ""))) ? phrase.replace(/s$/, "") : phrase

export const phraseOf = (condition: Condition): string => {
  switch (condition._tag) {
    case "Time":
      return condition.when.said
    case "Overdue":
      return "overdue"
    case "With":
      return `with ${written(condition.words)}`
    case "At":
      return `${condition.preposition} ${written(condition.words)}`
    case "Owned":
      return `by ${written(condition.words)}`
    case "Mine":
      return "yours"
    case "Quality":
      return condition.words
    case "Where":
      return isBare(condition) ? written(condition.words) : `with ${written(condition.words)}`
    case "Currency":
      return `in ${condition.code}`
    case "Length":
      return condition.said
    case "Called":
      return `called ${condition.name}`
    case "Part":
      if (condition.names !== undefined) return `with “${condition.name}” at the end of the name`
      return condition.begins
        ? `with a name that begins with “${condition.name}”`
        : `with “${condition.name}” in the name`
    case "Empty":
      return `without ${condition.words}`
    case "Not":
      return condition.of._tag === "Empty"
        ? `with ${condition.of.words}`
        : condition.of._tag === "Called"
          ? `other than ${condition.of.name}`
          : condition.of._tag === "Mine"
            ? "other than yours"
            : `other than ${phraseOf(condition.of)}`
    case "Related":
      return condition.said
    case "AnyOf":
      return condition.of.map(phraseOf).join(" or ")
  }
}
