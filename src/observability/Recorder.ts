/**
 * What a trace is while it goes on: spans in memory, cheaply. At its end it is decided whether it is kept: a share of
 * all of them, and always those that were slow, failed or were denied. Only attributes of the allowlist are recorded,
 * and of an error only its tag.
 */
import { Cause, Context, Effect, Exit, Layer, Option, Tracer } from "effect"
import { createHash } from "node:crypto"
import { ATTRIBUTES, type AttributeValue, type Trace, type TraceSpan } from "../domain/Trace.ts"
import { Env } from "../env.ts"
import { Measures } from "./Measures.ts"

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
  unavailable = false
  readonly root: RecordedSpan
  sampled: boolean

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
  readonly measures: Measures["Service"]
}

/** What every statement's span is called; the driver calls its own after the database. */
const POSTGRES = "postgres"

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
  parent: Option.Option<Tracer.AnySpan>
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

  /**
   * Makes the trace a part of one that began elsewhere: its first span gets a parent there, and the trace its id, unless
   * that has been told somebody already. What is kept of it stays Max's own decision, but for `force`.
   */
  continueFrom(parent: Tracer.ExternalSpan, force: boolean): void {
    if (this.recording.root !== this || Option.isSome(this.parent)) return
    if (force && parent.sampled) this.recording.sampled = true
    if (this.madeTraceId !== undefined) return
    this.parent = Option.some(parent)
  }

  attribute(key: string, value: unknown): void {
    if (key === "db.query.text" && typeof value === "string") this.statement = value
    if (!ATTRIBUTES.has(key)) return
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      this.attributes.set(key, value)
      if (key === "max.denied") {
        this.recording.notable = true
        this.sampler.measures.denied(this.name)
      }
      // What is answered over HTTP has no failed span, whatever it was.
      if (key === "http.response.status_code" && Number(value) >= 500) this.recording.notable = true
    }
  }

  /** Events carry whatever their author put into them: they aren't recorded. */
  event(): void {}

  addLinks(): void {}

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    if (this.status._tag === "Ended") return
    const took = endTime - this.status.startTime
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    const failure = exit._tag === "Failure" ? failureOf(exit) : undefined
    if (!EXPECTED.has(failure)) this.recording.notable = true
    if (failure === "Unavailable" && !this.recording.unavailable) {
      this.recording.unavailable = true
      this.sampler.measures.unavailable(this.name)
    }
    this.sampler.measures.span(this.statement === undefined ? this.name : POSTGRES, this.attributes, took, failure)
    if (this.recording.root === this) this.sampler.ended(this.recording, took)
  }
}

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

const toSpan = (span: RecordedSpan, startedAt: bigint, endedAt: bigint): TraceSpan => {
  const { status } = span
  const parent = Option.getOrUndefined(span.parent)
  const end = status._tag === "Ended" ? status.endTime : endedAt
  const failure = status._tag === "Ended" ? failureOf(status.exit) : "unfinished"
  return {
    spanId: span.spanId,
    ...(parent !== undefined && isHex(parent.spanId, 16) ? { parentId: parent.spanId } : {}),
    name: span.statement === undefined ? span.name : POSTGRES,
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
      recording.spans.flatMap(({ statement }) => {
        const hash = statement === undefined ? undefined : statementAttributes(statement)["max.statement"]
        return hash === undefined ? [] : [[hash, statement!]]
      })
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
  static readonly make = ({ share, slow }: Sampling, measures = Measures.make()): Recorder["Service"] => {
    const slowNanos = BigInt(Math.round(slow * 1e6))
    let waiting: Array<Recording> = []
    const recorder: Sampler = {
      measures,
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
    Effect.gen(function* () {
      const { traceShare, traceSlow } = yield* Env
      return Recorder.make({ share: traceShare, slow: traceSlow }, yield* Measures)
    })
  )
}
