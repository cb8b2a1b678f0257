/** A trace on the terminal: a line a span, with when it ran, how long, what it took itself and what the end waited for. */
import { criticalPath, inTree, selfTimes, type Trace, type TraceSpan } from "../../observability/Trace.ts"
import { bold, columns, dim } from "./output.ts"

const WIDTH = 40

/** Milliseconds of nanoseconds, as short as they can be read. */
export const milliseconds = (nanoseconds: number): string => {
  const ms = nanoseconds / 1e6
  return ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2)
}

const bar = (span: TraceSpan, whole: number): string => {
  const from = Math.min(WIDTH - 1, Math.floor((span.start / whole) * WIDTH))
  const length = Math.max(1, Math.min(WIDTH - from, Math.round((span.duration / whole) * WIDTH)))
  return " ".repeat(from) + "█".repeat(length)
}

const WAIT = "db.client.connection.wait_time_ms"
/** The same on every line, or said by another. */
const UNSAID: ReadonlySet<string> = new Set(["max.organization.id", "db.system.name", "max.channel"])

const said = ({ attributes, failure }: TraceSpan): string =>
  [
    ...(failure === undefined ? [] : [`! ${failure}`]),
    ...Object.entries(attributes)
      .filter(([name, value]) => !UNSAID.has(name) && !(name === WAIT && Number(value) < 1))
      .map(
        ([name, value]) =>
          `${name.replace(/^(max|gen_ai|db)\./, "")}=${typeof value === "number" ? Number(value.toFixed(2)) : value}`
      )
  ].join(" ")

/** The lines of a trace; the spans that the end waited for are marked. */
export const waterfall = (trace: Trace): ReadonlyArray<string> => {
  const self = selfTimes(trace.spans)
  const critical = criticalPath(trace.spans)
  const whole = Math.max(1, ...trace.spans.map(({ duration, start }) => start + duration))
  const rows = inTree(trace.spans).map(([span, depth]) => [
    `${critical.has(span.spanId) ? "▸" : " "} ${"  ".repeat(depth)}${span.name}`,
    milliseconds(span.duration).padStart(7),
    milliseconds(self.get(span.spanId)!).padStart(7),
    bar(span, whole).padEnd(WIDTH),
    said(span)
  ])
  return [
    ...columns(rows, ["  span", "   ms", " self", "".padEnd(WIDTH), ""]),
    dim(
      `${bold("▸")} what the end waited for${trace.dropped > 0 ? `; ${trace.dropped} further spans weren't recorded` : ""}`
    )
  ]
}
