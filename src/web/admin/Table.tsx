/** The tables of the administration page, with and without further pages. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import type { Problem } from "../shared/api.ts"
import { Failure } from "./parts.tsx"
import { handleFailure } from "./state.ts"

interface Row {
  readonly key: string
  readonly cells: ReadonlyArray<ComponentChildren>
}

interface TableProps {
  readonly caption: string
  readonly headings: ReadonlyArray<string>
  /** The headings of the columns that hold numbers. */
  readonly numbers?: string | ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
  /** The cells of a last row, which sums up the others; the first is its heading. */
  readonly totals?: ReadonlyArray<ComponentChildren>
}

/** A table that narrow screens show as a list; the explicit roles keep it a table for screen readers. */
export const Table = ({ caption, headings, numbers = [], rows, totals }: TableProps) => {
  const classOf = (heading = "") => ([numbers].flat().includes(heading) ? "number" : undefined)
  const cellsOf = (cells: Row["cells"]) =>
    cells.map((cell, index) => (
      <td key={index} role="cell" data-heading={headings[index]} class={classOf(headings[index])}>
        <div>{cell}</div>
      </td>
    ))
  return (
    <table role="table" class={Array.isArray(numbers) && numbers.length > 0 ? "figures" : undefined}>
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {headings.map((name) => (
            <th key={name} role="columnheader" scope="col" class={classOf(name)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ cells, key }) => (
          <tr key={key} role="row">
            {cellsOf(cells)}
          </tr>
        ))}
      </tbody>
      {totals === undefined ? null : (
        <tfoot role="rowgroup">
          <tr role="row">{cellsOf(totals)}</tr>
        </tfoot>
      )}
    </table>
  )
}

interface PagedTableProps<Cursor, Page extends { readonly next?: Cursor }> extends Omit<TableProps, "rows"> {
  readonly first: Page
  readonly load: (next: Cursor) => Promise<Page>
  /** The rows of all loaded pages. */
  readonly rowsOf: (pages: ReadonlyArray<Page>) => ReadonlyArray<Row>
  /** Shown instead of a table without rows. */
  readonly empty: ComponentChildren
  /** Shown above the table. */
  readonly summary?: (shown: number) => ComponentChildren
}

/** A table that loads its next page on demand. */
export const PagedTable = <Cursor, Page extends { readonly next?: Cursor }>({
  empty,
  first,
  load,
  rowsOf,
  summary,
  ...table
}: PagedTableProps<Cursor, Page>) => {
  const [rest, setRest] = useState<ReadonlyArray<Page>>([])
  const [problem, setProblem] = useState<Problem>()
  const pages = [first, ...rest]
  const rows = rowsOf(pages)
  const { next } = pages.at(-1)!
  if (rows.length === 0) return <p class="empty">{empty}</p>
  const showMore = (cursor: Cursor) => {
    setProblem(undefined)
    load(cursor).then(
      (page) => setRest([...rest, page]),
      (error: unknown) => setProblem(handleFailure(error))
    )
  }
  return (
    <>
      {summary?.(rows.length)}
      <Table {...table} rows={rows} />
      {next === undefined ? null : (
        <>
          {problem === undefined ? null : <Failure problem={problem} retry={() => showMore(next)} />}
          <button type="button" class="button more" onClick={() => showMore(next)}>
            Show more
          </button>
        </>
      )}
    </>
  )
}

/** A table with a column for each role, which scrolls by itself; its bodies are the children. */
export const Matrix = ({
  children,
  label,
  roles
}: {
  readonly label: string
  readonly roles: ReadonlyArray<{ readonly role: string }>
  readonly children: ComponentChildren
}) => (
  <div class="scroller" role="region" tabIndex={0} aria-label={label}>
    <table class="matrix">
      <thead>
        <tr>
          <th scope="col">Column</th>
          {roles.map(({ role }) => (
            <th key={role} scope="col">
              {role}
            </th>
          ))}
        </tr>
      </thead>
      {children}
    </table>
  </div>
)
