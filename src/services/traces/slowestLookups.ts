/**
 * What stands out in the traces that were kept. Of the slowest lookups the database is asked how it would run them:
 * a large table that is read from end to end for a part of it lacks an index.
 */
import { Effect } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type Finding, findings } from "../../observability/findings.ts"
import { explainStatement, type PlanNode, readWhole } from "./explainStatement.ts"
import { TraceStore, type TraceQuery } from "./TraceStore.ts"

/** Traces that are looked at, at most. */
const MAX_LOOKED_AT = 2000
/** Statements that the database is asked about, at most. */
const MAX_EXPLAINED = 5
/** From so many rows on reading all of them is slow. */
const MANY_ROWS = 10_000

/** A condition without the names that the statement has for its tables. */
const bare = (filter: string): string => filter.replace(/\b\w+\.(?=\w+\b(?!\())/g, "").replace(/^\((.*)\)$/, "$1")

const rowsOf = (relation: string) =>
  Effect.flatMap(Database, ({ search }) =>
    orUnavailable(
      search<{ rows: number }>`SELECT reltuples::float8 AS rows FROM pg_class WHERE oid = to_regclass(${relation})`
    )
  ).pipe(Effect.map(([row]) => row?.rows ?? 0))

const missingIndex = Effect.fnUntraced(function* (slow: Finding, { filter, relation }: PlanNode) {
  if (relation === undefined || filter === undefined) return []
  const rows = yield* rowsOf(relation)
  if (rows < MANY_ROWS) return []
  const found: Finding = {
    kind: "missing index",
    message: `${slow.message.split(" took ")[0]} looks at every row of ${relation}, about ${Math.round(rows).toLocaleString("en")}, for ${bare(filter)}`,
    command: "max doctor",
    reference: slow.reference,
    traces: slow.traces
  }
  return [found]
})

const explained = Effect.fnUntraced(function* (slow: Finding, statement: string) {
  const plan = yield* explainStatement(statement, undefined)
  return (yield* Effect.forEach(readWhole(plan), (scan) => missingIndex(slow, scan))).flat().slice(0, 1)
})

/** What stands out, and in how many traces that was looked for. */
export const findingsAmong = Effect.fn("findingsAmong")(function* (query: Omit<TraceQuery, "limit">) {
  const store = yield* TraceStore
  const traces = yield* store.read({ ...query, limit: MAX_LOOKED_AT })
  const found = findings(traces)
  const slow = found.flatMap((one) => (one.statement === undefined ? [] : [{ ...one, statement: one.statement }]))
  const asked = slow.slice(0, MAX_EXPLAINED)
  const texts = yield* store.statements(
    asked.map(({ statement }) => statement),
    query.organizationId
  )
  const missing = yield* Effect.forEach(asked, (one) => {
    const text = texts.get(one.statement)
    // What can't be explained any more, such as a statement over a table that is gone, says nothing.
    const none = () => []
    return text === undefined
      ? Effect.succeed(none())
      : Effect.withTracerEnabled(Effect.orElseSucceed(explained(one, text), none), false)
  })
  return { findings: [...missing.flat(), ...found], traces: traces.length }
})
