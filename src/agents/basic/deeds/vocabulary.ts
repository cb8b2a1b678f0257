/** A type's columns, and which of them people's words mean. */
import type { ListedColumn, Named } from "../../../domain/Page.ts"
import { columnsFor, columnsNamed, onceOf } from "../conceptColumns.ts"
import type { Concept } from "../lexicon.ts"
import type { ContextType } from "../readConversation.ts"
import { type Script, tool } from "../script.ts"
import { folded } from "../tokenize.ts"
import type { Deed, Setting } from "./Deed.ts"
import { lengthAt } from "./lengths.ts"
import { type Calendar, momentOf } from "./moments.ts"
import { couldBeName } from "./readSubject.ts"
import type { Word } from "./words.ts"

/** What an action takes. */
export interface Field {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly values?: ReadonlyArray<string>
}

export interface Vocabulary {
  readonly type: ContextType
  readonly columns: ReadonlyArray<ListedColumn>
}

const NAMES = new Set(["name", "title", "heading", "label", "subject", "headline"])
const LENGTHS = new Set(["length", "duration", "minutes", "duration minutes", "mins"])
const TIMES = new Set([
  "time",
  "start time",
  "start",
  "date",
  "day",
  "starting time",
  "date and time",
  "time slot",
  "slot",
  "beginning",
  "hour"
])
/** Words for a status that aren't its column's name. */
const STATES = new Set(["status", "stage", "state", "phase", "list", "column", "step", "bucket", "lane", "category"])
/** Columns of few values: a value that no row has is more likely a typo. */
const CATEGORIES = new Set([
  ...STATES,
  "product",
  "board",
  "priority",
  "type",
  "kind",
  "segment",
  "tier",
  "department",
  "region",
  "source",
  "channel",
  "team",
  "plan",
  "level",
  "rating",
  "group",
  "project",
  "sprint",
  "severity"
])

/** Whether a column has few values, by its name. */
export const isCategory = ({ id, name }: { readonly id: string; readonly name: string }): boolean =>
  CATEGORIES.has(name.toLowerCase()) || CATEGORIES.has(id)

export const statusColumns = (columns: ReadonlyArray<Named>): ReadonlyArray<string> => columnsFor("status", columns)

const lengthColumn = (columns: ReadonlyArray<Named>): string | undefined =>
  columns.find(
    ({ id, name }) =>
      LENGTHS.has(id.replaceAll("_", " ")) || LENGTHS.has(name.toLowerCase()) || /^(duration|length)\b/i.test(name)
  )?.id

/** The column that a verb or a word means. */
export const columnOfConcept = (
  concept: Concept | "name" | "length",
  columns: ReadonlyArray<Named>
): string | undefined =>
  concept === "name"
    ? columns.find(({ id }) => id === "name")?.id
    : concept === "length"
      ? lengthColumn(columns)
      : columnsFor(concept, columns)[0]

/** What a value is by its form, whatever its column is called. */
export const contactOf = (words: ReadonlyArray<Word>): "email" | "phone" | undefined => {
  if (words.length > 4 || words.some(({ quoted }) => quoted === true)) return undefined
  const text = words.map((each) => each.text).join(" ")
  if (words.length === 1 && text.includes(".") && /^[^\s@]+@[^\s@]+$/.test(text)) return "email"
  return /^\+?[\d\s().-]{7,20}$/.test(text) && text.replace(/\D/g, "").length >= 7 && !/^\d{4}-\d\d-\d\d$/.test(text)
    ? "phone"
    : undefined
}

/** The column that a phrase names: the organization's own labels first. */
export const columnOfPhrase = (phrase: ReadonlyArray<Word>, columns: ReadonlyArray<Named>): string | undefined => {
  const words = folded(phrase)
  return onceOf(columns, `phrase ${words}`, () => columnNamed(words, columns))
}

const columnNamed = (said: string, columns: ReadonlyArray<Named>): string | undefined => {
  const words = said.replace(/^(start|end) (date|time) of$/, "$1")
  const own = columns.filter(({ id, name }) =>
    [id.replaceAll("_", " ").toLowerCase(), name.toLowerCase()].includes(words)
  )
  if (own.length > 0) return own.length === 1 ? own[0]!.id : undefined
  if (NAMES.has(words)) return columnOfConcept("name", columns)
  if (LENGTHS.has(words)) return lengthColumn(columns)
  if (TIMES.has(words)) return columnOfConcept("date", columns)
  if (TOO_GENERAL.has(words)) return undefined
  const concept = columnsNamed(words, columns)
  const exact =
    concept.length > 0 &&
    !columns.some(({ id, name }) => concept.includes(id) && contains(name, words) && concept.length > 1)
  if (exact) return concept[0]
  // "prio": the beginning of one column's label.
  const begun = columns.filter(({ name }) => name.toLowerCase().startsWith(words))
  return words.length >= MIN_BEGINNING && begun.length === 1 ? begun[0]!.id : undefined
}
const MIN_BEGINNING = 4

/** Words that name a column only if it is called so. */
const TOO_GENERAL = new Set(
  "with at end when number mail person people customer customers client clients account accounts leads tel updated created location size contact members guests group site branch position job".split(
    " "
  )
)

const contains = (name: string, words: string): boolean => ` ${name.toLowerCase()} `.includes(` ${words} `)

/** Whether a word after a value names no more than a status: "the lead stage". */
export const isStateWord = (phrase: ReadonlyArray<Word>): boolean =>
  STATES.has(phrase.map(({ word }) => word).join(" "))

/** A type's columns and fields, and today. */
export interface About {
  readonly columns: Vocabulary["columns"]
  readonly fields: ReadonlyArray<Field>
  readonly calendar: Calendar
}

/** Whether words can be a value of a column. */
export const suits = (column: string, value: ReadonlyArray<Word>, { calendar, columns, fields }: About): boolean => {
  switch (fields.find(({ id }) => id === column)?.kind) {
    case "date":
    case "timestamp":
      return momentOf(value, calendar) !== undefined
    case "integer":
    case "number":
      return /^[$€£]?-?\d/.test(value[0]!.word) || (column === lengthColumn(columns) && lengthAt(value) !== undefined)
    case "email":
      return value.length === 1
    case "reference":
    case "references":
      return couldBeName(value)
    default:
      return true
  }
}

/** Whether the columns of a type can carry what a deed says. */
export const carries = (
  deed: Deed,
  { columns, type }: Vocabulary,
  fields: ReadonlyArray<Field>,
  calendar: Calendar
): boolean => {
  const about = { columns, fields, calendar }
  switch (deed._tag) {
    case "Update":
      return deed.settings.every((setting) => settable(setting, about))
    case "Shift":
      return (
        (deed.column === undefined ? columnOfConcept("date", columns) : columnOfPhrase(deed.column, columns)) !==
        undefined
      )
    case "Stretch":
      return lengthColumn(columns) !== undefined
    case "Delete":
      return true
    case "Create":
      return deed.type.id === type.id && deed.settings.every((setting) => settable(setting, about))
  }
}

const settable = (setting: Setting, about: About): boolean => {
  const { columns } = about
  switch (setting._tag) {
    case "Column": {
      const column = columnOfPhrase(setting.column, columns)
      return column !== undefined && (setting.value.length === 0 || suits(column, setting.value, about))
    }
    case "Concept": {
      const column = columnOfConcept(setting.concept, columns)
      return column !== undefined && suits(column, setting.value, about)
    }
    case "Value":
      return (
        setting.kind === undefined || isStateWord(setting.kind) || columnOfPhrase(setting.kind, columns) !== undefined
      )
  }
}

/** A type's columns: those that are listed, or else those that its actions take. */
export const vocabularyOf = (
  type: ContextType,
  columns: ReadonlyArray<ListedColumn>,
  fields: ReadonlyMap<string, ReadonlyArray<Field> | string>
): Vocabulary => {
  const taken = ["update", "create"].flatMap((op) => {
    const own = fields.get(`${type.id}.${op}`)
    return own === undefined || typeof own === "string" ? [] : own.map(({ id, name }) => ({ id, name }))
  })
  const all = new Map(
    [...columns, ...taken.filter(({ id }) => !columns.some((column) => column.id === id))].map((column) => [
      column.id,
      column
    ])
  )
  return { type, columns: [...all.values()] }
}

/** What an action takes, or why it isn't open. Its lines are tab-separated: column, name, kind, "needed", closed list. */
export function* fieldsOf(actionId: string): Script<ReadonlyArray<Field> | string> {
  const { text, value } = yield* tool("requestAction", { actionId })
  if (value === undefined) return reasonOf(text)
  return text
    .split("\n")
    .slice(1)
    .flatMap((line): ReadonlyArray<Field> => {
      const [id, name, kind, ...rest] = line.split("\t")
      const list = rest.at(-1)
      if (id === undefined || name === undefined || kind === undefined) return []
      return [{ id, name, kind, ...(list === undefined || list === "needed" ? {} : { values: list.split(", ") }) }]
    })
}

/** A refusal as a person reads it. */
export const reasonOf = (text: string): string => text.replace(/^needs: /, "")
