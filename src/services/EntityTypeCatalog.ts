/**
 * The catalog of entity types: what is in force for an organization, and new versions. An organization that extends a system type, and every type of its own, has a managed
 * table for it alone; labels never become physical names. Everything here runs inside a transaction that the caller
 * holds on `Database.owner`: a version, its table and the rows that go into it are there together or not at all.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlError } from "effect/sql"
import { Database } from "../database/Database.ts"
import { holdEpoch, raiseEpoch } from "../database/epoch.ts"
import { identifier, qualified } from "../database/sql/SqlWriter.ts"
import {
  type Catalog,
  COLUMN_KINDS,
  type Column,
  type ColumnKind,
  DISPLAY_NAME,
  type EntityType,
  type Relation,
  STATUS,
  Storage,
  typeBySlug
} from "../domain/EntityType.ts"
import { OperatorError } from "../domain/errors.ts"
import { encodeId, nextId } from "../domain/ids.ts"
import { foldText } from "../domain/keys.ts"
import { printable, quoted } from "../domain/text.ts"

/**
 * The types that are in force for the organization `o` of the surrounding statement, as one JSON list, system types first:
 * for each type the version that the organization is pinned to, else the latest of whoever the type belongs to.
 */
export const TYPES_IN_FORCE = `SELECT coalesce(json_agg(x.type ORDER BY x.custom, x.position, x.name), '[]') FROM (
      SELECT t.organization_id <> 0 AS custom, v.position, v.name, json_build_object(
        'key', t.type_key, 'slug', t.slug, 'name', v.name, 'pluralName', v.plural_name, 'system', t.organization_id = 0,
        'version', v.version, 'relation', json_build_object('schema', v.relation_schema, 'table', v.relation_table),
        'columns', (SELECT coalesce(json_agg(json_build_object('key', c.column_key, 'slug', c.slug, 'name', c.name, 'kind', c.kind,
            'storage', c.storage) ORDER BY c.position), '[]')
          FROM builder.columns c WHERE c.organization_id = v.organization_id AND c.type_key = v.type_key AND c.version = v.version)) AS type
      FROM builder.entity_types t
      LEFT JOIN builder.version_refs r ON r.organization_id = o.organization_id AND r.type_key = t.type_key
      JOIN LATERAL (SELECT * FROM builder.entity_type_versions e WHERE e.type_key = t.type_key AND e.stage = 'prod'
        AND e.organization_id = coalesce(r.source_organization_id, t.organization_id) AND (r.version IS NULL OR e.version = r.version)
        ORDER BY e.version DESC LIMIT 1) v ON true
      WHERE t.organization_id IN (0, o.organization_id)) x`

const StorageSchema: Schema.Codec<Storage> = Schema.TaggedUnion({
  Value: {
    column: Schema.String,
    keyColumn: Schema.optionalKey(Schema.String),
    indexed: Schema.optionalKey(Schema.Boolean)
  },
  One: { column: Schema.String, target: Schema.String },
  Many: {
    link: Schema.Struct({ schema: Schema.String, table: Schema.String }),
    from: Schema.String,
    to: Schema.String,
    target: Schema.String
  }
})

const TypesSchema = Schema.Array(
  Schema.Struct({
    key: Schema.String,
    slug: Schema.String,
    name: Schema.String,
    pluralName: Schema.String,
    system: Schema.Boolean,
    version: Schema.Int,
    relation: Schema.Struct({ schema: Schema.String, table: Schema.String }),
    columns: Schema.Array(
      Schema.Struct({
        key: Schema.String,
        slug: Schema.String,
        name: Schema.String,
        kind: Schema.Literals(COLUMN_KINDS),
        storage: StorageSchema
      })
    )
  })
) satisfies Schema.Codec<ReadonlyArray<EntityType>, unknown>

/** Reads what `TYPES_IN_FORCE` selects. */
export const decodeTypes = Schema.decodeUnknownSync(TypesSchema)

/** The kinds that a column of a managed table can be made with. */
type NewColumnKind = Exclude<ColumnKind, "references">

export interface NewColumn {
  readonly slug: string
  readonly name: string
  readonly kind: NewColumnKind
  /** For a reference: the slug of the type that it leads to, which may be the type that gets the column. */
  readonly target?: string | undefined
}

export interface NewVersion {
  /** The type's slug; one that the organization doesn't have makes a type of its own. */
  readonly slug: string
  readonly columns: ReadonlyArray<NewColumn>
}

/** The schema of managed tables. */
export const MANAGED = "data"

/** With more, a row whose values all moved out of line would no longer fit into a page of the table. */
const MAX_TYPE_COLUMNS = 200

const MAX_LABEL = 40
const SLUG = /^[a-z][a-z0-9_]{0,62}$/
/** Words that policies and filters give a meaning of their own. */
const RESERVED = new Set(["id", "all", "any", "not", "eq", "ne", "lt", "lte", "gt", "gte", "in", "me"])

export const isSlug = (text: string): boolean => SLUG.test(text)

export const isReservedSlug = (slug: string): boolean => RESERVED.has(slug)

/** The slug that a person's label comes to: its letters without accents and its digits; empty when it has none. */
export const slugFrom = (label: string): string =>
  foldText(printable(label))
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+/, "")
    .slice(0, 63)
    .replace(/_+$/, "")

/** What a column is called where people read it: the label on one line, at most 40 characters. */
export const labelFrom = (text: string): string => {
  const words = printable(text).replace(/\s+/g, " ").trim()
  const label = /^[a-z0-9_]+$/.test(words) ? sentence(words) : words
  return [...label].slice(0, MAX_LABEL).join("").trim()
}

const sentence = (slug: string): string => {
  const words = slug
    .split("_")
    .filter((word) => word !== "")
    .join(" ")
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** The name of one and of many that a type's slug comes to. */
export const namesFrom = (slug: string): { readonly name: string; readonly pluralName: string } => {
  const words = sentence(slug)
  const one = words.endsWith("ies")
    ? `${words.slice(0, -3)}y`
    : /(ss|x|ch|sh)es$/.test(words)
      ? words.slice(0, -2)
      : /[^s]s$/.test(words)
        ? words.slice(0, -1)
        : words
  return { name: labelFrom(one), pluralName: labelFrom(one === words ? `${words}s` : words) }
}

export const CHANGED = "Something else changed this organization at the same time. Import again."

/**
 * Holds whatever writes rows or versions of an organization apart until the transaction ends, so that no row goes into
 * a table that is being left. Memberships and policies don't wait for it: a suspension never queues behind an import.
 */
export const holdImports = (
  sql: PgClient.PgClient,
  organizationId: bigint
): Effect.Effect<void, OperatorError | SqlError.SqlError> =>
  Effect.asVoid(sql`SELECT pg_advisory_xact_lock(7236912, hashint8(${organizationId}::bigint))`).pipe(
    Effect.catchTag("SqlError", (error) =>
      Effect.fail(
        error.reason._tag === "LockTimeoutError"
          ? new OperatorError({
              message: "Another import into this organization is running. Import again when it has ended."
            })
          : error
      )
    )
  )

type Fault = OperatorError | SqlError.SqlError

/** A version that nobody looks anything up in yet. */
export interface Published {
  readonly type: EntityType
  /** Definitions of the indexes that searches need: made when the rows are there, they cost half. */
  readonly searchIndexes: ReadonlyArray<string>
}

export class EntityTypeCatalog extends Context.Service<
  EntityTypeCatalog,
  {
    /** Makes a type, or the organization's own version of one, with further columns, and pins it; the caller holds imports. */
    readonly publish: (catalog: Catalog, version: NewVersion) => Effect.Effect<Published, Fault>
    /** Puts what was published in force: the last step of its transaction, refused when the organization has changed since `catalog`. */
    readonly putInForce: (catalog: Catalog, published: Published) => Effect.Effect<void, Fault>
  }
>()("max/services/EntityTypeCatalog") {
  static readonly layer = Layer.effect(
    EntityTypeCatalog,
    Effect.gen(function* () {
      const { owner } = yield* Database
      return EntityTypeCatalog.of({
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

        putInForce: Effect.fn("EntityTypeCatalog.putInForce")(function* (catalog, { searchIndexes }) {
          yield* define(owner, searchIndexes)
          // Locked at the end: whoever publishes a policy or suspends a member waits for a commit, not for an import.
          if ((yield* holdEpoch(owner, catalog.organization.id)) !== catalog.epoch)
            return yield* new OperatorError({ message: CHANGED })
          yield* raiseEpoch(owner, catalog.organization.id)
        })
      })
    })
  )
}

/** The type as its next version begins: its own table, its number, and what its history has used up. */
interface Base {
  readonly type: EntityType
  /** Where a system type stands among the others; none for an organization's own. */
  readonly position: number | null
  readonly usedSlugs: ReadonlySet<string>
  readonly usedColumns: ReadonlyArray<string>
  readonly searchIndexes: ReadonlyArray<string>
}

const newTable = (): Relation => ({ schema: MANAGED, table: `t_${encodeId(nextId())}` })

const createType = Effect.fnUntraced(function* (owner: PgClient.PgClient, catalog: Catalog, slug: string) {
  if (!isSlug(slug) || isReservedSlug(slug)) {
    return yield* new OperatorError({
      message: `A type can't be called ${quoted(slug)}: its name is lower-case letters, digits and _, beginning with a letter, such as purchase_orders.`
    })
  }
  const key = `t_${encodeId(nextId())}`
  const relation = newTable()
  const table = qualified(relation)
  yield* owner`INSERT INTO builder.entity_types (organization_id, type_key, slug) VALUES (${catalog.organization.id}, ${key}, ${slug})`
  yield* define(owner, [
    `CREATE TABLE ${table} (organization_id bigint NOT NULL, id bigint NOT NULL, external_id text, ` +
      `name text NOT NULL, name_k text COLLATE "C" NOT NULL, PRIMARY KEY (organization_id, id), UNIQUE (organization_id, external_id))`,
    `CREATE INDEX ON ${table} (organization_id, name_k, id)`
  ])
  const base: Base = {
    type: {
      key,
      slug,
      ...namesFrom(slug),
      system: false,
      version: 1,
      relation,
      columns: [
        {
          key: DISPLAY_NAME,
          slug: DISPLAY_NAME,
          name: "Name",
          kind: "text",
          storage: Storage.Value({ column: "name", keyColumn: "name_k", indexed: true })
        }
      ]
    },
    position: null,
    usedSlugs: new Set(),
    usedColumns: [],
    searchIndexes: [yield* trigramIndex(owner, table, ["name_k"])]
  }
  return base
})

/** The next version of a type that there is, in a table of the organization's own: the rows move there with their ids. */
const ownTable = Effect.fnUntraced(function* (owner: PgClient.PgClient, catalog: Catalog, type: EntityType) {
  const organizationId = catalog.organization.id
  if (type.relation.schema !== MANAGED) {
    return yield* new OperatorError({
      message: `${type.pluralName} are read from ${printable(type.relation.table)}, which isn't Max's: add the column there.`
    })
  }
  const [known] = yield* owner<{
    own: boolean
    version: number
    position: number | null
    slugs: ReadonlyArray<string>
    columns: ReadonlyArray<string>
  }>`
    SELECT coalesce(bool_or(v.organization_id <> 0 AND v.relation_table = ${type.relation.table}), false) AS own,
      max(v.version)::int AS version,
      (SELECT s.position FROM builder.entity_type_versions s WHERE s.organization_id = 0 AND s.type_key = ${type.key}
        ORDER BY s.version DESC LIMIT 1) AS position,
      ARRAY(SELECT DISTINCT c.slug FROM builder.columns c
        WHERE c.organization_id IN (0, ${organizationId}) AND c.type_key = ${type.key}) AS slugs,
      ARRAY(SELECT DISTINCT c.storage->>'column' FROM builder.columns c WHERE c.organization_id = ${organizationId}
        AND c.type_key = ${type.key} AND c.storage ? 'column') AS columns
    FROM builder.entity_type_versions v WHERE v.organization_id IN (0, ${organizationId}) AND v.type_key = ${type.key}`
  const relation = known!.own ? type.relation : newTable()
  const base: Base = {
    type: { ...type, relation, version: Math.max(known!.version, type.version) + 1 },
    position: known!.position,
    usedSlugs: new Set(known!.slugs),
    usedColumns: known!.columns,
    searchIndexes: known!.own ? [] : yield* moveRows(owner, organizationId, type.relation, relation)
  }
  return base
})

/** Makes a table like another and moves an organization's rows into it; returns the search indexes that it lacks. */
const moveRows = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organizationId: bigint,
  from: Relation,
  to: Relation
) {
  const [source, target] = [qualified(from), qualified(to)]
  const parts = yield* owner<{ definition: string; search: boolean }>`
    SELECT 'ADD ' || pg_get_constraintdef(c.oid) AS definition, false AS search FROM pg_constraint c
    WHERE c.conrelid = to_regclass(${source}) AND c.contype IN ('p', 'u')
    UNION ALL SELECT substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*'), a.amname = 'gin' FROM pg_index i
    JOIN pg_class k ON k.oid = i.indexrelid JOIN pg_am a ON a.oid = k.relam
    WHERE i.indrelid = to_regclass(${source}) AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.indexrelid)`
  const made = parts.map(({ definition, search }) => ({
    search,
    statement: definition.startsWith("ADD ")
      ? `ALTER TABLE ${target} ${definition}`
      : `CREATE INDEX ON ${target}${definition}`
  }))
  yield* define(owner, [`CREATE TABLE ${target} (LIKE ${source} INCLUDING ALL EXCLUDING INDEXES)`])
  yield* owner.unsafe(`INSERT INTO ${target} SELECT * FROM ${source} WHERE organization_id = $1::bigint`, [
    organizationId
  ]).unprepared
  yield* owner.unsafe(`DELETE FROM ${source} WHERE organization_id = $1::bigint`, [organizationId]).unprepared
  yield* define(
    owner,
    made.filter(({ search }) => !search).map(({ statement }) => statement)
  )
  return made.filter(({ search }) => search).map(({ statement }) => statement)
})

const checkColumns = Effect.fnUntraced(function* ({ type, usedSlugs }: Base, columns: ReadonlyArray<NewColumn>) {
  const taken = new Set(type.columns.map((column) => column.slug))
  if (taken.size + columns.length > MAX_TYPE_COLUMNS) {
    return yield* new OperatorError({
      message: `${type.pluralName} would have ${taken.size + columns.length} columns. A type has at most ${MAX_TYPE_COLUMNS}.`
    })
  }
  for (const { slug } of columns) {
    const fault = !isSlug(slug)
      ? "a column's name is lower-case letters, digits and _, beginning with a letter"
      : isReservedSlug(slug)
        ? "that word means something else in policies and filters"
        : taken.has(slug)
          ? `${type.pluralName} have that already`
          : usedSlugs.has(slug)
            ? `${type.pluralName} had another column of that name once`
            : undefined
    if (fault !== undefined)
      return yield* new OperatorError({ message: `A column can't be called ${quoted(slug)}: ${fault}.` })
    taken.add(slug)
  }
})

const SQL_TYPE: Readonly<Record<NewColumnKind, string>> = {
  text: "text",
  phone: "text",
  email: "text",
  integer: "bigint",
  number: "numeric",
  boolean: "boolean",
  date: "date",
  timestamp: "timestamptz",
  list: "text[]",
  reference: "bigint"
}

/** How a kind is found: by its key's beginning and parts, in order, or not at all. */
const FOUND_BY: Readonly<Record<NewColumnKind, ReadonlyArray<"trigram" | "key" | "value" | "elements">>> = {
  text: ["trigram"],
  phone: ["key", "trigram"],
  email: ["key", "trigram"],
  integer: ["value"],
  number: ["value"],
  boolean: [],
  date: ["value"],
  timestamp: ["value"],
  list: ["elements"],
  reference: ["value"]
}

const KEYED: ReadonlySet<NewColumnKind> = new Set(["text", "phone", "email", "list"])

interface Physical {
  readonly of: NewColumn
  readonly column: string
  readonly key: string | undefined
}

const addColumns = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  catalog: Catalog,
  { type, usedColumns }: Base,
  columns: ReadonlyArray<NewColumn>
) {
  if (columns.length === 0) return { columns: [], searchIndexes: [] }
  const table = qualified(type.relation)
  const first = 1 + Math.max(0, ...usedColumns.map((name) => Number(/^c(\d{1,9})$/.exec(name)?.[1] ?? 0)))
  const physical = columns.map((of, index): Physical => ({
    of,
    column: `c${first + index}`,
    key: KEYED.has(of.kind) ? `c${first + index}_k` : undefined
  }))
  const foundBy = (way: "trigram" | "key" | "value" | "elements") =>
    physical.filter(({ of }) => FOUND_BY[of.kind].includes(way))
  yield* define(owner, [
    `ALTER TABLE ${table} ${physical.flatMap(columnDefinitions).join(", ")}`,
    ...foundBy("key").map(({ key }) => `CREATE INDEX ON ${table} (organization_id, ${identifier(key!)}, id)`),
    ...foundBy("value").map(({ column }) => `CREATE INDEX ON ${table} (organization_id, ${identifier(column)}, id)`)
  ])
  const searchIndexes = foundBy("elements").map(
    ({ key }) => `CREATE INDEX ON ${table} USING gin (organization_id, ${identifier(key!)})`
  )
  const searched = foundBy("trigram").map(({ key }) => key!)
  for (let at = 0; at < searched.length; at += MAX_INDEX_KEYS) {
    searchIndexes.push(yield* trigramIndex(owner, table, searched.slice(at, at + MAX_INDEX_KEYS)))
  }
  const made = yield* Effect.forEach(physical, (one) =>
    Effect.map(storageOf(catalog, type, one), (storage): Column => ({
      // A result always shows the column with this key, also of a type that an organization made.
      key: one.of.slug === STATUS ? STATUS : `c_${encodeId(nextId())}`,
      slug: one.of.slug,
      name: labelFrom(one.of.name),
      kind: one.of.kind,
      storage
    }))
  )
  return { columns: made, searchIndexes }
})

/** Of the 32 columns that an index can have, one is the organization. */
const MAX_INDEX_KEYS = 31

const columnDefinitions = ({ column, key, of: { kind } }: Physical): ReadonlyArray<string> => {
  const name = identifier(column)
  const check = kind === "number" ? ` CHECK (${name} > '-Infinity'::numeric AND ${name} < 'Infinity'::numeric)` : ""
  return [
    `ADD COLUMN ${name} ${SQL_TYPE[kind]}${check}`,
    ...(key === undefined ? [] : [`ADD COLUMN ${identifier(key)} ${SQL_TYPE[kind]} COLLATE "C"`])
  ]
}

const storageOf = (
  catalog: Catalog,
  type: EntityType,
  { column, key, of }: Physical
): Effect.Effect<Storage, OperatorError> => {
  if (of.kind !== "reference") {
    const indexed = FOUND_BY[of.kind].includes("key")
    return Effect.succeed(
      Storage.Value({
        column,
        ...(key === undefined ? {} : { keyColumn: key }),
        ...(indexed ? { indexed } : {})
      })
    )
  }
  const target = of.target === type.slug ? type : typeBySlug(catalog, of.target ?? "")
  return target === undefined
    ? Effect.fail(
        new OperatorError({
          message: `${quoted(of.slug)} would lead to ${quoted(of.target ?? "")}, and there is no such type.`
        })
      )
    : Effect.succeed(Storage.One({ column, target: target.key }))
}

const insertVersion = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organizationId: bigint,
  type: EntityType,
  position: number | null
) {
  yield* owner`
    INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table, position)
    VALUES (${organizationId}, ${type.key}, ${type.version}, ${type.name}, ${type.pluralName}, ${type.relation.schema},
      ${type.relation.table}, ${position}::int)`
  yield* owner`
    INSERT INTO builder.columns (organization_id, type_key, version, column_key, slug, name, kind, storage, position)
    SELECT ${organizationId}, ${type.key}, ${type.version}, u.key, u.slug, u.name, u.kind, u.storage::jsonb, u.position - 1
    FROM unnest(${type.columns.map((column) => column.key)}::text[], ${type.columns.map((column) => column.slug)}::text[],
      ${type.columns.map((column) => column.name)}::text[], ${type.columns.map((column) => column.kind)}::text[],
      ${type.columns.map((column) => JSON.stringify(column.storage))}::text[])
      WITH ORDINALITY AS u(key, slug, name, kind, storage, position)`
  yield* owner`
    INSERT INTO builder.version_refs (organization_id, type_key, source_organization_id, version)
    VALUES (${organizationId}, ${type.key}, ${organizationId}, ${type.version})
    ON CONFLICT (organization_id, type_key)
    DO UPDATE SET source_organization_id = excluded.source_organization_id, version = excluded.version`
})

/** The definition of a trigram index: the schema of an extension is the database's to choose, and operator classes are written with it. */
const trigramIndex = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  table: string,
  keys: ReadonlyArray<string>
) {
  const [extension] = yield* owner<{ schema: string }>`
    SELECT n.nspname::text AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'`
  if (extension === undefined) {
    return yield* new OperatorError({ message: "The extension pg_trgm is missing. Run: max migrate" })
  }
  const columns = keys.map((key) => `${identifier(key)} ${identifier(extension.schema)}.gin_trgm_ops`)
  return `CREATE INDEX ON ${table} USING gin (organization_id, ${columns.join(", ")})`
})

const define = (owner: PgClient.PgClient, statements: ReadonlyArray<string>): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(statements, (statement) => owner.unsafe(statement).unprepared, { discard: true })
