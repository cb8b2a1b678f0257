/**
 * Tail-based sampling: spans are recorded in memory, and when the root ends, the trace is kept or dropped. A share of all
 * traces is kept, and always those that are slow, failed or contain a denial. A kept trace holds only attributes of the
 * allowlist, and of an error only its tag.
 */
import { Context, Effect, Layer, Tracer } from "effect"
import { SpanPropagationEnabled } from "effect/sql/Statement"
import { createHash } from "node:crypto"
import { type Block, BLOCKED, EventLoop } from "./EventLoop.ts"
import type { Trace, TraceSpan } from "./Trace.ts"
import { Measures } from "./Measures.ts"
import { failureOf } from "./failure.ts"
import { isHex, RecordedSpan, type Recording, RecordingTracer, type Sampler, unixTime } from "./RecordedSpan.ts"

export interface Sampling {
  /** The share of traces to keep, 0 to 1. */
  readonly share: number
  /** Milliseconds from which on a trace is always kept. */
  readonly slow: number
}

/** The name of every statement's span; the driver names its spans after the database. */
const POSTGRES = "postgres"

/** The label that Max writes at the start of its statements. */
const LABEL = /^\/\* (max [^*]*?) \*\//

/** A statement's label, or else its first keyword. */
const summary = (statement: string): string =>
  LABEL.exec(statement)?.[1] ?? /^(?:\s|\/\*[^*]*\*\/)*(\w+)/.exec(statement)?.[1] ?? "statement"

const statementHash = (statement: string): string => createHash("sha256").update(statement).digest("hex").slice(0, 12)

/** Only labelled statements are stored: their text consists of SQL and names of the catalog, never of values. */
const isLabelled = (statement: string): boolean => LABEL.test(statement)

/** Attributes by statement: there are few statements, each in thousands of traces. */
const cache = new Map<string, Readonly<Record<string, string>>>()
const MAX_CACHED = 1000

const statementAttributes = (statement: string): Readonly<Record<string, string>> => {
  const cached = cache.get(statement)
  if (cached !== undefined) return cached
  const attributes = {
    "db.query.summary": summary(statement),
    ...(isLabelled(statement) ? { "max.statement": statementHash(statement) } : {})
  }
  if (cache.size >= MAX_CACHED) cache.clear()
  cache.set(statement, attributes)
  return attributes
}

/** Nanoseconds of a clock reading; rounded before subtraction, so that simultaneous ends stay simultaneous. */
const nanoseconds = (at: number): number => Math.round(at * 1e6)

type Writable<A> = { -readonly [K in keyof A]: A[K] }

// Builds the object step by step: spreading costs more, and delays the requests that are served meanwhile.
const toSpan = (span: RecordedSpan, startedAt: number, endedAt: number): TraceSpan => {
  const { above, statement } = span
  const failure = span.exit === undefined ? "unfinished" : failureOf(span.exit)
  const start = nanoseconds(span.started)
  const attributes = span.allowed
  if (statement !== undefined) Object.assign(attributes, statementAttributes(statement))
  const recorded: Writable<TraceSpan> = {
    spanId: span.spanId,
    name: statement === undefined ? span.name : POSTGRES,
    kind: span.kind,
    start: start - nanoseconds(startedAt),
    duration: nanoseconds(span.ended ?? endedAt) - start,
    attributes
  }
  if (above instanceof RecordedSpan || (above !== undefined && isHex(above.spanId, 16)))
    recorded.parentId = above.spanId
  if (failure !== undefined) recorded.failure = failure
  if (span.links.length > 0) recorded.links = span.links.map(({ span: { spanId, traceId } }) => ({ traceId, spanId }))
  return recorded
}

/** The blocks of the event loop by the innermost span that ran or waited in each, in milliseconds. */
const blockedSpans = (
  spans: ReadonlyArray<RecordedSpan>,
  endedAt: number,
  blocks: ReadonlyArray<Block>
): ReadonlyMap<RecordedSpan, number> => {
  const longest = new Map<RecordedSpan, number>()
  const startedAt = spans[0]!.started
  for (const { from, until } of blocks) {
    if (until - startedAt < BLOCKED || endedAt - from < BLOCKED) continue
    let innermost: RecordedSpan | undefined
    let most = BLOCKED
    for (const span of spans) {
      const overlap = Math.min(until, span.ended ?? endedAt) - Math.max(from, span.started)
      // A span begins a little after its parent.
      if (overlap < 0.9 * most) continue
      innermost = span
      most = Math.max(most, overlap)
    }
    if (innermost !== undefined) longest.set(innermost, Math.max(longest.get(innermost) ?? 0, Math.round(most)))
  }
  return longest
}

const toTrace = (recording: Recording, blocks: ReadonlyArray<Block>): Trace => {
  const { root, spans } = recording
  const endedAt = root.ended ?? root.started
  for (const [span, milliseconds] of blockedSpans(spans, endedAt, blocks))
    span.setAttributes({ "max.blocked_ms": milliseconds })
  return {
    traceId: root.traceId,
    startedAt: unixTime(root.started),
    spans: spans.map((span) => toSpan(span, root.started, endedAt)),
    dropped: recording.dropped,
    statements: textsOf(spans)
  }
}

/** The labelled statements of a trace by hash. */
const textsOf = (spans: ReadonlyArray<RecordedSpan>): Trace["statements"] => {
  const texts: Record<string, string> = {}
  for (const { statement } of spans) {
    const hash = statement === undefined ? undefined : statementAttributes(statement)["max.statement"]
    if (hash !== undefined) texts[hash] = statement!
  }
  return texts
}

/** Traces that may wait to be stored and exported; later ones are dropped, and counted. */
const MAX_WAITING = 1000

/** A tracer, and the traces that it has kept. */
export class Recorder extends Context.Service<
  Recorder,
  {
    readonly tracer: Tracer.Tracer
    /** Removes the waiting traces and returns them. */
    readonly take: () => ReadonlyArray<Trace>
    /** The number of traces that were dropped since the last call, because too many waited. */
    readonly takeLost: () => number
    /** Counts traces that were taken and couldn't be stored. */
    readonly lose: (traces: number) => void
  }
>()("max/Recorder") {
  static readonly make = (
    { share, slow }: Sampling,
    measures = Measures.make(),
    blocks: () => ReadonlyArray<Block> = () => []
  ): Recorder["Service"] => {
    let waiting: Array<Recording> = []
    let lost = 0
    const sampler: Sampler = {
      measures,
      chosen: () => Math.random() < share,
      ended: (recording, took) => {
        if (!recording.sampled && !recording.notable && took < slow) return
        if (waiting.length < MAX_WAITING) waiting.push(recording)
        else {
          lost += 1
          measures.lost("queue", 1)
        }
      }
    }
    const tracer = new RecordingTracer(sampler)
    return Recorder.of({
      tracer,
      takeLost: () => {
        const taken = lost
        lost = 0
        return taken
      },
      lose: (traces) => measures.lost("store", traces),
      take: () => {
        const taken = waiting
        waiting = []
        const latest = blocks()
        return taken.map((recording) => toTrace(recording, latest))
      }
    })
  }

  static readonly layer = (sampling: Sampling) =>
    Layer.effect(
      Recorder,
      Effect.gen(function* () {
        const { blocks } = yield* EventLoop
        return Recorder.make(sampling, yield* Measures, blocks)
      })
    )

  /** Makes the recorder the tracer; with span propagation a statement reports how long it waited for its connection. */
  static readonly tracerLayer = Layer.merge(
    Layer.effect(
      Tracer.Tracer,
      Effect.map(Recorder, ({ tracer }) => tracer)
    ),
    Layer.succeed(SpanPropagationEnabled, true)
  )
}
