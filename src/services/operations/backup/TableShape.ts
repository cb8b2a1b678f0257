/**
 * Max's tables as they are, from the system catalog: so that tables of later migrations, and those that organizations
 * have of their own, come along without being named anywhere. A shape holds no SQL: what is made of one that came out of
 * a file is written here, from names that are quoted and types that are known.
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
      /** Sorted by code point, as search keys are. */
      byCodePoint: Schema.Boolean,
      required: Schema.Boolean,
      /** The expression that Postgres writes for it. */
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
  /** The tables that its foreign keys lead to, as `schema.table`. */
  references: names
})
export type TableShape = typeof TableShape.Type

/**
 * Every table of Max's that is to last: what isn't logged (traces) is no loss. The schema `data` may have somebody
 * else's tables in it: they don't lead each key with an organization, or a type is mapped to them. (A version has a
 * mapping since one of the migrations; before it, none has.)
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

export const nameOf = ({ schema, table }: TableShape): string => `${schema}.${table}`

/** Max's tables, those that others refer to before those. */
export const readShapes = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const [row] = yield* sql.unsafe<{ shapes: unknown }>(SHAPES).unprepared
  const waiting = new Map(decodeShapes(row!.shapes).map((shape) => [nameOf(shape), shape]))
  const ordered: Array<TableShape> = []
  while (waiting.size > 0) {
    const free = [...waiting.values()].filter(({ references }) => !references.some((name) => waiting.has(name)))
    // Tables that refer to each other in a circle come in any order: the database will say so.
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

/** The statements that make a table of an organization's own as it was; its indexes are made when the rows are there. */
export const tableStatements = Effect.fnUntraced(function* (shape: TableShape, trigramSchema: string | undefined) {
  const refuse = (what: string) =>
    new OperatorError({
      message: `The backup has a table ${quoted(nameOf(shape))} that Max doesn't make: ${what}. Nothing was restored.`
    })
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

/** The columns of a table in order, as a text that only the same columns have. */
export const columnsOf = ({ columns }: TableShape): string =>
  JSON.stringify(columns.map(({ name, type }) => [name, type]))
