/**
 * The catalog of entity types: the versions in force for an organization, and new ones. A system type that an
 * organization extends, and every type that it adds, gets a managed table of that organization; labels never become
 * physical names. The methods run inside the caller's transaction on `Database.owner`, so that a version, its table and
 * its rows commit together.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schedule, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { Database } from "../database/Database.ts"
import { OPERATOR } from "../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../database/epoch.ts"
import { enterOrganization } from "../database/rowSecurity.ts"
import {
  type Catalog,
  type Column,
  COLUMN_KINDS,
  connected,
  type EntityType,
  ID_TYPES,
  type Mapping,
  SOURCE_TYPES,
  type Storage,
  typeBySlug
} from "../domain/EntityType.ts"
import { OperatorError } from "../domain/errors.ts"
import { slugProblem } from "../domain/names.ts"
import { quoted } from "../domain/text.ts"
import { addColumns, type Base, createType, ownTable } from "./catalog/managedTables.ts"
import { define, isOwnTable, makeSpareColumns, type NewColumn } from "./catalog/physicalColumns.ts"

/**
 * The types in force for the organization `o` of the surrounding statement, as one JSON list, system types first: each
 * in the version that the organization is pinned to, else in the latest version of the type's owner.
 */
export const TYPES_IN_FORCE = `SELECT coalesce(json_agg(x.type ORDER BY x.custom, x.position, x.name), '[]') FROM (
      SELECT t.organization_id <> 0 AS custom, v.position, v.name, json_build_object(
        'key', t.type_key, 'slug', t.slug, 'name', v.name, 'pluralName', v.plural_name, 'system', t.organization_id = 0,
        'version', v.version, 'relation', json_build_object('schema', v.relation_schema, 'table', v.relation_table), 'mapping', v.mapping,
        'columns', (SELECT coalesce(json_agg(json_build_object('key', c.column_key, 'slug', c.slug, 'name', c.name, 'kind', c.kind,
            'storage', c.storage, 'values', c.column_values) ORDER BY c.position), '[]')
          FROM builder.columns c WHERE c.organization_id = v.organization_id AND c.type_key = v.type_key AND c.version = v.version)) AS type
      FROM builder.entity_types t
      LEFT JOIN builder.version_refs r ON r.organization_id = o.organization_id AND r.type_key = t.type_key
      JOIN LATERAL (SELECT * FROM builder.entity_type_versions e WHERE e.type_key = t.type_key AND e.stage = 'prod'
        AND e.organization_id = coalesce(r.source_organization_id, t.organization_id) AND (r.version IS NULL OR e.version = r.version)
        ORDER BY e.version DESC LIMIT 1) v ON true
      WHERE t.organization_id IN (0, o.organization_id)) x`

const RelationSchema = Schema.Struct({ schema: Schema.String, table: Schema.String })

export const StorageSchema: Schema.Codec<Storage> = Schema.TaggedUnion({
  Value: {
    column: Schema.String,
    keyColumn: Schema.optionalKey(Schema.String),
    indexed: Schema.optionalKey(Schema.Boolean),
    source: Schema.optionalKey(
      Schema.Struct({
        columns: Schema.Array(Schema.String),
        type: Schema.Literals(SOURCE_TYPES),
        timeZone: Schema.optionalKey(Schema.String),
        currency: Schema.optionalKey(Schema.String)
      })
    )
  },
  One: { column: Schema.String, target: Schema.String },
  Many: {
    link: RelationSchema,
    from: Schema.String,
    to: Schema.String,
    target: Schema.String,
    mapped: Schema.optionalKey(Schema.Boolean)
  }
})

const IdTypeSchema = Schema.Literals(ID_TYPES)

const MappingSchema = Schema.Struct({
  id: Schema.Struct({ column: Schema.String, type: IdTypeSchema }),
  organization: Schema.optionalKey(Schema.Struct({ column: Schema.String, type: IdTypeSchema })),
  where: Schema.Array(
    Schema.Struct({ column: Schema.String, is: Schema.NullOr(Schema.Union([Schema.String, Schema.Boolean])) })
  ),
  unique: Schema.Boolean,
  reads: Schema.optionalKey(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
  missing: Schema.optionalKey(Schema.Array(Schema.String)),
  shape: Schema.optionalKey(Schema.String),
  write: Schema.optionalKey(
    Schema.Struct({
      columns: Schema.Array(Schema.String),
      create: Schema.optionalKey(
        Schema.Struct({
          needed: Schema.Array(Schema.String),
          sequences: Schema.Array(RelationSchema)
        })
      ),
      delete: Schema.optionalKey(Schema.Boolean),
      cascades: Schema.optionalKey(Schema.Array(Schema.String)),
      carried: Schema.optionalKey(
        Schema.Array(
          Schema.Struct({
            relation: RelationSchema,
            deletes: Schema.Boolean,
            paths: Schema.Array(
              Schema.Array(
                Schema.Struct({
                  relation: RelationSchema,
                  columns: Schema.Array(Schema.Tuple([Schema.String, Schema.String]))
                })
              )
            )
          })
        )
      ),
      removal: Schema.optionalKey(
        Schema.Array(Schema.Struct({ column: Schema.String, is: Schema.Union([Schema.String, Schema.Boolean]) }))
      )
    })
  )
}) satisfies Schema.Codec<Mapping, unknown>

const TypesSchema = Schema.Array(
  Schema.Struct({
    key: Schema.String,
    slug: Schema.String,
    name: Schema.String,
    pluralName: Schema.String,
    system: Schema.Boolean,
    version: Schema.Int,
    relation: RelationSchema,
    columns: Schema.Array(
      Schema.Struct({
        key: Schema.String,
        slug: Schema.String,
        name: Schema.String,
        kind: Schema.Literals(COLUMN_KINDS),
        storage: StorageSchema,
        values: Schema.NullOr(Schema.Array(Schema.String))
      })
    ),
    mapping: Schema.NullOr(MappingSchema)
  })
)

const decodeRows = Schema.decodeUnknownSync(TypesSchema)

/** Decodes the result of `TYPES_IN_FORCE`. */
export const decodeTypes = (rows: unknown): ReadonlyArray<EntityType> =>
  connected(
    decodeRows(rows).map(({ columns: rows, mapping, ...type }) => {
      const columns = rows.map(({ values, ...column }) => ({ ...column, ...(values === null ? {} : { values }) }))
      if (mapping === null) return { ...type, columns }
      const isMissing = ({ key }: Column) => mapping.missing?.includes(key) === true
      const missing = columns.filter(isMissing)
      if (missing.length === 0) return { ...type, mapping, columns }
      return { ...type, mapping, columns: columns.filter((column) => !isMissing(column)), missing }
    })
  )

export interface NewVersion {
  /** The type's slug; an unknown one creates a type of the organization's own. */
  readonly slug: string
  readonly columns: ReadonlyArray<NewColumn>
}

export const CHANGED = "Something else changed this organization at the same time. Import again."

/**
 * Takes the lock that serializes imports and new versions of an organization until the transaction ends, so that no row
 * is written to a table that is being replaced. Memberships and policies don't take it: a suspension never waits for an import.
 */
export const holdImports = (
  sql: PgClient.PgClient,
  organizationId: bigint
): Effect.Effect<void, OperatorError | SqlError.SqlError> =>
  sql`SELECT pg_advisory_xact_lock(7236912, hashint8(${organizationId}::bigint))`.pipe(
    Effect.andThen(enterOrganization(sql, organizationId)),
    Effect.andThen(sql`SELECT 1 FROM max.moves WHERE organization_id = ${organizationId}`),
    Effect.andThen((moves) =>
      moves.length === 0
        ? Effect.void
        : Effect.fail(
            OperatorError.of("This organization is being moved to another database: import when it has arrived.")
          )
    ),
    Effect.catchTag("SqlError", (error) =>
      Effect.fail(
        error.reason._tag === "LockTimeoutError"
          ? OperatorError.of("Another import into this organization is running. Import again when it has ended.")
          : error
      )
    )
  )

type Fault = OperatorError | SqlError.SqlError

/** A version that isn't in force yet. */
export interface Published {
  readonly type: EntityType
  /** Definitions of the search indexes; building them after the rows are written costs half as much. */
  readonly searchIndexes: ReadonlyArray<string>
}

export class EntityTypeCatalog extends Context.Service<
  EntityTypeCatalog,
  {
    /**
     * Adds the physical columns of a coming version to a table in use, in a separate transaction: it blocks lookups for a
     * moment, while `publish` would block them until all rows are written.
     */
    readonly makeRoom: (catalog: Catalog, version: NewVersion) => Effect.Effect<void, Fault>
    /** Creates a type, or the organization's own version of one, with new columns, and pins it; the caller has called `holdImports`. */
    readonly publish: (catalog: Catalog, version: NewVersion) => Effect.Effect<Published, Fault>
    /** Puts a published version in force as the last step of its transaction; refused when the organization has changed since `catalog`. */
    readonly putInForce: (catalog: Catalog, published: Published, actor?: string) => Effect.Effect<void, Fault>
  }
>()("max/services/EntityTypeCatalog") {
  static readonly layer = Layer.effect(
    EntityTypeCatalog,
    Effect.gen(function* () {
      const { owner } = yield* Database
      return EntityTypeCatalog.of({
        makeRoom: Effect.fn("EntityTypeCatalog.makeRoom")(function* (catalog, { columns, slug }) {
          const type = typeBySlug(catalog, slug)
          if (type === undefined || !isOwnTable(type.relation) || columns.length === 0) return
          const add = Effect.gen(function* () {
            yield* holdImports(owner, catalog.organization.id)
            // Lookups queue behind this lock request: for a second at most.
            yield* owner`SET LOCAL lock_timeout = '1s'`
            yield* makeSpareColumns(owner, catalog.organization.id, type, columns)
          }).pipe(owner.withTransaction)
          const busy = (error: Fault) => error._tag === "SqlError" && error.reason._tag === "LockTimeoutError"
          yield* Effect.retry(add, { while: busy, times: 4, schedule: Schedule.spaced("1 second") }).pipe(
            Effect.catchIf(busy, () =>
              Effect.fail(
                OperatorError.of(
                  `${type.pluralName} are being read by a long statement, and adding a column must wait for it. Import again later.`
                )
              )
            )
          )
        }),

        publish: Effect.fn("EntityTypeCatalog.publish")(function* (catalog, { columns, slug }) {
          const former = typeBySlug(catalog, slug)
          const base =
            former === undefined ? yield* createType(owner, catalog, slug) : yield* ownTable(owner, catalog, former)
          yield* checkColumns(base, columns)
          const added = yield* addColumns(owner, catalog, base, columns)
          const type: EntityType = { ...base.type, columns: [...base.type.columns, ...added.columns] }
          yield* insertVersion(owner, catalog.organization.id, type, base.position)
          return { type, searchIndexes: [...base.searchIndexes, ...added.searchIndexes] }
        }),

        putInForce: Effect.fn("EntityTypeCatalog.putInForce")(function* (
          catalog,
          { searchIndexes, type },
          actor = OPERATOR
        ) {
          yield* define(owner, searchIndexes)
          // Locked last: publishing a policy or suspending a member waits for a commit, not for an import.
          if ((yield* holdEpoch(owner, catalog.organization.id)) !== catalog.epoch)
            return yield* OperatorError.of(CHANGED)
          yield* raiseEpoch(owner, catalog.organization.id, [
            {
              actor,
              action: "catalog.published",
              subject: type.slug,
              details: { version: type.version, columns: type.columns.map((column) => column.slug) }
            }
          ])
        })
      })
    })
  )
}

/** With more columns, a row with all values stored out of line would exceed a page. */
export const MAX_TYPE_COLUMNS = 200

const checkColumns = Effect.fnUntraced(function* ({ type, usedSlugs }: Base, columns: ReadonlyArray<NewColumn>) {
  const taken = new Set(type.columns.map((column) => column.slug))
  if (taken.size + columns.length > MAX_TYPE_COLUMNS) {
    return yield* OperatorError.of(
      `${type.pluralName} would have ${taken.size + columns.length} columns. A type has at most ${MAX_TYPE_COLUMNS}.`
    )
  }
  for (const { slug } of columns) {
    const fault =
      slugProblem(slug) ??
      (taken.has(slug)
        ? `${type.pluralName} have that already`
        : usedSlugs.has(slug)
          ? `${type.pluralName} had another column of that name before`
          : undefined)
    if (fault !== undefined) return yield* OperatorError.of(`A column can't be called ${quoted(slug)}: ${fault}.`)
    taken.add(slug)
  }
})

/** Writes a version and pins the organization to it; `document` is the mapping entry of a mapped type. */
export const insertVersion = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organizationId: bigint,
  type: EntityType,
  position: number | null,
  document?: unknown
) {
  yield* owner`
    INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table, position, mapping, document)
    SELECT ${organizationId}, ${type.key}, ${type.version}, ${type.name}, ${type.pluralName}, ${type.relation.schema}, ${type.relation.table},
      ${position}::int, ${type.mapping === undefined ? null : JSON.stringify(type.mapping)}::text::jsonb
        || jsonb_build_object('shape', max.relation_shape(x.oid)),
      ${document === undefined ? null : JSON.stringify(document)}::text::json
    FROM (SELECT c.oid FROM pg_class c
      WHERE c.oid = to_regclass(format('%I.%I', ${type.relation.schema}::text, ${type.relation.table}::text))) x`
  yield* owner`
    INSERT INTO builder.columns (organization_id, type_key, version, column_key, slug, name, kind, storage, column_values, position)
    SELECT ${organizationId}, ${type.key}, ${type.version}, u.key, u.slug, u.name, u.kind, u.storage::jsonb,
      CASE WHEN u.list <> '' THEN ARRAY(SELECT json_array_elements_text(u.list::json)) END, u.position - 1
    FROM unnest(${type.columns.map((column) => column.key)}::text[], ${type.columns.map((column) => column.slug)}::text[],
      ${type.columns.map((column) => column.name)}::text[], ${type.columns.map((column) => column.kind)}::text[],
      ${type.columns.map((column) => JSON.stringify(column.storage))}::text[],
      ${type.columns.map((column) => (column.values === undefined ? "" : JSON.stringify(column.values)))}::text[])
      WITH ORDINALITY AS u(key, slug, name, kind, storage, list, position)`
  yield* owner`
    INSERT INTO builder.version_refs (organization_id, type_key, source_organization_id, version)
    VALUES (${organizationId}, ${type.key}, ${organizationId}, ${type.version})
    ON CONFLICT (organization_id, type_key)
    DO UPDATE SET source_organization_id = excluded.source_organization_id, version = excluded.version`
})
