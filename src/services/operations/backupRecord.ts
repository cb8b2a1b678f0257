/** The record of a backup, a copy of all data, in each organization's audit log. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { appendAudit, OPERATOR } from "../../database/audit.ts"

export const BACKED_UP = "backup.made"

/** Records a backup for every organization: its size, never its place. A database from before the audit log has none. */
export const recordBackup = (
  owner: PgClient.PgClient,
  made: { readonly rows: number; readonly bytes: number }
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    const [found] = yield* owner<{ exists: boolean }>`SELECT to_regclass('max.audit_log') IS NOT NULL AS exists`
    if (!found!.exists) return
    const organizations = yield* owner<{ id: bigint }>`
      SELECT organization_id AS id FROM max.organizations ORDER BY organization_id`
    const event = { actor: OPERATOR, action: BACKED_UP, subject: "database", details: made }
    yield* Effect.forEach(
      organizations,
      ({ id }) => owner.withTransaction(appendAudit(owner, id, "changes", [event])),
      {
        discard: true
      }
    )
  })
