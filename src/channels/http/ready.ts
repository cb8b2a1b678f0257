/** Readiness: the database responds and has this program's schema. */
import { Effect } from "effect"
import { Database } from "../../database/Database.ts"
import { inspect, requireCurrent } from "../../database/migrate.ts"
import { orUnavailable } from "../../database/execute.ts"
import { Unavailable } from "../../domain/errors.ts"

/** Checks the database at most once a second. */
export const ready = Effect.gen(function* () {
  const { owner } = yield* Database
  const check = orUnavailable(inspect(owner)).pipe(
    Effect.flatMap(requireCurrent),
    Effect.mapError(() => Unavailable.error),
    Effect.exit
  )
  return Effect.flatten(yield* Effect.cachedWithTTL(check, "1 second"))
})
