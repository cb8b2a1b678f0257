/**
 * Renders tool results for models as tab-separated tables, which cost half the tokens of JSON. Values arrive without
 * tabs and line ends, so they cannot break a row.
 */
import type {
  FigureCell,
  Group,
  GroupKey,
  ListedColumn,
  ListedType,
  Named,
  Page,
  ReferenceCell
} from "../domain/Page.ts"

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
        ["filters: a..b is a range, 2026-Q3 a period; → and what leads here have columns, too: owner.name"],
        [
          "groups: by X, by hour|weekday|day|week|month|quarter|year X, sum|avg|min|max|distinct X; filter count or sum X"
        ]
      ])

export const renderPage = (page: Page): string => {
  const total = `total ${page.total}${page.totalIsLowerBound === true ? " or more" : ""}${page.limited === true ? " (limited)" : ""}`
  if (page.groups !== undefined) return renderGroups(page, page.groups)
  if (page.tooMany === true) return `${total}: too many to add up at once; name a period or another condition`
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
  const next = page.nextCursorEntityId === undefined ? [] : [[`more: cursorEntityId ${page.nextCursorEntityId}`]]
  return table([[total], ["name", ...(withStatus ? ["status"] : []), ...columns, "id"], ...rows, ...next])
}

/** One line per group, and one more for each further currency. */
const renderGroups = (page: Page, groups: ReadonlyArray<Group>): string => {
  const { groupsTotal = 0, headings = [], limited, nextCursorEntityId, several, total } = page
  const keys = headings.filter((heading) => heading.startsWith("by "))
  const figures = headings.filter((heading) => !heading.startsWith("by "))
  const columns = (["share", "change"] as const).filter((name) => groups.some((group) => group[name] !== undefined))
  const rows = groups.flatMap((group) => {
    const cells = group.figures ?? []
    const lines = Math.max(1, ...cells.map(({ length }) => length))
    return Array.from({ length: lines }, (_, line) => [
      ...(line > 0
        ? [...keys, "", ...columns].map(() => "")
        : [
            ...group.keys.map(renderKey),
            String(group.count),
            ...columns.map((name) => (group[name] === undefined ? "" : `${group[name]}%`))
          ]),
      ...figures.map((_, index) => renderFigure(cells[index]?.[line]))
    ])
  })
  const currencies = several === true ? "; several currencies: ordered by count, never add them" : ""
  const inGroups = keys.length === 0 ? "" : ` in ${groupsTotal} groups`
  return table([
    [`total ${total}${inGroups}${limited === true ? " (limited)" : ""}${currencies}`],
    ...(rows.length === 0 ? [] : [[...keys.map((key) => key.slice(3)), "count", ...columns, ...figures], ...rows]),
    ...(nextCursorEntityId === undefined ? [] : [[`more: cursorEntityId ${nextCursorEntityId}`]])
  ])
}

const renderKey = ({ id, value }: GroupKey): string =>
  id === undefined ? (value ?? "(none)") : value === undefined ? id : `${value} (${id})`

const renderFigure = (cell: FigureCell | undefined): string =>
  cell === undefined ? "" : `${cell.value}${cell.unit === undefined ? "" : ` ${cell.unit}`}`

/** Renders a cell on one line; a reference as its name, with the id in parentheses. */
export const renderCell = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (Array.isArray(value)) return value.map(renderCell).join("; ")
  if (typeof value !== "object") return String(value)
  if ("more" in value) return "…"
  const { id, name } = value as ReferenceCell
  return name === undefined ? id : `${name} (${id})`
}
