/** The epoch of an organization: whatever was planned before it rose is over. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** Ends everything that was planned for an organization: call it in the transaction of the change. */
export const raiseEpoch = (sql: PgClient.PgClient, organizationId: bigint): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(sql`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organizationId}`)

/** The epoch, held until the transaction ends: what was prepared for another one must not be written. */
export const holdEpoch = (
  sql: PgClient.PgClient,
  organizationId: bigint
): Effect.Effect<bigint | undefined, SqlError.SqlError> =>
  Effect.map(
    sql<{ epoch: bigint }>`SELECT epoch FROM max.organizations WHERE organization_id = ${organizationId} FOR UPDATE`,
    ([row]) => row?.epoch
  )
