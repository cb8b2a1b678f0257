/** Whether mapped relations are still what was mapped: one cheap statement, for every start and for doctor. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"

/** The names of mapped relations of any organization that have changed since, as schema.table. */
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
