/** The epoch of an organization. Raising it makes every earlier plan stale. */
import type { PgClient } from "@effect/sql-pg"
import { type Array as Arr, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { appendAudit, type AuditEvent } from "./audit.ts"
import { enterOrganization } from "./rowSecurity.ts"

/**
 * Raises the epoch and records the change; call it in the transaction of the change. One function, so that no change goes
 * unrecorded.
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
 * Reads the epoch and locks it until the transaction ends, so that a write prepared for an older epoch is rejected. Sets
 * the transaction's organization.
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
