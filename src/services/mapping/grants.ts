/** The reading role's grants on mapped relations: the columns that mappings in force read, and nothing else. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { physicalColumns } from "../../database/sql/rows.ts"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import type { CarriedHop, EntityType, Relation } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { decodeTypes, TYPES_IN_FORCE } from "../catalog/storedTypes.ts"

/** The relations and columns that a type's lookups read. */
export const readBy = (
  type: EntityType
): ReadonlyArray<{ readonly relation: Relation; readonly columns: ReadonlyArray<string> }> => [
  {
    relation: type.relation,
    columns: [...new Set([...physicalColumns(type), ...carriedHops(type).flatMap(([first]) => keysOf(first))])]
  },
  ...type.columns.flatMap(({ storage }) =>
    storage._tag === "Many" ? [{ relation: storage.link, columns: [storage.from, storage.to] }] : []
  ),
  ...carriedHops(type).flatMap((hops) =>
    hops.map(({ columns, relation }, index) => ({
      relation,
      columns: [...new Set([...columns.map(([from]) => from), ...keysOf(hops[index + 1])])]
    }))
  )
]

/** The ways by which the rows are counted that a deletion takes along. */
const carriedHops = ({ mapping }: EntityType): ReadonlyArray<ReadonlyArray<CarriedHop>> =>
  (mapping?.write?.carried ?? []).flatMap(({ paths }) => paths)

/** What a foreign key leads to. */
const keysOf = (hop: CarriedHop | undefined): ReadonlyArray<string> => hop?.columns.map(([, to]) => to) ?? []

/** The mapped types in force of all organizations. */
export const mappedTypes = (owner: PgClient.PgClient) =>
  Effect.map(
    owner.unsafe<{ types: unknown }>(
      `SELECT (${TYPES_IN_FORCE}) AS types FROM max.organizations o
       WHERE EXISTS (SELECT FROM builder.entity_type_versions v WHERE v.organization_id = o.organization_id AND v.mapping IS NOT NULL)`
    ).unprepared,
    (rows) => rows.flatMap(({ types }) => decodeTypes(types)).filter(({ mapping }) => mapping !== undefined)
  )

interface Lacking {
  readonly schema: string
  readonly table: string
  readonly columns: ReadonlyArray<string>
}

/**
 * The columns that a role may not read, of relations that are what was mapped: the rights of a table end with it,
 * and a table that is made again has none.
 */
const lackingOf = (owner: PgClient.PgClient, types: ReadonlyArray<EntityType>, role: string) => {
  const pairs = types.flatMap((type) =>
    readBy(type).flatMap(({ columns, relation }) =>
      columns.map((column) => [qualified(relation), type.mapping?.reads?.[qualified(relation)] ?? "", column] as const)
    )
  )
  // Materialized: a join on the identity would compute it for every relation of the database.
  return owner<Lacking>`
    WITH lacking AS MATERIALIZED (
      SELECT c.oid, n.nspname::text AS schema, c.relname::text AS "table", x.accepted, array_agg(DISTINCT a.attname::text) AS columns
      FROM unnest(${pairs.map(([name]) => name)}::text[], ${pairs.map(([, accepted]) => accepted)}::text[], ${pairs.map(([, , column]) => column)}::text[])
        AS x(name, accepted, col)
      JOIN pg_class c ON c.oid = to_regclass(x.name) JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = x.col AND NOT a.attisdropped
      WHERE NOT (has_schema_privilege(${role}::text::name, n.oid, 'USAGE') AND has_column_privilege(${role}::text::name, c.oid, a.attnum, 'SELECT'))
      GROUP BY 1, 2, 3, 4)
    SELECT schema, "table", columns FROM lacking WHERE max.relation_identity(oid) = accepted ORDER BY 1, 2`
}

const statementsOf = (lacking: ReadonlyArray<Lacking>, role: string): ReadonlyArray<string> => [
  ...[...new Set(lacking.map(({ schema }) => schema))].map(
    (schema) => `GRANT USAGE ON SCHEMA ${identifier(schema)} TO ${identifier(role)}`
  ),
  ...lacking.map(
    ({ columns, ...relation }) =>
      `GRANT SELECT (${columns.map(identifier).join(", ")}) ON ${qualified(relation)} TO ${identifier(role)}`
  )
]

/** The relations that the reading role may not read in full, and the statements that grant it. */
export const missingGrants = Effect.fnUntraced(function* (owner: PgClient.PgClient, types: ReadonlyArray<EntityType>) {
  const [server] = yield* owner<{ role: string }>`SELECT pg_get_userbyid(max.reading_role())::text AS role`
  const lacking = yield* lackingOf(owner, types, server!.role)
  return {
    names: lacking.map(({ schema, table }) => `${schema}.${table}`),
    statements: statementsOf(lacking, server!.role)
  }
})

/** The role that applies changes, where there is one. The rules of a change may look at mapped rows. */
export const changeRoleOf = (owner: PgClient.PgClient) =>
  Effect.map(
    owner<{ role: string | null }>`SELECT (SELECT rolname::text FROM pg_roles
      WHERE rolname LIKE 'max\_change\_%' AND rolname = replace(pg_get_userbyid(max.reading_role())::text, 'max_read_', 'max_change_')) AS role`,
    ([server]) => server?.role ?? undefined
  )

/**
 * What the role that applies changes may not read. Lookups don't need it: without these rights, only a change whose rules look
 * at these rows can't be confirmed.
 */
export const missingChangeGrants = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  types: ReadonlyArray<EntityType>
) {
  const role = yield* changeRoleOf(owner)
  const lacking = role === undefined ? [] : yield* lackingOf(owner, types, role)
  return {
    names: lacking.map(({ schema, table }) => `${schema}.${table}`),
    statements: role === undefined ? [] : statementsOf(lacking, role)
  }
})

/** Runs each statement in a savepoint: what this user may not grant has been granted by another, or is reported. */
export const runGrants = (owner: PgClient.PgClient, statements: ReadonlyArray<string>) =>
  Effect.forEach(
    statements,
    (statement) =>
      owner.unsafe(statement).unprepared.pipe(
        owner.withTransaction,
        Effect.catchTag("SqlError", (error): Effect.Effect<unknown, SqlError.SqlError> =>
          error.reason._tag === "AuthorizationError" ? Effect.void : Effect.fail(error)
        )
      ),
    { discard: true }
  )

/**
 * Grants what the reading role lacks of these types, as far as this user may; the others are independent of what fails.
 * Returns the statements that the relations' owners have to run.
 */
export const grantLacking = Effect.fnUntraced(function* (owner: PgClient.PgClient, types: ReadonlyArray<EntityType>) {
  const before = yield* missingGrants(owner, types)
  yield* runGrants(owner, before.statements)
  yield* runGrants(owner, (yield* missingChangeGrants(owner, types)).statements)
  const after = before.names.length === 0 ? before : yield* missingGrants(owner, types)
  return { ...after, granted: after.names.length < before.names.length }
})

/** Grants what new mappings read; fails with the statements for the relations' owners when this user may not. */
export const grant = Effect.fnUntraced(function* (owner: PgClient.PgClient, types: ReadonlyArray<EntityType>) {
  const { names, statements } = yield* grantLacking(owner, types)
  if (names.length > 0) {
    return yield* new OperatorError({
      message: `Nothing is mapped: this database user may not grant Max to read ${names.join(", ")}. Their owner runs:`,
      details: statements.map((statement) => `${statement};`)
    })
  }
})
