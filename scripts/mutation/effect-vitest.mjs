// The subset of @effect/vitest that the bundled tests use: a layer per file, and effectful tests over it.
import { Effect, Exit, Layer, Scope } from "effect"
import { addSetUp, addTest, it as registered } from "vitest"

const isFunction = (part) => typeof part === "function"

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
  const effect = (name, ...rest) => addTest(name, run(rest.find(isFunction)))
  body({ effect, live: effect })
}

const live = (name, ...rest) => addTest(name, () => Effect.runPromise(Effect.scoped(rest.find(isFunction)())))
/** Like vitest's, and `it.live`, whose effect runs on the real clock. */
const { each } = registered
export const it = Object.assign(registered.bind(undefined), { each, live })
