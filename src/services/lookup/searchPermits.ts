/**
 * Searches wait their turn: one organization never has more than a quarter of the connections for them, so that another one's
 * find a connection, and the database isn't busy with one organization alone.
 */
import { Effect, Semaphore } from "effect"
import { Unavailable } from "../../domain/errors.ts"

/** Who waits longer is told that things can't be looked up now; as long as a statement may take. */
const DEADLINE = "8 seconds"

interface Turns {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

/** Runs an organization's search when it is its turn. */
export const makeSearchTurns = (connections: number) => {
  const share = Math.max(1, Math.floor(connections / 4))
  const all = new Map<bigint, Turns>()
  return <A, E, R>(organizationId: bigint, search: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> =>
    Effect.suspend(() => {
      const turns = all.get(organizationId) ?? { semaphore: Semaphore.makeUnsafe(share), users: 0 }
      all.set(organizationId, turns)
      turns.users += 1
      return Effect.ensuring(
        Effect.uninterruptibleMask((restore) =>
          Effect.andThen(
            restore(
              Effect.timeoutOrElse(turns.semaphore.take(1), {
                duration: DEADLINE,
                orElse: () => Effect.fail(Unavailable.error)
              })
            ),
            Effect.ensuring(restore(search), turns.semaphore.release(1))
          )
        ),
        Effect.sync(() => {
          turns.users -= 1
          if (turns.users === 0) all.delete(organizationId)
        })
      )
    })
}
