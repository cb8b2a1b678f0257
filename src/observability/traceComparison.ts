/** Two traces against each other, by where in them a span stands: what became slower, faster, more or gone. */
import type { Trace } from "./Trace.ts"

interface Place {
  /** Nanoseconds of all spans at this place. */
  readonly duration: number
  readonly count: number
}

export interface Compared {
  /** The names from the first span down. */
  readonly path: ReadonlyArray<string>
  readonly before: Place
  readonly after: Place
}

const NOTHING: Place = { duration: 0, count: 0 }
const SEPARATOR = "\u0000"

const byPath = ({ spans }: Trace): ReadonlyMap<string, Place> => {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const path = (spanId: string): string => {
    const span = byId.get(spanId)
    if (span === undefined) return ""
    const above = span.parentId === undefined ? "" : path(span.parentId)
    return above === "" ? span.name : `${above}${SEPARATOR}${span.name}`
  }
  const found = new Map<string, Place>()
  for (const { duration, spanId } of spans) {
    const at = path(spanId)
    const known = found.get(at) ?? NOTHING
    found.set(at, { duration: known.duration + duration, count: known.count + 1 })
  }
  return found
}

/** Place by place, the largest difference first. */
export const compared = (before: Trace, after: Trace): ReadonlyArray<Compared> => {
  const [a, b] = [byPath(before), byPath(after)]
  return [...new Set([...a.keys(), ...b.keys()])]
    .map((path) => ({ path: path.split(SEPARATOR), before: a.get(path) ?? NOTHING, after: b.get(path) ?? NOTHING }))
    .toSorted((x, y) => Math.abs(y.after.duration - y.before.duration) - Math.abs(x.after.duration - x.before.duration))
}
