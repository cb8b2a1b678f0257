/** Streams a step of a provider whose client is asynchronous and abortable. */
import { Effect, Queue, Stream } from "effect"
import * as Telemetry from "../../observability/Telemetry.ts"
import { ModelFailure, type StepEvent } from "../ModelStep.ts"

interface StepRun {
  readonly emit: (event: StepEvent) => void
  /** Aborts when the stream is interrupted. */
  readonly signal: AbortSignal
  /** The trace's headers for the request. */
  readonly headers: Readonly<Record<string, string>>
}

/** Streams the events that `run` emits; `failureOf` maps its rejection. */
export const streamStep = (
  run: (step: StepRun) => Promise<void>,
  failureOf: (error: unknown) => ModelFailure
): Stream.Stream<StepEvent, ModelFailure> =>
  Stream.callback<StepEvent, ModelFailure>((queue) =>
    Effect.flatMap(Telemetry.traceparent, (headers) =>
      Effect.callback<void, ModelFailure>((resume) => {
        const abort = new AbortController()
        const emit = (event: StepEvent) => Queue.offerUnsafe(queue, event)
        void run({ emit, signal: abort.signal, headers }).then(
          () => {
            Queue.endUnsafe(queue)
            resume(Effect.void)
          },
          (error: unknown) => resume(Effect.fail(error instanceof ModelFailure ? error : failureOf(error)))
        )
        return Effect.sync(() => abort.abort())
      })
    )
  )
