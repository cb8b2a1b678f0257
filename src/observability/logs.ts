/** Lines of the log with the trace that they belong to, so that one is found by the other. */
import { Cause, Context, Effect, Layer, Logger, Option, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpSerialization } from "effect/observability"
import { shortReference } from "../domain/reference.ts"
import { version } from "../version.ts"
import { errorName } from "./failure.ts"

/** A line as it is printed; the reference is what `max trace show` opens. */
export const formatted: Logger.Logger<unknown, string> = Logger.make((options) => {
  const line = Logger.formatSimple.log(options)
  return Option.match(Context.getOption(options.fiber.context, Tracer.ParentSpan), {
    onNone: () => line,
    onSome: ({ traceId }) => `${line} trace=${traceId} ref=${shortReference(traceId)}`
  })
})

const withoutWhatErrorsSay = (logger: Logger.Logger<unknown, void>): Logger.Logger<unknown, void> =>
  Logger.make((options) => {
    const words = (Array.isArray(options.message) ? options.message : [options.message]).map((part) =>
      typeof part === "string" ? part : Cause.isCause(part) ? errorName(part) : typeof part
    )
    const failed = options.cause.reasons.length > 0 ? [errorName(options.cause)] : []
    logger.log({ ...options, message: [...words, ...failed].join(" "), cause: Cause.empty })
  })

/** Sends the lines of the log beside printing them; those of Max itself have nobody's values in them. */
export const sentTo = (endpoint: string) =>
  Logger.layer(
    [
      OtlpLogger.make({
        url: `${endpoint}/v1/logs`,
        resource: { serviceName: "max", serviceVersion: version },
        exportInterval: "1 second",
        shutdownTimeout: "2 seconds",
        excludeLogSpans: true
      }).pipe(Effect.map(withoutWhatErrorsSay))
    ],
    { mergeWithExisting: true }
  ).pipe(
    Layer.provide(OtlpExporter.layerFlusher),
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(FetchHttpClient.layer)
  )
