/** Past imports, by page and command: when, by whom, and how many rows came in. */
import type { ImportRun, ImportRuns as Page } from "../../wire/admin/import.ts"
import { importRuns } from "./api.ts"
import { Command, Isolated, Moment, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { useLoaded } from "./state.ts"
import { PagedTable } from "./Table.tsx"

const NUMBERS = ["Rows", "Added", "Changed", "Unchanged", "Refused"]
const HEADINGS = ["When", "Who", "What", ...NUMBERS]

export const ImportRuns = () => {
  const { loaded, reload } = useLoaded(() => importRuns(), [])
  return (
    <section aria-labelledby="import-runs">
      <h2 id="import-runs">Past imports</h2>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(first) => (
          <PagedTable
            caption="Past imports"
            headings={HEADINGS}
            numbers={NUMBERS}
            first={first}
            load={importRuns}
            rowsOf={rowsOf}
            empty="Nothing has been imported yet."
            summary={() =>
              first.runs.some(({ outcome }) => outcome === undefined) ? (
                <p class="soft">
                  How many rows were added, changed or the same is shown for types of which you see every row and
                  column: it tells which rows were there before.
                </p>
              ) : null
            }
          />
        )}
      </WhenLoaded>
      <Command text="max audit list --action data.imported">The same by command:</Command>
    </section>
  )
}

const rowsOf = (pages: ReadonlyArray<Page>) =>
  pages.flatMap(({ runs }) => runs).map((run) => ({ key: String(run.record), cells: cellsOf(run) }))

const cellsOf = ({ at, by, byName, leftOut, outcome, rows, type, typeName }: ImportRun) => [
  <Moment at={at} />,
  by === "operator" ? (
    "a command"
  ) : byName === undefined ? (
    <Isolated>{by}</Isolated>
  ) : (
    <a href={to(["people", by])}>
      <Isolated>{byName}</Isolated>
    </a>
  ),
  <Isolated>{typeName ?? type}</Isolated>,
  ...[rows, outcome?.inserted, outcome?.updated, outcome?.unchanged, leftOut].map(
    (count) => count?.toLocaleString() ?? "–"
  )
]
