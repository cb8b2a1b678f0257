/**
 * Storing a proposal: one call of `max.store_proposal` (migration 47), which holds the person, finds the same proposal, counts, and
 * inserts what is within the limits. The call is a transaction of its own.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { Decided, type TooManyCalls } from "../../domain/errors.ts"
import {
  type ChangeLimits,
  type Counts,
  holdPerson,
  requireActionLimits,
  requireWithin,
  tooManyCalls
} from "./limits.ts"
import { type ChangeEvent, isoTime, type NewChange, readChange, type Stored, type Via } from "./records.ts"

const STORE = `/* max change */ SELECT s.calls_rest, s.changes, s.changes_rest, s.destructive, s.destructive_rest, s.rows, s.known, ${isoTime("s.created")} AS created, s.token
  FROM max.store_proposal($1::bigint, $2::text, $3::text, $4::text, $5::text[], $6::boolean, $7::int, $8::text, $9::jsonb, $10::jsonb, $11::text, $12::text,
    $13::text, $14::text, decode($15::text, 'hex'), decode($16::text, 'hex'), $17::text, $18::text, $19::int, $20::text[], $21::text[], $22::jsonb,
    $23::int, $24::int, $25::int, $26::text, $27::boolean, $28::int) s`

interface Storing extends Counts {
  /** The seconds until another call is counted, if this one is over the limit. */
  readonly calls_rest: number | null
  /** The id of the same proposal. */
  readonly known: string | null
  readonly created: string | null
  readonly token: string | null
}

interface Storage {
  /** Whether the key is the caller's own. */
  readonly callersKey: boolean
  /** Whether the call was counted before. */
  readonly isCounted: boolean
  /** The draft in whose place it is stored. */
  readonly replaces: string | undefined
}

/** Counts the call, and stores a change with its first events in place of a draft, or finds the same proposal. */
export const storeChange = (...storing: Parameters<typeof store>): ReturnType<typeof store> => {
  const [sql, organizationId, , { changeId, limits, proposerId }] = storing
  if (limits.length === 0) return store(...storing)
  const limited = requireActionLimits(sql, organizationId, proposerId, limits, changeId)
  return Effect.andThen(
    holdPerson(sql, organizationId, proposerId),
    // A proposal that is known already counts once.
    Effect.tap(store(...storing), ({ known }) => (known ? Effect.void : limited))
  ).pipe(sql.withTransaction)
}

const store = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  via: Via,
  change: NewChange,
  events: ReadonlyArray<ChangeEvent>,
  limits: ChangeLimits,
  { callersKey, isCounted, replaces }: Storage
): Effect.fn.Return<{ readonly known: boolean; readonly stored: Stored }, Decided | TooManyCalls | SqlError.SqlError> {
  const actions = [...change.steps, ...change.calls].map(({ action }) => action)
  const [found] = yield* sql.unsafe<Storing>(STORE, [
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
    actions,
    [...new Set(change.steps.map(({ type }) => type))],
    JSON.stringify(events),
    limits.changes,
    limits.destructive,
    limits.rows,
    replaces ?? null,
    callersKey,
    isCounted ? null : limits.calls
  ])
  const { calls_rest, created, known, token, ...counts } = found!
  if (calls_rest !== null) return yield* tooManyCalls(calls_rest)
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
})

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
  source: null,
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
  made: null,
  undoes: change.undoes ?? null,
  undone_by: null,
  replaced_by: null,
  actions: [...new Set([...change.steps, ...change.calls].map(({ action }) => action))]
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
