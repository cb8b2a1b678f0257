/** What a list of columns says: what each column holds, and what leads here. Only names that the caller may see. */
import type { Column, ColumnKind } from "../../domain/EntityType.ts"
import type { ListedColumn, Named } from "../../domain/Page.ts"
import { referrerNames } from "./paths.ts"
import { targetIn, type Visible, type VisibleType } from "./visible.ts"

/** Columns of other types that a list of columns names. */
const MAX_REFERRERS = 10

/** What a column holds, where it isn't text that a person writes. */
const HOLDS: Partial<Record<ColumnKind, string>> = {
  integer: "number",
  number: "number",
  boolean: "true or false",
  date: "date",
  timestamp: "time",
  list: "list"
}

export const listedColumn = (column: Column, visible: Visible): ListedColumn => {
  const target = targetIn(visible, column)
  const holds = target === undefined ? HOLDS[column.kind] : `→ ${target.type.slug}`
  return { id: column.slug, name: column.name, ...(holds === undefined ? {} : { holds }) }
}

export const listedReferrers = (type: VisibleType, visible: Visible): ReadonlyArray<Named> =>
  referrerNames(type, visible)
    .slice(0, MAX_REFERRERS)
    .map(([id, { type: other }]) => ({ id, name: other.type.pluralName }))
