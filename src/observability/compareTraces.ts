/** Compares two traces by the paths of their spans. */
import type { Trace } from "./Trace.ts"

/** All spans with one path. */
interface PathTotal {
  /** Nanoseconds. */
  readonly duration: number
  readonly count: number
}

interface PathComparison {
  /** Span names from the root down. */
  readonly path: ReadonlyArray<string>
  readonly before: PathTotal
  readonly after: PathTotal
}

const NONE: PathTotal = { duration: 0, count: 0 }
const SEPARATOR = "\u0000"

const totalsByPath = ({ spans }: Trace): ReadonlyMap<string, PathTotal> => {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const pathOf = (spanId: string): string => {
    const span = byId.get(spanId)
    if (span === undefined) return ""
    const parent = span.parentId === undefined ? "" : pathOf(span.parentId)
    return parent === "" ? span.name : `${parent}${SEPARATOR}${span.name}`
  }
  const totals = new Map<string, PathTotal>()
  for (const { duration, spanId } of spans) {
    const path = pathOf(spanId)
    const total = totals.get(path) ?? NONE
    totals.set(path, { duration: total.duration + duration, count: total.count + 1 })
  }
  return totals
}

/** The durations of each path in both traces, the largest difference first. */
export const compareTraces = (before: Trace, after: Trace): ReadonlyArray<PathComparison> => {
  const [a, b] = [totalsByPath(before), totalsByPath(after)]
  return [...new Set([...a.keys(), ...b.keys()])]
    .map((path) => ({ path: path.split(SEPARATOR), before: a.get(path) ?? NONE, after: b.get(path) ?? NONE }))
    .toSorted((x, y) => Math.abs(y.after.duration - y.before.duration) - Math.abs(x.after.duration - x.before.duration))
}
