// The subset of @effect/vitest that the bundled tests use: a layer per file, and effectful tests over it.
import { Effect, Exit, Layer, Scope } from "effect"
import { addSetUp, addTest } from "vitest"

export const layer = (provided) => (_, body) => {
  let context
  const scope = Scope.makeUnsafe()
  addSetUp(
    async () => {
      context = await Effect.runPromise(Layer.buildWithScope(provided, scope))
    },
    () => Effect.runPromise(Scope.close(scope, Exit.void))
  )
  const run = (effect) => () => Effect.runPromise(Effect.scoped(Effect.provideContext(effect(), context)))
  body({ effect: (name, effect) => addTest(name, run(effect)) })
}
