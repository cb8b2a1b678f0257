/** Reads the tables and views of the database from its system catalog, in one statement. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { IdType, Limit, Relation, SourceType } from "../../domain/EntityType.ts"

export interface ColumnFacts {
  readonly name: string
  /** The type as Postgres writes it. */
  readonly typeName: string
  /** The type that it is read as; undefined when it isn't supported. */
  readonly type: SourceType | undefined
  /** The type of the ids that it can hold. */
  readonly idType: IdType | undefined
  /** The declared fractional digits of a second: frameworks that store UTC in times without a zone declare them. */
  readonly precision: number | null
  readonly notNull: boolean
  /** What its type takes, that of a domain included. */
  readonly limit: Limit
  /** Whether Postgres alone gives it its value: a generated column, or an identity that is always generated. */
  readonly generated: boolean
  /** Whether a row that doesn't state it gets a value: a default, an identity or a generated column. */
  readonly filled: boolean
  /** Whether it is of an enumeration. */
  readonly enumerated: boolean
  readonly comment: string | null
  /** The allowed values, from an enumeration or a check constraint. */
  readonly values: ReadonlyArray<string> | undefined
  readonly deterministic: boolean
}

interface ForeignKey {
  readonly columns: ReadonlyArray<string>
  /** schema.table */
  readonly target: string
  readonly targetColumns: ReadonlyArray<string>
}

/** A foreign key of another table, or of the same one, that leads here. */
interface Referrer {
  /** schema.table */
  readonly table: string
  readonly columns: ReadonlyArray<string>
  /** Its own columns, in the order of `columns`. */
  readonly from: ReadonlyArray<string>
  /** Whether its rows change with the key or go with the row: CASCADE, SET NULL or SET DEFAULT. */
  readonly followsUpdate: boolean
  readonly followsDelete: boolean
  /** Whether its rows are deleted with the row: CASCADE. */
  readonly goesAlong: boolean
}

export interface RelationFacts {
  readonly schema: string
  readonly table: string
  /** schema.table, as in files and on the command line. */
  readonly name: string
  readonly kind: "table" | "view" | "materialized view"
  readonly comment: string | null
  /** An estimate; negative when the table was never analyzed. */
  readonly rows: number
  readonly columns: ReadonlyArray<ColumnFacts>
  readonly primaryKey: ReadonlyArray<string>
  /** Sets of columns with a unique index. */
  readonly unique: ReadonlyArray<ReadonlyArray<string>>
  readonly foreignKeys: ReadonlyArray<ForeignKey>
  readonly referrers: ReadonlyArray<Referrer>
  /** The sequences that defaults of columns take their values from; an identity needs no right on its own. */
  readonly sequences: ReadonlyArray<Relation>
  /** Row security; a policy for reads can still let Max read it. */
  readonly rowSecurity: boolean
  /** Whether rules rewrite what is written. */
  readonly rules: boolean
  /** The triggers whose functions belong to a role that isn't trusted. */
  readonly foreignTriggers: ReadonlyArray<string>
  /** The triggers that run after a row is written, as the role that writes it. */
  readonly laterTriggers: ReadonlyArray<string>
  /** Definitions of the indexes on expressions. */
  readonly indexes: ReadonlyArray<string>
  /** Untrusted owners and row security: what keeps Max from reading it, each with the statement that mends it. */
  readonly faults: ReadonlyArray<string>
  /** What lookups hold it against; null where there are faults. */
  readonly identity: string | null
}

/** Common values by schema.table and column. */
export type Samples = ReadonlyMap<string, ReadonlyMap<string, ReadonlyArray<string>>>

export interface Facts {
  readonly relations: ReadonlyArray<RelationFacts>
  /** Whether the fold functions exist: a database whose encoding isn't UTF-8 has none. */
  readonly folds: boolean
  readonly database: string
  /** The foreign tables, as schema.table. */
  readonly foreign: ReadonlyArray<string>
  /** Whether there is a role that writes changes and nothing else. */
  readonly writes: boolean
}

const TEXT = new Set(["text", "varchar", "bpchar", "name"])
const OTHER = new Set(["uuid", "time", "timetz", "cidr", "macaddr", "macaddr8"])
const TYPES: Readonly<Record<string, SourceType>> = {
  int2: "integer",
  int4: "integer",
  int8: "integer",
  numeric: "numeric",
  float4: "float",
  float8: "float",
  money: "money",
  bool: "boolean",
  date: "date",
  timestamp: "timestamp",
  timestamptz: "timestamptz",
  inet: "inet"
}

const sourceType = (type: TypeRow): SourceType | undefined => {
  if (type.type === "e" || (type.builtin && OTHER.has(type.name))) return "other"
  // A text type of an extension, by a binary cast, which only a superuser can create.
  if (type.textual || (type.builtin && TEXT.has(type.name))) return "text"
  if (type.element !== null)
    return LISTED.has(sourceType({ ...type.element, element: null }) ?? "date") ? "list" : undefined
  return type.builtin ? TYPES[type.name] : undefined
}
const LISTED = new Set<SourceType>(["text", "other", "inet", "integer"])

const idType = (type: TypeRow): IdType | undefined => {
  if (!type.builtin) return undefined
  if (TYPES[type.name] === "integer") return "bigint"
  if (type.name === "uuid" || type.name === "bpchar") return type.name
  return TEXT.has(type.name) ? "text" : undefined
}

const whole = (bytes: number) => () => ({ fraction: 0, min: -(2 ** (8 * bytes - 1)), max: 2 ** (8 * bytes - 1) - 1 })
const length = (modifier: number) => (modifier < 4 ? {} : { maxLength: modifier - 4 })

/** The limits of a type, from the type modifier of its column (`pg_attribute.atttypmod`; -1 without one). */
const LIMITS: Readonly<Record<string, (modifier: number) => Limit>> = {
  int2: whole(2),
  int4: whole(4),
  int8: () => ({ fraction: 0 }),
  varchar: length,
  bpchar: length,
  numeric: (modifier) => {
    const [digits, fraction] = [(modifier - 4) >> 16, (modifier - 4) & 0x7ff]
    // Above 1,000, it is a negative scale, which rounds before the decimal point.
    return modifier < 4 || fraction > 1000 ? {} : { whole: Math.max(0, digits - fraction), fraction }
  }
}

const { Array: List, Boolean, Finite, Literals, NullOr, String, Struct } = Schema

const typeFields = { name: String, builtin: Boolean, type: String, textual: Boolean }
const TypeRow = Struct({ ...typeFields, element: NullOr(Struct(typeFields)) })
type TypeRow = typeof TypeRow.Type

/** A relation as FACTS selects it. */
const RelationRow = Struct({
  schema: String,
  table: String,
  kind: Literals(["table", "view", "materialized view"]),
  comment: NullOr(String),
  rows: Finite,
  columns: List(
    Struct({
      name: String,
      typeName: String,
      of: TypeRow,
      precision: NullOr(Finite),
      notNull: Boolean,
      full: Boolean,
      modifier: Finite,
      generated: Boolean,
      filled: Boolean,
      comment: NullOr(String),
      deterministic: Boolean,
      labels: NullOr(List(String))
    })
  ),
  primaryKey: List(String),
  unique: List(List(String)),
  foreignKeys: List(Struct({ columns: List(String), target: String, targetColumns: List(String) })),
  referrers: List(
    Struct({
      table: String,
      columns: List(String),
      from: List(String),
      followsUpdate: Boolean,
      followsDelete: Boolean,
      goesAlong: Boolean
    })
  ),
  sequences: List(Struct({ schema: String, table: String })),
  rowSecurity: Boolean,
  rules: Boolean,
  foreignTriggers: List(String),
  laterTriggers: List(String),
  indexes: List(String),
  checks: List(Struct({ column: String, definition: String })),
  faults: List(String),
  identity: NullOr(String)
})
const decodeRelations = Schema.decodeUnknownSync(List(RelationRow))

const typeJson = (
  alias: string,
  element: string
) => `json_build_object('name', ${alias}.typname, 'builtin', ${alias}.typnamespace = 'pg_catalog'::regnamespace,
  'type', ${alias}.typtype, 'textual', ${alias}.typcategory = 'S' AND EXISTS (SELECT 1 FROM pg_cast k WHERE k.castsource = ${alias}.oid
    AND k.casttarget = 'text'::regtype AND k.castmethod = 'b'), 'element', ${element})`

const names = (attributes: string, relation: string) =>
  `(SELECT json_agg(a.attname ORDER BY x.n) FROM unnest(${attributes}) WITH ORDINALITY AS x(num, n)
    JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = x.num)`

const FACTS = `/* max map */ WITH RECURSIVE base AS (
  SELECT t.oid AS type, t.oid AS base, -1 AS modifier, false AS filled FROM pg_type t WHERE t.typtype <> 'd'
  UNION ALL SELECT d.oid, b.base, greatest(d.typtypmod, b.modifier), d.typnotnull OR b.filled FROM pg_type d JOIN base b ON d.typbasetype = b.type WHERE d.typtype = 'd'),
found AS (
  SELECT c.*, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition AND c.relpersistence <> 't'
    AND n.nspname NOT IN ('max', 'builder', 'data', 'information_schema') AND n.nspname !~ '^pg_'
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'))
SELECT json_build_object('schema', c.nspname, 'table', c.relname,
  'kind', CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END,
  'comment', obj_description(c.oid, 'pg_class'), 'rows', c.reltuples::bigint,
  'columns', (SELECT coalesce(json_agg(json_build_object('name', a.attname, 'typeName', format_type(a.atttypid, a.atttypmod),
      'of', ${typeJson("t", `CASE WHEN t.typcategory = 'A' THEN (SELECT ${typeJson("e", "NULL")} FROM pg_type e WHERE e.oid = t.typelem) END`)},
      'precision', CASE WHEN t.typname LIKE 'timestamp%' AND a.atttypmod >= 0 THEN a.atttypmod END, 'notNull', a.attnotnull,
      'full', a.attnotnull OR b.filled, 'modifier', greatest(a.atttypmod, b.modifier), 'generated', a.attgenerated <> '' OR a.attidentity = 'a',
      'filled', a.atthasdef OR a.attidentity <> '' OR (SELECT y.typdefault IS NOT NULL FROM pg_type y WHERE y.oid = a.atttypid),
      'comment', col_description(c.oid, a.attnum), 'deterministic', coalesce((SELECT l.collisdeterministic FROM pg_collation l WHERE l.oid = a.attcollation), true),
      'labels', (SELECT json_agg(v.enumlabel ORDER BY v.enumsortorder) FROM pg_enum v WHERE v.enumtypid = t.oid)) ORDER BY a.attnum), '[]')
    FROM pg_attribute a JOIN base b ON b.type = a.atttypid JOIN pg_type t ON t.oid = b.base
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  'primaryKey', coalesce((SELECT ${names("k.conkey", "c.oid")} FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p'), '[]'),
  'unique', (SELECT coalesce(json_agg(${names("i.indkey::int2[]", "c.oid")}), '[]') FROM pg_index i WHERE i.indrelid = c.oid
    AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = i.indnatts),
  'foreignKeys', (SELECT coalesce(json_agg(json_build_object('columns', ${names("k.conkey", "c.oid")},
      'target', (SELECT s.nspname || '.' || o.relname FROM pg_class o JOIN pg_namespace s ON s.oid = o.relnamespace WHERE o.oid = k.confrelid),
      'targetColumns', ${names("k.confkey", "k.confrelid")}) ORDER BY k.conname), '[]')
    FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f'),
  'referrers', (SELECT coalesce(json_agg(json_build_object('columns', ${names("k.confkey", "c.oid")},
      'table', (SELECT s.nspname || '.' || o.relname FROM pg_class o JOIN pg_namespace s ON s.oid = o.relnamespace WHERE o.oid = k.conrelid),
      'from', ${names("k.conkey", "k.conrelid")}, 'goesAlong', k.confdeltype = 'c',
      'followsUpdate', k.confupdtype IN ('c', 'n', 'd'), 'followsDelete', k.confdeltype IN ('c', 'n', 'd')) ORDER BY k.conname), '[]')
    FROM pg_constraint k WHERE k.confrelid = c.oid AND k.contype = 'f' AND k.conparentid = 0),
  'sequences', (SELECT coalesce(json_agg(DISTINCT jsonb_build_object('schema', s.nspname, 'table', q.relname)), '[]')
    FROM pg_attrdef f JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass
    JOIN pg_class q ON q.oid = d.refobjid AND q.relkind = 'S' JOIN pg_namespace s ON s.oid = q.relnamespace WHERE f.adrelid = c.oid),
  'rowSecurity', c.relrowsecurity, 'rules', EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = c.oid AND w.ev_type <> '1'),
  'laterTriggers', (SELECT coalesce(json_agg(t.tgname ORDER BY t.tgname), '[]') FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid
    WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A') AND t.tgtype & 66 = 0 AND t.tgtype & 28 <> 0 AND NOT f.prosecdef),
  'foreignTriggers', (SELECT coalesce(json_agg(t.tgname), '[]') FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid
    WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND NOT max.trusts(f.proowner)),
  'indexes', (SELECT coalesce(json_agg(pg_get_indexdef(i.indexrelid)), '[]') FROM pg_index i WHERE i.indrelid = c.oid AND i.indisvalid AND i.indexprs IS NOT NULL),
  'checks', (SELECT coalesce(json_agg(json_build_object('column', a.attname, 'definition', pg_get_constraintdef(k.oid))), '[]')
    FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]
    WHERE k.conrelid = c.oid AND k.contype = 'c' AND cardinality(k.conkey) = 1 AND k.convalidated),
  'faults', (SELECT coalesce(json_agg(f.fault || ' ' || f.mend), '[]') FROM max.relation_faults(c.oid) f),
  'identity', max.relation_identity(c.oid)) AS facts
FROM found c ORDER BY c.nspname, c.relname`

/** The literals of a check constraint that only lists the allowed values. */
const checkedValues = (definition: string): ReadonlyArray<string> | undefined => {
  const literals: Array<string> = []
  const rest = definition.replace(/'((?:[^']|'')*)'/g, (_, literal: string) => {
    literals.push(literal.replaceAll("''", "'"))
    return " "
  })
  const plain = rest.replace(/"(?:[^"]|"")*"/g, " x ").replace(/::[a-z ]+(\(\d+\))?(\[\])?/g, " ")
  const only = /^CHECK [\s()[\],=\w]+$/.test(plain) && !/\b(AND|NOT|IS|NULL|LIKE)\b/.test(plain)
  const shape = /= ANY/.test(plain) || (/=/.test(plain) && literals.length === (plain.match(/=/g) ?? []).length)
  return only && shape && literals.length > 0 ? literals : undefined
}

const toFacts = ({ checks, columns, ...row }: typeof RelationRow.Type): RelationFacts => ({
  ...row,
  name: `${row.schema}.${row.table}`,
  columns: columns.map(({ full, labels, modifier, of, ...column }): ColumnFacts => {
    const check = checks.find((each) => each.column === column.name)
    return {
      ...column,
      limit: { ...(full ? { full } : {}), ...(of.builtin ? LIMITS[of.name]?.(modifier) : {}) },
      type: sourceType(of),
      idType: idType(of),
      enumerated: of.type === "e",
      values: labels ?? (check === undefined ? undefined : checkedValues(check.definition))
    }
  })
})

/** Reads the facts; takes no lock on any table. */
export const readFacts = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const rows = yield* sql.unsafe<{ facts: unknown }>(FACTS)
  const [server] = yield* sql<Omit<Facts, "relations" | "foreign">>`
    SELECT to_regprocedure('max.fold_text(text)') IS NOT NULL AS folds, current_database()::text AS database,
      EXISTS (SELECT FROM pg_roles WHERE rolname = replace(pg_get_userbyid(max.reading_role())::text, 'max_read_', 'max_change_') AND rolname LIKE 'max\_change\_%') AS writes`
  const facts: Facts = {
    relations: decodeRelations(rows.map(({ facts }) => facts)).map(toFacts),
    foreign: yield* foreignTables(sql),
    ...server!
  }
  return facts
})

/**
 * The most common values of text columns, from the planner's statistics: reading them runs no view, policy or function of
 * another owner. Empty before the first ANALYZE.
 */
export const readSamples = (sql: PgClient.PgClient): Effect.Effect<Samples, SqlError.SqlError> =>
  Effect.map(
    sql<{ relation: string; column: string; samples: ReadonlyArray<string> }>`
      SELECT s.schemaname || '.' || s.tablename AS relation, s.attname::text AS "column",
        (coalesce(s.most_common_vals::text::text[], '{}') || coalesce(s.histogram_bounds::text::text[], '{}'))[1:20] AS samples
      FROM pg_stats s
      WHERE s.schemaname NOT IN ('max', 'builder', 'data', 'information_schema') AND s.schemaname !~ '^pg_'
        AND EXISTS (SELECT 1 FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
          WHERE a.attrelid = format('%I.%I', s.schemaname, s.tablename)::regclass AND a.attname = s.attname
            AND t.oid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype))`,
    (rows) => {
      const samples = new Map<string, Map<string, ReadonlyArray<string>>>()
      for (const { column, relation, samples: values } of rows) {
        const columns = samples.get(relation) ?? new Map<string, ReadonlyArray<string>>()
        samples.set(relation, columns.set(column, values))
      }
      return samples
    }
  )

/** The foreign tables, as schema.table: reading one runs its wrapper, and nothing keeps its rows unique. */
export const foreignTables = (sql: PgClient.PgClient): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError> =>
  Effect.map(
    sql<{ name: string }>`
      SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'f' AND n.nspname NOT IN ('max', 'builder', 'data') ORDER BY 1`,
    (rows) => rows.map(({ name }) => name)
  )

export const foreignAdvice = (name: string): string =>
  `${name}: a foreign table, which isn't mapped itself. Map a materialized view of it with a unique index, or a view.`
