/** What the database holds of an organization. */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"

/** Tables whose rows differ from call to call, and say nothing about what an administrator has done. */
const VOLATILE = ["calls", "audit_log", "traces", "traced_statements", "usage", "spending"]

/** Every row of the organization in every table that has any, as JSON. */
export const rowsOfOrganization = Effect.fnUntraced(function* ({ id }: Organization) {
  const { owner } = yield* Database
  const tables = yield* owner<{ name: string }>`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.columns
    WHERE column_name = 'organization_id' AND table_schema IN ('max', 'builder', 'data')
      AND table_name <> ALL(${VOLATILE}::text[])
      AND table_name IN (SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')) ORDER BY 1`
  const found: Array<{ readonly name: string; readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>> }> = []
  for (const { name } of tables) {
    const rows = yield* owner.unsafe<{ row: Readonly<Record<string, unknown>> }>(
      `SELECT to_jsonb(t) AS row FROM ${name} t WHERE organization_id = $1::bigint`,
      [id]
    )
    if (rows.length > 0) found.push({ name, rows: rows.map(({ row }) => row) })
  }
  return found
})
