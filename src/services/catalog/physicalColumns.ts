/** The physical columns of new columns: their definitions, and the spare ones that a table already has. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import { SQL_TYPE } from "../../database/sql/sqlType.ts"
import type { ColumnKind, EntityType, Relation } from "../../domain/EntityType.ts"

/** The schema of managed tables. */
export const MANAGED = "data"

/** The kinds of columns that a managed table can have. */
export type NewColumnKind = Exclude<ColumnKind, "references">

export interface NewColumn {
  readonly slug: string
  readonly name: string
  readonly kind: NewColumnKind
  /** For a reference: the slug of the target type, which may be the type that gets the column. */
  readonly target?: string | undefined
}

const KEYED: ReadonlySet<NewColumnKind> = new Set(["text", "phone", "email", "list"])

export interface Physical {
  readonly of: NewColumn
  readonly column: string
  readonly key: string | undefined
  /** Whether the table already has the column and no version uses it. */
  readonly spare: boolean
}

/** Assigns physical columns to new columns: spare ones of the same type first, then new ones. */
export const placeColumns = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  relation: Relation,
  usedColumns: ReadonlyArray<string>,
  columns: ReadonlyArray<NewColumn>
) {
  const numbered = yield* owner<{ column: string; type: string }>`
    SELECT a.attname::text AS column, replace(format_type(a.atttypid, NULL), 'timestamp with time zone', 'timestamptz') AS type
    FROM pg_attribute a WHERE a.attrelid = to_regclass(${qualified(relation)}) AND a.attnum > 0 AND NOT a.attisdropped
      AND a.attname ~ '^c[0-9]{1,9}$' ORDER BY a.attnum`
  const spare = numbered.filter(({ column }) => !usedColumns.includes(column))
  let last = Math.max(0, ...[...usedColumns, ...numbered.map(({ column }) => column)].map(numberOf))
  return columns.map((of): Physical => {
    const at = spare.findIndex(({ type }) => type === SQL_TYPE[of.kind])
    const column = at < 0 ? `c${++last}` : spare.splice(at, 1)[0]!.column
    return { of, column, key: KEYED.has(of.kind) ? `${column}_k` : undefined, spare: at >= 0 }
  })
})

const numberOf = (column: string): number => Number(/^c(\d{1,9})$/.exec(column)?.[1] ?? 0)

/** Adds the missing physical columns of new columns to a table; they stay unused until a version names them. */
export const makeSpareColumns = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organizationId: bigint,
  type: EntityType,
  columns: ReadonlyArray<NewColumn>
) {
  const [used] = yield* owner<{ columns: ReadonlyArray<string> }>`
    SELECT ARRAY(SELECT DISTINCT c.storage->>'column' FROM builder.columns c WHERE c.organization_id = ${organizationId}
      AND c.type_key = ${type.key} AND c.storage ? 'column') AS columns`
  const missing = (yield* placeColumns(owner, type.relation, used!.columns, columns)).filter(({ spare }) => !spare)
  if (missing.length > 0)
    yield* define(owner, [`ALTER TABLE ${qualified(type.relation)} ${missing.flatMap(columnDefinitions).join(", ")}`])
})

/** Whether a relation is one organization's managed table: its name is generated, those of shared tables are words. */
export const isOwnTable = ({ schema, table }: Relation): boolean => schema === MANAGED && /^t_[a-z]+$/.test(table)

export const columnDefinitions = ({ column, key, of: { kind } }: Physical): ReadonlyArray<string> => {
  const name = identifier(column)
  const check = kind === "number" ? ` CHECK (${name} > '-Infinity'::numeric AND ${name} < 'Infinity'::numeric)` : ""
  return [
    `ADD COLUMN ${name} ${SQL_TYPE[kind]}${check}`,
    ...(key === undefined ? [] : [`ADD COLUMN ${identifier(key)} ${SQL_TYPE[kind]} COLLATE "C"`])
  ]
}

export const define = (
  owner: PgClient.PgClient,
  statements: ReadonlyArray<string>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(statements, (statement) => owner.unsafe(statement).unprepared, { discard: true })
