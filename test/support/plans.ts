/** How Postgres executes a statement: the scans of its plan and the number of rows that they read. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"

interface Node {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly "Heap Fetches"?: number
  readonly Filter?: string
  readonly "Parallel Aware"?: boolean
  readonly Plans?: ReadonlyArray<Node>
}

export interface Access {
  /** The distinct scans, such as `Index Scan on people by people_pkey`. */
  readonly ways: ReadonlyArray<string>
  /** The rows read from tables and indexes of entities, including those filtered out. */
  readonly rows: number
  /** The rows among them that required a read of the heap. */
  readonly fetched: number
  /** Whether a filter looks rows up in a hash of all related ids. */
  readonly hashed: boolean
  readonly parallel: boolean
}

const accessOf = (root: Node): Access => {
  const ways = new Set<string>()
  let rows = 0
  let fetched = 0
  let hashed = false
  let parallel = false
  const visit = (node: Node) => {
    hashed ||= node.Filter?.includes("hashed SubPlan") === true
    parallel ||= node["Parallel Aware"] === true
    if (node["Node Type"].endsWith("Scan") && (node["Relation Name"] ?? node["Index Name"]) !== undefined) {
      const on = node["Relation Name"] === undefined ? "" : ` on ${node["Relation Name"]}`
      ways.add(`${node["Node Type"]}${on}${node["Index Name"] === undefined ? "" : ` by ${node["Index Name"]}`}`)
      const left = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)
      if (node["Relation Name"] !== "organizations") {
        const looked = (node["Actual Rows"] + left) * node["Actual Loops"]
        rows += looked
        // Heap Fetches is the sum over all loops.
        if (node["Relation Name"] !== undefined) fetched += node["Heap Fetches"] ?? looked
      }
    }
    for (const child of node.Plans ?? []) visit(child)
  }
  visit(root)
  return { ways: [...ways], rows: Math.round(rows), fetched: Math.round(fetched), hashed, parallel }
}

const literal = (value: unknown): string =>
  value === null || value === undefined
    ? "NULL"
    : Array.isArray(value)
      ? literal(`{${value.map((one) => JSON.stringify(String(one))).join(",")}}`)
      : `'${String(value).replaceAll("'", "''")}'`

/** Executes a statement with a custom plan (for its values) or a generic plan (as a connection caches it). */
export const accessOfStatement = Effect.fnUntraced(function* (
  client: PgClient.PgClient,
  { parameters, text }: Statement,
  plan: "custom" | "generic"
) {
  yield* client.unsafe(`SET LOCAL plan_cache_mode = force_${plan}_plan`).unprepared
  yield* client.unsafe(`PREPARE max_plan AS ${text}`).unprepared
  const argumentList = parameters.length === 0 ? "" : `(${parameters.map(literal).join(", ")})`
  const [row] = yield* client.unsafe<{ "QUERY PLAN": unknown }>(
    `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE max_plan${argumentList}`
  ).unprepared
  yield* client.unsafe("DEALLOCATE max_plan").unprepared
  const raw = row!["QUERY PLAN"]
  const document = (typeof raw === "string" ? JSON.parse(raw) : raw) as ReadonlyArray<{ readonly Plan: Node }>
  return accessOf(document[0]!.Plan)
})
