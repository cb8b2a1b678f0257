/**
 * A span in memory, and the trace that it is a part of, as cheap as they can be: nine of ten are dropped. Times are
 * numbers by the process's own clock, ids are made when somebody asks, attributes are looked at when a trace is kept.
 */
import { Cause, Context, Exit, Option, type Tracer } from "effect"
import { randomBytes } from "node:crypto"
import { ATTRIBUTES, type AttributeValue } from "./Trace.ts"
import type { HandSpan, Told } from "./spans.ts"
import type { Measures } from "./Measures.ts"

/** A trace holds at most so many spans; of what comes later only the number is known. */
const MAX_SPANS = 2000

/** Failures that are answers: a caller was told what is wrong, or that there is no access. */
const EXPECTED: ReadonlySet<string> = new Set(["interrupted", "InvalidInput"])

/** What decides which traces are kept. */
export interface Sampler {
  readonly chosen: () => boolean
  readonly ended: (recording: Recording, milliseconds: number) => void
  readonly measures: Measures["Service"]
}

/** What a trace collects until its first span ends. */
export class Recording {
  readonly sampler: Sampler
  readonly root: RecordedSpan
  sampled: boolean
  /** Kept, whatever the share is. */
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

  /** Its own, or that of the trace which it is a part of. */
  traceId(): string {
    const { above } = this.root
    return (this.id ??= above !== undefined && isHex(above.traceId, 32) ? above.traceId : randomHex(32))
  }

  /** Whether somebody has been told its id. */
  get isNamed(): boolean {
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

let random = ""
let taken = 0

/** Random digits, made for many ids at once. */
const randomHex = (digits: number): string => {
  if (taken + digits > random.length) {
    random = randomBytes(1024).toString("hex")
    taken = 0
  }
  taken += digits
  return random.slice(taken - digits, taken)
}

/** The Unix time in milliseconds at which the process's own clock was 0. */
let origin = performance.timeOrigin
/** A wall clock that is so far off was set. */
const MAX_DRIFT = 1000

/** Unix time in nanoseconds of a time of the process's own clock, to the microsecond. */
export const unixTime = (at: number): bigint => {
  const now = performance.now()
  if (Math.abs(Date.now() - now - origin) > MAX_DRIFT) origin = Date.now() - now
  return BigInt(Math.round((origin + at) * 1000)) * 1000n
}

export const failureOf = (exit: Exit.Exit<unknown, unknown>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  const error = Cause.squash(exit.cause)
  return typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string"
    ? error._tag
    : "Defect"
}

/** One attribute, or several in one piece, and what was told before. */
interface Telling {
  readonly key: string | undefined
  value: AttributeValue | Told
  readonly before: Telling | undefined
}

/** What Effect wants to know of a span, which is worked out only where it is asked for. */
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

const collected = (telling: Telling | undefined, into: Record<string, AttributeValue>) => {
  if (telling === undefined) return into
  const { before, key, value } = telling
  collected(before, into)
  if (key !== undefined) {
    into[key] = value as AttributeValue
    return into
  }
  const several = value as Told
  for (const name in several) {
    const one = several[name]
    if (one !== undefined && ATTRIBUTES.has(name)) into[name] = typeof one === "bigint" ? String(one) : one
  }
  return into
}

const NO_ANNOTATIONS = Context.empty()
const NO_LINKS: ReadonlyArray<Tracer.SpanLink> = []

export class RecordedSpan implements HandSpan {
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly recording: Recording
  /** By the process's own clock, as `ended`. */
  readonly started: number
  ended: number | undefined = undefined
  exit: Exit.Exit<unknown, unknown> | undefined = undefined
  /** The text of a database's span. */
  statement: string | undefined = undefined
  /** The one of its trace that began after it. */
  next: RecordedSpan | undefined = undefined
  /** What it is below: a span of the same trace, or of another process. */
  above: Tracer.AnySpan | undefined
  private told: Telling | undefined = undefined
  private madeId: string | undefined = undefined

  constructor(
    sampler: Sampler,
    name: string,
    above: Tracer.AnySpan | undefined,
    kind: Tracer.SpanKind,
    started: number
  ) {
    this.name = name
    this.kind = kind
    this.started = started
    this.above = above
    if (above instanceof RecordedSpan) {
      this.recording = above.recording
      this.recording.add(this)
    } else {
      this.recording = new Recording(sampler, this, above === undefined ? sampler.chosen() : above.sampled)
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

  get links(): ReadonlyArray<Tracer.SpanLink> {
    return NO_LINKS
  }

  get status(): Tracer.SpanStatus {
    return new Status(this) as Tracer.SpanStatus
  }

  /** Whether another process should keep its part of this trace. */
  get sampled(): boolean {
    return this.recording.sampled
  }

  get traceId(): string {
    return this.recording.traceId()
  }

  get spanId(): string {
    return (this.madeId ??= randomHex(16))
  }

  get attributes(): ReadonlyMap<string, AttributeValue> {
    return new Map(Object.entries(this.allowed))
  }

  /** What of its attributes may be kept: the allowlist's, in the order in which they were told. */
  get allowed(): Record<string, AttributeValue> {
    return collected(this.told, {})
  }

  /** One attribute as it was told last. */
  get(name: string): Told[string] {
    for (let telling = this.told; telling !== undefined; telling = telling.before) {
      if (telling.key === name) return telling.value as AttributeValue
      if (telling.key !== undefined) continue
      const value = (telling.value as Told)[name]
      if (value !== undefined) return value
    }
    return undefined
  }

  /**
   * Makes the trace a part of one that began elsewhere: its first span gets a parent there, and the trace its id, unless
   * that has been told somebody already. What is kept of it stays Max's own decision, but for `force`.
   */
  continueFrom(parent: Tracer.ExternalSpan, force: boolean): void {
    if (this.recording.root !== this || this.above !== undefined) return
    if (force && parent.sampled) this.recording.sampled = true
    if (!this.recording.isNamed) this.above = parent
  }

  tell(attributes: Told): void {
    this.told = { key: undefined, value: attributes, before: this.told }
  }

  attribute(key: string, value: unknown): void {
    if (key === "db.query.text" && typeof value === "string") this.statement = value
    if (!ATTRIBUTES.has(key)) return
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      this.set(key, value)
      if (key === "max.denied") {
        this.recording.notable = true
        this.recording.sampler.measures.denied(this.name)
      }
      // What is answered over HTTP has no failed span, whatever it was.
      if (key === "http.response.status_code" && Number(value) >= 500) this.recording.notable = true
    }
  }

  /** In the place of what was set before, so that a span which goes on for days holds no more than there are attributes. */
  private set(key: string, value: AttributeValue): void {
    for (let telling = this.told; telling !== undefined; telling = telling.before) {
      if (telling.key === key) {
        telling.value = value
        return
      }
      if (telling.key === undefined && key in (telling.value as Told)) break
    }
    this.told = { key, value, before: this.told }
  }

  /** Events carry whatever their author put into them: they aren't recorded. */
  event(): void {}

  addLinks(): void {}

  end(_: bigint, exit: Exit.Exit<unknown, unknown>): void {
    this.finish(exit)
  }

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
