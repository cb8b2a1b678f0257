/** The invited state of a membership: suspended until the person accepts. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { raiseEpoch } from "../../database/epoch.ts"

/** Activates an invited membership; false if another act has decided about it since. Call it in a transaction. */
export const acceptInvitation = (
  app: PgClient.PgClient,
  organizationId: bigint,
  anchorId: string
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.gen(function* () {
    const rows = yield* app`UPDATE max.memberships SET suspended_at = NULL, invited_at = NULL
      WHERE organization_id = ${organizationId} AND anchor_id = ${anchorId} AND invited_at IS NOT NULL RETURNING 1`
    if (rows.length === 0) return false
    yield* raiseEpoch(app, organizationId, [{ actor: anchorId, action: "invitation.accepted", subject: anchorId }])
    return true
  })
