/** Shows the database's plan for a statement of a trace. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { InvalidInput, OperatorError } from "../../../../domain/errors.ts"
import type { Trace } from "../../../../observability/Trace.ts"
import {
  explainStatement,
  parametersOf,
  type PlanNode,
  sequentialScans
} from "../../../../services/traces/explainStatement.ts"
import { OrganizationState } from "../../../../services/catalog/OrganizationState.ts"
import { optional, pairs, toggle } from "../../flags.ts"
import { bold, columns, dim, result } from "../../output.ts"
import { milliseconds } from "../../waterfall.ts"
import { findTraces, reference } from "./select.ts"

const planLines = (plan: PlanNode, depth = 0): ReadonlyArray<ReadonlyArray<string>> => [
  [
    `${"  ".repeat(depth)}${plan.what}`,
    String(plan.estimated).padStart(9),
    plan.rows === undefined ? "" : String(plan.rows).padStart(9),
    plan.milliseconds === undefined ? "" : milliseconds(plan.milliseconds * 1e6).padStart(8),
    plan.filter === undefined ? "" : `filter ${plan.filter}`
  ],
  ...plan.children.flatMap((child) => planLines(child, depth + 1))
]

/** The text of a trace's slowest lookup, or of its statement with this hash. */
const lookupOf = (trace: Trace, hash: string | undefined): string | undefined => {
  const stores = new Set(trace.spans.filter(({ name }) => name === "OrgEntityStore.find").map(({ spanId }) => spanId))
  const named = trace.spans.filter(({ attributes }) => "max.statement" in attributes)
  const lookups = named.filter(({ parentId }) => parentId !== undefined && stores.has(parentId))
  const wanted =
    hash === undefined
      ? (lookups.length === 0 ? named : lookups).toSorted((a, b) => b.duration - a.duration)[0]
      : named.find(({ attributes }) => attributes["max.statement"] === hash)
  return wanted === undefined ? undefined : trace.statements[String(wanted.attributes["max.statement"])]
}

const ORGANIZATION = /organization_id = \$(\d+)::bigint/
const EPOCH = /epoch = \$(\d+)::bigint/

/** The parameters that Max binds in every lookup: the organization and the epoch of the plan. */
const boundByMax = Effect.fnUntraced(function* (trace: Trace, statement: string) {
  const id = trace.spans.map(({ attributes }) => attributes["max.organization.id"]).find((one) => one !== undefined)
  if (id === undefined) return []
  const states = yield* OrganizationState
  const { state } = yield* states.read(BigInt(String(id)), { by: "none" })
  const place = (pattern: RegExp, value: unknown) => {
    const found = pattern.exec(statement)?.[1]
    return found === undefined ? [] : [[Number(found), String(value)] as const]
  }
  return [...place(ORGANIZATION, id), ...place(EPOCH, state.catalog.epoch)]
})

export const explain = Command.make(
  "explain",
  {
    reference,
    statement: optional(
      "statement",
      "The hash of one of the trace's statements, from max trace show; the slowest lookup by default"
    ),
    value: pairs(
      "value",
      "A parameter's value, such as 3=lead; with values the lookup runs and is measured; may be repeated"
    ),
    sql: toggle("sql", "Print the statement as well")
  },
  Effect.fnUntraced(function* (input) {
    const [trace] = yield* findTraces(input.reference)
    const statement = lookupOf(trace!, Option.getOrUndefined(input.statement))
    if (statement === undefined)
      return yield* OperatorError.of("The trace has no such statement. max trace show lists its statements.")
    const count = parametersOf(statement)
    const values = new Map(Object.entries(input.value).map(([place, value]) => [Number(place), value]))
    if ([...values.keys()].some((place) => !Number.isInteger(place) || place < 1 || place > count))
      return yield* InvalidInput.of(`--value takes NUMBER=VALUE, with a number from 1 to ${count}.`)
    const allValues = new Map([...(yield* boundByMax(trace!, statement)), ...values])
    const plan = yield* explainStatement(statement, values.size === 0 ? undefined : allValues)
    const scans = sequentialScans(plan)
    yield* result({ plan, ...(input.sql ? { statement } : {}) }, [
      ...(input.sql ? [statement, ""] : []),
      ...columns(planLines(plan), [
        "step",
        "estimated",
        values.size === 0 ? "" : "     rows",
        values.size === 0 ? "" : "      ms",
        ""
      ]),
      ...scans.map(
        ({ what }) => `${bold("reads every row")}: ${what}. A large table needs an index: max doctor names it.`
      ),
      ...(values.size === 0 ? [dim("A generic plan. --value NUMBER=VALUE runs the lookup with values.")] : [])
    ])
  })
).pipe(Command.withDescription("Show the database's plan for a lookup of a trace, with estimated and actual rows"))
