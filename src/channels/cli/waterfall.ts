/** A trace on the terminal: one line per span, with its duration, self time and bar, and the critical path. */
import { criticalPath, inTreeOrder, selfTimes, type Trace, type TraceSpan } from "../../observability/Trace.ts"
import { bold, columns, dim } from "./output.ts"

const WIDTH = 40

/** Formats nanoseconds as milliseconds with three significant digits. */
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
/** Attributes that repeat on every line. */
const HIDDEN: ReadonlySet<string> = new Set(["max.organization.id", "db.system.name", "max.channel"])

const details = ({ attributes, failure }: TraceSpan): string =>
  [
    ...(failure === undefined ? [] : [`! ${failure}`]),
    ...Object.entries(attributes)
      .filter(([name, value]) => !HIDDEN.has(name) && !(name === WAIT && Number(value) < 1))
      .map(
        ([name, value]) =>
          `${name.replace(/^(max|gen_ai|db)\./, "")}=${typeof value === "number" ? Number(value.toFixed(2)) : value}`
      )
  ].join(" ")

/** The lines of a trace; spans of the critical path are marked. */
export const waterfall = (trace: Trace): ReadonlyArray<string> => {
  const self = selfTimes(trace.spans)
  const critical = criticalPath(trace.spans)
  const whole = Math.max(1, ...trace.spans.map(({ duration, start }) => start + duration))
  const rows = inTreeOrder(trace.spans).map(([span, depth]) => [
    `${critical.has(span.spanId) ? "▸" : " "} ${"  ".repeat(depth)}${span.name}`,
    milliseconds(span.duration).padStart(7),
    milliseconds(self.get(span.spanId)!).padStart(7),
    bar(span, whole).padEnd(WIDTH),
    details(span)
  ])
  return [
    ...columns(rows, ["  span", "   ms", " self", "".padEnd(WIDTH), ""]),
    dim(`${bold("▸")} the critical path${trace.dropped > 0 ? `; ${trace.dropped} further spans weren't recorded` : ""}`)
  ]
}
