/** How every read ends: with rows, or with `Unavailable`. */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import type { Statement } from "./sql/find.ts"

/** Beyond the server's own statement timeout: a socket that answers nothing doesn't keep its caller. */
const DEADLINE = Duration.seconds(8)

/** Any failure of the database is the one `Unavailable`; its cause is for the log, without parameters. */
export const orUnavailable = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Unavailable, R> =>
  Effect.catch(within(effect), (error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | Unavailable> =>
    SqlError.isSqlError(error)
      ? Effect.andThen(Effect.logDebug(`The database failed: ${error.reason._tag}`), Effect.fail(Unavailable.error))
      : Effect.fail(error as Exclude<E, SqlError.SqlError>))

/**
 * Ends at the deadline even when the driver is still waiting for its cancellation to be confirmed: that goes on in the
 * background.
 */
const within = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkDetach(restore(effect))
      return yield* restore(Fiber.join(fiber)).pipe(
        Effect.timeoutOrElse({ duration: DEADLINE, orElse: () => Effect.fail(Unavailable.error) }),
        Effect.onExit(() => Effect.forkDetach(Fiber.interrupt(fiber)))
      )
    })
  )

/** Runs a compiled statement on a lane. */
export const runStatement = <Row extends object>(client: PgClient.PgClient, statement: Statement) =>
  orUnavailable(client.unsafe<Row>(statement.text, statement.parameters))
