/** The rows of a change, from what to what: each row alone, or many rows grouped by what they become. */
import type { Preview } from "../../../wire/changes.ts"
import { operationOf } from "./deed.ts"
import { cut } from "./texts.ts"

type Step = Preview["steps"][number]
type Cell = Step["cells"][number]

/** More rows than this are grouped. */
const MAX_SINGLE = 5

const Text = ({ value }: { readonly value: string | undefined }) =>
  value === undefined ? <span class="nothing">empty</span> : <bdi>{cut(value)}</bdi>

const CellView = ({ cell, operation }: { readonly cell: Cell; readonly operation: string }) => (
  <div>
    <dt>
      <bdi>{cut(cell.name)}</bdi>
    </dt>
    <dd>
      {operation === "update" ? (
        <>
          <del>
            <span class="visually-hidden">from </span>
            <Text value={cell.was} />
          </del>
          <span aria-hidden="true"> → </span>
          <ins>
            <span class="visually-hidden">to </span>
            <Text value={cell.becomes} />
          </ins>
        </>
      ) : (
        <Text value={operation === "delete" ? cell.was : cell.becomes} />
      )}
    </dd>
  </div>
)

/** A new row of a mapped table can have no name before the database gives it one. */
const nameOf = ({ action, call, displayName, entityId }: Step): string =>
  cut(call ? `${action}, at ${call.host}` : (displayName ?? (entityId ? "A row with a hidden name" : action)))

const One = ({ step }: { readonly step: Step }) => (
  <li>
    <p class="row-name">
      <bdi>{nameOf(step)}</bdi>
    </p>
    {step.cells.length > 0 && (
      <dl>
        {step.cells.map((cell) => (
          <CellView key={cell.columnId} cell={cell} operation={operationOf(step.actionId)} />
        ))}
      </dl>
    )}
  </li>
)

const groupsOf = (steps: ReadonlyArray<Step>): ReadonlyArray<ReadonlyArray<Step>> => {
  const groups = new Map<string, Array<Step>>()
  for (const step of steps) {
    const key = JSON.stringify([step.actionId, step.cells.map(({ becomes, columnId }) => [columnId, becomes])])
    groups.set(key, [...(groups.get(key) ?? []), step])
  }
  return [...groups.values()]
}

/** Rows that become the same: the values once, and every row with what it was on demand. */
const Group = ({ steps }: { readonly steps: ReadonlyArray<Step> }) => {
  const [first] = steps
  if (first === undefined) return null
  if (steps.length === 1) return <One step={first} />
  const operation = operationOf(first.actionId)
  return (
    <li>
      <p class="row-name">{steps.length} rows</p>
      {operation !== "delete" && (
        <dl>
          {first.cells.map(({ becomes, columnId, name }) => (
            <div key={columnId}>
              <dt>
                <bdi>{cut(name)}</bdi>
              </dt>
              <dd>
                <span aria-hidden="true">→ </span>
                <Text value={becomes} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <details>
        <summary>Show all {steps.length}</summary>
        <ul class="steps">
          {steps.map((step) => (
            <One key={step.entityId} step={step} />
          ))}
        </ul>
      </details>
    </li>
  )
}

export const DraftSteps = ({ done, steps }: { readonly steps: ReadonlyArray<Step>; readonly done: boolean }) => (
  <ul class="steps" aria-label={done ? "What was changed" : "What would change"}>
    {(steps.length > MAX_SINGLE ? groupsOf(steps) : steps.map((step) => [step])).map((group, index) => (
      <Group key={index} steps={group} />
    ))}
  </ul>
)
