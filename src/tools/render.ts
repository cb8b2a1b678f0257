/**
 * Renders tool results for models as tab-separated tables, which cost half the tokens of JSON. Values arrive without
 * tabs and line ends, so they cannot break a row.
 */
import type { ListedColumn, ListedType, Named, Page, ReferenceCell } from "../domain/Page.ts"

interface ListedColumns {
  readonly columns: ReadonlyArray<ListedColumn>
  readonly leadHere?: ReadonlyArray<Named>
}

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => rows.map((row) => row.join("\t")).join("\n")

/** Types that a model is told at once; it asks for the others by name. */
const MAX_LISTED_TYPES = 60

export const renderTypes = ({ entityTypes }: { readonly entityTypes: ReadonlyArray<ListedType> }): string => {
  if (entityTypes.length === 0) return "nothing"
  const more = entityTypes.length - MAX_LISTED_TYPES
  return table([
    ["id", "name", "plural"],
    ...entityTypes.slice(0, MAX_LISTED_TYPES).map(({ id, name, pluralName }) => [id, name, pluralName]),
    ...(more > 0 ? [[`${more} more: find them with nameContains, such as order|invoice`]] : [])
  ])
}

/** The last line tells what a filter can name besides: it is said here, where it is needed, not in each definition. */
export const renderColumns = ({ columns, leadHere = [] }: ListedColumns): string =>
  columns.length === 0
    ? "nothing"
    : table([
        ["id", "name"],
        ...columns.map(({ holds, id, name }) => [id, name, ...(holds === undefined ? [] : [holds])]),
        ...leadHere.map(({ id, name }) => [id, name, "leads here"]),
        ["filters: a..b is a range, 2026-Q3 a period; → and what leads here have columns, too: owner.name"]
      ])

export const renderPage = (page: Page): string => {
  const total = `total ${page.total}${page.totalIsLowerBound === true ? " or more" : ""}${page.limited === true ? " (limited)" : ""}`
  if (page.entities.length === 0) return total
  const columns = [...new Set(page.entities.flatMap((entity) => Object.keys(entity.columns ?? {})))].filter(
    (column) => column !== "name" && column !== "status"
  )
  const withStatus = page.entities.some((entity) => entity.status !== undefined)
  // The id comes last: a line that begins with a name costs a token less than one that begins with an id.
  const rows = page.entities.map((entity) => [
    entity.displayName ?? "",
    ...(withStatus ? [entity.status ?? ""] : []),
    ...columns.map((column) => renderCell(entity.columns?.[column])),
    entity.entityId
  ])
  const next = page.nextCursorEntityId === undefined ? [] : [[`more after ${page.nextCursorEntityId}`]]
  return table([[total], ["name", ...(withStatus ? ["status"] : []), ...columns, "id"], ...rows, ...next])
}

/** Renders a cell on one line; a reference as its name, with the id in parentheses. */
export const renderCell = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (Array.isArray(value)) return value.map(renderCell).join("; ")
  if (typeof value !== "object") return String(value)
  if ("more" in value) return "…"
  const { id, name } = value as ReferenceCell
  return name === undefined ? id : `${name} (${id})`
}
