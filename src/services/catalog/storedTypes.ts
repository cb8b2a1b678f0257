/** The types of an organization as the catalog stores them: read as one JSON list, and written as new versions. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { connected } from "../../domain/connected.ts"
import {
  type Column,
  COLUMN_KINDS,
  type Derived,
  DERIVATIONS,
  type EntityType,
  ID_TYPES,
  type Mapping,
  SOURCE_TYPES,
  Storage
} from "../../domain/EntityType.ts"

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

/** What the catalog stores for a column that is computed instead. */
const DerivedSchema = Schema.Struct({
  _tag: Schema.tag("Derived"),
  as: Schema.Literals(DERIVATIONS),
  of: Schema.Array(Schema.String)
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
      limits: Schema.optionalKey(
        Schema.Record(
          Schema.String,
          Schema.Struct({
            full: Schema.optionalKey(Schema.Boolean),
            maxLength: Schema.optionalKey(Schema.Int),
            whole: Schema.optionalKey(Schema.Int),
            fraction: Schema.optionalKey(Schema.Int),
            min: Schema.optionalKey(Schema.Finite),
            max: Schema.optionalKey(Schema.Finite)
          })
        )
      ),
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
        storage: Schema.Union([StorageSchema, DerivedSchema]),
        values: Schema.NullOr(Schema.Array(Schema.String))
      })
    ),
    mapping: Schema.NullOr(MappingSchema)
  })
)

const decodeRows = Schema.decodeUnknownSync(TypesSchema)

/** A derived column, whose sources aren't looked up yet. */
export const derivedColumn = (
  { key, name, slug }: Pick<Column, "key" | "name" | "slug">,
  { as, of }: Pick<Derived, "as" | "of">
): Column => ({ key, slug, name, kind: "number", storage: Storage.Value({ column: key }), derived: { as, of } })

/** What the catalog stores as the location of a column's values. */
const storedLocation = ({ derived, storage }: Column): Storage | typeof DerivedSchema.Type =>
  derived === undefined ? storage : { _tag: "Derived", as: derived.as, of: derived.of }

/** Decodes the result of `TYPES_IN_FORCE`. */
export const decodeTypes = (rows: unknown): ReadonlyArray<EntityType> =>
  connected(
    decodeRows(rows).map(({ columns: rows, mapping, ...type }) => {
      const columns: Array<Column> = []
      const declared: Array<Column> = []
      for (const { storage, values, ...column } of rows) {
        if (storage._tag === "Derived") declared.push(derivedColumn(column, storage))
        else columns.push({ ...column, storage, ...(values === null ? {} : { values }) })
      }
      const derived = declared.length === 0 ? {} : { derived: declared }
      if (mapping === null) return { ...type, ...derived, columns }
      const isMissing = ({ key }: Column) => mapping.missing?.includes(key) === true
      const missing = columns.filter(isMissing)
      if (missing.length === 0) return { ...type, ...derived, mapping, columns }
      return { ...type, ...derived, mapping, columns: columns.filter((column) => !isMissing(column)), missing }
    })
  )

/** Writes a version and pins the organization to it; `document` is the mapping entry of a mapped type. */
export const insertVersion = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organizationId: bigint,
  type: EntityType,
  position: number | null,
  document?: unknown
) {
  const columns = [...type.columns, ...(type.derived ?? [])]
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
    FROM unnest(${columns.map((column) => column.key)}::text[], ${columns.map((column) => column.slug)}::text[],
      ${columns.map((column) => column.name)}::text[], ${columns.map((column) => column.kind)}::text[],
      ${columns.map((column) => JSON.stringify(storedLocation(column)))}::text[],
      ${columns.map((column) => (column.values === undefined ? "" : JSON.stringify(column.values)))}::text[])
      WITH ORDINALITY AS u(key, slug, name, kind, storage, list, position)`
  yield* owner`
    INSERT INTO builder.version_refs (organization_id, type_key, source_organization_id, version)
    VALUES (${organizationId}, ${type.key}, ${organizationId}, ${type.version})
    ON CONFLICT (organization_id, type_key)
    DO UPDATE SET source_organization_id = excluded.source_organization_id, version = excluded.version`
})

/** Adds a column to a version in force; the epoch tells processes that have read it. */
export const insertColumn = (
  owner: PgClient.PgClient,
  organizationId: bigint,
  { key, version }: EntityType,
  column: Column
) =>
  owner`
    INSERT INTO builder.columns (organization_id, type_key, version, column_key, slug, name, kind, storage, position)
    SELECT ${organizationId}, ${key}, ${version}, ${column.key}, ${column.slug}, ${column.name}, ${column.kind},
      ${JSON.stringify(storedLocation(column))}::text::jsonb, coalesce(max(c.position), 0) + 1
    FROM builder.columns c WHERE c.organization_id = ${organizationId} AND c.type_key = ${key} AND c.version = ${version}`
