/** The table of kept traces, bounded by age, number and size: written in batches, listed, found by reference, summed up. */
import { Context, Effect, Layer, Schema, Stream } from "effect"
import { Database } from "../../database/Database.ts"
import { decodeRows } from "../../database/decodeRows.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { joinParts, Trace } from "../../observability/Trace.ts"
import type { Bar, SpanTotals, TraceLine } from "../../wire/traces.ts"
import { makeWriteTraces } from "./writeTraces.ts"

export interface TraceQuery {
  /** Undefined selects every organization. */
  readonly organizationId?: bigint | undefined
  /** A prefix of the root's name. */
  readonly name?: string | undefined
  /** Only failed traces; with `denied`, failed traces and traces with a denial. */
  readonly failed?: boolean | undefined
  readonly denied?: boolean | undefined
  readonly atLeastMilliseconds?: number | undefined
  /** Minutes before now. */
  readonly sinceMinutes?: number | undefined
  readonly limit: number
}

const BARS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000]

/** The limits of the store. */
export interface Retention {
  readonly days: number
  readonly traces: number
  readonly megabytes: number
}

const decodeDocument = Schema.decodeEffect(Schema.fromJsonString(Trace))

const decodeParts = decodeRows(
  Schema.Struct({
    document: Schema.String,
    statements: Schema.NullOr(Schema.Record(Schema.String, Schema.String))
  })
)

/** The traces with one id or reference that are shown, and their parts. */
const MAX_FOUND = 20
const MAX_PARTS = 200

/** The newest traces of ten seconds that `follow` reads. */
const MAX_FOLLOWED = 500

export class TraceStore extends Context.Service<
  TraceStore,
  {
    readonly write: (traces: ReadonlyArray<Trace>) => Effect.Effect<void, Unavailable>
    /** Deletes the oldest traces beyond a limit. */
    readonly prune: (retention: Retention) => Effect.Effect<void, Unavailable>
    /** The newest first. */
    readonly list: (query: TraceQuery) => Effect.Effect<ReadonlyArray<TraceLine>, Unavailable>
    /** Complete traces, the newest first. */
    readonly read: (query: TraceQuery) => Effect.Effect<ReadonlyArray<Trace>, Unavailable>
    /**
     * The complete traces with this id or reference: first those whose id Max chose, then those that continue a trace of
     * their caller, who chose the id; the newest first of each.
     */
    readonly get: (idOrReference: string, organizationId?: bigint) => Effect.Effect<ReadonlyArray<Trace>, Unavailable>
    /** Texts of statements by hash (`max.statement`). */
    readonly statements: (
      hashes: ReadonlyArray<string>,
      organizationId?: bigint
    ) => Effect.Effect<ReadonlyMap<string, string>, Unavailable>
    /** The number of traces by duration, the fastest first. */
    readonly histogram: (query: TraceQuery) => Effect.Effect<ReadonlyArray<Bar>, Unavailable>
    /** Traces that any process stores from now on. */
    readonly follow: (query: TraceQuery) => Stream.Stream<TraceLine, Unavailable>
    /** Totals of spans by name, the largest self time first. */
    readonly top: (query: TraceQuery) => Effect.Effect<ReadonlyArray<SpanTotals>, Unavailable>
  }
>()("max/services/TraceStore") {
  static readonly layer = Layer.effect(
    TraceStore,
    Effect.gen(function* () {
      const { traces: sql } = yield* Database
      const writeTraces = makeWriteTraces(sql)
      // Tracing the statements that store traces would never end.
      const untraced = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.withTracerEnabled(orUnavailable(effect), false)

      const matching = ({ atLeastMilliseconds, denied, failed, name, organizationId, sinceMinutes }: TraceQuery) =>
        sql.and([
          sql`true`,
          ...(organizationId === undefined ? [] : [sql`t.organization_id = ${organizationId}`]),
          ...(name === undefined ? [] : [sql`starts_with(t.name, ${name}::text)`]),
          ...(failed === true || denied === true
            ? [
                sql.or([
                  ...(failed === true ? [sql`t.failure IS NOT NULL`] : []),
                  ...(denied === true ? [sql`t.denied`] : [])
                ])
              ]
            : []),
          ...(atLeastMilliseconds === undefined
            ? []
            : [sql`t.microseconds >= ${Math.round(atLeastMilliseconds * 1000)}::bigint`]),
          ...(sinceMinutes === undefined
            ? []
            : [sql`t.started_at >= now() - make_interval(mins => ${sinceMinutes}::int)`])
        ])

      /** Times are counted by their first three digits: sorting each of a hundred thousand would take much longer. */
      const rounding = sql`CASE WHEN s.self < 1000 THEN 1 WHEN s.self < 10000 THEN 10 WHEN s.self < 100000 THEN 100
        WHEN s.self < 1000000 THEN 1000 WHEN s.self < 10000000 THEN 10000 ELSE 100000 END`

      const lines = (query: TraceQuery, further = sql`true`) =>
        untraced(sql<TraceLine>`
          SELECT t.trace_id AS "traceId", t.reference,
            to_char(t.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "startedAt", t.name,
            t.microseconds::float8 / 1000 AS milliseconds, t.failure, t.denied, cardinality(t.span_names) AS spans
          FROM max.traces t WHERE ${sql.and([matching(query), further])}
          ORDER BY t.started_at DESC, t.trace_id LIMIT ${query.limit}::int`)

      /** Reads the last ten seconds each time, because transactions of several processes commit in any order. */
      const follow = (query: TraceQuery) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const recent = lines({ ...query, limit: MAX_FOLLOWED }, sql`t.stored_at > now() - interval '10 seconds'`)
            const keyOf = ({ name, startedAt, traceId }: TraceLine) => `${traceId} ${startedAt} ${name}`
            let seen = new Set((yield* recent).map(keyOf))
            const unseen = Effect.map(recent, (current) => {
              const added = current.filter((line) => !seen.has(keyOf(line)))
              seen = new Set(current.map(keyOf))
              return added.toReversed()
            })
            return Stream.tick("1 second").pipe(
              Stream.drop(1),
              Stream.mapEffect(() => unseen),
              Stream.flatMap(Stream.fromIterable)
            )
          })
        )

      return TraceStore.of({
        write: (traces) => Effect.asVoid(untraced(writeTraces(traces))),

        prune: ({ days, megabytes, traces }) =>
          Effect.asVoid(
            untraced(
              Effect.all([
                sql`DELETE FROM max.traces WHERE started_at < now() - make_interval(days => ${days}::int)`,
                sql`DELETE FROM max.traced_statements WHERE seen_at < now() - make_interval(days => ${days + 1}::int)`,
                sql`DELETE FROM max.traces t USING (
                      SELECT organization_id, trace_id, root_span_id, row_number() OVER newest AS n, sum(bytes) OVER newest AS size
                      FROM max.traces WINDOW newest AS (ORDER BY started_at DESC, trace_id, root_span_id)) o
                    WHERE (o.n > ${traces}::int OR o.size > ${megabytes}::bigint * 1000000)
                      AND t.organization_id = o.organization_id AND t.trace_id = o.trace_id AND t.root_span_id = o.root_span_id`
              ])
            )
          ),

        list: (query) => lines(query),

        follow,

        histogram: (query) =>
          untraced(sql<{ bar: number; count: number; failed: number }>`
            SELECT width_bucket(t.microseconds, ${BARS.map((ms) => ms * 1000)}::bigint[]) AS bar, count(*)::int AS count,
              count(*) FILTER (WHERE t.failure IS NOT NULL OR t.denied)::int AS failed
            FROM max.traces t WHERE ${matching(query)} GROUP BY 1`).pipe(
            Effect.map((counts) => {
              const byBar = new Map(counts.map((count) => [count.bar, count]))
              return [0, ...BARS].map((from, bar): Bar => {
                const { count = 0, failed = 0 } = byBar.get(bar) ?? {}
                return { from, ...(BARS[bar] === undefined ? {} : { to: BARS[bar] }), count, failed }
              })
            })
          ),

        read: (query) =>
          untraced(sql<{ document: string }>`
            SELECT t.document FROM max.traces t WHERE ${matching(query)} ORDER BY t.started_at DESC LIMIT ${query.limit}::int`).pipe(
            Effect.flatMap(Effect.forEach(({ document }) => Effect.orDie(decodeDocument(document)))),
            Effect.map(joinParts)
          ),

        get: (idOrReference, organizationId) =>
          untraced(sql`
            WITH found AS (
              SELECT t.organization_id, t.trace_id, max(t.started_at) AS newest,
                bool_and(t.document::json #> '{spans,0,parentId}' IS NOT NULL) AS continued
              FROM max.traces t
              WHERE (t.trace_id = ${idOrReference.toLowerCase()} OR t.reference = ${idOrReference.toUpperCase()})
                AND ${matching({ organizationId, limit: 0 })}
              GROUP BY 1, 2 ORDER BY continued, newest DESC LIMIT ${MAX_FOUND})
            SELECT t.document, (SELECT json_object_agg(s.hash, s.statement) FROM max.traced_statements s
              WHERE s.organization_id = t.organization_id AND position('"' || s.hash || '"' IN t.document) > 0) AS statements
            FROM found f JOIN max.traces t ON t.organization_id = f.organization_id AND t.trace_id = f.trace_id
            ORDER BY f.continued, f.newest DESC, t.started_at DESC LIMIT ${MAX_PARTS}`).pipe(
            decodeParts,
            Effect.flatMap(
              Effect.forEach(({ document, statements }) =>
                Effect.map(Effect.orDie(decodeDocument(document)), (trace) => ({
                  ...trace,
                  statements: statements ?? {}
                }))
              )
            ),
            Effect.map(joinParts)
          ),

        statements: (hashes, organizationId) =>
          untraced(sql<{ hash: string; statement: string }>`
            SELECT hash, statement FROM max.traced_statements WHERE hash = ANY(${hashes}::text[])
              AND (${organizationId ?? null}::bigint IS NULL OR organization_id = ${organizationId ?? null}::bigint)`).pipe(
            Effect.map((rows) => new Map(rows.map(({ hash, statement }) => [hash, statement])))
          ),

        top: (query) =>
          untraced(sql<SpanTotals>`
            WITH spans AS (
              SELECT s.name COLLATE "C" AS name, s.self - s.self % ${rounding} AS self, count(*) AS n, sum(s.self) AS whole
              FROM max.traces t CROSS JOIN LATERAL unnest(t.span_names, t.self_microseconds) AS s(name, self)
              WHERE ${matching(query)} GROUP BY 1, 2),
            ranked AS (
              SELECT name, self, whole, sum(n) OVER (PARTITION BY name ORDER BY self) AS rank, sum(n) OVER (PARTITION BY name) AS count
              FROM spans)
            SELECT name, max(count)::int AS count, sum(whole)::float8 / 1000 AS self,
              min(self) FILTER (WHERE rank >= count * 0.5)::float8 / 1000 AS p50,
              min(self) FILTER (WHERE rank >= count * 0.95)::float8 / 1000 AS p95,
              min(self) FILTER (WHERE rank >= count * 0.99)::float8 / 1000 AS p99
            FROM ranked GROUP BY name ORDER BY sum(whole) DESC LIMIT ${query.limit}::int`)
      })
    })
  )
}
