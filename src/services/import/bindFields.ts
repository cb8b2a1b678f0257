/** Binds each mapped header to the id, a value column, or a reference with its lookup column. */
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
import { emailKey, foldText, phoneSearchKey } from "../../domain/keys.ts"
import { printable, quoted } from "../../domain/text.ts"
import { boundText, textProblem } from "../cells/cellWriter.ts"
import { partsOfCell, readId, type ValueField, valueField } from "./convertCell.ts"
import { fault } from "./faults.ts"
import type { LocalForms } from "./localForms.ts"
import { ID, type Mapped, type Via } from "./planImport.ts"
import type { Cell } from "./readers/FileRecord.ts"
import { Remedies } from "./remedies.ts"

/** What a key of a reference resolves to. */
export type Target = bigint | "none" | "several"

export interface ReferenceField {
  readonly header: string
  readonly index: number
  readonly column: Column
  readonly storage: Extract<Storage, { readonly _tag: "One" | "Many" }>
  readonly target: EntityType
  readonly by: Column | undefined
  /** Whether the reference leads to the imported type, so that its targets may be in the same file. */
  readonly self: boolean
  /** Whether the request names the lookup column. */
  readonly explicit: boolean
  /** Whether a dry run would create the column: its targets are resolved and not written. */
  readonly pending: boolean
  /** Keys of the targets; a string is the cell's problem. */
  readonly read: (cell: Cell) => ReadonlyArray<string> | string
  /** The part of a cell that has this key, as the file has it. */
  readonly sourceOf: (cell: Cell, key: string) => string
  /** Targets by key, as far as they are resolved. */
  readonly targets: Map<string, Target>
}

/** The id that identifies a row. */
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
  /** A prefix for the ids of the file's rows, and for references to them by id. */
  readonly idPrefix: string
  /** Slugs of columns that a dry run would create: their values are checked and not written. */
  readonly pending: ReadonlySet<string>
  readonly forms: LocalForms
}

export const bindFields = Effect.fnUntraced(function* (mapped: ReadonlyArray<Mapped>, binding: Binding) {
  const { catalog, forms, idPrefix, pending, type } = binding
  const values: Array<ValueField> = []
  const references: Array<ReferenceField> = []
  let id: IdField | undefined
  for (const { header, index, slug, via } of mapped) {
    const column = columnBySlug(type, slug)
    if (slug === ID) id = { header, index, read: (cell) => readId(cell, idPrefix) }
    else if (column === undefined) throw new Error("A planned column isn't there")
    else if (column.storage._tag === "Value") {
      const field = valueField(header, index, column, column.storage, catalog.organization, forms)
      values.push(pending.has(slug) ? onlyChecked(field) : field)
    } else references.push(yield* referenceField(header, index, column, column.storage, via, binding))
  }
  const fields: Fields = { id, values, references }
  return fields
})

const onlyChecked = ({ read, ...field }: ValueField): ValueField => ({
  ...field,
  physical: [],
  read: (cell) => {
    const values = read(cell)
    return typeof values === "string" ? values : []
  }
})

const FINDABLE: ReadonlySet<ColumnKind> = new Set(["text", "phone", "email", "integer"])

const referenceField = Effect.fnUntraced(function* (
  header: string,
  index: number,
  column: Column,
  storage: ReferenceField["storage"],
  via: Via | undefined,
  { catalog, idPrefix, pending, type }: Binding
) {
  const target = targetOf(catalog, column)
  if (target === undefined) throw new Error("A reference leads to a type that doesn't exist")
  if (target.mapping !== undefined) {
    return yield* fault(
      `${quoted(header)}: ${target.pluralName} are read from ${printable(target.relation.table)}, which Max doesn't write to, and imported rows can't refer to them. ${(yield* Remedies).leaveOut(header)}`
    )
  }
  const by = via === undefined || via.column === ID ? undefined : columnBySlug(target, via.column)
  if (by !== undefined && !FINDABLE.has(by.kind)) {
    return yield* fault(
      `${quoted(header)}: ${target.slug} can't be looked up by ${by.slug}, which is a ${by.kind}; use a text, phone, e-mail or whole-number column`
    )
  }
  const self = target.key === type.key
  const key = referenceKey(by, catalog.organization, self ? idPrefix : "")
  const parts = (cell: Exclude<Cell, undefined>) =>
    storage._tag === "Many" || typeof cell !== "string" ? partsOfCell(cell) : (textProblem(cell) ?? [cell.trim()])
  const field: ReferenceField = {
    header,
    index,
    column,
    storage,
    target,
    by,
    self,
    explicit: via !== undefined,
    pending: pending.has(column.slug),
    targets: new Map(),
    read: (cell) => {
      const texts = cell === undefined ? [] : parts(cell)
      if (typeof texts === "string") return texts
      if (storage._tag === "One" && texts.length > 1) return `several values, but ${column.slug} is one`
      const keys = new Set<string>()
      for (const text of texts) {
        const parsed = key(text)
        if (parsed === undefined)
          return `${quoted(text)} isn't ${by?.kind === "phone" ? "a phone number" : by?.kind === "email" ? "an e-mail address" : "a whole number"}`
        keys.add(parsed)
      }
      return [...keys]
    },
    sourceOf: (cell, wanted) => {
      const texts = cell === undefined ? [] : parts(cell)
      return (typeof texts === "string" ? undefined : texts.find((text) => key(text) === wanted)) ?? wanted
    }
  }
  return field
})

/** The normal form in which a lookup column is compared with a text. */
const referenceKey = (
  by: Column | undefined,
  organization: Organization,
  idPrefix: string
): ((text: string) => string | undefined) => {
  switch (by?.kind) {
    case undefined:
      return (text) => idPrefix + text
    case "phone":
      return (text) => phoneSearchKey(text, organization.country)
    case "email":
      return emailKey
    case "integer":
      return (text) => boundText(by!, text, organization)
    default:
      return foldText
  }
}
