/** Statistics for the planner after many rows were written; those of searched columns are finer in a large table. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Relation } from "../domain/EntityType.ts"
import { identifier, qualified } from "./sql/SqlWriter.ts"

/**
 * With more rows than this, a searched column gets the finer target. Postgres estimates a pattern's rows with the values
 * in its statistics, and with the default target of 100 a pattern that one row in 200 matches can match none of them: it
 * then expects one row in 10,000, and sorts all matches instead of reading a page in order.
 */
const LARGE = 2_000_000
/** Planning a search compares this many values with each pattern, which takes 0.2 ms. */
const FINE_TARGET = 1000

/** Runs ANALYZE. Tables over two million rows get a statistics target of 1,000 for columns with a trigram index. */
export const refreshStatistics = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  relations: ReadonlyArray<Relation>
) {
  const tables = relations.map(qualified)
  for (const table of tables) yield* owner.unsafe(`ANALYZE ${table}`).unprepared
  const coarse = yield* owner<{ table: string; columns: ReadonlyArray<string> }>`
    SELECT t.name AS table, array_agg(DISTINCT a.attname::text) AS columns
    FROM unnest(${tables}::text[]) AS t (name) JOIN pg_class c ON c.oid = to_regclass(t.name)
    JOIN pg_index i ON i.indrelid = c.oid CROSS JOIN unnest(i.indkey::int2[], i.indclass::oid[]) AS k (attnum, class)
    JOIN pg_opclass o ON o.oid = k.class JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
    WHERE c.reltuples > ${LARGE} AND o.opcname = 'gin_trgm_ops' AND coalesce(a.attstattarget, -1) = -1 GROUP BY t.name`
  for (const { columns, table } of coarse) {
    const names = columns.map(identifier)
    const targets = names.map((name) => `ALTER COLUMN ${name} SET STATISTICS ${FINE_TARGET}`)
    yield* owner.unsafe(`ALTER TABLE ${table} ${targets.join(", ")}`).unprepared
    yield* owner.unsafe(`ANALYZE ${table} (${names.join(", ")})`).unprepared
  }
})
