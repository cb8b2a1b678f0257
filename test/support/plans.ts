/** How Postgres runs a statement: which ways it takes into each table, and how many rows it looks at on them. */
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
  readonly Plans?: ReadonlyArray<Node>
}

export interface Access {
  /** `Index Scan on people by people_pkey` and the like, each once. */
  readonly ways: ReadonlyArray<string>
  /** Rows that were read from tables and indexes of entities, those included that were then left out. */
  readonly rows: number
  /** Of these, the ones that their table was read for, because no index had what was asked. */
  readonly fetched: number
}

const accessOf = (root: Node): Access => {
  const ways = new Set<string>()
  let rows = 0
  let fetched = 0
  const visit = (node: Node) => {
    if (node["Node Type"].endsWith("Scan") && (node["Relation Name"] ?? node["Index Name"]) !== undefined) {
      const on = node["Relation Name"] === undefined ? "" : ` on ${node["Relation Name"]}`
      ways.add(`${node["Node Type"]}${on}${node["Index Name"] === undefined ? "" : ` by ${node["Index Name"]}`}`)
      const left = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)
      if (node["Relation Name"] !== "organizations") {
        const looked = (node["Actual Rows"] + left) * node["Actual Loops"]
        rows += looked
        // How often an index alone wouldn't do is said for all rounds together.
        if (node["Relation Name"] !== undefined) fetched += node["Heap Fetches"] ?? looked
      }
    }
    for (const child of node.Plans ?? []) visit(child)
  }
  visit(root)
  return { ways: [...ways], rows: Math.round(rows), fetched: Math.round(fetched) }
}

const literal = (value: unknown): string =>
  value === null || value === undefined
    ? "NULL"
    : Array.isArray(value)
      ? literal(`{${value.map((one) => JSON.stringify(String(one))).join(",")}}`)
      : `'${String(value).replaceAll("'", "''")}'`

/** Runs a statement as its pool would: planned for its values, or, where plans are kept, for any. */
export const accessOfStatement = Effect.fnUntraced(function* (
  client: PgClient.PgClient,
  { parameters, text }: Statement,
  plan: "custom" | "generic"
) {
  yield* client.unsafe(`SET LOCAL plan_cache_mode = force_${plan}_plan`).unprepared
  yield* client.unsafe(`PREPARE max_plan AS ${text}`).unprepared
  const given = parameters.length === 0 ? "" : `(${parameters.map(literal).join(", ")})`
  const [row] = yield* client.unsafe<{ "QUERY PLAN": unknown }>(
    `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE max_plan${given}`
  ).unprepared
  yield* client.unsafe("DEALLOCATE max_plan").unprepared
  const raw = row!["QUERY PLAN"]
  const document = (typeof raw === "string" ? JSON.parse(raw) : raw) as ReadonlyArray<{ readonly Plan: Node }>
  return accessOf(document[0]!.Plan)
})
