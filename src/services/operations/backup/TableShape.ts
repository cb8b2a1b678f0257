/**
 * The definitions of Max's tables, read from the system catalog, so that backups include tables of later migrations and
 * organizations' managed tables without a list. A shape contains no SQL except defaults that match a pattern: statements
 * from a backup file's shape use quoted names and allowed types only.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { identifier, qualified } from "../../../database/sql/SqlWriter.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"
import { MANAGED } from "../../catalog/physicalColumns.ts"

const names = Schema.Array(Schema.String)

export const TableShape = Schema.Struct({
  schema: Schema.String,
  table: Schema.String,
  columns: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      type: Schema.String,
      /** Whether the collation is "C", as of search keys. */
      byCodePoint: Schema.Boolean,
      required: Schema.Boolean,
      /** The default, as Postgres prints the expression. */
      fallback: Schema.NullOr(Schema.String),
      generated: Schema.Boolean
    })
  ),
  /** The primary key first. */
  keys: Schema.Array(Schema.Struct({ primary: Schema.Boolean, columns: names })),
  indexes: Schema.Array(
    Schema.Struct({
      method: Schema.String,
      columns: Schema.Array(Schema.Struct({ name: Schema.String, operators: Schema.NullOr(Schema.String) })),
      included: names
    })
  ),
  /** The tables that its foreign keys reference, as `schema.table`. */
  references: names
})
export type TableShape = typeof TableShape.Type

/**
 * Every permanent table of Max; unlogged ones (traces) are excluded. The schema `data` may contain foreign tables: those
 * whose primary key doesn't lead with organization_id, and those that a type is mapped to. (`to_jsonb` because the column
 * `mapping` is missing in the oldest schemas.)
 */
const SHAPES = `SELECT coalesce(json_agg(x.shape ORDER BY x.shape->>'schema', x.shape->>'table'), '[]') AS shapes FROM (
  SELECT json_build_object('schema', n.nspname, 'table', c.relname,
    'columns', (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
        'byCodePoint', a.attcollation = 'pg_catalog."C"'::regcollation, 'required', a.attnotnull,
        'fallback', pg_get_expr(d.adbin, d.adrelid), 'generated', a.attgenerated <> '') ORDER BY a.attnum)
      FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
    'keys', (SELECT coalesce(json_agg(json_build_object('primary', k.contype = 'p', 'columns', (
          SELECT json_agg(a.attname ORDER BY u.place) FROM unnest(k.conkey) WITH ORDINALITY u(number, place)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number)) ORDER BY k.contype, k.conname), '[]')
      FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u')),
    'indexes', (SELECT coalesce(json_agg(json_build_object('method', m.amname,
          'columns', (SELECT json_agg(json_build_object('name', a.attname,
              'operators', CASE WHEN NOT o.opcdefault THEN o.opcname END) ORDER BY u.place)
            FROM unnest(i.indkey::int2[]) WITH ORDINALITY u(number, place)
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number
            JOIN pg_opclass o ON o.oid = (i.indclass::oid[])[u.place - 1] WHERE u.place <= i.indnkeyatts),
          'included', (SELECT coalesce(json_agg(a.attname ORDER BY u.place), '[]')
            FROM unnest(i.indkey::int2[]) WITH ORDINALITY u(number, place)
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number WHERE u.place > i.indnkeyatts)) ORDER BY k.relname), '[]')
      FROM pg_index i JOIN pg_class k ON k.oid = i.indexrelid JOIN pg_am m ON m.oid = k.relam
      WHERE i.indrelid = c.oid AND NOT i.indisunique AND i.indexprs IS NULL AND i.indpred IS NULL),
    'references', (SELECT coalesce(json_agg(DISTINCT rn.nspname || '.' || r.relname), '[]') FROM pg_constraint k
      JOIN pg_class r ON r.oid = k.confrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
      WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> c.oid)) AS shape
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND NOT c.relispartition AND (n.nspname IN ('max', 'builder') AND (n.nspname, c.relname) <> ('max', 'migrations')
    OR n.nspname = 'data' AND EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'organization_id')
    AND NOT EXISTS (SELECT FROM builder.entity_type_versions v
      WHERE v.relation_schema = n.nspname AND v.relation_table = c.relname AND to_jsonb(v)->>'mapping' IS NOT NULL))) x`

const decodeShapes = Schema.decodeUnknownSync(Schema.Array(TableShape))

export const nameOf = ({ schema, table }: Pick<TableShape, "schema" | "table">): string => `${schema}.${table}`

/** Max's tables, each after the tables that it references. */
export const readShapes = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const [row] = yield* sql.unsafe<{ shapes: unknown }>(SHAPES).unprepared
  const waiting = new Map(decodeShapes(row!.shapes).map((shape) => [nameOf(shape), shape]))
  const ordered: Array<TableShape> = []
  while (waiting.size > 0) {
    const free = [...waiting.values()].filter(({ references }) => !references.some((name) => waiting.has(name)))
    // Tables with circular references come in any order; creating them fails.
    for (const shape of free.length > 0 ? free : [...waiting.values()]) {
      ordered.push(shape)
      waiting.delete(nameOf(shape))
    }
  }
  return ordered
})

const TYPES = new Set([
  "text",
  "bigint",
  "integer",
  "boolean",
  "numeric",
  "double precision",
  "date",
  "timestamp with time zone",
  "jsonb",
  "bytea"
])
const METHODS = new Set(["btree", "gin", "hash", "brin", "gist"])
const FALLBACK = /^(now\(\)|true|false|-?\d{1,18}|'[^'\\]*'::[a-z ]+(\[\])?)$/

/** The statements that create an organization's managed table; its indexes are created after the rows are inserted. */
export const tableStatements = Effect.fnUntraced(function* (shape: TableShape, trigramSchema: string | undefined) {
  const refuse = (reason: string) =>
    OperatorError.of(
      `The backup has a table ${quoted(nameOf(shape))} that Max doesn't create: ${reason}. Nothing was restored.`
    )
  if (shape.schema !== MANAGED) return yield* refuse("it isn't among an organization's data")
  const table = qualified(shape)
  const definitions: Array<string> = []
  for (const { byCodePoint, fallback, generated, name, required, type } of shape.columns) {
    if (!TYPES.has(type.replace(/\[\]$/, ""))) return yield* refuse(`its column ${quoted(name)} is a ${quoted(type)}`)
    if (generated || (fallback !== null && !FALLBACK.test(fallback)))
      return yield* refuse(`its column ${quoted(name)} is computed`)
    const column = identifier(name)
    definitions.push(
      `${column} ${type}${byCodePoint ? ' COLLATE "C"' : ""}${required ? " NOT NULL" : ""}` +
        (fallback === null ? "" : ` DEFAULT ${fallback}`) +
        (type === "numeric" ? ` CHECK (${column} > '-Infinity'::numeric AND ${column} < 'Infinity'::numeric)` : "")
    )
  }
  for (const { columns, primary } of shape.keys)
    definitions.push(`${primary ? "PRIMARY KEY" : "UNIQUE"} (${columns.map(identifier).join(", ")})`)
  const indexes: Array<string> = []
  for (const { columns, included, method } of shape.indexes) {
    if (!METHODS.has(method)) return yield* refuse(`it has an index of the kind ${quoted(method)}`)
    const keys = columns.map(({ name, operators }) =>
      operators === null
        ? identifier(name)
        : `${identifier(name)} ${identifier(operators.includes("trgm") ? (trigramSchema ?? "max") : "pg_catalog")}.${identifier(operators)}`
    )
    indexes.push(
      `CREATE INDEX ON ${table} USING ${method} (${keys.join(", ")})` +
        (included.length === 0 ? "" : ` INCLUDE (${included.map(identifier).join(", ")})`)
    )
  }
  return { table: `CREATE TABLE ${table} (${definitions.join(", ")})`, indexes }
})

/** A text that is equal for tables with the same columns in the same order. */
export const columnsOf = ({ columns }: TableShape): string =>
  JSON.stringify(columns.map(({ name, type }) => [name, type]))
