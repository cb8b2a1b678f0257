/** The tables that entities live in: makes one, moves an organization's rows into one of its own, adds columns and indexes. */
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
import { isReservedSlug, isSlug, labelFrom, namesFrom } from "../../domain/names.ts"
import { printable, quoted } from "../../domain/text.ts"
import {
  columnDefinitions,
  define,
  MANAGED,
  type NewColumn,
  type NewColumnKind,
  type Physical,
  placeColumns
} from "./physicalColumns.ts"

/** The type as its next version begins: its own table, its number, and what its history has used up. */
export interface Base {
  readonly type: EntityType
  /** Where a system type stands among the others; none for an organization's own. */
  readonly position: number | null
  readonly usedSlugs: ReadonlySet<string>
  readonly usedColumns: ReadonlyArray<string>
  readonly searchIndexes: ReadonlyArray<string>
}

const newTable = (): Relation => ({ schema: MANAGED, table: `t_${encodeId(nextId())}` })

export const createType = Effect.fnUntraced(function* (owner: PgClient.PgClient, catalog: Catalog, slug: string) {
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
export const ownTable = Effect.fnUntraced(function* (owner: PgClient.PgClient, catalog: Catalog, type: EntityType) {
  const organizationId = catalog.organization.id
  if (type.relation.schema !== MANAGED) {
    return yield* new OperatorError({
      message: `${type.pluralName} are read from ${printable(type.relation.table)}, which Max doesn't write to: add the column there.`
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
  const foundBy = (way: "trigram" | "key" | "value" | "elements") =>
    physical.filter(({ of }) => FOUND_BY[of.kind].includes(way))
  yield* define(owner, [
    ...(missing.length === 0 ? [] : [`ALTER TABLE ${table} ${missing.flatMap(columnDefinitions).join(", ")}`]),
    ...foundBy("key").map(({ key }) => `CREATE INDEX ON ${table} (organization_id, ${identifier(key!)}, id)`),
    ...foundBy("value").map(
      ({ column, of }) =>
        `CREATE INDEX ON ${table} (organization_id, ${identifier(column)}, id)${of.kind === "reference" ? " INCLUDE (name_k)" : ""}`
    )
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
