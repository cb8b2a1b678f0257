/**
 * Storing a proposal: one transaction of two statements. The first holds the person; the second, whose snapshot is therefore
 * taken after every earlier proposal of the person, finds the same proposal, counts, and inserts what is within the limits.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { Decided, type TooManyCalls } from "../../domain/errors.ts"
import { type ChangeLimits, type Counts, countsOf, holdPerson, requireWithin } from "./limits.ts"
import {
  type ChangeEvent,
  DECIDABLE,
  isoTime,
  type NewChange,
  PENDING,
  readChange,
  type Stored,
  type Via
} from "./records.ts"

/** The newest change with a key: a pending one, or of a caller's own key one in any state. */
const known = (callersKey: boolean) =>
  `SELECT c.change_id FROM max.changes c WHERE c.organization_id = $1::bigint AND c.proposer_id = $8::text AND c.key = decode($15::text, 'hex') AND c.rows > 0
     ${callersKey ? "" : `AND c.state IN ${PENDING} AND NOT EXISTS (SELECT 1 FROM expired e WHERE e.change_id = c.change_id)`}
   ORDER BY c.created_at DESC LIMIT 1`

const isWithin =
  "n.changes < $22::int AND (NOT $6::boolean OR n.destructive < $23::int) AND n.rows + $7::int <= $24::int"

const rank = (level: string) => `array_position(ARRAY['none', 'once', 'twice', 'second'], ${level})`

/**
 * A transaction that only adds a draft doesn't wait for the disk: a crash of the database within the next second can lose the
 * draft, whose confirmation then finds no change. Whatever ends a change, or counts a refusal, waits. ADR 18.
 */
const COMMITTING = `CASE WHEN $3::text <> 'failed' AND NOT EXISTS (SELECT FROM expired) THEN set_config('synchronous_commit', 'off', true) END`

/**
 * A pending change whose time is over keeps its key until it is marked, which `expired` does. It also withdraws the same proposal
 * at a lower level than it needs now, so that a repeat never leaves the easier confirmation open.
 */
const storing = (callersKey: boolean) => `/* max change */ WITH
  expired AS (UPDATE max.changes SET state = CASE WHEN expires_at <= clock_timestamp() THEN 'expired' ELSE 'withdrawn' END,
      decided_at = clock_timestamp(), decided_by = CASE WHEN expires_at <= clock_timestamp() THEN decided_by ELSE $8::text END
    WHERE organization_id = $1::bigint AND proposer_id = $8::text AND key = decode($15::text, 'hex')
      AND ((state IN ${DECIDABLE} AND expires_at <= clock_timestamp())${callersKey ? "" : ` OR (state IN ${PENDING} AND ${rank("level")} < ${rank("$4::text")})`})
    RETURNING change_id, state),
  ended AS (INSERT INTO max.change_events (organization_id, change_id, sequence, phase, who, credential_id, channel, outcome)
    SELECT $1::bigint, e.change_id, (SELECT coalesce(max(v.sequence), 0) + 1 FROM max.change_events v
      WHERE v.organization_id = $1::bigint AND v.change_id = e.change_id), e.state, $8::text, $11::text, $12::text, 'ok' FROM expired e),
  known AS MATERIALIZED (${known(callersKey)}),
  n AS MATERIALIZED (${countsOf("$1::bigint", "$8::text", "$25::text")}),
  replaced AS (DELETE FROM max.changes d USING n WHERE d.organization_id = $1::bigint AND d.change_id = $25::text AND d.proposer_id = $8::text
    AND d.state = 'drafted' AND NOT EXISTS (SELECT 1 FROM known) AND ${isWithin} RETURNING 1),
  made AS (INSERT INTO max.changes (organization_id, change_id, state, level, approvers, destructive, rows, proposer_id, actor, scope,
      credential_id, channel, session_id, reference, key, digest, document, undoes, expires_at)
    SELECT $1::bigint, $2::text, $3::text, $4::text, $5::text[], $6::boolean, $7::int, $8::text, $9::jsonb, $10::jsonb, $11::text, $12::text,
      $13::text, $14::text, decode($15::text, 'hex'), decode($16::text, 'hex'), $17::text, $18::text,
      clock_timestamp() + make_interval(secs => $19::int)
    FROM n WHERE NOT EXISTS (SELECT 1 FROM known) AND ${isWithin} AND ($25::text IS NULL OR EXISTS (SELECT 1 FROM replaced))
    RETURNING change_id, created_at),
  stepped AS (INSERT INTO max.change_steps (organization_id, change_id, step, action_key, action_version, type_key, entity_id, columns)
    SELECT $1::bigint, made.change_id, s.n, s.action, s.version, s.type, s.entity, ARRAY(SELECT jsonb_array_elements_text(s.columns))
    FROM made, ROWS FROM (jsonb_to_recordset($20::jsonb) AS (action text, version int, type text, entity text, columns jsonb))
      WITH ORDINALITY s(action, version, type, entity, columns, n)),
  told AS (INSERT INTO max.change_events (organization_id, change_id, sequence, phase, who, credential_id, channel, ms, outcome, detail)
    SELECT $1::bigint, made.change_id, e.n, e.phase, $8::text, $11::text, $12::text, e.ms, e.outcome, coalesce(e.detail, '{}')
    FROM made, ROWS FROM (jsonb_to_recordset($21::jsonb) AS (phase text, ms int, outcome text, detail jsonb))
      WITH ORDINALITY e(phase, ms, outcome, detail, n))
  SELECT n.changes, n.changes_rest, n.destructive, n.destructive_rest, n.rows, (SELECT known.change_id FROM known) AS known,
    ${isoTime("made.created_at")} AS created, ${COMMITTING} AS committing, (SELECT t.name FROM max.credentials t
      WHERE t.organization_id = $1::bigint AND t.credential_id = $11::text AND t.kind = 'token') AS token
  FROM n LEFT JOIN made ON true`

const STORING = { steps: storing(false), callers: storing(true) }

interface Storing extends Counts {
  /** The id of the same proposal. */
  readonly known: string | null
  readonly created: string | null
  readonly token: string | null
}

/** Stores a change with its steps and first events in place of a draft, or finds the same proposal. */
export const storeChange = Effect.fnUntraced(
  function* (
    sql: PgClient.PgClient,
    organizationId: bigint,
    via: Via,
    change: NewChange,
    events: ReadonlyArray<ChangeEvent>,
    limits: ChangeLimits,
    { callersKey, replaces }: { readonly callersKey: boolean; readonly replaces: string | undefined }
  ): Effect.fn.Return<
    { readonly known: boolean; readonly stored: Stored },
    Decided | TooManyCalls | SqlError.SqlError
  > {
    yield* holdPerson(sql, organizationId, change.proposerId)
    const steps = change.steps.map(({ action, after, before, entity, type, version }) => ({
      action,
      version,
      type,
      entity,
      columns: [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
    }))
    const [found] = yield* sql.unsafe<Storing>(STORING[callersKey ? "callers" : "steps"], [
      organizationId,
      change.changeId,
      change.state,
      change.level,
      change.approvers,
      change.destructive,
      change.rows,
      change.proposerId,
      change.actor === undefined ? null : JSON.stringify(change.actor),
      change.scope === undefined ? null : JSON.stringify(change.scope),
      via.credentialId ?? null,
      via.channel,
      change.sessionId ?? null,
      change.reference ?? null,
      change.key,
      change.digest,
      change.document,
      change.undoes ?? null,
      change.seconds,
      JSON.stringify(steps),
      JSON.stringify(events),
      limits.changes,
      limits.destructive,
      limits.rows,
      replaces ?? null
    ])
    const { created, known, token, ...counts } = found!
    if (known !== null) {
      const stored = yield* readChange(sql, organizationId, known)
      return stored === undefined
        ? yield* Effect.die(new Error("A change was found, and isn't there"))
        : { known: true, stored }
    }
    if (created === null) {
      yield* requireWithin(sql, organizationId, change.proposerId, limits, counts, change)
      return yield* new Decided({ message: "That draft can't be continued any more.", state: "open" })
    }
    return { known: false, stored: storedOf(change, via, created, token) }
  },
  (effect, sql) => sql.withTransaction(effect)
)

const storedOf = (change: NewChange, via: Via, created: string, token: string | null): Stored => ({
  change_id: change.changeId,
  state: change.state,
  level: change.level,
  approvers: change.approvers,
  destructive: change.destructive,
  rows: change.rows,
  proposer_id: change.proposerId,
  actor: change.actor ?? null,
  scope: change.scope ?? null,
  channel: via.channel,
  token,
  session_id: change.sessionId ?? null,
  turn: null,
  digest: change.digest,
  document: change.document,
  confirmed: false,
  seconds: change.seconds,
  created,
  decided_by: null,
  receipt: undefined,
  undoes: change.undoes ?? null,
  undone_by: null,
  replaced_by: null,
  actions: [...new Set(change.steps.map(({ action }) => action))]
})

/** The change with a caller's own key, whatever became of it. */
export const changeByKey = (sql: PgClient.PgClient, organizationId: bigint, who: string, key: string) =>
  Effect.flatMap(
    sql.unsafe<{ change_id: string }>(
      `/* max change by key */ SELECT c.change_id FROM max.changes c WHERE c.organization_id = $1::bigint AND c.proposer_id = $2::text
       AND c.key = decode($3::text, 'hex') AND c.rows > 0 ORDER BY c.created_at DESC LIMIT 1`,
      [organizationId, who, key]
    ),
    ([row]) => (row === undefined ? Effect.undefined : readChange(sql, organizationId, row.change_id))
  )
