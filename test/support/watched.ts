/** Captures all telemetry of a test: spans with their attributes, and log lines of every level. */
import { Layer, Logger, References, Tracer } from "effect"
import { formatted } from "../../src/observability/logs.ts"

/** What leaves the process of a span's links: not the linked span itself, which has its result. */
const linked = ({ links }: Tracer.Span) => links.map(({ attributes, span }) => [span.traceId, span.spanId, attributes])

export const watched = () => {
  const spans: Array<Tracer.Span> = []
  const lines: Array<string> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const logger = Logger.map(formatted, (line) => void lines.push(line))
  const logging = Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "All" as const))
  return {
    spans,
    /** All captured telemetry as text. */
    recorded: () =>
      [
        ...lines,
        ...spans.map((span) =>
          JSON.stringify([span.name, [...span.attributes], linked(span)], (_, value: unknown) =>
            typeof value === "bigint"
              ? String(value)
              : value instanceof Error
                ? `${value.message} ${value.stack}`
                : value
          )
        )
      ].join("\n"),
    lines,
    layer: Layer.merge(Layer.succeed(Tracer.Tracer, tracer), logging),
    /** Captures log lines only, for programs that bring their own tracer. */
    logging
  }
}
