/** The columns and paths that words of a question for figures mean. Where several could be meant, none is. */
import { foldText } from "../../../domain/keys.ts"
import { PEOPLE } from "../../../domain/EntityType.ts"
import type { ListedColumn } from "../../../domain/Page.ts"
import { type Bucket, BUCKETS } from "../../../domain/Query.ts"
import { columnsFor, columnsNamed } from "../conceptColumns.ts"
import { CONCEPTS } from "../lexicon.ts"
import { nounAt } from "../Lookup.ts"
import type { Context } from "../readConversation.ts"
import { folded, tokenize } from "../tokenize.ts"
import type { Measure, Words } from "./Asked.ts"
import { BUCKET_WORDS, MEASURES, WHOLE_AMOUNTS } from "./lexicon.ts"

export type Columns = ReadonlyArray<ListedColumn>

/** A column by its path, with what a reply calls it. */
export interface Spot {
  readonly path: string
  readonly label: string
  readonly bucket?: Bucket
  readonly column: ListedColumn
  /** How many of the unit that was asked for one of the column's is: an hour has 60 minutes. */
  readonly times?: number
}

/** What words mean: one column, or several that could be meant. */
export type Meant = ReadonlyArray<Spot>

export const targetOf = ({ holds }: ListedColumn): string | undefined =>
  holds?.startsWith("→ ") === true ? holds.slice(2) : undefined

const isNumber = ({ holds }: ListedColumn): boolean => holds === "number"
const isDate = ({ holds }: ListedColumn): boolean => holds === "date" || holds === "time"

const labelsOf = ({ id, name }: ListedColumn): ReadonlyArray<string> =>
  [name, id].map((text) => foldText(text.replaceAll("_", " ")))

const singular = (words: string): string =>
  words
    .replace(/ies$/, "y")
    .replace(/(ss|x|ch|sh)es$/, "$1")
    .replace(/([^s])s$/, "$1")

const spot = (column: ListedColumn): Spot => ({ path: column.id, label: column.name.toLowerCase(), column })

const ofIds = (ids: ReadonlyArray<string>, columns: Columns): Columns =>
  ids.flatMap((id) => columns.filter((column) => column.id === id))

/** The columns of the first label that any has. */
const firstLabelled = (labels: ReadonlyArray<string>, columns: Columns): Columns => {
  for (const label of labels) {
    const found = columns.filter((column) => labelsOf(column).includes(label))
    if (found.length > 0) return found
  }
  return []
}

/** The number that is measured. */
export const measuredBy = ({ of, revenue }: Measure, columns: Columns): Columns => {
  const numbers = columns.filter(isNumber)
  if (revenue === true) return firstLabelled(WHOLE_AMOUNTS, numbers)
  const words = of === undefined ? "amount" : folded(of.filter(({ word }) => word !== "'s"))
  const own = numbers.filter((column) => labelsOf(column).some((label) => label === words || label === singular(words)))
  if (own.length > 0) return own
  const family = MEASURES.find((one) => one.words.has(words))
  if (family !== undefined) return firstLabelled(family.labels, numbers)
  return numbers.filter((column) => labelsOf(column).some((label) => ` ${label} `.includes(` ${singular(words)} `)))
}

/** Dates that are a type's own, where it has several. */
const OWN_DATES = ["start", "starts", "starts at", "date", "when", "day"]

/** The dates that periods are of: named ones, the ones that the question's time is about, or the type's own date. */
export const datesFor = (words: string, columns: Columns, type: { readonly name: string }): Columns => {
  const dates = columns.filter(isDate)
  if (words !== "") return ofIds(columnsNamed(words, dates), dates)
  const ranked = ofIds(columnsFor("date", dates), dates)
  const all = ranked.length > 0 ? ranked : dates
  if (all.length < 2) return all
  const own = [...OWN_DATES, ...["date", "at", "on"].map((end) => `${foldText(type.name)} ${end}`)]
  const first = firstLabelled(own, all)
  return first.length > 0 ? first : all
}

/** "month", "month of the due date", "due month": a bucket and the words for its date. */
export const bucketIn = (words: Words): { readonly bucket: Bucket; readonly rest: string } | undefined => {
  for (let length = Math.min(4, words.length); length >= 1; length--) {
    const bucket = BUCKET_WORDS[folded(words.slice(0, length))]
    const rest = words.slice(length)
    if (bucket !== undefined) return { bucket, rest: folded(rest.filter(({ word }) => !/^(of|the|'s)$/.test(word))) }
  }
  const last = words.at(-1)
  const bucket = last && BUCKETS.find((one) => one === last.word)
  return bucket === undefined || words.length < 2 ? undefined : { bucket, rest: folded(words.slice(0, -1)) }
}

/**
 * The columns of one type that words name: by label or by the type that they lead to; `loosely` also by what they are about,
 * as "employer" is a company.
 */
const named = (words: Words, columns: Columns, context: Context, loosely: boolean): Columns => {
  const text = folded(words)
  const forms = [text, singular(text), text.replace(/ses$/, "s"), `${text}s`]
  const exact = columns.filter((column) => labelsOf(column).some((label) => forms.includes(label)))
  if (exact.length > 0) return exact
  const noun = nounAt(words, context)
  const type =
    noun !== undefined && noun.length === words.length && noun.noun.kind === undefined ? noun.noun.type : undefined
  const leading = type === undefined ? [] : columns.filter((column) => targetOf(column) === type.id)
  if (leading.length > 0) return leading
  const inside = columns.filter((column) => isInside(forms, column))
  if (inside.length > 0 || !loosely) return inside
  const family = MEASURES.find((one) => forms.some((form) => one.words.has(form)))
  const measures = family === undefined ? [] : firstLabelled(family.labels, columns.filter(isNumber))
  if (measures.length > 0) return measures
  const concepts = Object.entries(CONCEPTS).filter(([, phrases]) => forms.some((form) => phrases.includes(form)))
  for (const [concept] of concepts) {
    const found = ofIds(columnsFor(concept as keyof typeof CONCEPTS, columns), columns)
    // The first is the likeliest, as in a lookup.
    if (found.length > 0) return found.slice(0, 1)
  }
  return []
}

const isInside = (forms: ReadonlyArray<string>, column: ListedColumn): boolean =>
  labelsOf(column).some((label) => forms.some((form) => ` ${label} `.includes(` ${form} `)))

/** The words without those that only join them: "country of the customer" is "customer country". */
const turned = (words: Words): Words => {
  const of = words.findIndex(({ word }) => word === "of")
  const plain = (some: Words) => some.filter(({ word }) => !/^(the|'s|of)$/.test(word))
  return of < 0 ? plain(words) : [...plain(words.slice(of + 1)), ...plain(words.slice(0, of))]
}

/** The columns that words can name on a type itself and through its references. `columnsAt` has what was looked up. */
export const spotsFor = (
  words: Words,
  columns: Columns,
  columnsAt: ReadonlyMap<string, Columns>,
  context: Context,
  hops = 2,
  loosely = true
): Meant => {
  const said = turned(words)
  const own = named(said, columns, context, loosely && hops === 0)
  if (own.length > 0) return own.map(spot)
  if (hops === 0) return []
  // The rows' own column of responsible people (assignee, agent) comes before the owner of a row that they refer to.
  if (folded(said) === "owner") {
    const [responsible] = ofIds(columnsFor("owner", columns), columns).filter((one) => targetOf(one) === PEOPLE)
    if (responsible !== undefined) return [spot(responsible)]
  }
  // People of a meeting are several: nothing can be grouped through them.
  const references = columns.filter((column) => targetOf(column) !== undefined && column.id !== "attendees")
  const through = (reference: ListedColumn, rest: Words, left: number): Meant =>
    spotsFor(rest, columnsAt.get(targetOf(reference)!) ?? [], columnsAt, context, left, loosely).map((one) => ({
      ...one,
      path: `${reference.id}.${one.path}`,
      label: `${one.label} of the ${reference.name.toLowerCase()}`
    }))
  // "customer country": the reference is named.
  for (let length = 1; length < said.length; length++) {
    const first = named(said.slice(0, length), references, context, true)
    const found = first.flatMap((reference) => through(reference, said.slice(length), hops - 1))
    if (found.length > 0) return found
  }
  for (let left = 0; left < hops; left++) {
    const found = references.flatMap((reference) => through(reference, said, left))
    if (found.length > 0) return found
  }
  return []
}

/** Words before a noun for people who own rows that leave none of them out: "our sales reps". */
const OF_OWNERS = new Set(
  "sales support account customer client service care success field key inside our my the a each different individual responsible assigned team relationship lead crm".split(
    " "
  )
)
/** A noun for the people who own rows: "rep", "employee". */
export const asOwner = (words: Words): Words => {
  const text = singular(folded(words))
  // "Support agent" is an agent.
  return CONCEPTS.owner.includes(text) ||
    (CONCEPTS.owner.includes(text.split(" ").at(-1)!) &&
      text
        .split(" ")
        .slice(0, -1)
        .every((word) => OF_OWNERS.has(word))) ||
    text === "person" ||
    text === "colleague"
    ? tokenize("owner")
    : words
}
