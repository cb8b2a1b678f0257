/** How log lines are printed: with their trace, so that one leads to the other. */
import { Context, Layer, Logger, References, Tracer } from "effect"
import { shortReference } from "../domain/reference.ts"

/** Adds the trace's id, and the reference that `max trace show` takes, to the annotations that a logger prints. */
const withTrace = <A>(logger: Logger.Logger<unknown, A>): Logger.Logger<unknown, A> =>
  Logger.make((options) => {
    const { fiber } = options
    const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
    if (span === undefined) return logger.log(options)
    const trace = { trace: span.traceId, ref: shortReference(span.traceId) }
    const annotations = { ...fiber.getRef(References.CurrentLogAnnotations), ...trace }
    const getRef = (reference: Context.Reference<unknown>) =>
      reference === References.CurrentLogAnnotations ? annotations : fiber.getRef(reference)
    return logger.log({ ...options, fiber: Object.create(fiber, { getRef: { value: getRef } }) as typeof fiber })
  })

/** A log line as logfmt. */
export const formatted: Logger.Logger<unknown, string> = withTrace(Logger.formatLogFmt)

/** Prints log lines on standard error, which standard output never mixes with: it carries results and protocols. */
export const logging = (format: "pretty" | "logfmt" | "json", colors: boolean) =>
  format === "pretty"
    ? Layer.merge(
        Logger.layer([withTrace(Logger.consolePretty({ colors, mode: "tty" }))]),
        Layer.succeed(Logger.LogToStderr, true)
      )
    : Logger.layer([Logger.withConsoleError(format === "json" ? withTrace(Logger.formatJson) : formatted)])
