/** The data version of an organization. Every write of its managed rows replaces it, which tells a standby that lags from its primary. */
import type { PgClient } from "@effect/sql-pg"
import type { Beside } from "./audit.ts"
import { nextId } from "../domain/ids.ts"

/**
 * Gives the organization a new data version; call it at the end of a transaction that writes its rows, because the row stays
 * locked until the commit. A transaction that raises the epoch needs none. Like epochs, versions are unique numbers and no counter.
 */
export const raiseDataVersion = (sql: PgClient.PgClient, organizationId: bigint) => {
  const { parameters, text } = newDataVersion(organizationId)
  return sql.unsafe(text, parameters)
}

/** The same as a statement, for one that writes beside another. */
export const newDataVersion = (organizationId: bigint): Beside => ({
  text: `/* max data version */ INSERT INTO max.data_versions AS d (organization_id, version) VALUES ($1::bigint, $2::bigint)
     ON CONFLICT (organization_id) DO UPDATE SET version = excluded.version`,
  parameters: [organizationId, nextId()]
})
