/** The epoch of an organization: whatever was planned before it rose is over. */
import type { PgClient } from "@effect/sql-pg"
import { type Array as Arr, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { appendAudit, type AuditEvent } from "./audit.ts"
import { enterOrganization } from "./rowSecurity.ts"

/**
 * Ends everything that was planned for an organization and records why: call it in the transaction of the change. There
 * is no way to do the one without the other.
 */
export const raiseEpoch = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  events: Arr.NonEmptyReadonlyArray<AuditEvent>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.andThen(
    sql`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organizationId}`,
    appendAudit(sql, organizationId, "changes", events)
  )

/**
 * The epoch, held until the transaction ends: what was prepared for another one must not be written. The transaction is
 * about this organization from here on.
 */
export const holdEpoch = (
  sql: PgClient.PgClient,
  organizationId: bigint
): Effect.Effect<bigint | undefined, SqlError.SqlError> =>
  Effect.andThen(
    enterOrganization(sql, organizationId),
    Effect.map(
      sql<{ epoch: bigint }>`SELECT epoch FROM max.organizations WHERE organization_id = ${organizationId} FOR UPDATE`,
      ([row]) => row?.epoch
    )
  )
