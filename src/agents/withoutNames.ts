/**
 * A question without the names and values in it. It keeps the words that Max knows, and the organization's own words for its
 * types and columns; every other word could be a name and becomes an ellipsis. A word that is also a given name or a surname
 * stays only where it is written small.
 */
import { Effect } from "effect"
import type { Catalog } from "../domain/EntityType.ts"
import { foldText } from "../domain/keys.ts"
import type { UnclearQuestions } from "../services/administration/UnclearQuestions.ts"
import { AMBIGUOUS_GIVEN_NAMES, AMBIGUOUS_SURNAMES } from "./basic/lexicon.ts"
import { isQuestionWord } from "./basic/respell.ts"
import { tokenize } from "./basic/tokenize.ts"

/** Characters of a kept question. */
const MAX_LENGTH = 200
const GAP = "…"

/** Words that are modal verbs where they are written small. */
const MODALS = new Set(["will", "may"])

/** Keeps a question that wasn't understood, if its organization has opted in. No answer depends on it. */
export const keepingUnclear = (unclear: UnclearQuestions["Service"]) => (asked: string, catalog: Catalog) => {
  const question = withoutNames(asked, catalog)
  return question === undefined ? Effect.void : Effect.ignore(unclear.keep(catalog.organization, question))
}

/** Undefined if nothing of the question is left but gaps. */
export const withoutNames = (question: string, { types }: Catalog): string | undefined => {
  const own = new Set(
    types
      .flatMap(({ columns, name, pluralName, slug }) => [
        name,
        pluralName,
        slug,
        ...columns.flatMap((column) => [column.name, column.slug])
      ])
      .flatMap((words) => foldText(words).split(/[^\p{L}]+/u))
  )
  const words = tokenize(question).map(({ after, capital, word }, index, all) => {
    const isSafe =
      /^\p{L}+(['-]\p{L}+)*$/u.test(word) &&
      (own.has(word) || isQuestionWord(word)) &&
      // A capital begins a name, but for that of the first word, which isn't followed by another one.
      (!capital || word === "i" || (index === 0 && all[1]?.capital !== true)) &&
      !(AMBIGUOUS_GIVEN_NAMES.has(word) && (capital || !MODALS.has(word))) &&
      !(AMBIGUOUS_SURNAMES.has(word) && capital)
    return isSafe ? `${word}${/^[?!.,]$/.test(after) ? after : ""}` : GAP
  })
  const text = words.filter((word, index) => word !== GAP || words[index - 1] !== GAP).join(" ")
  return words.some((word) => word !== GAP) ? text.slice(0, MAX_LENGTH) : undefined
}
