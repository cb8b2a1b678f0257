/** How every read ends: with rows, or with `Unavailable`. */
import type { PgClient } from "@effect/sql-pg"
import { Cause, type Context, Effect, type Fiber, type Tracer } from "effect"
import { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import { tell, type Told } from "../observability/spans.ts"
import type { StatementPool } from "./StatementPool.ts"
import { enterOrganization } from "./rowSecurity.ts"
import { below, driverAttributes, spanned } from "../observability/span.ts"
import type { Statement } from "./sql/find.ts"
import { DEADLINE_MS, forkUntraced, Lookups } from "./batch.ts"

/** Any failure of the database is the one `Unavailable`, after the deadline at the latest; its cause is for the log. */
export const orUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>) => orUnavailableInTheEnd(within(effect))

/** The same without a deadline, for what takes as long as it takes. */
export const orUnavailableInTheEnd = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Unavailable, R> =>
  Effect.catchCause(effect, (cause): Effect.Effect<never, Exclude<E, SqlError.SqlError> | Unavailable> => {
    const failed = cause.reasons.map(sqlErrorOf).find((error) => error !== undefined)
    return failed === undefined
      ? Effect.failCause(cause as Cause.Cause<Exclude<E, SqlError.SqlError>>)
      : Effect.andThen(Effect.logDebug(`The database failed: ${failed.reason._tag}`), Effect.fail(Unavailable.error))
  })

/** A connection that is gone before a rollback makes the failure of the rollback a defect. */
const sqlErrorOf = (reason: Cause.Reason<unknown>): SqlError.SqlError | undefined => {
  const error = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
  return SqlError.isSqlError(error) ? error : undefined
}

/**
 * Ends at the deadline, and at an interruption, even when the driver is still waiting for its cancellation to be
 * confirmed: that goes on in the background. Written on the fiber itself because every lookup pays for it.
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

const lookups = new WeakMap<object, Lookups>()

/** The lookups of a pool, which know of each other. */
const lookupsOf = (pool: Pick<StatementPool, "unsafe">): Lookups => {
  const known = lookups.get(pool)
  if (known !== undefined) return known
  const made = new Lookups(pool)
  lookups.set(pool, made)
  return made
}

const driverSpans = new WeakMap<object, Told>()

/**
 * Runs a compiled statement on a pool; its span is below `parent`, or else the current one. Where statements wait for
 * one of several connections the driver's own span is taken, which knows how long.
 */
export const runStatement = <Row extends object>(
  pool: Pick<StatementPool, "config" | "unsafe">,
  statement: Statement,
  parent?: Tracer.Span
): Effect.Effect<ReadonlyArray<Row>, Unavailable> => {
  const { parameters, text } = statement
  if (pool.config.multiplex !== true && parent !== undefined)
    return orUnavailable(below(parent, pool.unsafe<Row>(text, parameters)))
  const rows = orUnavailableInTheEnd(
    pool.config.multiplex === true
      ? (lookupsOf(pool).ask(statement) as Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError | Unavailable>)
      : detached<ReadonlyArray<Row>, SqlError.SqlError, never>(pool.unsafe<Row>(text, parameters), forkUntraced)
  )
  return spanned("postgres", { kind: "client", ...(parent === undefined ? {} : { parent }) }, (span) => {
    if (span === undefined) return rows
    const attributes = driverSpans.get(pool) ?? driverAttributes(pool.config)
    driverSpans.set(pool, attributes)
    tell(span, attributes)
    span.attribute("db.query.text", text)
    return rows
  })
}

/** Runs a statement over an organization's rows in a transaction that says so, whether row-level security is on or not. */
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
