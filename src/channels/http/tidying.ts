/** While the server runs, every organization's changes are tidied once an hour: values whose time is over are erased. */
import { Effect, Layer, Schedule } from "effect"
import { Changes } from "../../services/changes/Changes.ts"
import { Organizations } from "../../services/organizations/Organizations.ts"

/** Nothing depends on it but retention, so a failure waits for the next hour. Several processes may tidy at once. */
export const Tidying = Layer.effectDiscard(
  Effect.gen(function* () {
    const changes = yield* Changes
    const organizations = yield* Organizations
    const tidy = Effect.flatMap(organizations.list, (all) =>
      Effect.forEach(all, ({ id }) => Effect.ignore(changes.tidy(id)), { discard: true })
    )
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(tidy), Schedule.spaced("1 hour")))
  })
)
