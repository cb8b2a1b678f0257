/**
 * The database's plan for a traced statement. Traces contain no parameter values, so the plan is generic, with estimates
 * only; with values that the operator enters, the statement runs read-only, as the role that can only read.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { isReplaced } from "../../database/fault.ts"
import { OperatorError } from "../../domain/errors.ts"

/** The parts of a plan's node that are shown. */
export interface PlanNode {
  /** The operation, its index and its table. */
  readonly what: string
  /** Estimated rows of one loop. */
  readonly estimated: number
  /** Actual rows of one loop, and milliseconds over all loops; absent in a generic plan. */
  readonly rows?: number
  readonly milliseconds?: number
  /** The condition that discards rows after they are read. */
  readonly filter?: string
  /** The table, with its schema. */
  readonly relation?: string
  /** Whether an index condition selects the rows. */
  readonly indexed: boolean
  readonly children: ReadonlyArray<PlanNode>
}

type Json = { readonly [key: string]: unknown }

const node = (json: Json): PlanNode => {
  const relation = json["Relation Name"]
  const schema = typeof json["Schema"] === "string" ? `${json["Schema"]}.` : ""
  const index = json["Index Name"]
  const rows = json["Actual Rows"]
  const time = json["Actual Total Time"]
  const filter = json["Filter"]
  return {
    what: [
      String(json["Node Type"]),
      ...(typeof index === "string" ? [`by ${index}`] : []),
      ...(typeof relation === "string" ? [`on ${schema}${relation}`] : []),
      ...(typeof json["CTE Name"] === "string" ? [String(json["CTE Name"])] : [])
    ].join(" "),
    estimated: Number(json["Plan Rows"] ?? 0),
    ...(typeof rows === "number" ? { rows } : {}),
    ...(typeof time === "number" ? { milliseconds: time * Number(json["Actual Loops"] ?? 1) } : {}),
    ...(typeof filter === "string" ? { filter } : {}),
    ...(typeof relation === "string" ? { relation: `${schema}${relation}` } : {}),
    indexed: [json["Index Cond"], json["Recheck Cond"]].some(
      (condition) => typeof condition === "string" && !isOrganizationOnly(condition)
    ),
    children: ((json["Plans"] as ReadonlyArray<Json> | undefined) ?? []).map(node)
  }
}

/** Nodes that read every row of a table and filter it: sequential scans, and index scans without a selective condition. */
export const sequentialScans = (plan: PlanNode): ReadonlyArray<PlanNode> => [
  ...(plan.relation !== undefined && plan.filter !== undefined && !plan.indexed ? [plan] : []),
  ...plan.children.flatMap(sequentialScans)
]

/** A condition on the organization alone selects all of its rows. */
const isOrganizationOnly = (condition: string): boolean =>
  /^\(?\(?(?:\w+\.)?organization_id = \$?\w[^)]*\)?\)?$/.test(condition)

type Explained = { readonly "QUERY PLAN": unknown }

/** Parameter values by number (`$1` is 1), as text that the casts in the statement parse. */
export type Values = ReadonlyMap<number, string>

/** The number of parameters of a statement. */
export const parametersOf = (statement: string): number =>
  Math.max(0, ...[...statement.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])))

const replaced = OperatorError.of(
  "A table that the statement reads isn't the one that was mapped. max map diff says what has changed."
)

/** The plan of a statement; with `values` the statement runs and is measured. */
export const explainStatement = Effect.fn("explainStatement")(function* (
  statement: string,
  values: Values | undefined
) {
  const { search } = yield* Database
  const parameters = Array.from({ length: parametersOf(statement) }, (_, index) => index + 1)
  const rows = yield* Effect.gen(function* () {
    yield* search.unsafe("SET TRANSACTION READ ONLY").unprepared
    yield* search.unsafe("SET LOCAL statement_timeout = '10s'").unprepared
    if (values !== undefined) {
      return yield* search.unsafe<Explained>(
        `EXPLAIN (FORMAT JSON, VERBOSE, ANALYZE) ${statement}`,
        parameters.map((parameter) => values.get(parameter) ?? null)
      )
    }
    // The driver binds values before planning, so a generic plan needs a statement prepared in SQL.
    yield* search.unsafe("SET LOCAL plan_cache_mode = force_generic_plan").unprepared
    // A statement that Postgres refused to plan stays prepared.
    const left = yield* search`SELECT FROM pg_prepared_statements WHERE name = 'max_explain'`
    if (left.length > 0) yield* search.unsafe("DEALLOCATE max_explain").unprepared
    yield* search.unsafe(`PREPARE max_explain AS ${statement}`).unprepared
    const plan = yield* search.unsafe<Explained>(
      `EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE max_explain${parameters.length === 0 ? "" : `(${parameters.map(() => "NULL").join(", ")})`}`
    ).unprepared
    yield* search.unsafe("DEALLOCATE max_explain").unprepared
    return plan
  }).pipe(
    search.withTransaction,
    Effect.catchTag("SqlError", (error): Effect.Effect<never, OperatorError | SqlError.SqlError> =>
      isReplaced(error) ? replaced : Effect.fail(error)
    ),
    orUnavailable
  )
  const raw = rows[0]?.["QUERY PLAN"]
  const document: unknown = typeof raw === "string" ? JSON.parse(raw) : raw
  const plan = Array.isArray(document) ? (document[0] as Json | undefined)?.["Plan"] : undefined
  return plan === undefined
    ? yield* OperatorError.of("The database returned no plan for the statement.")
    : node(plan as Json)
})
