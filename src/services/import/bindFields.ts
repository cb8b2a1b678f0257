/** What each mapped column of a file is: the id, a value, or a reference and what it is found by. */
import { Effect } from "effect"
import {
  type Catalog,
  type Column,
  columnBySlug,
  type ColumnKind,
  type EntityType,
  type Organization,
  type Storage,
  targetOf
} from "../../domain/EntityType.ts"
import { emailKey, foldText, phoneKey } from "../../domain/keys.ts"
import { printable, quoted } from "../../domain/text.ts"
import { boundText, partsOf, readId, textProblem, type ValueField, valueField } from "./convertCell.ts"
import { fault, word } from "./faults.ts"
import { ID, type Mapped, type Via } from "./planImport.ts"
import type { Cell } from "./readers/FileRecord.ts"

export type Target = bigint | "none" | "several"

export interface ReferenceField {
  readonly header: string
  readonly index: number
  readonly column: Column
  readonly storage: Extract<Storage, { readonly _tag: "One" | "Many" }>
  readonly target: EntityType
  readonly by: Column | undefined
  /** Whether the records referred to are of the type that is imported, and may be in the same file. */
  readonly self: boolean
  readonly said: boolean
  /** Whether the column isn't there, because this is a dry run: what it would lead to is looked up and not written. */
  readonly unmade: boolean
  /** Keys of the records referred to; a string is what is wrong with the cell. */
  readonly read: (cell: Cell) => ReadonlyArray<string> | string
  /** The part of a cell that has this key, as it is written. */
  readonly written: (cell: Cell, key: string) => string
  /** What keys came to so far. */
  readonly known: Map<string, Target>
}

/** What a row is called; a problem is what is wrong with the cell. */
interface IdField {
  readonly header: string
  readonly index: number
  readonly read: (cell: Cell) => string | { readonly problem: string }
}

export interface Fields {
  readonly id: IdField | undefined
  readonly values: ReadonlyArray<ValueField>
  readonly references: ReadonlyArray<ReferenceField>
}

export interface Binding {
  readonly type: EntityType
  readonly catalog: Catalog
  /** What stands before the ids of the file's rows, and before references to them by id. */
  readonly idPrefix: string
  /** Slugs of columns that a dry run doesn't make: their values are checked and not written. */
  readonly unmade: ReadonlySet<string>
}

export const bindFields = Effect.fnUntraced(function* (mapped: ReadonlyArray<Mapped>, binding: Binding) {
  const { catalog, idPrefix, type, unmade } = binding
  const values: Array<ValueField> = []
  const references: Array<ReferenceField> = []
  let id: IdField | undefined
  for (const { header, index, slug, via } of mapped) {
    const column = columnBySlug(type, slug)
    if (slug === ID) id = { header, index, read: (cell) => readId(cell, idPrefix) }
    else if (column === undefined) throw new Error("A planned column isn't there")
    else if (column.storage._tag === "Value") {
      const field = valueField(header, index, column, column.storage, catalog.organization)
      values.push(unmade.has(slug) ? onlyChecked(field) : field)
    } else references.push(yield* referenceField(header, index, column, column.storage, via, binding))
  }
  const fields: Fields = { id, values, references }
  return fields
})

const onlyChecked = ({ read, ...field }: ValueField): ValueField => ({
  ...field,
  physical: [],
  read: (cell) => {
    const found = read(cell)
    return typeof found === "string" ? found : []
  }
})

const FINDABLE: ReadonlySet<ColumnKind> = new Set(["text", "phone", "email", "integer"])

const referenceField = Effect.fnUntraced(function* (
  header: string,
  index: number,
  column: Column,
  storage: ReferenceField["storage"],
  via: Via | undefined,
  { catalog, idPrefix, type, unmade }: Binding
) {
  const target = targetOf(catalog, column)
  if (target === undefined) throw new Error("A reference leads to a type that doesn't exist")
  if (target.mapping !== undefined) {
    return yield* fault(
      `${quoted(header)}: ${target.pluralName} are read from ${printable(target.relation.table)}, which isn't Max's, and imported rows can't refer to them yet. Leave it out: --ignore ${word(header)}`
    )
  }
  const by = via === undefined || via.column === ID ? undefined : columnBySlug(target, via.column)
  if (by !== undefined && !FINDABLE.has(by.kind)) {
    return yield* fault(
      `${quoted(header)}: ${target.slug} can't be found by ${by.slug}, which is a ${by.kind}; text, phone, e-mail and whole numbers will do`
    )
  }
  const self = target.key === type.key
  const key = referenceKey(by, catalog.organization, self ? idPrefix : "")
  const parts = (cell: Cell) =>
    storage._tag === "Many" || typeof cell !== "string" ? partsOf(cell) : (textProblem(cell) ?? [cell.trim()])
  const field: ReferenceField = {
    header,
    index,
    column,
    storage,
    target,
    by,
    self,
    said: via !== undefined,
    unmade: unmade.has(column.slug),
    known: new Map(),
    read: (cell) => {
      const texts = cell === undefined ? [] : parts(cell)
      if (typeof texts === "string") return texts
      if (storage._tag === "One" && texts.length > 1) return `several, where ${column.slug} is one`
      const keys = new Set<string>()
      for (const text of texts) {
        const found = key(text)
        if (found === undefined)
          return `${quoted(text)} isn't ${by?.kind === "phone" ? "a phone number" : by?.kind === "email" ? "an e-mail address" : "a whole number"}`
        keys.add(found)
      }
      return [...keys]
    },
    written: (cell, wanted) => {
      const texts = parts(cell)
      return (typeof texts === "string" ? undefined : texts.find((text) => key(text) === wanted)) ?? wanted
    }
  }
  return field
})

/** How a text becomes what a record is found by. */
const referenceKey = (
  by: Column | undefined,
  organization: Organization,
  idPrefix: string
): ((text: string) => string | undefined) => {
  switch (by?.kind) {
    case undefined:
      return (text) => idPrefix + text
    case "phone":
      return (text) => phoneKey(text, organization.country)
    case "email":
      return emailKey
    case "integer":
      return (text) => boundText(by!, text, organization)
    default:
      return foldText
  }
}
