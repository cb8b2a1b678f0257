/** Changes of mapped relations since they were mapped. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { connectedAmong } from "../../domain/connected.ts"
import { type Column, type Organization, typeBySlug } from "../../domain/EntityType.ts"
import { quoted } from "../../domain/text.ts"
import { checkEntry, isFaults } from "./checkMapping.ts"
import { decodeDocument, type MappingDocument, type TypeEntry } from "./mappingFile.ts"

/** The mapping entries of the organization's types. */
export const documentsOf = (sql: PgClient.PgClient, organization: Organization) =>
  Effect.map(
    sql<{ document: unknown }>`
      SELECT v.document FROM builder.version_refs r JOIN builder.entity_type_versions v
        ON v.organization_id = r.source_organization_id AND v.type_key = r.type_key AND v.version = r.version
      WHERE r.organization_id = ${organization.id} AND v.document IS NOT NULL ORDER BY v.type_key`,
    (rows) => rows.map(({ document }) => decodeDocument(document))
  )

/** schema.table.column of every column that a type is read from. */
export const sourcesOf = ({ columns, table }: TypeEntry): ReadonlyArray<string> =>
  Object.values(columns).flatMap(({ from, through }) =>
    through === undefined ? [from].flat().map((column) => `${table}.${column}`) : []
  )

/** Proposes a mapped table as a person edited it, with its new columns. */
export const keepEdits = (proposed: TypeEntry, documents: ReadonlyArray<MappingDocument>): TypeEntry => {
  const document = documents.find(({ entry }) => entry.table === proposed.table)
  if (document === undefined) return proposed
  const { entry, seen } = document
  const added = Object.entries(proposed.columns).filter(
    ([slug, column]) =>
      entry.columns[slug] === undefined &&
      typeof column.from === "string" &&
      !seen.includes(column.from) &&
      column.through === undefined
  )
  return { ...entry, columns: { ...entry.columns, ...Object.fromEntries(added) } }
}

/** A column's kind, and the type that it is read from. */
export const readAs = ({ ids, kind, storage }: Column): string =>
  [kind, ids, storage._tag === "Value" ? storage.source?.type : storage.target].join(" ")

/** The changes of a mapped relation, one text each. */
export const changesOf = (
  { entry, seen }: MappingDocument,
  context: Parameters<typeof checkEntry>[1],
  replaced: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const checked = checkEntry(entry, context)
  const relation = context.facts.relations.find(({ name }) => name === entry.table)
  const current = typeBySlug(context.catalog, entry.type)
  const columns = relation?.columns.map(({ name }) => name) ?? []
  const newColumns = columns
    .filter((name) => !seen.includes(name))
    .map((name) => `${entry.type}: ${entry.table} has a new column ${quoted(name)}.`)
  if (relation === undefined)
    return [
      `${entry.type}: there is no table or view ${quoted(entry.table)} any more. Lookups of it are unavailable until it is made again as it was, or the type is removed: max map remove ${entry.type}`
    ]
  // An untrusted owner and row security have a text of their own.
  const isBlocked = relation.faults.length > 0
  const replacement =
    replaced.includes(entry.table) && !isBlocked
      ? [
          `${entry.type}: ${relation.kind === "view" ? `the view ${entry.table} was redefined` : `${entry.table} isn't the relation that was mapped`}. Nothing is read from it until it is mapped again.`
        ]
      : []
  if (isFaults(checked)) return [...replacement, ...checked, ...(isBlocked ? [untilMended(entry)] : []), ...newColumns]
  const now = connectedAmong(checked.type, context.catalog.types)
  const different = now.columns.flatMap((column) => {
    const former = current?.columns.find(({ slug }) => slug === column.slug)
    return former !== undefined && readAs(former) !== readAs(column)
      ? [`${entry.type}: ${column.slug} has another type than before.`]
      : []
  })
  const labels = Object.entries(entry.columns).flatMap(([slug, column]) => {
    const values =
      column.values === undefined ? undefined : relation.columns.find(({ name }) => name === column.from)?.values
    const added = values?.filter((value) => !column.values!.includes(value)) ?? []
    return added.length === 0
      ? []
      : [`${entry.type}: ${slug} can now also be ${added.slice(0, 10).map(quoted).join(", ")}.`]
  })
  return [...replacement, ...different, ...labels, ...newColumns]
}

const untilMended = ({ table, type }: TypeEntry): string =>
  `${type}: lookups of ${table} are unavailable until then; the types of other tables aren't affected.`

/**
 * Mapped relations that lookups refuse: another relation has the name, a view was redefined, an owner isn't trusted or row
 * security hides rows. As schema.table, of the organization or of all.
 */
export const replacedRelations = (sql: PgClient.PgClient, organization?: Organization) =>
  Effect.map(
    sql<{ name: string }>`
      /* max replaced */ SELECT DISTINCT v.relation_schema || '.' || v.relation_table AS name
      FROM builder.version_refs r JOIN builder.entity_type_versions v
        ON v.organization_id = r.source_organization_id AND v.type_key = r.type_key AND v.version = r.version
      WHERE v.mapping IS NOT NULL AND (${organization?.id ?? null}::bigint IS NULL OR r.organization_id = ${organization?.id ?? null}::bigint)
        AND (v.mapping->'reads' IS NULL
          OR EXISTS (SELECT FROM jsonb_each_text(v.mapping->'reads') x WHERE x.value IS DISTINCT FROM max.relation_identity(to_regclass(x.key)))) ORDER BY 1`,
    (rows) => rows.map(({ name }) => name)
  )

/** The names of mapped relations of any organization whose columns, keys or values have changed since, as schema.table. */
export const driftedRelations = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ name: string }>`
      /* max drift */ SELECT DISTINCT v.relation_schema || '.' || v.relation_table AS name
      FROM builder.version_refs r JOIN builder.entity_type_versions v
        ON v.organization_id = r.source_organization_id AND v.type_key = r.type_key AND v.version = r.version
      WHERE v.mapping IS NOT NULL AND v.mapping->>'shape' IS DISTINCT FROM
        max.relation_shape(to_regclass(format('%I.%I', v.relation_schema, v.relation_table))) ORDER BY 1`,
    (rows) => rows.map(({ name }) => name)
  )

/** The organizations with a mapped relation that lookups refuse or may not read, or with a column whose source was gone. */
export const suspectOrganizations = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ id: bigint }>`
      /* max suspect */ SELECT DISTINCT r.organization_id AS id
      FROM builder.version_refs r JOIN builder.entity_type_versions v
        ON v.organization_id = r.source_organization_id AND v.type_key = r.type_key AND v.version = r.version
      WHERE v.mapping IS NOT NULL AND (v.mapping ? 'missing'
        OR EXISTS (SELECT FROM jsonb_each_text(v.mapping->'reads') x WHERE x.value IS DISTINCT FROM max.relation_identity(to_regclass(x.key))
          OR NOT has_any_column_privilege(max.reading_role(), to_regclass(x.key)::oid, 'SELECT')))
        AND NOT EXISTS (SELECT FROM max.moves m WHERE m.organization_id = r.organization_id) ORDER BY 1`,
    (rows) => rows.map(({ id }) => id)
  )
