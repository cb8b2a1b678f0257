/** What the lists of types and columns say, and the overview of both. Only names that the caller may see. */
import { Effect } from "effect"
import type { Column, ColumnKind } from "../../domain/EntityType.ts"
import { InvalidInput } from "../../domain/errors.ts"
import { foldText } from "../../domain/keys.ts"
import type { ListedColumn, ListedType, Named } from "../../domain/Page.ts"
import { MAX_COLUMNS, MAX_VALUE_LENGTH } from "../../domain/Query.ts"
import { referrerNames } from "./paths.ts"
import { isIdentifier, targetIn, type Visible, visibleColumns, type VisibleType, visibleTypes } from "./visible.ts"

/** Columns of other types that a list of columns names. */
const MAX_REFERRERS = 10

export interface ColumnsQuery {
  readonly entityTypeId: string
  readonly filter?:
    | { readonly nameContains?: ReadonlyArray<string> | undefined; readonly max?: number | undefined }
    | undefined
}

export interface ColumnList {
  readonly columns: ReadonlyArray<ListedColumn>
  readonly leadHere?: ReadonlyArray<Named>
}

export interface TypeOverview extends ListedType {
  /** The slugs of the columns that identify one entity. */
  readonly identifiers: ReadonlyArray<string>
  readonly columns: ReadonlyArray<Named & { readonly kind: ColumnKind }>
}

/** What a column holds, where it isn't text that a person writes. */
const HOLDS: Partial<Record<ColumnKind, string>> = {
  integer: "number",
  number: "number",
  boolean: "true or false",
  date: "date",
  timestamp: "time",
  list: "list"
}

/** The types whose slug or name contains one of the words; without words, all. */
export const listedTypes = Effect.fnUntraced(function* (words: ReadonlyArray<string> | undefined, visible: Visible) {
  const isNamed = yield* nameFilter(words)
  return visibleTypes(visible)
    .filter(({ name, pluralName, slug }) => isNamed(slug, name, pluralName))
    .map(({ name, pluralName, slug }): ListedType => ({ id: slug, name, pluralName }))
})

/** The columns of a type whose slug or name contains one of the words; without words, all, and what leads here. */
export const listedColumns = Effect.fnUntraced(function* (
  filter: ColumnsQuery["filter"],
  type: VisibleType,
  visible: Visible
): Effect.fn.Return<ColumnList, InvalidInput> {
  const max = filter?.max ?? MAX_COLUMNS
  if (!Number.isInteger(max) || max < 1 || max > MAX_COLUMNS)
    return yield* InvalidInput.of(`max is 1 to ${MAX_COLUMNS}.`)
  const isNamed = yield* nameFilter(filter?.nameContains)
  const leadHere = filter?.nameContains === undefined ? listedReferrers(type, visible) : []
  return {
    columns: visibleColumns(type, visible)
      .filter(({ name, slug }) => isNamed(slug, name))
      .slice(0, max)
      .map((column) => listedColumn(column, visible)),
    ...(leadHere.length === 0 ? {} : { leadHere })
  }
})

export const overviewOf = (visible: Visible): ReadonlyArray<TypeOverview> =>
  visibleTypes(visible).map((type) => {
    const columns = visibleColumns({ type, plan: visible.planOf(type)! }, visible)
    return {
      id: type.slug,
      name: type.name,
      pluralName: type.pluralName,
      identifiers: columns.filter(isIdentifier).map(({ slug }) => slug),
      columns: columns.map(({ kind, name, slug }) => ({ id: slug, name, kind }))
    }
  })

const listedColumn = (column: Column, visible: Visible): ListedColumn => {
  const target = targetIn(visible, column)
  const holds = target === undefined ? HOLDS[column.kind] : `→ ${target.type.slug}`
  return { id: column.slug, name: column.name, ...(holds === undefined ? {} : { holds }) }
}

const listedReferrers = (type: VisibleType, visible: Visible): ReadonlyArray<Named> =>
  referrerNames(type, visible)
    .slice(0, MAX_REFERRERS)
    .map(([id, { type: other }]) => ({ id, name: other.type.pluralName }))

/** Whether a name contains one of these words, whatever their case and accents; every name does without words. */
const nameFilter = Effect.fnUntraced(function* (words: ReadonlyArray<string> | undefined) {
  if (words === undefined) return () => true
  if (words.length > MAX_COLUMNS || words.some((word) => word.length > MAX_VALUE_LENGTH))
    return yield* InvalidInput.of(`nameContains has at most ${MAX_COLUMNS} words.`)
  const folded = words.map(foldText)
  return (...names: ReadonlyArray<string>) => folded.some((word) => names.some((name) => foldText(name).includes(word)))
})
