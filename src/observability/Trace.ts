/** A recorded trace: its spans with their times and the attributes of the allowlist; and computations over its spans. */

import { Schema } from "effect"

export type AttributeValue = string | number | boolean

/** Lowercase hex digits: 16 of a span, 32 of a trace. */
const Id = Schema.String

export const TraceSpan = Schema.Struct({
  spanId: Id,
  /** In the same trace, or in the process that began it. */
  parentId: Schema.optionalKey(Id),
  name: Schema.String,
  kind: Schema.Literals(["internal", "server", "client", "producer", "consumer"]),
  /** Nanoseconds since the trace began. */
  start: Schema.Number,
  /** Nanoseconds. */
  duration: Schema.Number,
  /** The tag of its error, `interrupted`, `Defect` or `unfinished`; absent on success. */
  failure: Schema.optionalKey(Schema.String),
  /** Spans of other traces: of a turn, the request or command that began it. */
  links: Schema.optionalKey(Schema.Array(Schema.Struct({ traceId: Id, spanId: Id }))),
  attributes: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Number, Schema.Boolean]))
})
export type TraceSpan = typeof TraceSpan.Type

export const Trace = Schema.Struct({
  traceId: Id,
  /** Unix time in nanoseconds. */
  startedAt: Schema.BigIntFromString,
  /** The root first, and each span after its parent. */
  spans: Schema.Array(TraceSpan),
  /** The number of spans beyond the limit, which aren't recorded. */
  dropped: Schema.Number,
  /** Texts of labelled statements by hash (`max.statement`); with parameters in place of values. */
  statements: Schema.Record(Schema.String, Schema.String)
})
export type Trace = typeof Trace.Type

/**
 * The allowlist of attributes, with the names of OpenTelemetry's semantic conventions where these define one. Values are
 * names of the catalog, counts, sizes and states: never a value of a row, a prompt, an identifier or a parameter.
 */
export const ATTRIBUTES: ReadonlySet<string> = new Set([
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.conversation.id",
  "gen_ai.tool.name",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "http.request.method",
  "http.response.status_code",
  "http.route",
  "mcp.method.name",
  "messaging.operation.name",
  "db.system.name",
  "db.query.summary",
  "db.client.connection.wait_time_ms",
  "max.channel",
  "max.organization.id",
  "max.type",
  "max.shape",
  "max.pool",
  "max.replica",
  "max.plan.cached",
  "max.plan.hash",
  "max.statement",
  "max.caller",
  "max.total",
  "max.entities",
  "max.rows",
  "max.bytes",
  "max.steps",
  "max.limited",
  "max.cause",
  "max.denied",
  "max.blocked_ms",
  "max.cpu_ms"
])

/** The ids of the traces that a trace links to. */
export const linksOf = ({ spans }: Trace): ReadonlyArray<string> => [
  ...new Set(spans.flatMap(({ links = [] }) => links.map(({ traceId }) => traceId)))
]

/** The organization that a trace belongs to; 0 without one. */
export const organizationOf = ({ spans }: Trace): bigint => {
  const labelled = spans.find((span) => typeof span.attributes["max.organization.id"] === "string")
  const id = labelled?.attributes["max.organization.id"]
  return typeof id === "string" && /^\d{1,19}$/.test(id) ? BigInt(id) : 0n
}

/**
 * Joins the parts of a trace that are recorded separately: the requests that continue one trace of their caller. The
 * caller chooses its id, so equal ids of two organizations are two traces. Times count from the start of the first part.
 */
export const joinParts = (parts: ReadonlyArray<Trace>): ReadonlyArray<Trace> => {
  const byId = new Map<string, Array<Trace>>()
  for (const part of parts) {
    const id = `${organizationOf(part)} ${part.traceId}`
    const group = byId.get(id)
    if (group === undefined) byId.set(id, [part])
    else group.push(part)
  }
  return [...byId.values()].map((group) => {
    const [first, ...others] = group.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
    return others.length === 0 ? first! : others.reduce(joinPart, first!)
  })
}

const joinPart = (first: Trace, other: Trace): Trace => {
  const later = Number(other.startedAt - first.startedAt)
  return {
    ...first,
    spans: [...first.spans, ...other.spans.map((span) => ({ ...span, start: span.start + later }))],
    dropped: first.dropped + other.dropped,
    statements: { ...first.statements, ...other.statements }
  }
}

/** The nanoseconds in which none of a span's children ran, by span id; concurrent children count once. */
export const selfTimes = (spans: ReadonlyArray<TraceSpan>): ReadonlyMap<string, number> => {
  const children = new Map<string, Array<TraceSpan>>()
  for (const span of spans) {
    if (span.parentId === undefined) continue
    const siblings = children.get(span.parentId)
    if (siblings === undefined) children.set(span.parentId, [span])
    else siblings.push(span)
  }
  const times = new Map<string, number>()
  for (const span of spans) {
    const end = span.start + span.duration
    let covered = 0
    let until = span.start
    for (const child of (children.get(span.spanId) ?? []).toSorted((a, b) => a.start - b.start)) {
      const childEnd = Math.min(end, child.start + child.duration)
      if (childEnd <= until) continue
      covered += childEnd - Math.max(until, child.start)
      until = childEnd
    }
    times.set(span.spanId, Math.max(0, span.duration - covered))
  }
  return times
}

/**
 * The ids of the spans that determine the trace's duration: backwards from the end of the root, each time the child that
 * ended last before the later one began. A faster span outside of the path doesn't shorten the trace.
 */
export const criticalPath = (spans: ReadonlyArray<TraceSpan>): ReadonlySet<string> => {
  const path = new Set<string>()
  const walk = (span: TraceSpan): void => {
    path.add(span.spanId)
    let before = span.start + span.duration
    const children = spans
      .filter((child) => child.parentId === span.spanId)
      .toSorted((a, b) => b.start + b.duration - (a.start + a.duration))
    for (const child of children) {
      if (child.start + child.duration > before) continue
      walk(child)
      before = child.start
    }
  }
  if (spans[0] !== undefined) walk(spans[0])
  return path
}

/** The spans in depth-first order, siblings by start, each with its depth. */
export const inTreeOrder = (
  spans: ReadonlyArray<TraceSpan>
): ReadonlyArray<readonly [span: TraceSpan, depth: number]> => {
  const own = new Set(spans.map(({ spanId }) => spanId))
  const roots = spans.filter(({ parentId }) => parentId === undefined || !own.has(parentId))
  const under = (parents: ReadonlyArray<TraceSpan>, depth: number): ReadonlyArray<readonly [TraceSpan, number]> =>
    parents
      .toSorted((a, b) => a.start - b.start)
      .flatMap((span) => [
        [span, depth] as const,
        ...under(
          spans.filter(({ parentId }) => parentId === span.spanId),
          depth + 1
        )
      ])
  return under(roots, 0)
}
