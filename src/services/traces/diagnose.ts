/**
 * Findings in stored traces. The database plans the slowest lookups again: one that reads a large table sequentially
 * lacks an index.
 */
import { Effect } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type Finding, findings } from "../../observability/findings.ts"
import { explainStatement, type PlanNode, sequentialScans } from "./explainStatement.ts"
import { TraceStore, type TraceQuery } from "./TraceStore.ts"

/** The newest traces that are read. */
const MAX_TRACES = 2000
/** The slowest statements that are planned. */
const MAX_EXPLAINED = 5
/** A sequential scan of fewer rows is fast enough. */
const LARGE_TABLE = 10_000

/** A plan's condition without the statement's table aliases. */
const withoutAliases = (filter: string): string =>
  filter.replace(/\b\w+\.(?=\w+\b(?!\())/g, "").replace(/^\((.*)\)$/, "$1")

/** Postgres' estimate of a table's rows. */
const rowsOf = (relation: string) =>
  Effect.flatMap(Database, ({ search }) =>
    orUnavailable(
      search<{ rows: number }>`SELECT reltuples::float8 AS rows FROM pg_class WHERE oid = to_regclass(${relation})`
    )
  ).pipe(Effect.map(([row]) => row?.rows ?? 0))

const missingIndex = Effect.fnUntraced(function* (slow: Finding, { filter, relation }: PlanNode) {
  if (relation === undefined || filter === undefined) return []
  const rows = yield* rowsOf(relation)
  if (rows < LARGE_TABLE) return []
  const finding: Finding = {
    kind: "missing index",
    message: `${slow.message.split(" took ")[0]} reads every row of ${relation}, about ${Math.round(rows).toLocaleString("en")}, for ${withoutAliases(filter)}`,
    command: "max doctor",
    reference: slow.reference,
    traces: slow.traces
  }
  return [finding]
})

const missingIndexOf = Effect.fnUntraced(function* (slow: Finding, statement: string) {
  const plan = yield* explainStatement(statement, undefined)
  return (yield* Effect.forEach(sequentialScans(plan), (scan) => missingIndex(slow, scan))).flat().slice(0, 1)
})

/** The findings in the traces that match, and the number of traces that were read. */
export const diagnose = Effect.fn("diagnose")(function* (query: Omit<TraceQuery, "limit">) {
  const store = yield* TraceStore
  const traces = yield* store.read({ ...query, limit: MAX_TRACES })
  const inTraces = findings(traces)
  const slow = inTraces
    .flatMap((finding) => (finding.statement === undefined ? [] : [{ ...finding, statement: finding.statement }]))
    .slice(0, MAX_EXPLAINED)
  const texts = yield* store.statements(
    slow.map(({ statement }) => statement),
    query.organizationId
  )
  const missing = yield* Effect.forEach(slow, (finding) => {
    const text = texts.get(finding.statement)
    // A statement that can't be planned any more, such as one over a dropped table, yields no finding.
    const none = () => []
    return text === undefined
      ? Effect.succeed(none())
      : Effect.withTracerEnabled(Effect.orElseSucceed(missingIndexOf(finding, text), none), false)
  })
  return { findings: [...missing.flat(), ...inTraces], traces: traces.length }
})
