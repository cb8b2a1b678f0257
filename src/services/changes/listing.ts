/** Lists of changes: those that a person proposed, those that wait for the person, and those that are decided. */
import { Effect } from "effect"
import type { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { actionByKey } from "../../domain/Action.ts"
import type { ChangeState, ChangeSummary } from "../../domain/Change.ts"
import { type Catalog, typeBySlug } from "../../domain/EntityType.ts"
import type { Caller } from "./callers.ts"
import { namesOfMembers } from "./preview.ts"
import { DECIDABLE, PENDING, readChanges, type Stored } from "./records.ts"

export interface ListQuery {
  /** `mine`: proposed by the caller. `me`: waiting for the caller's decision. `decided`: final, proposed or decided by the caller. */
  readonly which: "mine" | "me" | "decided"
  readonly sessionId?: string | undefined
  /** The slug of a type that the change touches. */
  readonly type?: string | undefined
  /** The anchor of the proposer. */
  readonly proposer?: string | undefined
  readonly state?: ChangeState | undefined
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

/** A change whose time is over is expired, whether it has been marked or not. */
const STATE = `CASE WHEN c.state IN ${DECIDABLE} AND c.expires_at <= clock_timestamp() THEN 'expired' ELSE c.state END`
const CHOSEN = `($6::text IS NULL OR c.proposer_id = $6::text) AND ($7::text IS NULL OR ${STATE} = $7::text)
  AND ($8::text IS NULL OR $8::text = ANY(c.types))`

/** Changes, newest first. A type that doesn't exist has no changes, as one that the caller doesn't see. */
export const listChanges = Effect.fnUntraced(function* (
  { after, limit = 20, proposer, sessionId, state, type, which }: ListQuery,
  caller: Caller,
  database: Database["Service"]
) {
  const { catalog, principal } = caller
  const { anchorEntityId, organizationId, roles } = principal
  const typeKey = type === undefined ? null : (typeBySlug(catalog, type)?.key ?? "")
  const rows = yield* orUnavailable(
    readChanges(
      database.changes,
      organizationId,
      `${LISTS[which]} AND ($3::text IS NULL OR c.session_id = $3::text) AND $4::text[] IS NOT NULL AND ${AFTER} AND ${CHOSEN}`,
      [anchorEntityId, sessionId ?? null, roles, after ?? null, proposer ?? null, state ?? null, typeKey],
      Math.min(Math.max(1, Math.trunc(limit)), MAX_LISTED)
    )
  )
  const others = new Set(rows.map(({ proposer_id }) => proposer_id))
  others.delete(anchorEntityId)
  const names = others.size === 0 ? new Map<string, string>() : yield* namesOfMembers([...others], caller)
  return rows.map((row) => summaryOf(row, catalog, names))
})

const summaryOf = (row: Stored, catalog: Catalog, names: ReadonlyMap<string, string>): ChangeSummary => ({
  changeId: row.change_id,
  state: row.state,
  level: row.level,
  actionIds: row.actions.map((key) => actionByKey(catalog, key)?.slug ?? key),
  rows: row.rows,
  proposer: row.proposer_id,
  ...(names.has(row.proposer_id) ? { proposerName: names.get(row.proposer_id)! } : {}),
  channel: row.channel,
  createdAt: row.created,
  ...(row.turn === null ? {} : { turn: row.turn }),
  ...(row.state === "open" || row.state === "waiting" ? { seconds: Math.max(0, row.seconds) } : {}),
  ...(row.receipt === undefined ? {} : { receipt: row.receipt }),
  ...(row.replaced_by === null ? {} : { replacedBy: row.replaced_by })
})
