/** How a log line is printed: with its trace, so that one leads to the other. */
import { Context, Logger, Option, Tracer } from "effect"
import { shortReference } from "../domain/reference.ts"

/** A log line, followed by the id of its trace and the reference that `max trace show` takes. */
export const formatted: Logger.Logger<unknown, string> = Logger.make((options) => {
  const line = Logger.formatSimple.log(options)
  return Option.match(Context.getOption(options.fiber.context, Tracer.ParentSpan), {
    onNone: () => line,
    onSome: ({ traceId }) => `${line} trace=${traceId} ref=${shortReference(traceId)}`
  })
})
