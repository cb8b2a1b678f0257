/** Managed tables: creates them, moves an organization's rows into its own table, adds columns and indexes. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import {
  type Catalog,
  type Column,
  DISPLAY_NAME,
  type EntityType,
  type Relation,
  STATUS,
  Storage,
  typeBySlug
} from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import { labelFrom, namesFrom, slugProblem } from "../../domain/names.ts"
import { printable, quoted } from "../../domain/text.ts"
import {
  columnDefinitions,
  define,
  isOwnTable,
  MANAGED,
  type NewColumn,
  type NewColumnKind,
  type Physical,
  placeColumns
} from "./physicalColumns.ts"

/** The type at the start of its next version: its managed table, its number, and the names that earlier versions used. */
export interface Base {
  readonly type: EntityType
  /** The position of a system type among the others; null for an organization's own type. */
  readonly position: number | null
  readonly usedSlugs: ReadonlySet<string>
  readonly usedColumns: ReadonlyArray<string>
  readonly searchIndexes: ReadonlyArray<string>
}

const newTable = (): Relation => ({ schema: MANAGED, table: `t_${encodeId(nextId())}` })

export const createType = Effect.fnUntraced(function* (owner: PgClient.PgClient, catalog: Catalog, slug: string) {
  if (slugProblem(slug) !== undefined) {
    return yield* OperatorError.of(
      `A type can't be called ${quoted(slug)}: its name is lower-case letters, digits and _, beginning with a letter, such as purchase_orders.`
    )
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

/** The next version of an existing type, in the organization's managed table: its rows move there with their ids. */
export const ownTable = Effect.fnUntraced(function* (owner: PgClient.PgClient, catalog: Catalog, type: EntityType) {
  const organizationId = catalog.organization.id
  if (type.relation.schema !== MANAGED) {
    return yield* OperatorError.of(
      `${type.pluralName} are read from ${printable(type.relation.table)}, which Max doesn't write to: add the column there.`
    )
  }
  const [history] = yield* owner<{
    version: number
    position: number | null
    slugs: ReadonlyArray<string>
    columns: ReadonlyArray<string>
  }>`
    SELECT max(v.version)::int AS version,
      (SELECT s.position FROM builder.entity_type_versions s WHERE s.organization_id = 0 AND s.type_key = ${type.key}
        ORDER BY s.version DESC LIMIT 1) AS position,
      ARRAY(SELECT DISTINCT c.slug FROM builder.columns c
        WHERE c.organization_id IN (0, ${organizationId}) AND c.type_key = ${type.key}) AS slugs,
      ARRAY(SELECT DISTINCT c.storage->>'column' FROM builder.columns c WHERE c.organization_id = ${organizationId}
        AND c.type_key = ${type.key} AND c.storage ? 'column') AS columns
    FROM builder.entity_type_versions v WHERE v.organization_id IN (0, ${organizationId}) AND v.type_key = ${type.key}`
  // An organization's version of a type can be about the table that organizations share: that of a derived column is.
  const own = isOwnTable(type.relation)
  const relation = own ? type.relation : newTable()
  const base: Base = {
    type: { ...type, relation, version: Math.max(history!.version, type.version) + 1 },
    position: history!.position,
    usedSlugs: new Set(history!.slugs),
    usedColumns: history!.columns,
    searchIndexes: own ? [] : yield* moveRows(owner, organizationId, type.relation, relation)
  }
  return base
})

/** Creates a table like another and moves an organization's rows into it; returns the definitions of its search indexes. */
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
  const indexes = parts.map(({ definition, search }) => ({
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
    indexes.filter(({ search }) => !search).map(({ statement }) => statement)
  )
  return indexes.filter(({ search }) => search).map(({ statement }) => statement)
})

/** An index: on parts of the search key, on the search key, on the value, or on the elements of a list. */
type IndexKind = "trigram" | "key" | "value" | "elements"

/** The indexes of a column, by its kind. */
const INDEXES: Readonly<Record<NewColumnKind, ReadonlyArray<IndexKind>>> = {
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

export const addColumns = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  catalog: Catalog,
  { type, usedColumns }: Base,
  columns: ReadonlyArray<NewColumn>
) {
  if (columns.length === 0) return { columns: [], searchIndexes: [] }
  const table = qualified(type.relation)
  const physical = yield* placeColumns(owner, type.relation, usedColumns, columns)
  const missing = physical.filter(({ spare }) => !spare)
  const indexedBy = (index: IndexKind) => physical.filter(({ of }) => INDEXES[of.kind].includes(index))
  yield* define(owner, [
    ...(missing.length === 0 ? [] : [`ALTER TABLE ${table} ${missing.flatMap(columnDefinitions).join(", ")}`]),
    ...indexedBy("key").map(({ key }) => `CREATE INDEX ON ${table} (organization_id, ${identifier(key!)}, id)`),
    ...indexedBy("value").map(
      ({ column, of }) =>
        `CREATE INDEX ON ${table} (organization_id, ${identifier(column)}, id)${of.kind === "reference" ? " INCLUDE (name_k)" : ""}`
    )
  ])
  const searchIndexes = indexedBy("elements").map(
    ({ key }) => `CREATE INDEX ON ${table} USING gin (organization_id, ${identifier(key!)})`
  )
  const searched = indexedBy("trigram").map(({ key }) => key!)
  for (let at = 0; at < searched.length; at += MAX_INDEX_KEYS) {
    searchIndexes.push(yield* trigramIndex(owner, table, searched.slice(at, at + MAX_INDEX_KEYS)))
  }
  const added = yield* Effect.forEach(physical, (each) =>
    Effect.map(storageOf(catalog, type, each), (storage): Column => ({
      // Every result shows the column with this key, of custom types too.
      key: each.of.slug === STATUS ? STATUS : `c_${encodeId(nextId())}`,
      slug: each.of.slug,
      name: labelFrom(each.of.name),
      kind: each.of.kind,
      storage
    }))
  )
  return { columns: added, searchIndexes }
})

/** An index has at most 32 columns; one of them is the organization. */
const MAX_INDEX_KEYS = 31

const storageOf = (
  catalog: Catalog,
  type: EntityType,
  { column, key, of }: Physical
): Effect.Effect<Storage, OperatorError> => {
  if (of.kind !== "reference") {
    const indexed = INDEXES[of.kind].includes("key")
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
        OperatorError.of(`${quoted(of.slug)} would lead to the type ${quoted(of.target ?? "")}, which doesn't exist.`)
      )
    : Effect.succeed(Storage.One({ column, target: target.key }))
}

/** The definition of a trigram index; its operator class is qualified by the schema that the extension is installed in. */
const trigramIndex = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  table: string,
  keys: ReadonlyArray<string>
) {
  const [extension] = yield* owner<{ schema: string }>`
    SELECT n.nspname::text AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'`
  if (extension === undefined) {
    return yield* OperatorError.of("The extension pg_trgm is missing. Run: max migrate")
  }
  const columns = keys.map((key) => `${identifier(key)} ${identifier(extension.schema)}.gin_trgm_ops`)
  return `CREATE INDEX ON ${table} USING gin (organization_id, ${columns.join(", ")})`
})
