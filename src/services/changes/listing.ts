/** Lists of changes: those that a person proposed, and those that wait for the person. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../../database/execute.ts"
import { actionByKey } from "../../domain/Action.ts"
import type { ChangeSummary } from "../../domain/Change.ts"
import type { Catalog } from "../../domain/EntityType.ts"
import type { Principal } from "../../domain/Principal.ts"
import { readChanges, type Stored } from "./records.ts"

export interface ListQuery {
  /** `mine`: proposed by the caller. `me`: waiting for the caller's decision. */
  readonly which: "mine" | "me"
  readonly sessionId?: string | undefined
  readonly limit?: number | undefined
}

const MAX_LISTED = 100

const MINE = "c.proposer_id = $2::text AND c.state <> 'drafted'"
const WAITING = `c.expires_at > clock_timestamp() AND ((c.state = 'open' AND c.proposer_id = $2::text)
  OR (c.state = 'waiting' AND c.proposer_id <> $2::text AND c.approvers && $4::text[]))`

/** Changes, newest first. */
export const listChanges = (
  { anchorEntityId, organizationId, roles }: Principal,
  { limit = 20, sessionId, which }: ListQuery,
  catalog: Catalog,
  sql: PgClient.PgClient
) =>
  Effect.map(
    orUnavailable(
      readChanges(
        sql,
        organizationId,
        `${which === "mine" ? MINE : WAITING} AND ($3::text IS NULL OR c.session_id = $3::text) AND $4::text[] IS NOT NULL`,
        [anchorEntityId, sessionId ?? null, roles],
        Math.min(Math.max(1, Math.trunc(limit)), MAX_LISTED)
      )
    ),
    (rows) => rows.map((row) => summaryOf(row, catalog))
  )

const summaryOf = (row: Stored, catalog: Catalog): ChangeSummary => ({
  changeId: row.change_id,
  state: row.state,
  level: row.level,
  actionIds: (row.actions ?? []).map((key) => actionByKey(catalog, key)?.slug ?? key),
  rows: row.rows,
  proposer: row.proposer_id,
  channel: row.channel,
  createdAt: row.created,
  ...(row.state === "open" || row.state === "waiting" ? { seconds: Math.max(0, row.seconds) } : {}),
  ...(row.receipt === undefined ? {} : { receipt: row.receipt })
})
