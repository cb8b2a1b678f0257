/** Readiness: every connection that requests need responds, and the database is a primary with this program's schema. */
import { Effect } from "effect"
import { Database } from "../../database/Database.ts"
import { inspect, requireCurrent } from "../../database/migrate.ts"
import { orUnavailable } from "../../database/execute.ts"
import { Unavailable } from "../../domain/errors.ts"
import { unavailable } from "../../observability/failures.ts"

/** Checks the database at most once a second. */
export const ready = Effect.gen(function* () {
  const { admission, busyLookup, lookup, owner } = yield* Database
  const check = Effect.gen(function* () {
    const statements = [lookup, busyLookup, admission].map((pool) => pool.unsafe("SELECT 1"))
    const [inspection] = yield* orUnavailable(Effect.all([inspect(owner), ...statements], { concurrency: "unbounded" }))
    if (inspection.inRecovery) return yield* unavailable("standby")
    yield* requireCurrent(inspection)
  }).pipe(
    Effect.mapError(() => Unavailable.error),
    Effect.exit
  )
  return Effect.flatten(yield* Effect.cachedWithTTL(check, "1 second"))
})
