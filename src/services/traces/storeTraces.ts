/** Stores recorded traces in the background and passes them on for export. A failure loses traces and nothing else. */
import { Cause, Effect, Layer, Schedule, type Scope } from "effect"
import { limited } from "../../observability/failures.ts"
import { Recorder } from "../../observability/Recorder.ts"
import type { Trace } from "../../observability/Trace.ts"
import { type Retention, TraceStore } from "./TraceStore.ts"

/** Traces stored between two prunings; the first batch of a process is followed by one, too. */
const PRUNE_EVERY = 500

const LOST = "Traces were lost, because too many ended in one second"

/** Stores every second what the recorder has kept; `exported` yields the function that exports a trace. */
export const storeTraces = (
  retention: Retention,
  exported: Effect.Effect<(trace: Trace) => void, never, Scope.Scope>
) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const recorder = yield* Recorder
      const store = yield* TraceStore
      const exportTrace = yield* exported
      let stored = 0
      /** Traces whose writing was interrupted: the last flush of a process interrupts the one before. */
      let interrupted: ReadonlyArray<Trace> = []
      const flush = Effect.gen(function* () {
        const lost = recorder.takeLost()
        if (lost > 0) yield* limited(LOST, {}, Effect.annotateLogs(Effect.logWarning(LOST), { traces: lost }))
        const taken = recorder.take()
        for (const trace of taken) exportTrace(trace)
        const traces = [...interrupted, ...taken]
        interrupted = []
        if (retention.traces === 0 || traces.length === 0) return
        yield* store.write(traces).pipe(
          Effect.tapErrorTag("Unavailable", () => Effect.sync(() => recorder.lose(traces.length))),
          Effect.onInterrupt(() => Effect.sync(() => (interrupted = traces)))
        )
        const pruned = Math.ceil(stored / PRUNE_EVERY)
        stored += traces.length
        if (Math.ceil(stored / PRUNE_EVERY) > pruned) yield* store.prune(retention)
      }).pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterrupts(cause) ? Effect.failCause(cause) : Effect.logDebug("Traces couldn't be stored.")
        ),
        Effect.withTracerEnabled(false)
      )
      yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(flush, "5 seconds")))
      yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced("1 second")))
    })
  )
