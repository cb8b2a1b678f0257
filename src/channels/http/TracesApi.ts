/** The traces of the caller's organization, declared: what the page /traces is made of. */
import { Schema } from "effect"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Sse from "effect/encoding/Sse"
import { Admitted, Need } from "./admitted.ts"
import { InvalidInput, NotFound, Unavailable } from "../../wire/problems.ts"

const { optionalKey } = Schema
const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const Flag = Schema.Literal("true")

/** A reference such as 7F3K, or the id of a trace. */
const Id = Schema.String.check(Schema.isPattern(/^([0-9A-Za-z]{4}|[0-9a-f]{32})$/))

const selection = {
  /** What the name of a trace begins with. */
  name: optionalKey(Schema.String.check(Schema.isMaxLength(100))),
  slow: optionalKey(Flag),
  failed: optionalKey(Flag),
  denied: optionalKey(Flag),
  /** Minutes back from now. */
  since: optionalKey(between(1, 5_256_000)),
  /** Milliseconds. */
  atLeast: optionalKey(between(0, 86_400_000))
}

const Line = Schema.Struct({
  traceId: Schema.String,
  reference: Schema.String,
  startedAt: Schema.String,
  name: Schema.String,
  milliseconds: Schema.Number,
  failure: Schema.NullOr(Schema.String),
  denied: Schema.Boolean,
  spans: Schema.Number
})

const FoundThing = Schema.Struct({
  kind: Schema.String,
  message: Schema.String,
  command: Schema.String,
  reference: Schema.String,
  traces: Schema.Number,
  statement: optionalKey(Schema.String)
})

/** Times in milliseconds after the trace began. */
const Span = Schema.Struct({
  spanId: Schema.String,
  depth: Schema.Number,
  name: Schema.String,
  start: Schema.Number,
  milliseconds: Schema.Number,
  /** What it took itself, with nothing below it running. */
  self: Schema.Number,
  /** Whether the end waited for it. */
  critical: Schema.Boolean,
  failure: optionalKey(Schema.String),
  attributes: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Number, Schema.Boolean]))
})

const Heading = Schema.Struct({
  traceId: Schema.String,
  reference: Schema.String,
  startedAt: Schema.String,
  name: Schema.String,
  milliseconds: Schema.Number
})

const Whole = Schema.Struct({
  ...Heading.fields,
  /** Spans beyond what a trace may hold. */
  dropped: Schema.Number,
  spans: Schema.Array(Span),
  /** The texts of lookups' statements by what `max.statement` names. */
  statements: Schema.Record(Schema.String, Schema.String),
  findings: Schema.Array(FoundThing)
})

const Place = Schema.Struct({ milliseconds: Schema.Number, count: Schema.Number })

export const traces = HttpApiGroup.make("traces")
  .add(
    HttpApiEndpoint.get("list", "/v1/traces", {
      query: { ...selection, limit: optionalKey(between(1, 1000)) },
      success: Schema.Struct({
        traces: Schema.Array(Line),
        /** By how long they took: milliseconds from, up to but without. */
        histogram: Schema.Array(
          Schema.Struct({
            from: Schema.Number,
            to: optionalKey(Schema.Number),
            count: Schema.Number,
            failed: Schema.Number
          })
        ),
        /** Milliseconds from which on a trace is slow. */
        slow: Schema.Number
      }),
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Traces that were kept, the newest first, and how long they took"),
    HttpApiEndpoint.get("live", "/v1/traces/live", {
      query: selection,
      success: HttpApiSchema.StreamSse({
        events: Schema.Struct({ ...Sse.EventEncoded.fields, data: Schema.fromJsonString(Line) })
      }),
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Traces as they are kept; ends after five minutes, to be asked for again"),
    HttpApiEndpoint.get("findings", "/v1/traces/findings", {
      query: { since: selection.since },
      success: Schema.Struct({ findings: Schema.Array(FoundThing), traces: Schema.Number }),
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "What stands out, with the command to act on it"),
    HttpApiEndpoint.get("top", "/v1/traces/top", {
      query: selection,
      success: Schema.Struct({
        spans: Schema.Array(
          Schema.Struct({
            name: Schema.String,
            count: Schema.Number,
            self: Schema.Number,
            p50: Schema.Number,
            p95: Schema.Number,
            p99: Schema.Number
          })
        )
      }),
      error: [InvalidInput, Unavailable]
    }).annotate(OpenApi.Summary, "Where the time went: spans by the time that they took themselves"),
    HttpApiEndpoint.get("compare", "/v1/traces/compare", {
      query: { a: Id, b: Id },
      success: Schema.Struct({
        before: Heading,
        after: Heading,
        places: Schema.Array(Schema.Struct({ path: Schema.Array(Schema.String), before: Place, after: Place }))
      }),
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "Two traces, place by place, the largest difference first"),
    HttpApiEndpoint.get("get", "/v1/traces/:id", {
      params: { id: Id },
      success: Whole,
      error: [InvalidInput, NotFound, Unavailable]
    }).annotate(OpenApi.Summary, "A trace by its reference or id: spans, their own time, and what the end waited for")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "traces", calls: 0 })
  .annotate(
    OpenApi.Description,
    "Where the time went, in the caller's own organization: for tokens with the scope traces."
  )
