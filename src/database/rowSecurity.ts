/**
 * Row-level security: a second wall, which Postgres keeps by itself, on the tables that organizations share. It asks
 * for the organization only, of every role that isn't a superuser, and the owner is none the better for owning. Whether
 * it is on is a state of the database: two processes can't disagree, because switching it raises every epoch, and who
 * reads by the old state is told that it is stale.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { qualified } from "./sql/SqlWriter.ts"

/** The managed tables that hold rows of more than one organization. */
export const SHARED_TABLES: ReadonlyArray<string> = ["people", "companies", "meetings", "meeting_attendees"]

/** Whether row-level security is on, as an expression for any statement. */
export const ROW_SECURITY = `(SELECT c.relrowsecurity FROM pg_class c WHERE c.oid = to_regclass('data.people'))`

/** Tells Postgres which organization this transaction is about: the first thing in every transaction over its rows. */
export const enterOrganization = (
  sql: PgClient.PgClient,
  organizationId: bigint
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.asVoid(sql`SELECT set_config('max.organization_id', ${organizationId.toString()}, true)`)

/** An unset variable is NULL and one that was set in an earlier transaction is empty: both are no organization. */
const OWN = `organization_id = nullif(current_setting('max.organization_id', true), '')::bigint`

/** What switches row-level security on or off, one statement a string. */
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

/** Whether row-level security hides rows from the role of this connection: a copy of everything would be without them. */
export const hidesRows = (sql: PgClient.PgClient): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql<{ hides: boolean | null }>`SELECT row_security_active(to_regclass('data.people')) AS hides`,
    ([row]) => row?.hides === true
  )
