/** Stored changes: their rows, steps and events. Every statement names the organization first. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { Beside } from "../../database/audit.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Confirmation } from "../../domain/Action.ts"
import { type ChangeCall, type ChangeState, type ChangeStep, type MessageSource, Receipt } from "../../domain/Change.ts"
import type { DeclaredAction } from "../../domain/DeclaredAction.ts"
import { Made } from "./made.ts"
import type { Actor, Principal, ScopeGrant } from "../../domain/Principal.ts"

/** Through what a caller reached Max. */
export interface Via {
  readonly channel: string
  readonly credentialId?: string | undefined
  /** Whether it admits administrators as such: a session, a token for administration, or the terminal. */
  readonly administers?: boolean | undefined
}

interface StoredRow {
  readonly change_id: string
  readonly state: ChangeState
  readonly level: Confirmation
  readonly approvers: ReadonlyArray<string>
  readonly destructive: boolean
  readonly rows: number
  readonly proposer_id: string
  readonly actor: Actor | null
  readonly scope: ReadonlyArray<ScopeGrant> | null
  readonly channel: string
  /** The name of the token that proposed it. */
  readonly token: string | null
  readonly session_id: string | null
  readonly source: MessageSource | null
  readonly turn: number | null
  readonly digest: string
  readonly document: string | null
  readonly confirmed: boolean
  readonly seconds: number
  readonly created: string
  readonly decided_by: string | null
  readonly receipt: unknown
  readonly made: unknown
  readonly undoes: string | null
  readonly undone_by: string | null
  readonly replaced_by: string | null
  readonly actions: ReadonlyArray<string>
}

/** A stored change; a pending one whose time is over has the state `expired`, whatever is stored. */
export interface Stored extends Omit<StoredRow, "receipt" | "made"> {
  readonly receipt: Receipt | undefined
  readonly made: Made | null
}

const decodeReceipt = Schema.decodeUnknownSync(Receipt)
const decodeMade = Schema.decodeUnknownSync(Made)

export const PENDING = `('drafted', 'open', 'waiting')`
/** Pending and shown: these expire. */
export const DECIDABLE = `('open', 'waiting')`
const ISO = `'YYYY-MM-DD"T"HH24:MI:SS"Z"'`
/** A time as ISO text, UTC. */
export const isoTime = (expression: string) => `to_char(${expression} AT TIME ZONE 'UTC', ${ISO})`

/** What has undone a change. An inverse that another system didn't carry out, and that wrote no rows, has undone nothing. */
const UNDONE_BY = `CASE WHEN c.undone_by IS NULL OR NOT EXISTS (SELECT FROM max.change_outbox o
    WHERE o.organization_id = c.organization_id AND o.change_id = c.undone_by AND o.step = 0 AND o.state IN ('refused', 'dead')
      AND NOT EXISTS (SELECT FROM max.change_steps u WHERE u.organization_id = c.organization_id AND u.change_id = c.undone_by AND u.entity_id IS NOT NULL))
  THEN c.undone_by END`

/** The actions of a change `c`, each once. */
export const DISTINCT_ACTIONS = "ARRAY(SELECT DISTINCT unnest(c.actions) ORDER BY 1)"

/** The events of a change `c`: those of proposing are in its own row, later ones in `max.change_events`. Their order is `later, sequence`. */
export const EVENTS = `(
    SELECT false AS later, b.n AS sequence, c.created_at AS at, b.phase, b.outcome, c.proposer_id AS who, c.channel, b.ms
    FROM ROWS FROM (jsonb_to_recordset(c.begun) AS (phase text, ms int, outcome text)) WITH ORDINALITY b(phase, ms, outcome, n)
    UNION ALL SELECT true, e.sequence, e.at, e.phase, e.outcome, e.who, e.channel, e.ms FROM max.change_events e
    WHERE e.organization_id = c.organization_id AND e.change_id = c.change_id)`

const COLUMNS = `c.change_id, CASE WHEN c.state IN ${DECIDABLE} AND c.expires_at <= clock_timestamp() THEN 'expired' ELSE c.state END AS state,
  c.level, c.approvers, c.destructive, c.rows, c.proposer_id, c.actor, c.scope, c.channel, c.session_id, c.turn,
  encode(c.digest, 'hex') AS digest, c.document, c.yes_at IS NOT NULL AS confirmed,
  ceil(extract(epoch FROM c.expires_at - clock_timestamp()))::int AS seconds, ${isoTime("c.created_at")} AS created,
  c.decided_by, c.receipt, c.made, c.undoes, ${UNDONE_BY} AS undone_by, c.replaced_by,
  ${DISTINCT_ACTIONS} AS actions,
  (SELECT t.name FROM max.credentials t
    WHERE t.organization_id = c.organization_id AND t.credential_id = c.credential_id AND t.kind = 'token') AS token,
  CASE WHEN c.channel = 'intake' THEN (SELECT json_build_object('source', s.source, 'sourceId', s.source_id, 'from', s.source_from)
    FROM max.sessions s WHERE s.organization_id = c.organization_id AND s.session_id = c.session_id AND s.source IS NOT NULL) END AS source`

/**
 * Reads changes that satisfy a condition on `c`, whose parameters begin at $2; newest first. Refused attempts, which are stored
 * without rows because they count, are not among them.
 */
export const readChanges = (
  sql: PgClient.PgClient,
  organizationId: bigint,
  condition: string,
  parameters: ReadonlyArray<unknown>,
  limit: number
): Effect.Effect<ReadonlyArray<Stored>, SqlError.SqlError> =>
  Effect.map(
    sql.unsafe<StoredRow>(
      `/* max changes */ SELECT ${COLUMNS} FROM max.changes c WHERE c.organization_id = $1::bigint AND c.rows > 0 AND (${condition})
       ORDER BY c.created_at DESC, c.change_id DESC LIMIT ${limit}`,
      [organizationId, ...parameters]
    ),
    (rows) =>
      rows.map((row) => ({
        ...row,
        receipt: row.receipt === null ? undefined : decodeReceipt(row.receipt),
        made: row.made === null ? null : decodeMade(row.made)
      }))
  )

export const readChange = (sql: PgClient.PgClient, organizationId: bigint, changeId: string) =>
  Effect.map(readChanges(sql, organizationId, "c.change_id = $2::text", [changeId], 1), ([row]) => row)

/** One thing that happened to a change; never a value of a row. */
export interface ChangeEvent {
  readonly phase:
    | "resolved"
    | "planned"
    | "opened"
    | "shown"
    | "confirmed"
    | "approved"
    | "rejected"
    | "withdrawn"
    | "expired"
    | "stale"
    | "applied"
    | "failed"
    | "undone"
    | "sent"
  readonly outcome: string
  readonly ms?: number | undefined
  readonly detail?: Readonly<Record<string, unknown>>
}

/**
 * The statement that appends events to a change. Run it in a transaction that has locked the change's row or created it,
 * because the next number is read first.
 */
export const insertEvents = (
  organizationId: bigint,
  changeId: string,
  who: string,
  via: Via,
  events: ReadonlyArray<ChangeEvent>
): Beside => ({
  text: `/* max change events */ INSERT INTO max.change_events
      (organization_id, change_id, sequence, phase, who, credential_id, channel, ms, outcome, detail)
    SELECT $1::bigint, $2::text, l.last + e.n, e.phase, $3::text, $4::text, $5::text, e.ms, e.outcome, coalesce(e.detail, '{}')
    FROM (SELECT coalesce(max(sequence), 0) AS last FROM max.change_events WHERE organization_id = $1::bigint AND change_id = $2::text) l,
      ROWS FROM (jsonb_to_recordset($6::jsonb) AS (phase text, ms int, outcome text, detail jsonb)) WITH ORDINALITY e(phase, ms, outcome, detail, n)`,
  parameters: [organizationId, changeId, who, via.credentialId ?? null, via.channel, JSON.stringify(events)]
})

export const appendEvents = (
  sql: PgClient.PgClient,
  ...[organizationId, changeId, who, via, events]: Parameters<typeof insertEvents>
): Effect.Effect<void, SqlError.SqlError> => {
  const { parameters, text } = insertEvents(organizationId, changeId, who, via, events)
  return events.length === 0 ? Effect.void : Effect.asVoid(sql.unsafe(text, parameters))
}

/** An event as it is read: no values. */
export interface ChangeEntry {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly phase: string
  readonly outcome: string
  /** An entity id in People. */
  readonly who: string
  readonly channel: string
}

/** The last events of a change, the oldest first. */
export const readEvents = (sql: PgClient.PgClient, organizationId: bigint, changeId: string) =>
  Effect.map(
    sql.unsafe<ChangeEntry>(
      `/* max read change events */ SELECT ${isoTime("e.at")} AS at, e.phase, e.outcome, e.who, e.channel
       FROM max.changes c CROSS JOIN LATERAL ${EVENTS} e
       WHERE c.organization_id = $1::bigint AND c.change_id = $2::text ORDER BY e.later DESC, e.sequence DESC LIMIT 200`,
      [organizationId, changeId]
    ),
    (events) => events.toReversed()
  )

export interface NewChange {
  readonly changeId: string
  readonly state: "drafted" | "open" | "failed"
  readonly level: Confirmation
  readonly approvers: ReadonlyArray<string>
  readonly destructive: boolean
  readonly rows: number
  readonly proposerId: string
  readonly actor: Actor | undefined
  readonly scope: ReadonlyArray<ScopeGrant> | undefined
  readonly sessionId: string | undefined
  readonly reference: string | undefined
  /** Hex. */
  readonly key: string
  readonly digest: string
  readonly document: string | null
  readonly seconds: number
  readonly undoes: string | undefined
  readonly steps: ReadonlyArray<ChangeStep>
  readonly calls: ReadonlyArray<ChangeCall>
  /** The declared actions of the calls, whose own limits count. */
  readonly limits: ReadonlyArray<Pick<DeclaredAction, "slug" | "name" | "limits">>
}

const WAITS_AT_ONCE = "$7::int IS NOT NULL AND level = 'second'"

/**
 * Opens drafts of a person, and withdraws what waits from the turns that this one takes the place of; call it in the transaction
 * that keeps their turn. Their time begins now. With `waitHours`, what another person approves waits for that person at once.
 */
export const openDrafts = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  who: string,
  via: Via,
  changeIds: ReadonlyArray<string>,
  turn: { readonly sessionId: string; readonly position: number } | undefined,
  waitHours?: number
) {
  const changed = yield* sql.unsafe<{ change_id: string; state: "open" | "waiting" | "withdrawn" }>(
    `/* max open changes */ UPDATE max.changes SET
       state = CASE WHEN state <> 'drafted' THEN 'withdrawn' WHEN ${WAITS_AT_ONCE} THEN 'waiting' ELSE 'open' END,
       yes_at = CASE WHEN state = 'drafted' AND ${WAITS_AT_ONCE} THEN clock_timestamp() ELSE yes_at END,
       expires_at = CASE WHEN state <> 'drafted' THEN expires_at
         WHEN ${WAITS_AT_ONCE} THEN clock_timestamp() + make_interval(hours => $7::int)
         ELSE clock_timestamp() + (expires_at - created_at) END,
       session_id = coalesce($4::text, session_id), turn = CASE state WHEN 'drafted' THEN $5::int ELSE turn END,
       decided_at = CASE state WHEN 'drafted' THEN decided_at ELSE clock_timestamp() END,
       decided_by = CASE state WHEN 'drafted' THEN decided_by ELSE $3::text END,
       decided_channel = CASE state WHEN 'drafted' THEN decided_channel ELSE $6::text END
     WHERE organization_id = $1::bigint AND proposer_id = $3::text
       AND ((change_id = ANY($2::text[]) AND state = 'drafted') OR (session_id = $4::text AND turn >= $5::int AND state IN ${DECIDABLE}))
     RETURNING change_id, state`,
    [organizationId, changeIds, who, turn?.sessionId ?? null, turn?.position ?? null, via.channel, waitHours ?? null]
  )
  for (const { change_id, state } of changed)
    yield* appendEvents(sql, organizationId, change_id, who, via, [
      { phase: state === "withdrawn" ? state : "opened", outcome: state === "waiting" ? state : "ok" }
    ])
})

/** Records the first time that a person is shown a change; not while a decision holds its row, which must not wait. */
export const recordShown = (
  sql: PgClient.PgClient,
  { anchorEntityId, organizationId }: Pick<Principal, "anchorEntityId" | "organizationId">,
  { change_id }: Stored,
  via: Via
) =>
  Effect.ignore(
    orUnavailable(
      Effect.gen(function* () {
        const rows = yield* sql.unsafe(
          "SELECT 1 FROM max.changes WHERE organization_id = $1::bigint AND change_id = $2::text FOR UPDATE SKIP LOCKED",
          [organizationId, change_id]
        )
        if (rows.length === 0) return
        const before = yield* sql.unsafe(
          `SELECT 1 FROM max.change_events WHERE organization_id = $1::bigint AND change_id = $2::text AND who = $3::text AND phase = 'shown' LIMIT 1`,
          [organizationId, change_id, anchorEntityId]
        )
        if (before.length > 0) return
        yield* appendEvents(sql, organizationId, change_id, anchorEntityId, via, [{ phase: "shown", outcome: "ok" }])
      }).pipe(sql.withTransaction)
    )
  )
