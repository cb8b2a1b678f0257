/** A trace as it was recorded: spans with times, what they were called and attributes from the allowlist. Nothing else. */

import { Schema } from "effect"

export type AttributeValue = string | number | boolean

/** 16 hex digits of a span, 32 of a trace. */
const Id = Schema.String

export const TraceSpan = Schema.Struct({
  spanId: Id,
  /** Of the same trace, or of another process that began it. */
  parentId: Schema.optionalKey(Id),
  name: Schema.String,
  kind: Schema.Literals(["internal", "server", "client", "producer", "consumer"]),
  /** Nanoseconds after the trace began. */
  start: Schema.Number,
  /** Nanoseconds. */
  duration: Schema.Number,
  /** The tag of the error that ended it, `interrupted` or `unfinished`; absent when it ended well. */
  failure: Schema.optionalKey(Schema.String),
  attributes: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Number, Schema.Boolean]))
})
export type TraceSpan = typeof TraceSpan.Type

export const Trace = Schema.Struct({
  traceId: Id,
  /** Unix time in nanoseconds. */
  startedAt: Schema.BigIntFromString,
  /** The first is the root; a span stands after its parent. */
  spans: Schema.Array(TraceSpan),
  /** Spans beyond what a trace may hold. */
  dropped: Schema.Number,
  /** Texts of the lookups' statements by the hash that `max.statement` names; values are never in a text. */
  statements: Schema.Record(Schema.String, Schema.String)
})
export type Trace = typeof Trace.Type

/**
 * The only attributes that a span may have, by OpenTelemetry's names where it has one. Names of the catalog, counts,
 * sizes and states: never a value of a row, a prompt, an identifier or a parameter.
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
  "max.denied"
])

/**
 * What was recorded of one trace by itself (a request, and the turn that it began and that outlived it) as one trace:
 * times count from its first beginning.
 */
export const joined = (parts: ReadonlyArray<Trace>): ReadonlyArray<Trace> => {
  const byId = new Map<string, Array<Trace>>()
  for (const part of parts) {
    const known = byId.get(part.traceId)
    if (known === undefined) byId.set(part.traceId, [part])
    else known.push(part)
  }
  return [...byId.values()].map((group) => {
    const [first, ...others] = group.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
    return others.length === 0 ? first! : others.reduce(beside, first!)
  })
}

const beside = (first: Trace, other: Trace): Trace => {
  const later = Number(other.startedAt - first.startedAt)
  return {
    ...first,
    spans: [...first.spans, ...other.spans.map((span) => ({ ...span, start: span.start + later }))],
    dropped: first.dropped + other.dropped,
    statements: { ...first.statements, ...other.statements }
  }
}

/** Nanoseconds that a span spent itself, with no child of its running: children that run at once count once. */
export const selfTimes = (spans: ReadonlyArray<TraceSpan>): ReadonlyMap<string, number> => {
  const children = new Map<string, Array<TraceSpan>>()
  for (const span of spans) {
    if (span.parentId === undefined) continue
    const siblings = children.get(span.parentId)
    if (siblings === undefined) children.set(span.parentId, [span])
    else siblings.push(span)
  }
  const found = new Map<string, number>()
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
    found.set(span.spanId, Math.max(0, span.duration - covered))
  }
  return found
}

/**
 * The spans that the end waited for: from the root backwards, always the child that ended last before what was waited
 * for began. Making any other span faster wouldn't have made the trace shorter.
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

/** In the order of a tree: children under their parent, by when they began, each with its depth. */
export const inTree = (spans: ReadonlyArray<TraceSpan>): ReadonlyArray<readonly [span: TraceSpan, depth: number]> => {
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
