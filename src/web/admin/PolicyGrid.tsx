/** The policy file in the editor as a grid: a cell says on which rows a role may do something with a column. */
import { useEffect, useId, useRef, useState } from "preact/hooks"
import type { GridAction, GridCell, GridEdit, GridReach, GridTable, ReadGrid } from "../../wire/admin/policyGrid.ts"
import type { Problem } from "../shared/api.ts"
import { policyGrid } from "./api.ts"
import { counted, Failure, listed, Loading } from "./parts.tsx"
import { RuleLines } from "./PolicyReport.tsx"
import { announcement, handleFailure } from "./state.ts"
import { Matrix } from "./Table.tsx"

/** Milliseconds without typing in the file before its grid is read again. */
const PAUSE = 500

const ACTIONS: Readonly<Record<GridAction, string>> = {
  read: "See",
  update: "Change",
  create: "Add rows with",
  delete: "Delete rows"
}

const REACHES: Readonly<Record<GridReach, string>> = {
  none: "○ never",
  own: "◐ own rows",
  company: "◐ company's rows",
  all: "● every row"
}

type Grid = { readonly for: string } & ({ readonly problems: number } | { readonly read: ReadGrid })

export const PolicyGrid = ({
  edit,
  show,
  text
}: {
  /** The text in the editor, which may change while an edit of the grid is on its way. */
  readonly text: () => string
  readonly edit: (text: string) => void
  readonly show: (line: number) => void
}) => {
  const [grid, set] = useState<Grid>()
  const [problem, setProblem] = useState<Problem>()
  const [type, setType] = useState<string>()
  const [action, setAction] = useState<GridAction>("read")
  const [waiting, setWaiting] = useState<Readonly<Record<string, GridReach>>>({})
  const requests = useRef(Promise.resolve())
  const current = text()

  /** One request after the other, so that each edit is made in the text that the one before left. */
  const ask = (of: string | undefined, change?: GridEdit): Promise<void> => {
    const run = async () => {
      const asked = text()
      const found = await policyGrid(asked, of, change)
      // The file was edited meanwhile: the change is made in that text.
      if (text() !== asked) return run()
      setProblem(undefined)
      if ("problems" in found) return set({ for: asked, problems: found.problems.length })
      if (change !== undefined)
        announcement.value =
          found.document === asked ? "The cell is that already." : "The file below is changed. Nothing is published."
      if (found.document !== asked) edit(found.document)
      set({ for: found.document, read: found })
    }
    const done = requests.current.then(run)
    requests.current = done.catch((error: unknown) => setProblem(handleFailure(error)))
    return requests.current
  }

  useEffect(() => {
    if (grid?.for === current) return
    const timer = setTimeout(() => void ask(type), grid === undefined ? 0 : PAUSE)
    return () => clearTimeout(timer)
  }, [current, grid?.for])

  const change = (role: string, columns: ReadonlyArray<string> | undefined, reach: GridReach) => {
    const keys = (columns ?? [""]).map((column) => keyOf(role, action, column))
    setWaiting((before) => ({ ...before, ...Object.fromEntries(keys.map((key) => [key, reach])) }))
    void ask(type, { role, action, reach, ...(columns === undefined ? {} : { columns }) }).then(() =>
      setWaiting((before) => Object.fromEntries(Object.entries(before).filter(([key]) => !keys.includes(key))))
    )
  }

  return (
    <section class="policy-grid" aria-labelledby="grid">
      <h2 id="grid">Grid</h2>
      {problem === undefined ? null : <Failure problem={problem} retry={() => void ask(type)} />}
      {grid === undefined ? (
        problem === undefined ? (
          <Loading />
        ) : null
      ) : "problems" in grid ? (
        <p class="empty">
          The file has {counted(grid.problems, "problem")}. Check it: the grid comes back once they are solved.
        </p>
      ) : (
        <Cells
          grid={grid.read}
          action={action}
          waiting={waiting}
          change={change}
          show={show}
          choose={(next) => {
            setType(next)
            void ask(next)
          }}
          setAction={setAction}
        />
      )}
    </section>
  )
}

const keyOf = (role: string, action: GridAction, column: string) => `${role} ${action} ${column}`

const Cells = ({
  action: wanted,
  change,
  choose,
  grid: { columns, omitted, tables, type, types },
  setAction,
  show,
  waiting
}: {
  readonly grid: ReadGrid
  readonly action: GridAction
  readonly waiting: Readonly<Record<string, GridReach>>
  readonly change: (role: string, columns: ReadonlyArray<string> | undefined, reach: GridReach) => void
  readonly choose: (type: string) => void
  readonly setAction: (action: GridAction) => void
  readonly show: (line: number) => void
}) => {
  const table = tables.find(({ action }) => action === wanted) ?? tables[0]!
  const { action, others, reaches, roles } = table
  const rows = action === "delete" ? [{ column: "", name: "The whole row" }] : columns
  const note = useId()
  return (
    <>
      <div class="filters">
        <label>
          Type
          <select value={type} onChange={({ currentTarget: { value } }) => choose(value)}>
            {types.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Roles may
          <select value={action} onChange={({ currentTarget: { value } }) => setAction(value as GridAction)}>
            {tables.map((each) => (
              <option key={each.action} value={each.action}>
                {ACTIONS[each.action]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Matrix label="Columns by role" roles={roles}>
        <tbody>
          {rows.length < 2 ? null : (
            <tr>
              <th scope="row">All columns</th>
              {roles.map(({ cells, role }) => (
                <td key={role}>
                  <Reach
                    label={`All columns, ${role}`}
                    reach={waiting[keyOf(role, action, "")] ?? common(cells)}
                    reaches={reaches}
                    choose={(reach) => change(role, undefined, reach)}
                  />
                </td>
              ))}
            </tr>
          )}
          {rows.map(({ column, name }, at) => (
            <tr key={column}>
              <th scope="row">{name}</th>
              {roles.map(({ cells, role }) => {
                const cell = cells[at]!
                const words = besides(cell, others)
                const id = `${note}-${role}-${at}`
                return (
                  <td key={role}>
                    <Reach
                      label={`${name}, ${role}`}
                      reach={waiting[keyOf(role, action, column)] ?? waiting[keyOf(role, action, "")] ?? cell.reach}
                      reaches={reaches}
                      describedBy={words === "" ? undefined : id}
                      choose={(reach) => change(role, action === "delete" ? undefined : [column], reach)}
                    />
                    {words === "" ? null : (
                      <span id={id} class="soft fine">
                        {words}
                      </span>
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </Matrix>
      <p class="soft fine">
        {reaches.flatMap(({ reach, words }) =>
          words === "" ? [] : [<span key={reach}>{`${REACHES[reach]}: where ${words}. `}</span>]
        )}
        An edit changes the file below. Nothing is published.
      </p>
      {omitted.length === 0 ? null : (
        <p class="soft">Only in the file, because there are too many roles: {listed(omitted)}.</p>
      )}
      {others.length === 0 ? null : (
        <details>
          <summary>
            {counted(others.length, "rule")} that the grid can't say {others.length === 1 ? "stays" : "stay"} in the
            file
          </summary>
          <RuleLines of={others} show={show} />
        </details>
      )}
    </>
  )
}

/** The reach of all cells; undefined if they differ. */
const common = (cells: ReadonlyArray<GridCell>): GridReach | undefined =>
  cells.every(({ reach }) => reach === cells[0]!.reach) ? cells[0]!.reach : undefined

/** What decides about a cell besides the rules in the grid. */
const besides = ({ inherited, others }: GridCell, rules: GridTable["others"]): string => {
  const effects = others.map((place) => rules[place]!.effect)
  return [
    ...(inherited === "none" ? [] : [`inherits ${REACHES[inherited].slice(2)}`]),
    ...(effects.includes("allow") ? ["the file allows more"] : []),
    ...(effects.includes("deny") ? ["the file denies some"] : [])
  ].join(", ")
}

const Reach = ({
  choose,
  describedBy,
  label,
  reach,
  reaches
}: {
  readonly label: string
  readonly reach: GridReach | undefined
  readonly reaches: GridTable["reaches"]
  readonly describedBy?: string | undefined
  readonly choose: (reach: GridReach) => void
}) => (
  <select
    class={reach}
    aria-label={label}
    aria-describedby={describedBy}
    value={reach ?? ""}
    onChange={({ currentTarget: { value } }) => choose(value as GridReach)}
  >
    {reach === undefined ? (
      <option value="" disabled>
        various
      </option>
    ) : null}
    {reaches.map((each) => (
      <option key={each.reach} value={each.reach}>
        {REACHES[each.reach]}
      </option>
    ))}
  </select>
)
