/**
 * Limits of changes per person and organization. `max.store_proposal` (migration 45) counts them from the stored changes themselves,
 * under a lock on the person, so they are exact across processes and survive a crash.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { DeclaredAction } from "../../domain/DeclaredAction.ts"
import { TooManyCalls } from "../../domain/errors.ts"
import { type NewChange, PENDING } from "./records.ts"

export interface ChangeLimits {
  /** Calls a minute that propose something, whatever comes of them. */
  readonly calls: number
  /** Changes a minute, and attempts that the policy refused. */
  readonly changes: number
  /** Destructive changes an hour. */
  readonly destructive: number
  /** Rows a day, in changes that were applied or can be. */
  readonly rows: number
}

const tooMany = (what: string, seconds: number) =>
  new TooManyCalls({ message: `${what} Try again in ${seconds} seconds.`, retryAfter: seconds })

export const tooManyCalls = (seconds: number) => tooMany("Too many calls.", seconds)

/**
 * Counts a call of a person that stores nothing; the calls of a minute are counted in one row, as calls over HTTP are.
 * `max.store_proposal` counts the others.
 */
export const countCall = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  personId: string,
  { calls }: ChangeLimits
) {
  const minute = "floor(extract(epoch FROM statement_timestamp()) / 60)::bigint"
  const [row] = yield* sql.unsafe<{ rest: number }>(
    `/* max count changes */ INSERT INTO max.calls AS c (organization_id, who, minute, calls, granted)
     VALUES ($1::bigint, $2::text, ${minute}, 1, 1)
     ON CONFLICT (organization_id, who) DO UPDATE SET minute = greatest(c.minute, excluded.minute),
       calls = 1 + CASE WHEN c.minute < excluded.minute THEN 0 ELSE c.calls END, granted = 1
     WHERE c.minute < excluded.minute OR c.calls < $3::int RETURNING 0 AS rest`,
    [organizationId, `change ${personId}`, calls]
  )
  if (row !== undefined) return
  const [clock] = yield* sql.unsafe<{ rest: number }>(
    "SELECT 60 - (extract(epoch FROM statement_timestamp())::int % 60) AS rest"
  )
  return yield* tooManyCalls(clock!.rest)
})

/** A person's changes before the one that is proposed, with the seconds until the oldest of a window leaves it. */
export interface Counts {
  readonly changes: number
  readonly changes_rest: number
  readonly destructive: number
  readonly destructive_rest: number
  readonly rows: number
}

const counted = `(m.state = 'applied' OR (m.state IN ${PENDING} AND m.expires_at > statement_timestamp()))`

/** Fails with the limit that a change exceeds, if it exceeds one. */
export const requireWithin = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  personId: string,
  limits: ChangeLimits,
  counts: Counts,
  { destructive, rows }: Pick<NewChange, "destructive" | "rows">
): Effect.fn.Return<void, TooManyCalls | SqlError.SqlError> {
  if (counts.changes >= limits.changes)
    return yield* tooMany(`At most ${limits.changes} changes a minute.`, counts.changes_rest)
  if (destructive && counts.destructive >= limits.destructive)
    return yield* tooMany(`At most ${limits.destructive} deletions an hour.`, counts.destructive_rest)
  if (counts.rows + rows <= limits.rows) return
  // The time until as many rows have left the day as are too many.
  const [room] = yield* sql.unsafe<{ seconds: number | null }>(
    `SELECT greatest(1, ceil(86400 - extract(epoch FROM statement_timestamp() - min(created_at))))::int AS seconds FROM (
       SELECT m.created_at, sum(m.rows) OVER (ORDER BY m.created_at, m.change_id) AS gone FROM max.changes m WHERE m.organization_id = $1::bigint
         AND m.proposer_id = $2::text AND m.created_at > statement_timestamp() - interval '1 day' AND ${counted}) r WHERE r.gone >= $3::int`,
    [organizationId, personId, counts.rows + rows - limits.rows]
  )
  return yield* tooMany(`At most ${limits.rows} rows a day.`, room?.seconds ?? 86_400)
})

const since = (seconds: string) =>
  `greatest(1, ceil(${seconds} - extract(epoch FROM statement_timestamp() - min(m.created_at))))::int`

/** Serializes the proposals of one person until the transaction ends, as `max.store_proposal` does. */
export const holdPerson = (sql: PgClient.PgClient, organizationId: bigint, personId: string) =>
  sql.unsafe("SELECT pg_advisory_xact_lock(hashtextextended('max changes ' || $2::text, $1::bigint))", [
    organizationId,
    personId
  ])

/** Fails with the limit of a declared action that a person, who must be held, exceeds by a change; a refused attempt has no actions. */
export const requireActionLimits = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  personId: string,
  actions: ReadonlyArray<Pick<DeclaredAction, "slug" | "name" | "limits">>,
  changeId: string
): Effect.fn.Return<void, TooManyCalls | SqlError.SqlError> {
  for (const slug of new Set(actions.map((action) => action.slug))) {
    const of = actions.filter((action) => action.slug === slug)
    for (const { n, seconds } of of[0]!.limits) {
      const [row] = yield* sql.unsafe<{ count: number; rest: number }>(
        `/* max action limit */ SELECT coalesce(sum(cardinality(array_positions(m.actions, $3::text))), 0)::int AS count, coalesce(${since("$4::int")}, 1) AS rest
         FROM max.changes m WHERE m.organization_id = $1::bigint AND m.proposer_id = $2::text AND $3::text = ANY(m.actions) AND m.state <> 'drafted' AND m.change_id <> $5::text
           AND m.created_at > statement_timestamp() - make_interval(secs => $4::int)`,
        [organizationId, personId, slug, seconds, changeId]
      )
      if (row!.count + of.length > n)
        return yield* tooMany(`“${of[0]!.name}”: at most ${n} in ${seconds} seconds.`, row!.rest)
    }
  }
})
