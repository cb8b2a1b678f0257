/** Lists of changes: those that a person proposed, those that wait for the person, and those that are decided. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../../database/execute.ts"
import { actionByKey } from "../../domain/Action.ts"
import type { ChangeSummary } from "../../domain/Change.ts"
import type { Catalog } from "../../domain/EntityType.ts"
import type { Principal } from "../../domain/Principal.ts"
import { DECIDABLE, PENDING, readChanges, type Stored } from "./records.ts"

export interface ListQuery {
  /** `mine`: proposed by the caller. `me`: waiting for the caller's decision. `decided`: final, proposed or decided by the caller. */
  readonly which: "mine" | "me" | "decided"
  readonly sessionId?: string | undefined
  readonly limit?: number | undefined
  /** The id of the last change of the previous page. */
  readonly after?: string | undefined
}

const MAX_LISTED = 100

const LISTS: Readonly<Record<ListQuery["which"], string>> = {
  mine: "c.proposer_id = $2::text AND c.state <> 'drafted'",
  me: `c.expires_at > clock_timestamp() AND ((c.state = 'open' AND c.proposer_id = $2::text)
    OR (c.state = 'waiting' AND c.proposer_id <> $2::text AND c.approvers && $4::text[]))`,
  decided: `(c.proposer_id = $2::text OR c.decided_by = $2::text)
    AND (c.state NOT IN ${PENDING} OR (c.state IN ${DECIDABLE} AND c.expires_at <= clock_timestamp()))`
}
/** Keyset pagination: what was created before the last change of the previous page. */
const AFTER = `($5::text IS NULL OR (c.created_at, c.change_id) <
  (SELECT a.created_at, a.change_id FROM max.changes a WHERE a.organization_id = $1::bigint AND a.change_id = $5::text))`

/** Changes, newest first. */
export const listChanges = (
  { anchorEntityId, organizationId, roles }: Principal,
  { after, limit = 20, sessionId, which }: ListQuery,
  catalog: Catalog,
  sql: PgClient.PgClient
) =>
  Effect.map(
    orUnavailable(
      readChanges(
        sql,
        organizationId,
        `${LISTS[which]} AND ($3::text IS NULL OR c.session_id = $3::text) AND $4::text[] IS NOT NULL AND ${AFTER}`,
        [anchorEntityId, sessionId ?? null, roles, after ?? null],
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
  ...(row.turn === null ? {} : { turn: row.turn }),
  ...(row.state === "open" || row.state === "waiting" ? { seconds: Math.max(0, row.seconds) } : {}),
  ...(row.receipt === undefined ? {} : { receipt: row.receipt }),
  ...(row.replaced_by === null ? {} : { replacedBy: row.replaced_by })
})
