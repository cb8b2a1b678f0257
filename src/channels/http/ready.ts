/** Whether requests can be answered: the database answers, and has the schema of this program. */
import { Effect } from "effect"
import { Database } from "../../database/Database.ts"
import { inspect, requireCurrent } from "../../database/migrate.ts"
import { orUnavailable } from "../../database/execute.ts"
import { Unavailable } from "../../domain/errors.ts"

/** Asked at most once a second, however many ask. */
export const ready = Effect.gen(function* () {
  const { owner } = yield* Database
  const found = orUnavailable(inspect(owner)).pipe(
    Effect.flatMap(requireCurrent),
    Effect.mapError(() => Unavailable.error),
    Effect.exit
  )
  return Effect.flatten(yield* Effect.cachedWithTTL(found, "1 second"))
})
