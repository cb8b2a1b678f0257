/** Runs reads: each ends with rows or with `Unavailable`. */
import type { PgClient } from "@effect/sql-pg"
import { Cause, type Context, Effect, type Fiber, type Tracer } from "effect"
import { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import { unavailable } from "../observability/failures.ts"
import * as Telemetry from "../observability/Telemetry.ts"
import type { StatementPool } from "./StatementPool.ts"
import { classOf, isDrift } from "./fault.ts"
import { enterOrganization } from "./rowSecurity.ts"
import { Neighbours } from "./Neighbours.ts"
import { isLockTimeout, RelationLocked, type RelationLocks } from "./RelationLocks.ts"
import type { Statement } from "./sql/ResolvedQuery.ts"
import { DEADLINE_MS, forkUntraced, LookupBatcher, type LookupTimedOut } from "./batch.ts"

/** Turns any failure of the database, and the deadline, into `Unavailable`; the trace records the cause's class. */
export const orUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>) => orUnavailableInTheEnd(withDeadline(effect))

/** The same without a deadline, for operations whose duration has no bound. */
export const orUnavailableInTheEnd = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Unavailable, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, Exclude<E, SqlError.SqlError> | Unavailable> => {
    const failed = cause.reasons.map(sqlErrorOf).find((error) => error !== undefined)
    if (failed !== undefined) return unavailable(classOf(failed))
    const rest = Effect.failCause(cause as Cause.Cause<Exclude<E, SqlError.SqlError>>)
    // What fails here without an error of the driver or an earlier cause is past its deadline, or has no place in the queue.
    return cause.reasons.some((one) => Cause.isFailReason(one) && one.error === Unavailable.error)
      ? unavailable("deadline")
      : rest
  })

/** Includes defects: a connection that is lost before a rollback makes the rollback's failure one. */
const sqlErrorOf = (reason: Cause.Reason<unknown>): SqlError.SqlError | undefined => {
  const error = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
  return SqlError.isSqlError(error) ? error : undefined
}

/**
 * Ends at the deadline and on interruption without waiting for the driver to confirm the cancellation, which continues in
 * the background. Works on the fiber directly because every lookup pays for it.
 */
const withDeadline = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> =>
  Effect.contextWith((context: Context.Context<R>) => detached(effect, Effect.runForkWith(context)))

/** Runs an effect in a fiber of its own, and ends at the deadline and on interruption without waiting for that fiber. */
export const detached = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  fork: (effect: Effect.Effect<A, E, R>) => Fiber.Fiber<A, E>
): Effect.Effect<A, E | Unavailable> =>
  Effect.callback<A, E | Unavailable>((resume) => {
    const fiber = fork(effect)
    const deadline = setTimeout(() => {
      resume(Effect.fail(Unavailable.error))
      fiber.interruptUnsafe()
    }, DEADLINE_MS)
    fiber.addObserver((exit) => {
      clearTimeout(deadline)
      resume(exit)
    })
    return Effect.sync(() => {
      clearTimeout(deadline)
      fiber.interruptUnsafe()
    })
  })

/** The attributes that the driver sets on its own spans. */
export const attributesOfPool = ({ config }: Pick<StatementPool, "config">): Telemetry.Attributes => ({
  ...(config.spanAttributes as Telemetry.Attributes | undefined),
  "db.system.name": "postgresql",
  "db.namespace": config.database ?? config.username ?? "postgres",
  "server.address": config.host ?? "localhost",
  "server.port": config.port ?? 5432,
  "db.operation.name": "execute"
})

interface Pools {
  readonly lookup: StatementPool
  readonly busyLookup: StatementPool
  readonly search: PgClient.PgClient
  readonly locks: RelationLocks
}

/** No row, which is stale, when mapped relations aren't as they were mapped: they may have been mapped again since. */
const orStale = <Row extends object, E extends { readonly _tag: string }, R>(
  { mapped }: Statement,
  rows: Effect.Effect<ReadonlyArray<Row>, E, R>
): Effect.Effect<ReadonlyArray<Row>, E, R> =>
  mapped === true
    ? Effect.catch(rows, (error) =>
        SqlError.isSqlError(error) && isDrift(error) ? Effect.succeed([]) : Effect.fail(error)
      )
    : rows

interface Execute {
  <Row extends object>(
    how: "lookup",
    organizationId: bigint,
    statement: Statement,
    parent?: Tracer.Span
  ): Effect.Effect<ReadonlyArray<Row>, Unavailable | RelationLocked | LookupTimedOut>
  <Row extends object>(
    how: "search" | "transaction",
    organizationId: bigint,
    statement: Statement,
    parent?: Tracer.Span
  ): Effect.Effect<ReadonlyArray<Row>, Unavailable | RelationLocked>
}

/** Fails with `RelationLocked` after a lock timeout. */
const orLocked = <A, R>(effect: Effect.Effect<A, SqlError.SqlError, R>) =>
  Effect.mapError(effect, (error) => (isLockTimeout(error) ? RelationLocked.error : error))

/**
 * Returns a function that runs an organization's prepared statement, as a span below `parent` or the current one. A lookup
 * joins a batch; a transaction names the organization, as row-level security requires. The search pool uses the driver's
 * own span, which measures the wait for a connection.
 */
export const makeExecute = ({ busyLookup, locks, lookup, search }: Pools, neighbours = new Neighbours()): Execute => {
  const batcher = new LookupBatcher(lookup, busyLookup, locks, neighbours)
  const attributesOf = { lookup: attributesOfPool(lookup), search: attributesOfPool(search) }
  const execute = <Row extends object>(
    how: "lookup" | "search" | "transaction",
    organizationId: bigint,
    statement: Statement,
    parent?: Tracer.Span
  ) => {
    const { parameters, text } = statement
    if (how === "transaction")
      return Telemetry.childOf(
        parent,
        orUnavailable(orLocked(orStale(statement, within<Row>(search, organizationId, statement))))
      )
    const searched = orStale(statement, search.unsafe<Row>(text, parameters))
    if (how === "search" && parent !== undefined) return orUnavailable(Telemetry.childOf(parent, orLocked(searched)))
    return Telemetry.span("postgres", { kind: "client", parent, attributes: attributesOf[how] }, (span) => {
      span?.attribute("db.query.text", text)
      return orUnavailableInTheEnd(
        how === "lookup"
          ? orStale(
              statement,
              batcher.request(organizationId, statement, span) as Effect.Effect<
                ReadonlyArray<Row>,
                SqlError.SqlError | Unavailable | RelationLocked | LookupTimedOut
              >
            )
          : detached<ReadonlyArray<Row>, SqlError.SqlError | RelationLocked, never>(orLocked(searched), forkUntraced)
      )
    })
  }
  return execute as Execute
}

/** Runs a statement in a transaction that names the organization, with the database's own errors. */
const within = <Row extends object>(
  client: PgClient.PgClient,
  organizationId: bigint,
  { parameters, text }: Statement
) =>
  client.withTransaction(
    Effect.andThen(enterOrganization(client, organizationId), client.unsafe<Row>(text, parameters))
  )

/** Runs a statement in a transaction that names the organization, as row-level security requires. */
export const runWithin = <Row extends object>(
  client: PgClient.PgClient,
  organizationId: bigint,
  statement: Statement
) => orUnavailable(within<Row>(client, organizationId, statement))

/** The statement took longer than its pool allows. */
export const TOO_LONG = "too long"

/** Runs a statement of groups or figures, which may read all rows of an organization. */
export const runFigures = <Row extends object>(
  client: PgClient.PgClient,
  organizationId: bigint,
  statement: Statement,
  inTransaction: boolean
): Effect.Effect<ReadonlyArray<Row> | typeof TOO_LONG, Unavailable | RelationLocked> => {
  const rows = inTransaction
    ? within<Row>(client, organizationId, statement)
    : client.unsafe<Row>(statement.text, statement.parameters)
  const found: Effect.Effect<ReadonlyArray<Row> | typeof TOO_LONG, SqlError.SqlError> = Effect.catch(
    orStale(statement, rows),
    (error) => (classOf(error) === QUERY_CANCELED ? Effect.succeed(TOO_LONG) : Effect.fail(error))
  )
  return orUnavailable(orLocked(found))
}

const QUERY_CANCELED = "57014"
