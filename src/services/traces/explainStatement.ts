/**
 * How the database would run a lookup that was traced: its plan with estimates, without its values, which nobody kept.
 * With values that the operator enters afresh it is run, read-only and as the role that can only read.
 */
import { Effect } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { OperatorError } from "../../domain/errors.ts"

/** A node of a plan, as much of it as is shown. */
export interface PlanNode {
  readonly what: string
  /** Rows that were expected, for one loop. */
  readonly estimated: number
  /** Rows that came, for one loop, and milliseconds over all loops; with values only. */
  readonly rows?: number
  readonly milliseconds?: number
  /** What rows were left out by, after they were read. */
  readonly filter?: string
  /** The table that is read, with its schema. */
  readonly relation?: string
  /** Whether an index leads to the rows that are read. */
  readonly led: boolean
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
    led: [json["Index Cond"], json["Recheck Cond"]].some((one) => typeof one === "string" && !ofOrganization(one)),
    children: ((json["Plans"] as ReadonlyArray<Json> | undefined) ?? []).map(node)
  }
}

/** Tables of which every row is looked at for what it has: in their own order, or along an index that leads nowhere. */
export const readWhole = (plan: PlanNode): ReadonlyArray<PlanNode> => [
  ...(plan.relation !== undefined && plan.filter !== undefined && !plan.led ? [plan] : []),
  ...plan.children.flatMap(readWhole)
]

/** A condition on the organization alone leads to all of its rows. */
const ofOrganization = (condition: string): boolean =>
  /^\(?\(?\w*\.?organization_id = \$?\w+[^)]*\)?\)?$/.test(condition)

type Explained = { readonly "QUERY PLAN": unknown }

/** Values in place of `$1`…, as texts that the statement's own casts read. */
export type Values = ReadonlyMap<number, string>

/** How many parameters a statement has. */
export const parametersOf = (statement: string): number =>
  Math.max(0, ...[...statement.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])))

/** The plan of a statement; with `values` it is run to measure it. */
export const explainStatement = Effect.fn("explainStatement")(function* (
  statement: string,
  values: Values | undefined
) {
  const { search } = yield* Database
  const places = Array.from({ length: parametersOf(statement) }, (_, index) => index + 1)
  const rows = yield* orUnavailable(
    search.withTransaction(
      Effect.gen(function* () {
        yield* search.unsafe("SET TRANSACTION READ ONLY").unprepared
        yield* search.unsafe("SET LOCAL statement_timeout = '10s'").unprepared
        if (values !== undefined) {
          return yield* search.unsafe<Explained>(
            `EXPLAIN (FORMAT JSON, VERBOSE, ANALYZE) ${statement}`,
            places.map((place) => values.get(place) ?? null)
          )
        }
        // The driver's statements are planned with their values; one that is prepared here shows the plan for any value.
        yield* search.unsafe("SET LOCAL plan_cache_mode = force_generic_plan").unprepared
        yield* search.unsafe(`PREPARE max_explain AS ${statement}`).unprepared
        const found = yield* search.unsafe<Explained>(
          `EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE max_explain${places.length === 0 ? "" : `(${places.map(() => "NULL").join(", ")})`}`
        ).unprepared
        yield* search.unsafe("DEALLOCATE max_explain").unprepared
        return found
      })
    )
  )
  const raw = rows[0]?.["QUERY PLAN"]
  const document: unknown = typeof raw === "string" ? JSON.parse(raw) : raw
  const plan = Array.isArray(document) ? (document[0] as Json | undefined)?.["Plan"] : undefined
  return plan === undefined
    ? yield* new OperatorError({ message: "The database didn't explain the statement." })
    : node(plan as Json)
})
