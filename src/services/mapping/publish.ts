/** Mapped types in the database: their earlier versions, and a new version. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { qualified } from "../../database/sql/SqlWriter.ts"
import { type Catalog, type EntityType, type Organization, type Storage, typeBySlug } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import { insertVersion, StorageSchema } from "../catalog/storedTypes.ts"
import type { Checked } from "./checkMapping.ts"
import type { History } from "./checkColumn.ts"
import type { TypeEntry } from "./mappingFile.ts"

/** The earlier versions of these entries' types; a new type gets its key here. */
export const historyOf = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  entries: ReadonlyArray<TypeEntry>,
  catalog: Catalog
) {
  const organizationId = catalog.organization.id
  const rows = yield* owner<{
    slug: string
    type_key: string
    version: number
    position: number | null
    columns: unknown
  }>`
    SELECT t.slug, t.type_key, coalesce(max(v.version), 0)::int AS version,
      min(v.position) FILTER (WHERE v.organization_id = 0) AS position,
      (SELECT coalesce(json_agg(json_build_object('slug', c.slug, 'key', c.column_key, 'storage', c.storage) ORDER BY c.version), '[]')
        FROM builder.columns c WHERE c.type_key = t.type_key AND c.organization_id IN (0, ${organizationId}) AND c.storage->>'_tag' <> 'Derived') AS columns
    FROM builder.entity_types t LEFT JOIN builder.entity_type_versions v ON v.type_key = t.type_key AND v.organization_id IN (0, ${organizationId})
    WHERE t.organization_id IN (0, ${organizationId}) GROUP BY t.slug, t.type_key`
  const history = new Map<string, History>()
  for (const entry of entries) {
    const row = rows.find(({ slug }) => slug === entry.type)
    const current = typeBySlug(catalog, entry.type)
    history.set(entry.type, {
      typeKey: row?.type_key ?? `t_${encodeId(nextId())}`,
      version: row?.version ?? 0,
      position: row?.position ?? null,
      columns: new Map(
        decodeColumns(row?.columns ?? []).map(({ key, slug, storage }) => [slug, { key, from: readFrom(storage) }])
      ),
      rows: current !== undefined && current.mapping === undefined && (yield* hasRows(owner, current, organizationId))
    })
  }
  return history
})

const decodeColumns = Schema.decodeUnknownSync(
  Schema.Array(Schema.Struct({ slug: Schema.String, key: Schema.String, storage: StorageSchema }))
)

const readFrom = (storage: Storage): string | undefined => {
  if (storage._tag !== "Value") return JSON.stringify(storage._tag === "One" ? storage.column : storage.from)
  const columns = storage.source?.columns
  return columns === undefined ? undefined : JSON.stringify(columns.length === 1 ? columns[0] : columns)
}

/** Whether the organization has rows of this type in a managed table, besides those of members, which move along. */
const hasRows = (owner: PgClient.PgClient, type: EntityType, organizationId: bigint) =>
  Effect.gen(function* () {
    const rows = yield* owner.unsafe<{ id: bigint }>(
      `SELECT p.id FROM ${qualified(type.relation)} p WHERE p.organization_id = $1::bigint LIMIT 1000`,
      [organizationId]
    )
    const anchors = yield* owner<{ anchor_id: string }>`
      SELECT anchor_id FROM max.memberships WHERE organization_id = ${organizationId}`
    const members = new Set(anchors.map(({ anchor_id }) => anchor_id))
    return rows.length === 1000 || rows.some(({ id }) => !members.has(encodeId(id)))
  })

/** Writes a version and pins the organization to it. */
export const publish = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organization: Organization,
  catalog: Catalog,
  { entry, position, relation, type }: Checked
) {
  if (!catalog.types.some(({ key }) => key === type.key)) {
    // A type that was removed has its entry.
    yield* owner`INSERT INTO builder.entity_types (organization_id, type_key, slug) VALUES (${organization.id}, ${type.key}, ${type.slug})
      ON CONFLICT (organization_id, type_key) DO NOTHING`
  }
  const seen = relation.columns.map(({ name }) => name)
  const derived = catalog.types.find(({ key }) => key === type.key)?.derived
  const hidden = derived?.find(({ slug }) => type.columns.some((column) => column.slug === slug))
  if (hidden !== undefined)
    return yield* OperatorError.of(
      `${type.slug}.${hidden.slug} is derived from other columns. Give the mapped column another name, or: max catalog derive ${type.slug}.${hidden.slug} --remove`
    )
  yield* insertVersion(owner, organization.id, { ...type, ...(derived === undefined ? {} : { derived }) }, position, {
    entry,
    seen
  })
})
