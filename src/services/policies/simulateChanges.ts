/** Simulates what a person could change under another policy: the rows, column by column, and the rules that say to what. */
import { Effect } from "effect"
import { compilable } from "../../database/sql/compilable.ts"
import { changedColumns } from "../../database/sql/RowChange.ts"
import { type EntityType, isWritable } from "../../domain/EntityType.ts"
import { all, type Bound, NEVER } from "../../domain/Predicate.ts"
import { describeRule } from "../../permissions/describe.ts"
import { isInForce, plan, rulesFor } from "../../permissions/PermissionEngine.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { describedPrincipal } from "./explainType.ts"
import type { ReviewSubject } from "./reviewSubject.ts"
import { plannedAccess, type RowEvaluator } from "./rowEvaluator.ts"
import { onVisibleTargets, type Visibility, visibleCatalog } from "./visibility.ts"

export interface ChangeableRows {
  readonly action: "update" | "delete"
  /** Absent for `delete`, which concerns the whole row. */
  readonly column?: string
  /** The rows that the person could change now, and under the other policy. Whether a value is allowed, the rules say. */
  readonly before: number
  readonly after: number
}

export interface SimulatedChanges {
  readonly rows: ReadonlyArray<ChangeableRows>
  /** The rules of the other policy that allow or deny changes, in words. */
  readonly rules: ReadonlyArray<string>
}

const ACTIONS = ["create", "update", "delete"] as const

/** Undefined when neither policy has a rule about changes for the person, and for mapped types that are read only. */
export const simulateChanges = Effect.fnUntraced(function* (
  evaluator: RowEvaluator,
  subject: ReviewSubject,
  from: Policy,
  to: Policy,
  type: EntityType,
  visibility: Visibility,
  now: number
) {
  const { principal, state } = subject
  const { catalog } = state
  const rules = (policy: Policy) =>
    ACTIONS.flatMap((action) => rulesFor(policy, principal.roles, type, action)).filter((rule) => isInForce(rule, now))
  if ((type.mapping !== undefined && type.mapping.write === undefined) || rules(from).length + rules(to).length === 0)
    return undefined
  const part = visibility.of(type)
  const columns = type.columns.filter(({ key }) => part?.cell(key)._tag !== "Never")
  const seen = (bound: Bound) => onVisibleTargets(visibility, bound, type, catalog)
  const reaches = [from, to].map((policy) => {
    const read = plannedAccess(policy, catalog, principal, type, now)
    const changing = (action: "update" | "delete", keys: ReadonlyArray<string>): Bound => {
      const settable = type.mapping?.write?.columns
      const isOpen =
        isWritable(type, action) &&
        (action === "delete" || settable === undefined || keys.every((key) => settable.includes(key)))
      if (!isOpen) return NEVER
      const planned = compilable(plan(policy, catalog, principal, type, action, now), type, catalog)
      if (planned._tag === "Denied") return NEVER
      return all(
        part?.rows ?? NEVER,
        seen(read.rows),
        seen(planned.where),
        ...keys.flatMap((key) => [seen(read.cell(key)), seen(planned.cells.get(key) ?? NEVER)])
      )
    }
    return [
      ...columns.map(({ key }) => changing("update", [key])),
      changing(
        "delete",
        changedColumns({ type, assignments: [], write: { action: "delete" } }).map(({ key }) => key)
      )
    ]
  })
  const judgements = reaches.flat().map((of) => ({ of }))
  const names = visibleCatalog(visibility, catalog)
  const { counts } = yield* evaluator.counts(type, catalog, judgements)
  const half = columns.length + 1
  const rows = Array.from({ length: half }, (_, index): ChangeableRows => {
    const column = columns[index]?.slug
    return {
      action: column === undefined ? "delete" : "update",
      ...(column === undefined ? {} : { column }),
      before: counts[index]!,
      after: counts[half + index]!
    }
  })
  return {
    rows: rows.filter(({ after, before }) => before + after > 0),
    rules: rules(to).map((rule) =>
      describeRule(rule, names, describedPrincipal(subject, visibility), visibility.isOperator)
    )
  } satisfies SimulatedChanges
})
