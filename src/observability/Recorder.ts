/**
 * What a trace is while it goes on: spans in memory, cheaply. At its end it is decided whether it is kept: a share of
 * all of them, and always those that were slow, failed or were denied. Only attributes of the allowlist are recorded,
 * and of an error only its tag.
 */
import { Context, Effect, Layer, Tracer } from "effect"
import { SpanPropagationEnabled } from "effect/sql/Statement"
import { createHash } from "node:crypto"
import type { Trace, TraceSpan } from "./Trace.ts"
import { Measures } from "./Measures.ts"
import { failureOf } from "./failure.ts"
import { isHex, RecordedSpan, type Recording, RecordingTracer, type Sampler, unixTime } from "./RecordedSpan.ts"

export interface Sampling {
  /** The share of traces that is kept, 0 to 1. */
  readonly share: number
  /** A trace that took at least as many milliseconds is always kept. */
  readonly slow: number
}

/** What every statement's span is called; the driver calls its own after the database. */
const POSTGRES = "postgres"

/** What a statement calls itself, or the kind of statement that it is. */
const LABEL = /^\/\* (max [^*]*?) \*\//
const summary = (statement: string): string =>
  LABEL.exec(statement)?.[1] ?? /^(?:\s|\/\*[^*]*\*\/)*(\w+)/.exec(statement)?.[1] ?? "statement"

const statementHash = (statement: string): string => createHash("sha256").update(statement).digest("hex").slice(0, 12)

/** Only what calls itself Max's: their texts are made of the catalog's names and nothing else. */
const isLabelled = (statement: string): boolean => LABEL.test(statement)

/** What is known of a statement: there are few, and each is in thousands of traces. */
const known = new Map<string, Readonly<Record<string, string>>>()
const MAX_KNOWN = 1000

const statementAttributes = (statement: string): Readonly<Record<string, string>> => {
  const before = known.get(statement)
  if (before !== undefined) return before
  const made = {
    "db.query.summary": summary(statement),
    ...(isLabelled(statement) ? { "max.statement": statementHash(statement) } : {})
  }
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(statement, made)
  return made
}

/** Nanoseconds of a time of the process's own clock; rounded before they are subtracted, so that what ended together still does. */
const nanoseconds = (at: number): number => Math.round(at * 1e6)

type Writable<A> = { -readonly [K in keyof A]: A[K] }

// Put together step by step, as the rows of a page are: a kept trace is work for whoever is served meanwhile.
const toSpan = (span: RecordedSpan, startedAt: number, endedAt: number): TraceSpan => {
  const { above, statement } = span
  const failure = span.exit === undefined ? "unfinished" : failureOf(span.exit)
  const start = nanoseconds(span.started)
  const attributes = span.allowed
  if (statement !== undefined) Object.assign(attributes, statementAttributes(statement))
  const made: Writable<TraceSpan> = {
    spanId: span.spanId,
    name: statement === undefined ? span.name : POSTGRES,
    kind: span.kind,
    start: start - nanoseconds(startedAt),
    duration: nanoseconds(span.ended ?? endedAt) - start,
    attributes
  }
  if (above instanceof RecordedSpan || (above !== undefined && isHex(above.spanId, 16))) made.parentId = above.spanId
  if (failure !== undefined) made.failure = failure
  return made
}

const toTrace = (recording: Recording): Trace => {
  const { root, spans } = recording
  const endedAt = root.ended ?? root.started
  return {
    traceId: root.traceId,
    startedAt: unixTime(root.started),
    spans: spans.map((span) => toSpan(span, root.started, endedAt)),
    dropped: recording.dropped,
    statements: textsOf(spans)
  }
}

/** Texts of the statements by the hashes that name them. */
const textsOf = (spans: ReadonlyArray<RecordedSpan>): Trace["statements"] => {
  const texts: Record<string, string> = {}
  for (const { statement } of spans) {
    const hash = statement === undefined ? undefined : statementAttributes(statement)["max.statement"]
    if (hash !== undefined) texts[hash] = statement!
  }
  return texts
}

/** Traces that wait to be stored and exported; what comes beyond is counted, never waited for. */
const MAX_WAITING = 1000

/** The tracer and what it kept since it was last asked. */
export class Recorder extends Context.Service<
  Recorder,
  {
    readonly tracer: Tracer.Tracer
    readonly take: () => ReadonlyArray<Trace>
  }
>()("max/Recorder") {
  static readonly make = ({ share, slow }: Sampling, measures = Measures.make()): Recorder["Service"] => {
    let waiting: Array<Recording> = []
    const sampler: Sampler = {
      measures,
      chosen: () => Math.random() < share,
      ended: (recording, took) => {
        if (!recording.sampled && !recording.notable && took < slow) return
        if (waiting.length < MAX_WAITING) waiting.push(recording)
      }
    }
    const tracer = new RecordingTracer(sampler)
    return Recorder.of({
      tracer,
      take: () => {
        const taken = waiting
        waiting = []
        return taken.map(toTrace)
      }
    })
  }

  static readonly layer = (sampling: Sampling) =>
    Layer.effect(
      Recorder,
      Effect.map(Measures, (measures) => Recorder.make(sampling, measures))
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
