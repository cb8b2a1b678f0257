/**
 * Where time goes: the tracer. A trace is recorded in memory, cheaply, and it is decided at its end whether it is kept:
 * a share of all of them, and always those that were slow, failed or were denied. Only attributes of the allowlist are
 * recorded, and of an error only its tag.
 */
import { Cause, Context, Effect, Exit, Layer, Option, Schedule, Tracer } from "effect"
import { FetchHttpClient, HttpBody } from "effect/http"
import { OtlpExporter } from "effect/observability"
import { createHash } from "node:crypto"
import { toOtlp } from "./domain/otlp.ts"
import { ATTRIBUTES, type AttributeValue, type Trace, type TraceSpan } from "./domain/Trace.ts"
import { Env } from "./env.ts"
import { TraceStore } from "./services/TraceStore.ts"
import { version } from "./version.ts"

export interface Sampling {
  /** The share of traces that is kept, 0 to 1. */
  readonly share: number
  /** A trace that took at least as many milliseconds is always kept. */
  readonly slow: number
}

/** A trace holds at most so many spans; of what comes later only the number is known. */
const MAX_SPANS = 2000

/** What a trace collects until its first span ends. */
class Recording {
  readonly spans: Array<RecordedSpan> = []
  dropped = 0
  notable = false
  readonly root: RecordedSpan
  readonly sampled: boolean

  constructor(root: RecordedSpan, sampled: boolean) {
    this.root = root
    this.sampled = sampled
    this.spans.push(root)
  }
}

/** What decides which traces are kept. */
interface Sampler {
  readonly chosen: () => boolean
  readonly ended: (recording: Recording, nanoseconds: bigint) => void
}

const isHex = (text: string, length: number): boolean => text.length === length && /^[0-9a-f]+$/.test(text)

const randomHex = (digits: number): string => {
  let text = ""
  while (text.length < digits)
    text += Math.floor(Math.random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, "0")
  return text
}

const failureOf = (exit: Exit.Exit<unknown, unknown>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  const error = Cause.squash(exit.cause)
  return typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string"
    ? error._tag
    : "Defect"
}

/** Failures that are answers: a caller was told what is wrong, or that there is no access. */
const EXPECTED: ReadonlySet<string | undefined> = new Set([undefined, "interrupted", "InvalidInput"])

class RecordedSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly name: string
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly annotations: Context.Context<never>
  readonly links: Array<Tracer.SpanLink>
  readonly kind: Tracer.SpanKind
  readonly attributes = new Map<string, AttributeValue>()
  readonly recording: Recording
  /** The text of a database's span. */
  statement: string | undefined
  status: Tracer.SpanStatus
  private readonly sampler: Sampler
  private madeTraceId: string | undefined
  private madeSpanId: string | undefined

  constructor(options: Parameters<Tracer.Tracer["span"]>[0], sampler: Sampler) {
    this.sampler = sampler
    this.name = options.name
    this.parent = options.parent
    this.annotations = options.annotations
    this.links = options.links
    this.kind = options.kind
    this.status = { _tag: "Started", startTime: options.startTime }
    const parent = Option.getOrUndefined(options.parent)
    if (parent instanceof RecordedSpan) {
      this.recording = parent.recording
      if (this.recording.spans.length < MAX_SPANS) this.recording.spans.push(this)
      else this.recording.dropped += 1
    } else {
      this.recording = new Recording(this, parent === undefined ? sampler.chosen() : parent.sampled)
    }
  }

  /** Whether another process should keep its part of this trace. */
  get sampled(): boolean {
    return this.recording.sampled
  }

  get traceId(): string {
    if (this.recording.root !== this) return this.recording.root.traceId
    const parent = Option.getOrUndefined(this.parent)
    return (this.madeTraceId ??= parent !== undefined && isHex(parent.traceId, 32) ? parent.traceId : randomHex(32))
  }

  get spanId(): string {
    return (this.madeSpanId ??= randomHex(16))
  }

  attribute(key: string, value: unknown): void {
    if (key === "db.query.text" && typeof value === "string") this.statement = value
    if (!ATTRIBUTES.has(key)) return
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      this.attributes.set(key, value)
      if (key === "max.denied") this.recording.notable = true
    }
  }

  /** Events carry whatever their author put into them: they aren't recorded. */
  event(): void {}

  addLinks(): void {}

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    if (this.status._tag === "Ended") return
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    if (exit._tag === "Failure" && !this.recording.notable && !EXPECTED.has(failureOf(exit)))
      this.recording.notable = true
    if (this.recording.root === this) this.sampler.ended(this.recording, endTime - this.status.startTime)
  }
}

/** What a statement calls itself, or the kind of statement that it is. */
const LABEL = /^\/\* (max [^*]*?) \*\//
const summary = (statement: string): string =>
  LABEL.exec(statement)?.[1] ?? /^\w+/.exec(statement.trimStart())?.[0] ?? ""

const statementHash = (statement: string): string => createHash("sha256").update(statement).digest("hex").slice(0, 12)

/** Only what calls itself Max's: their texts are made of the catalog's names and nothing else. */
const isLabelled = (statement: string): boolean => LABEL.test(statement)

const statementAttributes = (statement: string): Record<string, AttributeValue> => ({
  "db.query.summary": summary(statement),
  ...(isLabelled(statement) ? { "max.statement": statementHash(statement) } : {})
})

const toSpan = (span: RecordedSpan, startedAt: bigint, endedAt: bigint): TraceSpan => {
  const { status } = span
  const parent = Option.getOrUndefined(span.parent)
  const end = status._tag === "Ended" ? status.endTime : endedAt
  const failure = status._tag === "Ended" ? failureOf(status.exit) : "unfinished"
  return {
    spanId: span.spanId,
    ...(parent !== undefined && isHex(parent.spanId, 16) ? { parentId: parent.spanId } : {}),
    // The driver calls its spans after the database.
    name: span.statement === undefined ? span.name : "postgres",
    kind: span.kind,
    start: Number(status.startTime - startedAt),
    duration: Number(end - status.startTime),
    ...(failure === undefined ? {} : { failure }),
    attributes: {
      ...Object.fromEntries(span.attributes),
      ...(span.statement === undefined ? {} : statementAttributes(span.statement))
    }
  }
}

const toTrace = (recording: Recording): Trace => {
  const { status, traceId } = recording.root
  const startedAt = status.startTime
  const endedAt = status._tag === "Ended" ? status.endTime : startedAt
  return {
    traceId,
    startedAt,
    spans: recording.spans.map((span) => toSpan(span, startedAt, endedAt)),
    dropped: recording.dropped,
    statements: Object.fromEntries(
      recording.spans.flatMap(({ statement }) =>
        statement !== undefined && isLabelled(statement) ? [[statementHash(statement), statement]] : []
      )
    )
  }
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
  static readonly make = ({ share, slow }: Sampling): Recorder["Service"] => {
    const slowNanos = BigInt(Math.round(slow * 1e6))
    let waiting: Array<Recording> = []
    const recorder: Sampler = {
      chosen: () => Math.random() < share,
      ended: (recording, took) => {
        if (!recording.sampled && !recording.notable && took < slowNanos) return
        if (waiting.length < MAX_WAITING) waiting.push(recording)
      }
    }
    return Recorder.of({
      tracer: Tracer.make({ span: (options) => new RecordedSpan(options, recorder) }),
      take: () => {
        const taken = waiting
        waiting = []
        return taken.map(toTrace)
      }
    })
  }

  /** Records as it is configured. */
  static readonly layer = Layer.effect(
    Recorder,
    Effect.map(Env, ({ traceShare, traceSlow }) => Recorder.make({ share: traceShare, slow: traceSlow }))
  )
}

/** Everything that runs in this layer is traced. */
const Traced = Layer.effect(
  Tracer.Tracer,
  Effect.map(Recorder, ({ tracer }) => tracer)
)

const EVERY = "1 second"
/** Traces stored from one pruning to the next. */
const PRUNE_EVERY = 500

/** Stores and exports in the background what was kept. A failure costs traces and nothing else. */
const Kept = Layer.effectDiscard(
  Effect.gen(function* () {
    const { otlpEndpoint, traceDays, traceLimit } = yield* Env
    const recorder = yield* Recorder
    const store = yield* TraceStore
    const send = otlpEndpoint === undefined ? () => {} : yield* exporter(`${otlpEndpoint}/v1/traces`)
    let stored = 0
    const flush = Effect.gen(function* () {
      const traces = recorder.take()
      for (const trace of traces) send(trace)
      if (traceLimit === 0 || traces.length === 0) return
      yield* store.write(traces)
      // Once for the first that a process stores, and then for every so many: what is kept is bounded all the same.
      const before = Math.ceil(stored / PRUNE_EVERY)
      stored += traces.length
      if (Math.ceil(stored / PRUNE_EVERY) > before) yield* store.prune({ days: traceDays, traces: traceLimit })
    }).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterrupts(cause) ? Effect.failCause(cause) : Effect.logDebug("Traces couldn't be stored.")
      ),
      Effect.withTracerEnabled(false)
    )
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeout(flush, "2 seconds")))
    yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced(EVERY)))
  })
)

const exporter = (url: string) =>
  Effect.map(
    OtlpExporter.make({
      label: "max",
      url,
      headers: undefined,
      exportInterval: EVERY,
      maxBatchSize: 200,
      body: (traces: Array<Trace>) => [HttpBody.jsonUnsafe(toOtlp(traces, version)), Effect.void],
      shutdownTimeout: "2 seconds"
    }),
    ({ push }) =>
      (trace: Trace) =>
        push(trace)
  ).pipe(Effect.provide(Layer.merge(OtlpExporter.layerFlusher, FetchHttpClient.layer)))

/** Tracing of everything above it. */
export const Observability = Layer.merge(Traced, Kept).pipe(
  Layer.provideMerge(Recorder.layer),
  Layer.provideMerge(TraceStore.layer)
)
