/** How every read ends: with rows, or with `Unavailable`. */
import type { PgClient } from "@effect/sql-pg"
import { Cause, Context, Effect, type Fiber, References, type Tracer } from "effect"
import { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import type { Lane } from "./Lane.ts"
import { enterOrganization } from "./rowSecurity.ts"
import { below, driverAttributes, spanned } from "./spans.ts"
import type { Statement } from "./sql/find.ts"

/** Beyond the server's own statement timeout: a socket that answers nothing doesn't keep its caller. */
const DEADLINE_MS = 8000

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
  fork: (effect: Effect.Effect<A, E, R>) => Fiber.Fiber<A, E>,
  when: (begin: () => void) => void = now
): Effect.Effect<A, E | Unavailable> =>
  Effect.callback<A, E | Unavailable>((resume) => {
    let fiber: Fiber.Fiber<A, E> | undefined
    let abandoned = false
    const deadline = setTimeout(() => {
      abandoned = true
      resume(Effect.fail(Unavailable.error))
      fiber?.interruptUnsafe()
    }, DEADLINE_MS)
    when(() => {
      if (abandoned) return
      fiber = fork(effect)
      fiber.addObserver((exit) => {
        clearTimeout(deadline)
        resume(exit)
      })
    })
    return Effect.sync(() => {
      abandoned = true
      clearTimeout(deadline)
      fiber?.interruptUnsafe()
    })
  })

const now = (begin: () => void): void => begin()

let asked: Array<() => void> = []

/**
 * At the end of this turn of the loop: what was asked in one turn is begun together, and a connection that pipelines
 * takes all of it in one write. A busy process pays for a fraction of the writes, and so does its server.
 */
const together = (begin: () => void): void => {
  if (asked.push(begin) > 1) return
  setImmediate(() => {
    const all = asked
    asked = []
    for (const one of all) one()
  })
}

/** What a statement needs of its caller's context: nothing. The driver's span is made here, where it costs less. */
const forkUntraced = Effect.runForkWith(Context.make(References.TracerEnabled, false))

const driverSpans = new WeakMap<object, Record<string, unknown>>()

/**
 * Runs a compiled statement on a lane; its span is below `parent`, or else the current one. Where statements wait for
 * one of several connections the driver's own span is taken, which knows how long.
 */
export const runStatement = <Row extends object>(
  lane: Pick<Lane, "config" | "unsafe">,
  { parameters, text }: Statement,
  parent?: Tracer.Span
): Effect.Effect<ReadonlyArray<Row>, Unavailable> => {
  if (lane.config.multiplex !== true && parent !== undefined)
    return orUnavailable(below(parent, lane.unsafe<Row>(text, parameters)))
  const rows = orUnavailableInTheEnd(
    detached<ReadonlyArray<Row>, SqlError.SqlError, never>(
      lane.unsafe<Row>(text, parameters),
      forkUntraced,
      lane.config.multiplex === true ? together : now
    )
  )
  return spanned("postgres", { kind: "client", ...(parent === undefined ? {} : { parent }) }, (span) => {
    if (span === undefined) return rows
    const attributes = driverSpans.get(lane) ?? driverAttributes(lane.config)
    driverSpans.set(lane, attributes)
    for (const key in attributes) span.attribute(key, attributes[key])
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
