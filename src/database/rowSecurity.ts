/**
 * Row-level security: a second check by Postgres on the tables that organizations share. It compares the organization
 * only, and applies to every role except superusers, including the owner. Its state is stored in the database. Switching
 * it raises every epoch, so that a process with the old state gets a stale result and plans again.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { qualified } from "./sql/SqlWriter.ts"

/** The managed tables that hold rows of more than one organization. */
export const SHARED_TABLES: ReadonlyArray<string> = ["people", "companies", "meetings", "meeting_attendees"]

/** Whether row-level security is on, as an expression for any statement. */
export const ROW_SECURITY = `(SELECT c.relrowsecurity FROM pg_class c WHERE c.oid = to_regclass('data.people'))`

/** Sets the transaction's organization: the first statement of every transaction over its rows. */
export const enterOrganization = (
  sql: PgClient.PgClient,
  organizationId: bigint
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(sql`SELECT set_config('max.organization_id', ${organizationId.toString()}, true)`)

/** The variable is NULL when unset and empty after an earlier transaction set it; both match no organization. */
const OWN = `organization_id = nullif(current_setting('max.organization_id', true), '')::bigint`

/** The statements that switch row-level security on or off. */
export const rowSecurityStatements = (on: boolean): ReadonlyArray<string> =>
  SHARED_TABLES.flatMap((table) => {
    const name = qualified({ schema: "data", table })
    return [
      `DROP POLICY IF EXISTS max_organization ON ${name}`,
      ...(on ? [`CREATE POLICY max_organization ON ${name} USING (${OWN}) WITH CHECK (${OWN})`] : []),
      `ALTER TABLE ${name} ${on ? "ENABLE" : "DISABLE"} ROW LEVEL SECURITY`,
      `ALTER TABLE ${name} ${on ? "FORCE" : "NO FORCE"} ROW LEVEL SECURITY`
    ]
  })

/** Whether row-level security hides rows from this connection's role: a backup would omit them. */
export const hidesRows = (sql: PgClient.PgClient): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ hides: boolean | null }>`SELECT row_security_active(to_regclass('data.people')) AS hides`,
    ([row]) => row?.hides === true
  )
