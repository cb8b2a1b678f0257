/** The tables of an organization: those that move, and the removal of its rows from a database. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { qualified } from "../../../database/sql/SqlWriter.ts"
import { define, isOwnTable, MANAGED } from "../../catalog/physicalColumns.ts"
import { nameOf, readShapes, type TableShape, tableStatements } from "../backup/TableShape.ts"

/** Each database's own row about the move. */
const OWN_RECORD = "max.moves"

/** The names of the organization's own managed tables, of every version of its types. */
export const ownTablesOf = (sql: PgClient.PgClient, id: bigint) =>
  Effect.map(
    sql<{ name: string }>`SELECT DISTINCT relation_table AS name FROM builder.entity_type_versions
      WHERE organization_id = ${id} AND relation_schema = ${MANAGED} ORDER BY 1`,
    (rows) => rows.map(({ name }) => name).filter((table) => isOwnTable({ schema: MANAGED, table }))
  )

/** The shared tables, and the organization's own ones, each after those that it references. */
export const tablesOf = Effect.fnUntraced(function* (sql: PgClient.PgClient, id: bigint) {
  const own = new Set(yield* ownTablesOf(sql, id))
  return (yield* readShapes(sql)).filter(
    (shape) => nameOf(shape) !== OWN_RECORD && (!isOwnTable(shape) || own.has(shape.table))
  )
})

/** Creates the organization's own tables at the target, unless they exist. */
export const createOwnTables = Effect.fnUntraced(function* (sql: PgClient.PgClient, tables: ReadonlyArray<TableShape>) {
  const [trigrams] = yield* sql<{ schema: string }>`
    SELECT n.nspname::text AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'`
  const existing = new Set((yield* readShapes(sql)).map(nameOf))
  for (const shape of tables.filter((shape) => isOwnTable(shape) && !existing.has(nameOf(shape)))) {
    const { indexes, table } = yield* tableStatements(shape, trigrams?.schema)
    yield* define(sql, [table, ...indexes])
  }
})

/** What stays where an organization moved away, so that its requests are answered as unavailable and never as unknown. */
export const KEPT = "max.organizations"

/** Deletes an organization's rows and drops its own tables, table by table, so that an interruption can be continued. */
export const deleteRows = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  id: bigint,
  own: ReadonlyArray<string>,
  kept?: string
) {
  // First, because the rows of the catalog name them.
  const existing = (yield* readShapes(sql)).filter((shape) => isOwnTable(shape) && own.includes(shape.table))
  yield* define(
    sql,
    existing.map((shape) => `DROP TABLE ${qualified(shape)}`)
  )
  const permanent = (yield* readShapes(sql)).filter((shape) => !isOwnTable(shape)).toReversed()
  const unlogged = yield* sql<{ schema: string; table: string }>`
    SELECT n.nspname::text AS schema, c.relname::text AS table FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'max' AND c.relkind = 'r' AND c.relpersistence = 'u'
      AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'organization_id')`
  for (const shape of [...unlogged, ...permanent]) {
    if ([OWN_RECORD, kept].includes(nameOf(shape))) continue
    yield* Effect.andThen(
      sql`SELECT set_config('max.cleaning', ${String(id)}, true)`,
      sql.unsafe(`DELETE FROM ${qualified(shape)} WHERE organization_id = $1::bigint`, [id])
    ).pipe(sql.withTransaction)
  }
})
