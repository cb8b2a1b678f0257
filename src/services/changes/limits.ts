/**
 * Limits of changes per person and organization. They are counted from the stored changes themselves, in the proposing
 * transaction and under a lock on the person, so they are exact across processes and survive a crash.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { TooManyCalls } from "../../domain/errors.ts"
import { PENDING } from "./records.ts"

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

/**
 * Counts a call of a person; the calls of a minute are counted in one row, as calls over HTTP are. It commits by itself, so
 * that a call counts that comes to nothing.
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
  return yield* tooMany("Too many calls.", clock!.rest)
})

/** Serializes the proposals of one person, until the transaction ends. */
export const holdPerson = (sql: PgClient.PgClient, organizationId: bigint, personId: string) =>
  sql.unsafe("SELECT pg_advisory_xact_lock(hashtextextended('max changes ' || $2::text, $1::bigint))", [
    organizationId,
    personId
  ])

interface Counts {
  readonly changes: number
  readonly changes_rest: number
  readonly destructive: number
  readonly destructive_rest: number
  readonly rows: number
}

const rest = (seconds: number, filter: string) =>
  `greatest(1, ceil(${seconds} - extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE ${filter}))))::int`

/** Fails when a change of so many rows would exceed a limit of the person. The person must be held. */
export const requireWithin = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  personId: string,
  limits: ChangeLimits,
  { destructive, rows }: { readonly destructive: boolean; readonly rows: number }
): Effect.fn.Return<void, TooManyCalls | SqlError.SqlError> {
  const minute = "created_at > clock_timestamp() - interval '1 minute'"
  const hour = "destructive AND created_at > clock_timestamp() - interval '1 hour'"
  const counted = `(state = 'applied' OR (state IN ${PENDING} AND expires_at > clock_timestamp()))`
  const [counts] = yield* sql.unsafe<Counts>(
    `/* max change limits */ SELECT (count(*) FILTER (WHERE ${minute}))::int AS changes, ${rest(60, minute)} AS changes_rest,
       (count(*) FILTER (WHERE ${hour}))::int AS destructive, ${rest(3600, hour)} AS destructive_rest,
       coalesce(sum(rows) FILTER (WHERE ${counted}), 0)::int AS rows
     FROM max.changes WHERE organization_id = $1::bigint AND proposer_id = $2::text AND created_at > clock_timestamp() - interval '1 day'`,
    [organizationId, personId]
  )
  const { changes, changes_rest, destructive_rest, rows: before, ...counted_ } = counts!
  if (changes >= limits.changes) return yield* tooMany(`At most ${limits.changes} changes a minute.`, changes_rest)
  if (destructive && counted_.destructive >= limits.destructive)
    return yield* tooMany(`At most ${limits.destructive} deletions an hour.`, destructive_rest)
  if (before + rows <= limits.rows) return
  // The time until as many rows have left the day as are too many.
  const [room] = yield* sql.unsafe<{ seconds: number | null }>(
    `SELECT greatest(1, ceil(86400 - extract(epoch FROM clock_timestamp() - min(created_at))))::int AS seconds FROM (
       SELECT created_at, sum(rows) OVER (ORDER BY created_at, change_id) AS gone FROM max.changes WHERE organization_id = $1::bigint
         AND proposer_id = $2::text AND created_at > clock_timestamp() - interval '1 day' AND ${counted}) r WHERE r.gone >= $3::int`,
    [organizationId, personId, before + rows - limits.rows]
  )
  return yield* tooMany(`At most ${limits.rows} rows a day.`, room?.seconds ?? 86_400)
})
