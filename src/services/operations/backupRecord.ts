/** The record of a backup, a copy of all data, in each organization's audit log. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { isClosed } from "../../database/moves.ts"

export const BACKED_UP = "backup.made"

/** Records a backup for every organization: its size, never its place. A database from before the audit log has none. */
export const recordBackup = (
  owner: PgClient.PgClient,
  made: { readonly rows: number; readonly bytes: number },
  actor: string = OPERATOR
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    const [found] = yield* owner<{ audit: boolean; moves: boolean }>`
      SELECT to_regclass('max.audit_log') IS NOT NULL AS audit, to_regclass('max.moves') IS NOT NULL AS moves`
    if (!found!.audit) return
    const isHere = owner.literal(found!.moves ? `NOT ${isClosed("o.organization_id")}` : "true")
    const organizations = yield* owner<{ id: bigint }>`
      SELECT organization_id AS id FROM max.organizations o WHERE ${isHere} ORDER BY 1`
    const event = { actor, action: BACKED_UP, subject: "database", details: made }
    yield* Effect.forEach(
      organizations,
      ({ id }) => owner.withTransaction(appendAudit(owner, id, "changes", [event])),
      {
        discard: true
      }
    )
  })
