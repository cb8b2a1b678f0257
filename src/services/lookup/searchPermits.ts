/**
 * Limits concurrent searches per organization to a quarter of the search connections, and beside other organizations to half
 * of that, so that one organization can neither take them all nor load the database alone.
 */
import { Effect, Semaphore } from "effect"
import type { Neighbours } from "../../database/Neighbours.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { unavailable } from "../../observability/failures.ts"

/** The longest wait for a permit: as long as a statement may take. */
const DEADLINE = "8 seconds"

interface Permits {
  readonly semaphore: Semaphore.Semaphore
  /** Searches that wait or run; without any, the entry is dropped. */
  users: number
}

/** Returns a function that runs an organization's search with a permit; fails with `Unavailable` at the deadline. */
export const makeSearchPermits = (connections: number, neighbours: Neighbours) => {
  const share = Math.max(1, Math.floor(connections / 4))
  const shareOf = (organizationId: bigint) => (neighbours.beside(organizationId) ? Math.ceil(share / 2) : share)
  const byOrganization = new Map<bigint, Permits>()
  return <A, E, R>(organizationId: bigint, search: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> =>
    Effect.suspend(() => {
      const permits = byOrganization.get(organizationId) ?? { semaphore: Semaphore.makeUnsafe(share), users: 0 }
      byOrganization.set(organizationId, permits)
      permits.users += 1
      return Effect.ensuring(
        Effect.andThen(
          permits.semaphore.resize(shareOf(organizationId)),
          Effect.uninterruptibleMask((restore) =>
            Effect.andThen(
              restore(
                Effect.timeoutOrElse(permits.semaphore.take(1), {
                  duration: DEADLINE,
                  orElse: () => unavailable("search permits")
                })
              ),
              Effect.ensuring(restore(neighbours.searching(organizationId, search)), permits.semaphore.release(1))
            )
          )
        ),
        Effect.sync(() => {
          permits.users -= 1
          if (permits.users === 0) byOrganization.delete(organizationId)
        })
      )
    })
}
