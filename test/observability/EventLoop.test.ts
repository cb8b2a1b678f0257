import { layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { expect } from "vitest"
import { EventLoop } from "../../src/observability/EventLoop.ts"
import { Measures } from "../../src/observability/Measures.ts"
import { Recorder } from "../../src/observability/Recorder.ts"
import { EVERYTHING } from "../support/traces.ts"
import { until } from "../support/until.ts"

/** Longer than a busy machine delays a process. */
const LONG = 1500

const block = Effect.sync(() => {
  const end = performance.now() + LONG
  while (performance.now() < end);
})

const Watched = Recorder.layer(EVERYTHING).pipe(Layer.provideMerge(EventLoop.layer), Layer.provideMerge(Measures.layer))

layer(Watched, { excludeTestServices: true })("the event loop", (it) => {
  it.effect("is recorded as blocked on the innermost span that ran or waited meanwhile", () =>
    Effect.gen(function* () {
      const { take, tracer } = yield* Recorder
      const done = yield* Deferred.make<void>()
      const working = Effect.sleep(100).pipe(
        Effect.andThen(block.pipe(Effect.withSpan("inner"), Effect.withSpan("middle"))),
        Effect.andThen(Deferred.succeed(done, undefined)),
        Effect.withSpan("worker")
      )
      // Begins before the block and ends after it, as a request that waits for the database does.
      const waiting = Deferred.await(done).pipe(Effect.withSpan("statement"), Effect.withSpan("waiter"))
      yield* Effect.withTracer(Effect.all([working, waiting], { concurrency: 2 }), tracer)
      const spans = take().flatMap((trace) => trace.spans)
      const blocked = spans.filter(({ attributes }) => Number(attributes["max.blocked_ms"] ?? 0) > LONG / 2)
      expect(blocked.map(({ name }) => name).toSorted()).toEqual(["inner", "statement"])
    })
  )

  it.effect("is recorded as blocked on a trace that ends within the block", () =>
    Effect.gen(function* () {
      const { take, tracer } = yield* Recorder
      yield* Effect.sleep(60)
      const [trace] = yield* Effect.withTracer(Effect.withSpan(block, "root"), tracer).pipe(
        Effect.andThen(Effect.sync(take))
      )
      expect(trace!.spans[0]!.attributes["max.blocked_ms"]).toBeGreaterThan(LONG / 2)
    })
  )

  it.effect("has its delay and its blocks in the metrics", () =>
    Effect.gen(function* () {
      const measures = yield* Measures
      const read = (name: string): number =>
        Number(new RegExp(`^${name} (\\S+)$`, "m").exec(measures.prometheus())?.[1] ?? "NaN")
      yield* Effect.promise(() => until(() => read("nodejs_eventloop_delay_p99_seconds") >= 0, 30_000))
      yield* block
      yield* Effect.promise(() => until(() => read("nodejs_eventloop_delay_max_seconds") > LONG / 2000, 30_000))
      expect(read("nodejs_eventloop_delay_min_seconds")).toBeLessThan(read("nodejs_eventloop_delay_max_seconds"))
      expect(read("max_eventloop_blocked_total")).toBeGreaterThanOrEqual(1)
    })
  )
})
