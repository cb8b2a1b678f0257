/** The epoch of an organization. Every change replaces it, which makes every earlier plan stale. */
import type { PgClient } from "@effect/sql-pg"
import { type Array as Arr, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { nextId } from "../domain/ids.ts"
import { appendAudit, type AuditEvent } from "./audit.ts"
import { enterOrganization } from "./rowSecurity.ts"

/**
 * Gives the organization a new epoch and records the change; call it in the transaction of the change. One function, so
 * that no change goes unrecorded. Epochs are unique numbers, not a counter: after a failover that lost a change, or a
 * point-in-time recovery, a counter would give the lost change's number to another change, and a process that saw the first
 * would take its plans for current.
 */
export const raiseEpoch = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  events: Arr.NonEmptyReadonlyArray<AuditEvent>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.andThen(
    sql`UPDATE max.organizations SET epoch = ${nextId()}::bigint WHERE organization_id = ${organizationId}`,
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
