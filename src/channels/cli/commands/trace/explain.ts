/** How the database runs what a trace shows. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { InvalidInput, OperatorError } from "../../../../domain/errors.ts"
import type { Trace } from "../../../../domain/Trace.ts"
import {
  explainStatement,
  parametersOf,
  type PlanNode,
  sequentialScans
} from "../../../../services/explainStatement.ts"
import { wantsJson } from "../../context.ts"
import { bold, columns, dim, result } from "../../output.ts"
import { milliseconds } from "../../waterfall.ts"
import { found, reference } from "./select.ts"

const planLines = (plan: PlanNode, depth = 0): ReadonlyArray<ReadonlyArray<string>> => [
  [
    `${"  ".repeat(depth)}${plan.what}`,
    String(plan.estimated).padStart(9),
    plan.rows === undefined ? "" : String(plan.rows).padStart(9),
    plan.milliseconds === undefined ? "" : milliseconds(plan.milliseconds * 1e6).padStart(8),
    plan.filter === undefined ? "" : `left out by ${plan.filter}`
  ],
  ...plan.children.flatMap((child) => planLines(child, depth + 1))
]

/** The slowest lookup of a trace, or the one with this hash. */
const lookupOf = (trace: Trace, hash: string | undefined): string | undefined => {
  const lookups = trace.spans.filter(({ attributes }) => "max.statement" in attributes)
  const wanted =
    hash === undefined
      ? lookups.toSorted((a, b) => b.duration - a.duration)[0]
      : lookups.find(({ attributes }) => attributes["max.statement"] === hash)
  return wanted === undefined ? undefined : trace.statements[String(wanted.attributes["max.statement"])]
}

export const explain = Command.make(
  "explain",
  {
    reference,
    statement: Flag.String("statement").pipe(
      Flag.withDescription("Which of the trace's statements, as show names it; the slowest lookup by default"),
      Flag.optional
    ),
    value: Flag.KeyValuePair("value").pipe(
      Flag.withDescription(
        "A value for a parameter, 3=lead; with values the lookup is run and measured. May be repeated"
      ),
      Flag.withDefault({})
    ),
    sql: Flag.Boolean("sql").pipe(Flag.withDescription("Print the statement, too"), Flag.withDefault(false))
  },
  (input) =>
    Effect.gen(function* () {
      const [trace] = yield* found(input.reference)
      const statement = lookupOf(trace!, Option.getOrUndefined(input.statement))
      if (statement === undefined)
        return yield* new OperatorError({
          message: "That trace has no such lookup. max trace show names its statements."
        })
      const count = parametersOf(statement)
      const values = new Map(Object.entries(input.value).map(([place, value]) => [Number(place), value]))
      if ([...values.keys()].some((place) => !Number.isInteger(place) || place < 1 || place > count))
        return yield* new InvalidInput({ message: `--value takes NUMBER=VALUE, with a number from 1 to ${count}.` })
      const plan = yield* explainStatement(statement, values.size === 0 ? undefined : values)
      const scans = sequentialScans(plan)
      yield* result(yield* wantsJson, { plan, ...(input.sql ? { statement } : {}) }, [
        ...(input.sql ? [statement, ""] : []),
        ...columns(planLines(plan), [
          "step",
          "estimated",
          values.size === 0 ? "" : "     rows",
          values.size === 0 ? "" : "      ms",
          ""
        ]),
        ...scans.map(
          ({ what }) =>
            `${bold("read from end to end")}: ${what}. For a large table that wants an index: max doctor says which.`
        ),
        ...(values.size === 0
          ? [dim("Planned for any value. --value NUMBER=VALUE runs it with values that you enter.")]
          : [])
      ])
    })
).pipe(Command.withDescription("How the database runs a lookup of a trace: its plan, estimates against rows"))
