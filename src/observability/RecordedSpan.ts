/**
 * A span in memory and the recording of its trace. Nine of ten traces are dropped, so each part is deferred until it is
 * needed: times are readings of the monotonic clock, ids are generated on first use, attributes are filtered on storing.
 */
import { Context, type Exit, Option, type Tracer } from "effect"
import { randomBytes } from "node:crypto"
import { type AttributeList, type Attributes, collect, latest, prepend, put } from "./attributes.ts"
import { failureOf } from "./failure.ts"
import type { Measures } from "./Measures.ts"
import { ATTRIBUTES, type AttributeValue } from "./Trace.ts"

/** Spans of one trace that are recorded; later ones are only counted. */
const MAX_SPANS = 2000

/** Failures that are regular answers: no trace is kept because of them. */
const EXPECTED: ReadonlySet<string> = new Set(["interrupted", "InvalidInput"])

/** Decides which traces are kept. */
export interface Sampler {
  /** Whether a new trace belongs to the share that is kept. */
  readonly chosen: () => boolean
  readonly ended: (recording: Recording, milliseconds: number) => void
  readonly measures: Measures["Service"]
}

/** The spans of a trace in this process until its root ends. */
export class Recording {
  readonly sampler: Sampler
  readonly root: RecordedSpan
  sampled: boolean
  /** Kept whether it is sampled or not. */
  notable = false
  dropped = 0
  private unavailable = false
  private last: RecordedSpan
  private count = 1
  private id: string | undefined = undefined

  constructor(sampler: Sampler, root: RecordedSpan, sampled: boolean) {
    this.sampler = sampler
    this.root = root
    this.sampled = sampled
    this.last = root
  }

  add(span: RecordedSpan): void {
    if (this.count >= MAX_SPANS) {
      this.dropped += 1
      return
    }
    this.count += 1
    this.last.next = span
    this.last = span
  }

  failed(span: RecordedSpan, failure: string): void {
    if (!EXPECTED.has(failure)) this.notable = true
    if (failure !== "Unavailable" || this.unavailable) return
    this.unavailable = true
    this.sampler.measures.unavailable(span.name)
  }

  /** The id of the remote trace that it continues, or its own. */
  traceId(): string {
    const { above } = this.root
    return (this.id ??= above !== undefined && isHex(above.traceId, 32) ? above.traceId : randomHex(32))
  }

  /** Whether the id has been read, and so can't change any more. */
  get hasId(): boolean {
    return this.id !== undefined
  }

  /** In the order in which they began. */
  get spans(): ReadonlyArray<RecordedSpan> {
    const all: Array<RecordedSpan> = []
    for (let span: RecordedSpan | undefined = this.root; span !== undefined; span = span.next) all.push(span)
    return all
  }
}

export const isHex = (text: string, length: number): boolean => text.length === length && /^[0-9a-f]+$/.test(text)

let randomDigits = ""
let consumed = 0

/** Random hex digits; random bytes are generated for many ids at a time. */
const randomHex = (digits: number): string => {
  if (consumed + digits > randomDigits.length) {
    randomDigits = randomBytes(1024).toString("hex")
    consumed = 0
  }
  consumed += digits
  return randomDigits.slice(consumed - digits, consumed)
}

/** Unix time in milliseconds of the monotonic clock's zero. */
let origin = performance.timeOrigin
/** Milliseconds by which the clocks may disagree; beyond, the wall clock was set and `origin` is computed again. */
const MAX_DRIFT = 1000

/** Converts a reading of the monotonic clock to Unix time in nanoseconds, exact to the microsecond. */
export const unixTime = (at: number): bigint => {
  const now = performance.now()
  if (Math.abs(Date.now() - now - origin) > MAX_DRIFT) origin = Date.now() - now
  return BigInt(Math.round((origin + at) * 1000)) * 1000n
}

/** A span's status for Effect, computed on access. */
class Status {
  private readonly span: RecordedSpan

  constructor(span: RecordedSpan) {
    this.span = span
  }

  get _tag() {
    return this.span.ended === undefined ? "Started" : "Ended"
  }

  get startTime(): bigint {
    return unixTime(this.span.started)
  }

  get endTime(): bigint | undefined {
    return this.span.ended === undefined ? undefined : unixTime(this.span.ended)
  }

  get exit() {
    return this.span.exit
  }
}

const NO_ANNOTATIONS = Context.empty()
const NO_LINKS: ReadonlyArray<Tracer.SpanLink> = []

export class RecordedSpan implements Tracer.Span {
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly recording: Recording
  /** Milliseconds of the monotonic clock, as `ended`. */
  readonly started: number
  ended: number | undefined = undefined
  exit: Exit.Exit<unknown, unknown> | undefined = undefined
  /** The text of a database span's statement. */
  statement: string | undefined = undefined
  /** The next span of the trace, in the order in which they began. */
  next: RecordedSpan | undefined = undefined
  /** The parent: a span of this trace, or of another process. */
  above: Tracer.AnySpan | undefined
  /** Spans of other traces. */
  readonly links: ReadonlyArray<Tracer.SpanLink>
  private list: AttributeList | undefined = undefined
  private id: string | undefined = undefined

  constructor(
    sampler: Sampler,
    name: string,
    above: Tracer.AnySpan | undefined,
    kind: Tracer.SpanKind,
    started: number,
    links: ReadonlyArray<Tracer.SpanLink> = NO_LINKS
  ) {
    this.name = name
    this.kind = kind
    this.started = started
    this.above = above
    this.links = links
    if (above instanceof RecordedSpan) {
      this.recording = above.recording
      this.recording.add(this)
    } else {
      // A trace is sampled like the one that caused it.
      const cause = above ?? links[0]?.span
      this.recording = new Recording(sampler, this, cause === undefined ? sampler.chosen() : cause.sampled)
    }
  }

  get _tag() {
    return "Span" as const
  }

  get parent(): Option.Option<Tracer.AnySpan> {
    return Option.fromUndefinedOr(this.above)
  }

  get annotations(): Context.Context<never> {
    return NO_ANNOTATIONS
  }

  get status(): Tracer.SpanStatus {
    return new Status(this) as Tracer.SpanStatus
  }

  /** Whether other processes are asked to keep their part of this trace. */
  get sampled(): boolean {
    return this.recording.sampled
  }

  get traceId(): string {
    return this.recording.traceId()
  }

  get spanId(): string {
    return (this.id ??= randomHex(16))
  }

  get attributes(): ReadonlyMap<string, AttributeValue> {
    return new Map(Object.entries(this.allowed))
  }

  /** The attributes of the allowlist, in the order in which they were set. */
  get allowed(): Record<string, AttributeValue> {
    return collect(this.list, {})
  }

  /** The latest value of one attribute. */
  get(name: string): Attributes[string] {
    return latest(this.list, name)
  }

  /**
   * Continues a remote trace: the root gets a remote parent, and the trace its id unless its own id has been read
   * already. Max still decides what it keeps, except that `force` keeps a trace that its caller samples.
   */
  continueFrom(parent: Tracer.ExternalSpan, force: boolean): void {
    if (this.recording.root !== this || this.above !== undefined) return
    if (force && parent.sampled) this.recording.sampled = true
    if (!this.recording.hasId) this.above = parent
  }

  setAttributes(attributes: Attributes): void {
    this.list = prepend(this.list, attributes)
  }

  attribute(key: string, value: unknown): void {
    if (key === "db.query.text" && typeof value === "string") this.statement = value
    if (!ATTRIBUTES.has(key)) return
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      this.list = put(this.list, key, value)
      if (key === "max.denied") {
        this.recording.notable = true
        this.recording.sampler.measures.denied(this.name)
      }
      if (key === "max.replica") this.recording.sampler.measures.replica(String(value))
      // A request that is answered with a server error ends with a successful span.
      if (key === "http.response.status_code" && Number(value) >= 500) this.recording.notable = true
    }
  }

  /** Events are dropped: they carry arbitrary text, such as log messages. */
  event(): void {}

  addLinks(): void {}

  end(_: bigint, exit: Exit.Exit<unknown, unknown>): void {
    this.finish(exit)
  }

  /** Ends the span now. */
  finish(exit: Exit.Exit<unknown, unknown>): void {
    if (this.ended !== undefined) return
    this.ended = performance.now()
    this.exit = exit
    const took = this.ended - this.started
    const { recording } = this
    const failure = exit._tag === "Failure" ? failureOf(exit) : undefined
    if (failure !== undefined) recording.failed(this, failure)
    recording.sampler.measures.span(this, took, failure)
    if (recording.root === this) recording.sampler.ended(recording, took)
  }
}

/** A class, so that `Telemetry` recognizes it: a tracer that wraps it gets every span through its own `span`. */
export class RecordingTracer implements Tracer.Tracer {
  private readonly sampler: Sampler

  constructor(sampler: Sampler) {
    this.sampler = sampler
  }

  /** Ignores Effect's start time: all spans of a trace use one clock. */
  span({ kind, links, name, parent }: Parameters<Tracer.Tracer["span"]>[0]): RecordedSpan {
    return new RecordedSpan(this.sampler, name, Option.getOrUndefined(parent), kind, performance.now(), links)
  }

  /** Begins a span by hand; `ago`: milliseconds since it began. */
  begin(name: string, parent: Tracer.AnySpan | undefined, kind: Tracer.SpanKind, ago = 0): RecordedSpan {
    return new RecordedSpan(this.sampler, name, parent, kind, performance.now() - ago)
  }
}
