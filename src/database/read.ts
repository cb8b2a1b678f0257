/** How every read ends: with rows, or with `Unavailable`. */
import type { PgClient } from "@effect/sql-pg"
import { type Context, Effect } from "effect"
import { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import { enterOrganization } from "./rowSecurity.ts"
import type { Statement } from "./sql/find.ts"

/** Beyond the server's own statement timeout: a socket that answers nothing doesn't keep its caller. */
const DEADLINE_MS = 8000

/** Any failure of the database is the one `Unavailable`, after the deadline at the latest; its cause is for the log. */
export const orUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>) => orUnavailableInTheEnd(within(effect))

/** The same without a deadline, for what takes as long as it takes. */
export const orUnavailableInTheEnd = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Unavailable, R> =>
  effect.pipe(
    // A connection that is gone before a rollback makes the failure of the rollback a defect.
    Effect.catchDefect((defect) => (SqlError.isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect))),
    Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | Unavailable> =>
      SqlError.isSqlError(error)
        ? Effect.andThen(Effect.logDebug(`The database failed: ${error.reason._tag}`), Effect.fail(Unavailable.error))
        : Effect.fail(error as Exclude<E, SqlError.SqlError>)
    )
  )

/**
 * Ends at the deadline, and at an interruption, even when the driver is still waiting for its cancellation to be
 * confirmed: that goes on in the background. Written on the fiber itself because every lookup pays for it.
 */
const within = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.callback<A, E | Unavailable>((resume) => {
      const fiber = Effect.runForkWith(context)(effect)
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
  )

/** Runs a compiled statement on a lane. */
export const runStatement = <Row extends object>(client: PgClient.PgClient, statement: Statement) =>
  orUnavailable(client.unsafe<Row>(statement.text, statement.parameters))

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
