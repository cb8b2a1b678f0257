/** Writes traces and the statements that they name. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { shortReference } from "../../domain/reference.ts"
import { organizationOf, selfTimes, type Trace, type TraceSpan } from "../../observability/Trace.ts"

interface TracedStatement {
  readonly organization_id: string
  readonly hash: string
  readonly statement: string
}

const HOUR = 3_600_000
const MAX_WRITTEN = 5000

/** Statements have a separate table, because thousands of traces share one text. */
const statementsOf = (traces: ReadonlyArray<Trace>): ReadonlyArray<TracedStatement> => {
  const statements = new Map<string, TracedStatement>()
  for (const trace of traces) {
    const organization_id = String(organizationOf(trace))
    for (const [hash, statement] of Object.entries(trace.statements))
      statements.set(`${organization_id} ${hash}`, { organization_id, hash, statement })
  }
  return [...statements.values()]
}

const STATUS = "http.response.status_code"

/** A request that is answered with a server error ends with a successful span. */
const rootFailure = ({ attributes, failure }: TraceSpan): string | undefined =>
  failure ?? (Number(attributes[STATUS]) >= 500 ? `HTTP ${attributes[STATUS]}` : undefined)

const row = (trace: Trace) => {
  const root = trace.spans[0]!
  const self = selfTimes(trace.spans)
  return {
    organization_id: String(organizationOf(trace)),
    trace_id: trace.traceId,
    root_span_id: root.spanId,
    reference: shortReference(trace.traceId),
    started_at: new Date(Number(trace.startedAt / 1_000_000n)).toISOString(),
    name: root.name,
    microseconds: Math.round(root.duration / 1000),
    failure: rootFailure(root) ?? null,
    denied: trace.spans.some((span) => span.attributes["max.denied"] === true),
    span_names: trace.spans.map((span) => span.name),
    self_microseconds: trace.spans.map((span) => Math.round(self.get(span.spanId)! / 1000)),
    // The encoding of the schema, built by hand because every kept trace pays for it.
    document: { ...trace, startedAt: String(trace.startedAt), statements: {} }
  }
}

const INSERT = `
  INSERT INTO max.traces (organization_id, trace_id, root_span_id, reference, started_at, name, microseconds, failure,
    denied, span_names, self_microseconds, document, bytes)
  SELECT r.*, length(r.document) FROM json_to_recordset($1::json) AS r(organization_id bigint, trace_id text,
    root_span_id text, reference text, started_at timestamptz, name text, microseconds bigint, failure text, denied boolean,
    span_names text[], self_microseconds bigint[], document text)
  ON CONFLICT DO NOTHING`

const INSERT_STATEMENTS = `
  INSERT INTO max.traced_statements (organization_id, hash, statement)
  SELECT * FROM json_to_recordset($1::json) AS r(organization_id bigint, hash text, statement text)
  ON CONFLICT (organization_id, hash) DO UPDATE SET seen_at = now()
  WHERE traced_statements.seen_at < now() - interval '1 hour'`

/** Writes each trace once, however often it is given. */
export const makeWriteTraces = (sql: PgClient.PgClient) => {
  /** When each statement was written; it is written again after an hour, which marks it as in use. */
  const writtenAt = new Map<string, number>()
  const writeStatements = (statements: ReadonlyArray<TracedStatement>) => {
    const now = Date.now()
    const due = statements.filter(
      ({ hash, organization_id }) => (writtenAt.get(`${organization_id} ${hash}`) ?? 0) < now - HOUR
    )
    if (due.length === 0) return Effect.void
    if (writtenAt.size > MAX_WRITTEN) writtenAt.clear()
    return Effect.andThen(
      sql.unsafe(INSERT_STATEMENTS, [JSON.stringify(due)]),
      Effect.sync(() => due.forEach(({ hash, organization_id }) => writtenAt.set(`${organization_id} ${hash}`, now)))
    )
  }

  return (traces: ReadonlyArray<Trace>): Effect.Effect<unknown, SqlError.SqlError> =>
    traces.length === 0
      ? Effect.void
      : Effect.andThen(
          Effect.suspend(() => writeStatements(statementsOf(traces))),
          sql.unsafe(INSERT, [JSON.stringify(traces.map(row))])
        )
}
