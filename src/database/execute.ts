/** Runs reads: each ends with rows or with `Unavailable`. */
import type { PgClient } from "@effect/sql-pg"
import { Cause, type Context, Effect, type Fiber, type Tracer } from "effect"
import { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import * as Telemetry from "../observability/Telemetry.ts"
import type { StatementPool } from "./StatementPool.ts"
import { enterOrganization } from "./rowSecurity.ts"
import type { Statement } from "./sql/ResolvedQuery.ts"
import { DEADLINE_MS, forkUntraced, LookupBatcher } from "./batch.ts"

/** Turns any failure of the database, and the deadline, into `Unavailable`; the cause goes to the log. */
export const orUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>) => orUnavailableInTheEnd(within(effect))

/** The same without a deadline, for operations whose duration has no bound. */
export const orUnavailableInTheEnd = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Unavailable, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, Exclude<E, SqlError.SqlError> | Unavailable> => {
    const failed = cause.reasons.map(sqlErrorOf).find((error) => error !== undefined)
    return failed === undefined
      ? Effect.failCause(cause as Cause.Cause<Exclude<E, SqlError.SqlError>>)
      : Effect.andThen(Effect.logDebug(`The database failed: ${failed.reason._tag}`), Effect.fail(Unavailable.error))
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
const within = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> =>
  Effect.contextWith((context: Context.Context<R>) => detached(effect, Effect.runForkWith(context)))

const detached = <A, E, R>(
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

const driverAttributes = new WeakMap<object, Telemetry.Attributes>()

/** The attributes that the driver sets on its own spans. */
const driverAttributesOf = (pool: Pick<StatementPool, "config">): Telemetry.Attributes => {
  const existing = driverAttributes.get(pool)
  if (existing !== undefined) return existing
  const { database, host, port, spanAttributes, username } = pool.config
  const created = {
    ...(spanAttributes as Telemetry.Attributes | undefined),
    "db.system.name": "postgresql",
    "db.namespace": database ?? username ?? "postgres",
    "server.address": host ?? "localhost",
    "server.port": port ?? 5432,
    "db.operation.name": "execute"
  }
  driverAttributes.set(pool, created)
  return created
}

interface Pools {
  readonly lookup: StatementPool
  readonly busyLookup: StatementPool
  readonly search: Pick<StatementPool, "config" | "unsafe">
}

/**
 * Returns a function that runs an organization's prepared statement on a pool, as a span below `parent` or the current one. A
 * lookup joins a batch. The search pool uses the driver's own span, which measures the wait for a connection.
 */
export const makeExecute = ({ busyLookup, lookup, search }: Pools) => {
  const batcher = new LookupBatcher(lookup, busyLookup)
  const lookUp = <Row extends object>(organizationId: bigint, statement: Statement, span: Tracer.Span | undefined) =>
    batcher.request(organizationId, statement, span) as Effect.Effect<
      ReadonlyArray<Row>,
      SqlError.SqlError | Unavailable
    >
  return <Row extends object>(
    pool: "lookup" | "search",
    organizationId: bigint,
    statement: Statement,
    parent?: Tracer.Span
  ): Effect.Effect<ReadonlyArray<Row>, Unavailable> => {
    const { parameters, text } = statement
    if (pool === "search" && parent !== undefined)
      return orUnavailable(Telemetry.childOf(parent, search.unsafe<Row>(text, parameters)))
    const attributes = driverAttributesOf(pool === "search" ? search : lookup)
    return Telemetry.span("postgres", { kind: "client", parent, attributes }, (span) => {
      span?.attribute("db.query.text", text)
      return orUnavailableInTheEnd(
        pool === "lookup"
          ? lookUp<Row>(organizationId, statement, span)
          : detached<ReadonlyArray<Row>, SqlError.SqlError, never>(search.unsafe<Row>(text, parameters), forkUntraced)
      )
    })
  }
}

/** Runs a statement in a transaction that names the organization, as row-level security requires. */
export const runWithin = <Row extends object>(
  client: PgClient.PgClient,
  organizationId: bigint,
  { parameters, text }: Statement
) =>
  orUnavailable(
    client.withTransaction(
      Effect.andThen(enterOrganization(client, organizationId), client.unsafe<Row>(text, parameters))
    )
  )
