/**
 * What Max tells of itself: traces into its own store and, where an address is configured, traces, metrics and logs to
 * there. A failure of any of it costs what it would have told, and nothing else.
 */
import { Cause, Effect, Layer, Schedule, Tracer } from "effect"
import { FetchHttpClient, HttpBody } from "effect/http"
import { OtlpExporter, OtlpMetrics, OtlpSerialization } from "effect/observability"
import { SpanPropagationEnabled } from "effect/sql/Statement"
import { toOtlp } from "./observability/otlp.ts"
import type { Trace } from "./observability/Trace.ts"
import { Env } from "./env.ts"
import { sentTo } from "./observability/logs.ts"
import { Measures } from "./observability/Measures.ts"
import { Recorder } from "./observability/Recorder.ts"
import { TraceStore } from "./services/traces/TraceStore.ts"
import { version } from "./version.ts"

/** Everything that runs in this layer is traced, and a statement says how long it waited for its connection. */
const Traced = Layer.merge(
  Layer.effect(
    Tracer.Tracer,
    Effect.map(Recorder, ({ tracer }) => tracer)
  ),
  Layer.succeed(SpanPropagationEnabled, true)
)

export { Recorder, type Sampling } from "./observability/Recorder.ts"

const EVERY = "1 second"
/** Traces stored from one pruning to the next. */
const PRUNE_EVERY = 500

/** Stores and exports in the background what was kept. */
const Kept = Layer.effectDiscard(
  Effect.gen(function* () {
    const { otlpEndpoint, traceDays, traceLimit, traceMegabytes } = yield* Env
    const recorder = yield* Recorder
    const store = yield* TraceStore
    const send = otlpEndpoint === undefined ? () => {} : yield* exporter(`${otlpEndpoint}/v1/traces`)
    let stored = 0
    const flush = Effect.gen(function* () {
      const traces = recorder.take()
      for (const trace of traces) send(trace)
      if (traceLimit === 0 || traces.length === 0) return
      yield* store.write(traces)
      // Once for the first that a process stores, and then for every so many: what is kept is bounded all the same.
      const before = Math.ceil(stored / PRUNE_EVERY)
      stored += traces.length
      if (Math.ceil(stored / PRUNE_EVERY) > before) {
        yield* store.prune({ days: traceDays, traces: traceLimit, megabytes: traceMegabytes })
      }
    }).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterrupts(cause) ? Effect.failCause(cause) : Effect.logDebug("Traces couldn't be stored.")
      ),
      Effect.withTracerEnabled(false)
    )
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(flush, "2 seconds")))
    yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced(EVERY)))
  })
)

const exporter = (url: string) =>
  Effect.map(
    OtlpExporter.make({
      label: "max",
      url,
      headers: undefined,
      exportInterval: EVERY,
      maxBatchSize: 200,
      body: (traces: Array<Trace>) => [HttpBody.jsonUnsafe(toOtlp(traces, version)), Effect.void],
      shutdownTimeout: "2 seconds"
    }),
    ({ push }) =>
      (trace: Trace) =>
        push(trace)
  ).pipe(Effect.provide(Layer.merge(OtlpExporter.layerFlusher, FetchHttpClient.layer)))

/** Sends what is measured and logged, too. */
const Sent = Layer.unwrap(
  Effect.gen(function* () {
    const { otlpEndpoint } = yield* Env
    const { context } = yield* Measures
    if (otlpEndpoint === undefined) return Layer.empty
    const metrics = OtlpMetrics.layer({
      url: `${otlpEndpoint}/v1/metrics`,
      resource: { serviceName: "max", serviceVersion: version },
      exportInterval: "10 seconds",
      shutdownTimeout: "2 seconds"
    }).pipe(
      Layer.provide(Layer.succeedContext(context)),
      Layer.provide(OtlpSerialization.layerJson),
      Layer.provide(FetchHttpClient.layer)
    )
    return Layer.merge(Layer.effectDiscard(Layer.build(metrics)), sentTo(otlpEndpoint))
  })
)

/** Tracing of everything above it. */
export const Observability = Layer.mergeAll(Traced, Kept, Sent).pipe(
  Layer.provideMerge(Recorder.layer),
  Layer.provideMerge(Measures.layer),
  Layer.provideMerge(TraceStore.layer)
)
