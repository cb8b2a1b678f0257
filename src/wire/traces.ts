/** Recorded traces of the caller's organization. Every duration is in milliseconds. */
import { Schema } from "effect"
import { anyTextUpTo, between } from "./scalars.ts"
import { streamOf } from "./serverSentEvents.ts"

const { optionalKey } = Schema
const Flag = Schema.Literal("true")

/** A reference such as 7F3K, or the id of a trace. */
export const TraceId = Schema.String.check(Schema.isPattern(/^([0-9A-Za-z]{4}|[0-9a-f]{32})$/))

export const TraceFilter = {
  /** Prefix of the trace's name. */
  name: optionalKey(anyTextUpTo(100)),
  slow: optionalKey(Flag),
  failed: optionalKey(Flag),
  denied: optionalKey(Flag),
  /** Minutes back from now. */
  since: optionalKey(between(1, 5_256_000)),
  atLeast: optionalKey(between(0, 86_400_000))
}

export const TracesQuery = { ...TraceFilter, limit: optionalKey(between(1, 1000)) }
export const FindingsQuery = { since: TraceFilter.since }
export const ComparisonQuery = { a: TraceId, b: TraceId }

const heading = {
  traceId: Schema.String,
  reference: Schema.String,
  startedAt: Schema.String,
  name: Schema.String,
  milliseconds: Schema.Number
}

const TraceHeading = Schema.Struct(heading)
export type TraceHeading = typeof TraceHeading.Encoded

export const TraceLine = Schema.Struct({
  ...heading,
  failure: Schema.NullOr(Schema.String),
  denied: Schema.Boolean,
  spans: Schema.Number
})
export type TraceLine = typeof TraceLine.Encoded

/** New traces as they are stored. */
export const TraceLines = streamOf(TraceLine)

/** One bar of the histogram: durations from `from` up to, excluding, `to`. */
const Bar = Schema.Struct({
  from: Schema.Number,
  to: optionalKey(Schema.Number),
  count: Schema.Number,
  /** Those that failed or contain a denial. */
  failed: Schema.Number
})
export type Bar = typeof Bar.Encoded

export const TraceList = Schema.Struct({
  traces: Schema.Array(TraceLine),
  histogram: Schema.Array(Bar),
  /** The duration from which a trace counts as slow. */
  slow: Schema.Number
})
export type TraceList = typeof TraceList.Encoded

const Finding = Schema.Struct({
  kind: Schema.String,
  message: Schema.String,
  command: Schema.String,
  reference: Schema.String,
  traces: Schema.Number,
  statement: optionalKey(Schema.String)
})
export type Finding = typeof Finding.Encoded

export const Findings = Schema.Struct({ findings: Schema.Array(Finding), traces: Schema.Number })
export type Findings = typeof Findings.Encoded

/** All spans of one name; percentiles are exact to one percent. */
const SpanTotals = Schema.Struct({
  name: Schema.String,
  count: Schema.Number,
  self: Schema.Number,
  p50: Schema.Number,
  p95: Schema.Number,
  p99: Schema.Number
})
export type SpanTotals = typeof SpanTotals.Encoded

export const TopSpans = Schema.Struct({ spans: Schema.Array(SpanTotals) })
export type TopSpans = typeof TopSpans.Encoded

const Span = Schema.Struct({
  spanId: Schema.String,
  depth: Schema.Number,
  name: Schema.String,
  /** After the start of the trace. */
  start: Schema.Number,
  milliseconds: Schema.Number,
  /** Self time: none of the span's children ran. */
  self: Schema.Number,
  /** Whether the span is on the critical path. */
  critical: Schema.Boolean,
  failure: optionalKey(Schema.String),
  attributes: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Number, Schema.Boolean]))
})
export type Span = typeof Span.Encoded

export const Trace = Schema.Struct({
  ...heading,
  /** Spans beyond the limit of a trace, which weren't recorded. */
  dropped: Schema.Number,
  /** The traces that it links to: a turn's of the request that began it. They may not be stored. */
  links: Schema.Array(Schema.Struct({ traceId: Schema.String, reference: Schema.String })),
  /** Other traces with the same reference. */
  others: Schema.Array(TraceHeading),
  spans: Schema.Array(Span),
  /** SQL texts of the lookups' statements, by the value of the attribute `max.statement`. */
  statements: Schema.Record(Schema.String, Schema.String),
  findings: Schema.Array(Finding)
})
export type Trace = typeof Trace.Encoded

const Place = Schema.Struct({ milliseconds: Schema.Number, count: Schema.Number })

export const TraceComparison = Schema.Struct({
  before: TraceHeading,
  after: TraceHeading,
  places: Schema.Array(Schema.Struct({ path: Schema.Array(Schema.String), before: Place, after: Place }))
})
export type TraceComparison = typeof TraceComparison.Encoded
