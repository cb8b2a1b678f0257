/** A process's lease on the server: one idle connection with a shared advisory lock. The last process upgrades it to stop the server. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Deferred, Effect, Exit, Schedule, Scope } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { connect } from "node:net"
import { EmbeddedServerError, NotYet, refusal } from "./error.ts"
import type { Installation } from "./installation.ts"
import { findPostmaster, type Postmaster, removeSocketFolder, socketOf, stopPostmaster } from "./postmaster.ts"
import { withLock } from "./processes.ts"

export interface Lease {
  readonly connection: PgConnection.PgConnection
  readonly postmaster: Postmaster
  /** Completes when the connection has closed, for any reason. */
  readonly lost: Effect.Effect<void>
  readonly isLost: () => boolean
  readonly close: Effect.Effect<void>
}

/** Connects, waits while another process holds the exclusive lock to stop the server, and creates the database `max` once. */
export const openLease = Effect.fnUntraced(function* (
  installation: Installation,
  postmaster: Postmaster
): Effect.fn.Return<Lease, EmbeddedServerError | NotYet> {
  const scope = yield* Scope.make()
  const lost = Deferred.makeUnsafe<void>()
  const close = Scope.close(scope, Exit.void)
  const connection = yield* Scope.provide(scope)(
    PgConnection.make({
      ...session(installation),
      stream: () => connect(socketOf(postmaster)).once("close", () => Deferred.doneUnsafe(lost, Exit.void))
    })
  ).pipe(
    Effect.tap(enter),
    Effect.mapError((error) => explain(error, installation)),
    Effect.onError(() => close)
  )
  return { connection, postmaster, lost: Deferred.await(lost), isLost: () => Deferred.isDoneUnsafe(lost), close }
})

const session = (installation: Installation): PgConnection.Config => ({
  // Advisory locks are per database; this database is never dropped or restored.
  database: "postgres",
  username: "max_owner",
  password: installation.password,
  applicationName: "max lease",
  startupParameters: {
    search_path: "pg_catalog, pg_temp",
    lock_timeout: "5s",
    statement_timeout: "15s",
    idle_session_timeout: "0"
  }
})

/** The advisory lock that every lease shares; an arbitrary number, used for nothing else. */
const leaseLock = 7236975001

const enter = Effect.fnUntraced(function* (connection: PgConnection.PgConnection) {
  const { rows } = yield* connection.query(
    `SELECT pg_advisory_lock_shared(${leaseLock})::text, EXISTS (SELECT FROM pg_database WHERE datname = 'max') AS made`
  )
  if (rows[0]?.["made"] === true) return
  yield* connection.query("CREATE DATABASE max").pipe(Effect.catchIf(isDuplicate, () => Effect.void))
})

/** Another process created it concurrently. */
const isDuplicate = (error: SqlError): boolean => ["42P04", "23505"].includes(sqlState(error) ?? "")

const sqlState = (error: SqlError): string | undefined => {
  const cause = error.reason.cause
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined
}

/** Transient states: starting, stopping, crashed, out of connections, lock or statement timeout. */
const transient = ["57P01", "57P02", "57P03", "53300", "55P03", "57014"]

const explain = (error: SqlError, installation: Installation): EmbeddedServerError | NotYet => {
  const { cause } = error.reason
  const message = cause instanceof Error ? cause.message : error.message
  if (error.reason._tag === "ConnectionError" || transient.includes(sqlState(error) ?? ""))
    return new NotYet({ message })
  if (error.reason._tag === "AuthenticationError") {
    return refusal(
      `The embedded database rejects its password (${message}): restore ${installation.home}/secret, or set MAX_DATA_DIR to a new folder.`
    )
  }
  return refusal(`The embedded database answers unexpectedly: ${message}. Set DATABASE_URL to a Postgres server.`)
}

/** Releases the lease; the last process stops the server. */
const leave = (lease: Lease, installation: Installation): Effect.Effect<void> =>
  isLast(lease.connection).pipe(
    // Finalizers can't be interrupted, so the wait for an unresponsive server is bounded.
    Effect.interruptible,
    Effect.timeoutOrElse({ duration: "3 seconds", orElse: () => Effect.succeed(false) }),
    Effect.flatMap((last) => (last ? stop(lease.postmaster, installation) : Effect.void)),
    Effect.ignore,
    Effect.andThen(lease.close)
  )

const stop = Effect.fnUntraced(function* ({ pid, socketDir }: Postmaster, installation: Installation) {
  yield* stopPostmaster(pid, installation)
  // The lock excludes a concurrent launch, which needs the folder.
  yield* withLock(installation.lock, removeSocketFolder(socketDir, installation))
})

/** Stops the server if no process has a lease: used after an interrupted start, and when the lease was lost. */
export const depart = (installation: Installation): Effect.Effect<void> =>
  findPostmaster(installation).pipe(
    Effect.flatMap((postmaster) =>
      postmaster?.ready
        ? Effect.flatMap(openLease(installation, postmaster), (lease) => leave(lease, installation))
        : Effect.void
    ),
    Effect.ignore
  )

/**
 * Processes that leave concurrently all release their shared lock first, so one of them gets the exclusive lock. A
 * process that joins then waits for the lock and shows in pg_stat_activity, and the server stays.
 */
const isLast = Effect.fnUntraced(function* (connection: PgConnection.PgConnection) {
  yield* connection.query(`SELECT pg_advisory_unlock_shared(${leaseLock})::text`)
  const { rows } = yield* connection.query(`SELECT pg_try_advisory_lock(${leaseLock}) AS alone`)
  if (rows[0]?.["alone"] !== true) return false
  const others = yield* othersOf(connection).pipe(
    // Sessions of this process's pools may still be closing.
    Effect.repeat({ while: (others) => others === "sessions", schedule: closingSessions })
  )
  return others === "none"
})

const closingSessions = Schedule.spaced("10 millis").pipe(Schedule.upTo({ duration: "1 second" }))

const othersOf = Effect.fnUntraced(function* (connection: PgConnection.PgConnection) {
  const { rows } = yield* connection.query(
    `SELECT CASE WHEN count(*) = 0 THEN 'none' WHEN bool_or(wait_event = 'advisory') THEN 'joining' ELSE 'sessions' END AS others
     FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
  )
  return rows[0]?.["others"]
})

/**
 * Holds a lease while the scope is open. When the server dies, the first process to notice starts it again, so that a
 * long-running process recovers without a restart.
 */
export const holdLease = Effect.fnUntraced(function* (
  enter: Effect.Effect<Lease, EmbeddedServerError>,
  installation: Installation
): Effect.fn.Return<Postmaster, EmbeddedServerError, Scope.Scope> {
  let lease: Lease = yield* Effect.acquireRelease(
    enter,
    () => (lease.isLost() ? Effect.andThen(lease.close, depart(installation)) : leave(lease, installation)),
    { interruptible: true }
  )
  const renew = Effect.suspend(() =>
    lease.lost.pipe(
      Effect.andThen(lease.close),
      Effect.andThen(
        Effect.uninterruptibleMask((restore) =>
          restore(enter).pipe(
            Effect.map((next) => {
              lease = next
            })
          )
        )
      )
    )
  )
  yield* renew.pipe(Effect.retry(reconnecting), Effect.forever, Effect.forkScoped)
  return lease.postmaster
})

const reconnecting = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])
