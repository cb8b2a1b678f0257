/** Maps people's words to a type's columns, by slug and label. Kinds are unknown here: whether a value fits is tried. */
import { foldText } from "../../domain/keys.ts"
import { byWord } from "../../domain/text.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import type { ListedColumn, Named } from "../../domain/Page.ts"
import { COLUMN_WORDS, type Concept, CONCEPTS, DATE_VERBS } from "./lexicon.ts"

type Columns = ReadonlyArray<Named>

const wordsOf = ({ id, name }: Named): ReadonlyArray<string> => [
  ...new Set([name, id].map((text) => foldText(text.replaceAll("_", " ").replace(/[^\p{L}\p{N}]+/gu, " "))))
]

/** Phrases that match whole labels only, because they are too general inside a longer one. */
const WHOLE_LABELS = new Set(
  "with at end when time day number mail person people customer client account tel updated created".split(" ")
)

/** Labels of dates other than what is due, with the labels that mean the same. */
const DATED = Object.entries(DATE_VERBS).flatMap(([verb, labels]) => (verb === "due" ? [] : [labels]))
const FAX = ["fax", "fax number"]
/** Words for one thing, of which another column of the same concept tells nothing: a fax is no phone, a hire date no follow-up. */
const SPECIFIC = byWord<ReadonlyArray<string>>(
  Object.fromEntries([
    ...DATED.flat().map((label) => [label, DATED.filter((labels) => labels.includes(label)).flat()] as const),
    ...FAX.map((label) => [label, FAX] as const)
  ])
)

const memory = new WeakMap<Columns, Map<string, unknown>>()
/** What is asked of a type's columns again and again while a message is read, found once. */
export const onceOf = <A>(columns: Columns, question: string, make: () => A): A => {
  const known = memory.get(columns) ?? new Map<string, unknown>()
  memory.set(columns, known)
  if (!known.has(question)) known.set(question, make())
  return known.get(question) as A
}

/** The columns that a concept can mean, most likely first. */
export const columnsFor = (concept: Concept, columns: Columns): ReadonlyArray<string> =>
  onceOf(columns, `concept ${concept}`, () => ranked(concept, columns))

const ranked = (concept: Concept, columns: Columns): ReadonlyArray<string> => {
  const phrases = CONCEPTS[concept]
  const found = columns.flatMap((column) => {
    const labels = wordsOf(column)
    const exact = phrases.findIndex((phrase) => labels.includes(phrase))
    const inside = phrases.findIndex(
      (phrase) => !WHOLE_LABELS.has(phrase) && labels.some((label) => contains(label, phrase))
    )
    const rank = exact >= 0 ? exact : inside >= 0 ? inside + phrases.length : -1
    return rank < 0 ? [] : [{ rank, id: column.id }]
  })
  return found.length === 0 && concept === "owner"
    ? responsible(columns)
    : found.sort((a, b) => a.rank - b.rank).map(({ id }) => id)
}

/** The only column that leads to people, whatever it is called: a buyer, a recruiter, a driver. Not who is only concerned. */
const responsible = (columns: Columns): ReadonlyArray<string> => {
  const personal = columns.filter((column) => (column as ListedColumn).holds === `→ ${PEOPLE}`)
  return personal.length === 1 && !CONCERNED.test(personal[0]!.name) ? [personal[0]!.id] : []
}
const CONCERNED =
  /\b(customer|client|contact|reports to|reporter|reported|requester|requested|author|creator|candidate|patient|student|member|guest|attendees?|participants?|people|person|sender|recipient|approver|approved|reviewer|watchers?|followers?|parent|spouse|referred|referrer)/i

/** The columns with one of these labels. */
export const columnsLabelled = (labels: ReadonlyArray<string>, columns: Columns): ReadonlyArray<string> =>
  labels.flatMap((label) => columns.filter((column) => wordsOf(column).includes(label)).map(({ id }) => id))

const contains = (label: string, phrase: string): boolean => ` ${label} `.includes(` ${phrase} `)

/** The columns that a phrase names: the organization's own labels first. */
export const columnsNamed = (what: string, columns: Columns): ReadonlyArray<string> => {
  const words = foldText(what.replace(/[^\p{L}\p{N}@]+/gu, " "))
  if (words === "contact")
    return [...columnsFor("phone", columns).slice(0, 1), ...columnsFor("email", columns).slice(0, 1)]
  const own = columns.filter((column) =>
    wordsOf(column).some((label) => label === words || `${label}s` === words || label === `${words}s`)
  )
  if (own.length > 0) return own.map(({ id }) => id)
  const dated = COLUMN_WORDS[words] ?? DATE_VERBS[words] ?? []
  if (dated.length > 0) return columnsLabelled(dated, columns)
  const only = SPECIFIC[words]
  if (only !== undefined) return columnsLabelled(only, columns)
  for (const [concept, phrases] of Object.entries(CONCEPTS)) {
    const said = [words, words.replace(/s$/, "")]
    if (!phrases.some((phrase) => said.includes(phrase)) && concept !== words) continue
    const found = columnsFor(concept as Concept, columns)
    if (found.length > 0) return found
  }
  const inside = columns.filter((column) => wordsOf(column).some((label) => contains(label, words)))
  // "follow up date" where the column is called "Follow up".
  const shorter = words.replace(/ (dates?|days?|numbers?)$/, "")
  return inside.length > 0 || shorter === words ? inside.map(({ id }) => id) : columnsLabelled([shorter], columns)
}

/** Splits words that begin with a column's name: "status is lead", "zip code 19122". */
export const columnAndValue = (
  words: ReadonlyArray<string>,
  columns: Columns
): { readonly columns: ReadonlyArray<string>; readonly rest: ReadonlyArray<string> } | undefined => {
  for (let length = Math.min(4, words.length - 1); length >= 1; length--) {
    const found = columnsNamed(words.slice(0, length).join(" "), columns)
    if (found.length > 0) return { columns: found, rest: words.slice(length) }
  }
  return undefined
}

export const labelOf = (id: string, columns: Columns): string => columns.find((column) => column.id === id)?.name ?? id
