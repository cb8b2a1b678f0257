import { layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Measures } from "../../../src/observability/Measures.ts"
import { Recorder } from "../../../src/observability/Recorder.ts"
import { storeTraces } from "../../../src/services/traces/storeTraces.ts"
import { TraceStore } from "../../../src/services/traces/TraceStore.ts"
import { TestServices } from "../../support/database.ts"
import { EVERYTHING } from "../../support/traces.ts"

const RETENTION = { traces: 1000, days: 7, megabytes: 100 }

layer(TraceStore.layer.pipe(Layer.provideMerge(TestServices)), { excludeTestServices: true, timeout: "60 seconds" })(
  "the storing of traces",
  (it) => {
    it.effect("loses none that is being written when the process ends", () =>
      Effect.gen(function* () {
        const { owner } = yield* Database
        const store = yield* TraceStore
        const recorder = Recorder.make(EVERYTHING, Measures.make())
        const scope = yield* Scope.make()
        const waiting = Effect.map(
          owner<{ n: number }>`SELECT count(*)::int AS n FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
          WHERE c.relname = 'traces' AND NOT l.granted`,
          ([row]) => row!.n
        )
        yield* Effect.withTracer(Effect.withSpan(Effect.void, "stored at last"), recorder.tracer)
        const closing = yield* owner.withTransaction(
          Effect.gen(function* () {
            yield* owner`LOCK TABLE max.traces IN ACCESS EXCLUSIVE MODE`
            yield* Layer.buildWithScope(
              storeTraces(
                RETENTION,
                Effect.succeed(() => {})
              ).pipe(Layer.provide(Layer.succeed(Recorder, recorder))),
              scope
            )
            yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => Effect.map(waiting, (n) => n > 0) })
            const fiber = yield* Effect.forkDetach(Scope.close(scope, Exit.void))
            yield* Effect.sleep("500 millis")
            return fiber
          })
        )
        yield* Fiber.join(closing)
        expect((yield* store.list({ name: "stored at last", limit: 10 })).length).toBe(1)
      })
    )
  }
)
