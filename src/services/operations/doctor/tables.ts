/** Checks Max's tables: that they exist, have their indexes and statistics, and don't exceed what the server can hold. */
import { Effect } from "effect"
import { identifier, qualified } from "../../../database/sql/SqlWriter.ts"
import { type Check, fail, type Finding, ok, some, warn } from "./Finding.ts"

/** With more tables, the relation cache of each connection takes too much memory. */
const MANY_TABLES = 5_000

interface Missing {
  readonly schema: string
  readonly table: string
  readonly exists: boolean
  readonly column: string
  /** btree for equality and ranges, GIN of trigrams for substrings, GIN of array elements, btree of a link table. */
  readonly access: "ordered" | "trigrams" | "elements" | "linked"
}

/** The columns that the catalog filters by and that have no valid index; all columns of a missing table. */
const UNINDEXED = `WITH used AS (
    SELECT DISTINCT v.relation_schema AS schema, v.relation_table AS "table", coalesce(c.storage->>'keyColumn', c.storage->>'column') AS "column", w.access
    FROM builder.entity_type_versions v JOIN builder.columns c USING (organization_id, type_key, version)
    CROSS JOIN LATERAL (VALUES
      ('ordered', c.storage->'indexed' = 'true' OR c.kind IN ('integer', 'number', 'date', 'timestamp', 'reference')),
      ('trigrams', c.kind IN ('text', 'phone', 'email') AND c.column_key <> 'status'), ('elements', c.kind = 'list')) w(access, needed)
    WHERE v.relation_schema = 'data' AND to_jsonb(v)->>'mapping' IS NULL AND c.storage->>'_tag' IN ('Value', 'One') AND w.needed
    UNION SELECT DISTINCT c.storage->'link'->>'schema', c.storage->'link'->>'table', c.storage->>x.side, 'linked'
    FROM builder.columns c, (VALUES ('from'), ('to')) x(side) WHERE c.storage->'link'->>'schema' = 'data')
  SELECT u.*, t.oid IS NOT NULL AS exists FROM used u
  CROSS JOIN LATERAL (SELECT to_regclass(format('%I.%I', u.schema, u."table")) AS oid) t
  WHERE NOT EXISTS (SELECT FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid JOIN pg_am m ON m.oid = k.relam
    JOIN pg_attribute f ON f.attrelid = t.oid AND f.attnum = i.indkey[0]
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname = u."column"
    WHERE i.indrelid = t.oid AND i.indisvalid AND f.attname = 'organization_id' AND CASE WHEN u.access IN ('ordered', 'linked')
      THEN m.amname = 'btree' AND i.indkey[1] = a.attnum ELSE m.amname = 'gin' AND a.attnum = ANY(i.indkey::int2[]) END)
  ORDER BY 1, 2, 3`

export const indexes: Check = Effect.fnUntraced(function* ({ inspection, owner }) {
  if (inspection.schemaVersion === 0) return []
  const missing = yield* owner.unsafe<Missing>(UNINDEXED).unprepared
  const invalid = yield* owner<{ name: string }>`
      SELECT i.indexrelid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT i.indisvalid AND n.nspname IN ('max', 'builder', 'data')`
  const [trigrams] = yield* owner<{ schema: string }>`
      SELECT n.nspname::text AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'`
  const absent = [...new Set(missing.filter(({ exists }) => !exists).map(({ schema, table }) => `${schema}.${table}`))]
  const unindexed = missing.filter(({ exists }) => exists)
  const findings: Array<Finding> = []
  if (absent.length > 0)
    findings.push(
      fail(
        "tables",
        `${some(absent)} ${absent.length === 1 ? "is" : "are"} missing.`,
        "max restore FILE (into a new database)"
      )
    )
  if (unindexed.length > 0)
    findings.push(
      warn(
        "indexes",
        `No index covers ${some(unindexed.map(({ column, table }) => `${table}.${column}`))}: lookups read every row.`,
        ...unindexed.map((one) => indexOf(one, trigrams?.schema ?? "max"))
      )
    )
  if (invalid.length > 0)
    findings.push(
      warn(
        "indexes",
        `${some(invalid.map(({ name }) => name))} ${invalid.length === 1 ? "is" : "are"} incomplete and unused.`,
        ...invalid.map(({ name }) => `REINDEX INDEX CONCURRENTLY ${name};`)
      )
    )
  return findings.length > 0 ? findings : [ok("indexes", "Every column that lookups filter by has one.")]
})

const indexOf = ({ access, column, schema, table }: Missing, trigrams: string): string => {
  const on = `CREATE INDEX CONCURRENTLY ON ${qualified({ schema, table })}`
  const key = identifier(column)
  switch (access) {
    case "ordered":
      return `${on} (organization_id, ${key}, id);`
    case "linked":
      return `${on} (organization_id, ${key});`
    case "trigrams":
      return `${on} USING gin (organization_id, ${key} ${identifier(trigrams)}.gin_trgm_ops);`
    case "elements":
      return `${on} USING gin (organization_id, ${key});`
  }
}

/** Statistics are stale when this many rows, and more than half of the table, changed since the last ANALYZE. */
const CHANGED_ROWS = 10_000

export const statistics: Check = ({ inspection, owner }) =>
  inspection.schemaVersion === 0
    ? Effect.succeed([])
    : Effect.map(
        owner<{ name: string; never: boolean; autovacuum: boolean }>`
          SELECT c.oid::regclass::text AS name, c.reltuples < 0 AS never, current_setting('autovacuum') = 'on' AS autovacuum
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
          WHERE n.nspname IN ('max', 'builder', 'data') AND c.relkind = 'r' AND (
            (c.reltuples < 0 AND pg_relation_size(c.oid) > 65536)
            OR (s.n_mod_since_analyze > ${CHANGED_ROWS} AND s.n_mod_since_analyze > c.reltuples / 2)) ORDER BY 1`,
        (rows) =>
          rows.length === 0
            ? [ok("statistics", "The planner has current statistics.")]
            : [
                warn(
                  "statistics",
                  `Statistics of ${some(rows.map(({ name }) => name))} are ${rows.some(({ never }) => never) ? "missing" : "stale"}: the planner may choose slow plans.${rows[0]!.autovacuum ? "" : " Autovacuum, which would collect them, is off."}`,
                  `ANALYZE ${rows.map(({ name }) => name).join(", ")};`
                )
              ]
      )

/** The locks that a restore holds per table until it commits: the table, its TOAST table and their indexes. */
const LOCKS_PER_TABLE = 11

export const tables: Check = ({ inspection, owner }) =>
  inspection.schemaVersion === 0
    ? Effect.succeed([])
    : Effect.map(
        owner<{ own: number; all: number; locks: number; connections: number }>`
          SELECT count(*) FILTER (WHERE n.nspname = 'data')::int AS own, count(*)::int AS all,
            current_setting('max_locks_per_transaction')::int AS locks, current_setting('max_connections')::int AS connections
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p')`,
        ([row]) => {
          const { all, connections, locks, own } = row!
          const needed = Math.ceil((own * LOCKS_PER_TABLE) / connections)
          if (all > MANY_TABLES)
            return [
              warn(
                "tables",
                `${own} with organizations' data, ${all} in total: each connection needs much memory for them.`,
                "Raise the server's memory, or move some organizations to a separate database."
              )
            ]
          return [
            needed > locks
              ? warn(
                  "tables",
                  `${own} with organizations' data: a server with these settings may have too few locks to restore them in one transaction.`,
                  `ALTER SYSTEM SET max_locks_per_transaction = ${2 * needed}; (on the server to restore into, then restart Postgres)`
                )
              : ok("tables", `${own} with organizations' data.`)
          ]
        }
      )
