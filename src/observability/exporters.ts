/** Exports traces, metrics and logs in OpenTelemetry's protocol (OTLP, JSON over HTTP) to a collector. */
import { Cause, Effect, Layer, Logger, type Scope } from "effect"
import { FetchHttpClient, HttpBody } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpMetrics, OtlpSerialization } from "effect/observability"
import { errorName } from "./failure.ts"
import { Measures } from "./Measures.ts"
import { toOtlp } from "./otlp.ts"
import type { Trace } from "./Trace.ts"

interface Collector {
  /** Without the path of a signal. */
  readonly url: string
  /** The service version that is reported. */
  readonly version: string
}

const SHUTDOWN = "2 seconds"
const resource = (version: string) => ({ serviceName: "max", serviceVersion: version })

/** Returns the function that queues a trace for export; the queue is sent every second. */
export const exportTraces = ({ url, version }: Collector): Effect.Effect<(trace: Trace) => void, never, Scope.Scope> =>
  Effect.map(
    OtlpExporter.make({
      label: "max",
      url: `${url}/v1/traces`,
      headers: undefined,
      exportInterval: "1 second",
      maxBatchSize: 200,
      body: (traces: Array<Trace>) => [HttpBody.jsonUnsafe(toOtlp(traces, version)), Effect.void],
      shutdownTimeout: SHUTDOWN
    }),
    ({ push }) =>
      (trace: Trace) =>
        push(trace)
  ).pipe(Effect.provide(Layer.merge(OtlpExporter.layerFlusher, FetchHttpClient.layer)))

const metrics = ({ url, version }: Collector) =>
  Layer.effectDiscard(
    Effect.flatMap(Measures, ({ context }) =>
      Layer.build(
        OtlpMetrics.layer({
          url: `${url}/v1/metrics`,
          resource: resource(version),
          exportInterval: "10 seconds",
          shutdownTimeout: SHUTDOWN
        }).pipe(
          Layer.provide(Layer.succeedContext(context)),
          Layer.provide(OtlpSerialization.layerJson),
          Layer.provide(FetchHttpClient.layer)
        )
      )
    )
  )

/** Replaces errors with their names: an error's message may quote a row. Max's own log messages contain no values. */
const redacted = (logger: Logger.Logger<unknown, void>): Logger.Logger<unknown, void> =>
  Logger.make((options) => {
    const words = (Array.isArray(options.message) ? options.message : [options.message]).map((part) =>
      typeof part === "string" ? part : Cause.isCause(part) ? errorName(part) : typeof part
    )
    const failed = options.cause.reasons.length > 0 ? [errorName(options.cause)] : []
    logger.log({ ...options, message: [...words, ...failed].join(" "), cause: Cause.empty })
  })

/** Adds to the loggers that print. */
const logs = ({ url, version }: Collector) =>
  Logger.layer(
    [
      OtlpLogger.make({
        url: `${url}/v1/logs`,
        resource: resource(version),
        exportInterval: "1 second",
        shutdownTimeout: SHUTDOWN,
        excludeLogSpans: true
      }).pipe(Effect.map(redacted))
    ],
    { mergeWithExisting: true }
  ).pipe(
    Layer.provide(OtlpExporter.layerFlusher),
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(FetchHttpClient.layer)
  )

/** Exports metrics and logs while the layer is in use. */
export const exportMetricsAndLogs = (collector: Collector) => Layer.merge(metrics(collector), logs(collector))
