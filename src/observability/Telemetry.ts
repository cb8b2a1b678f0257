/**
 * The operations on spans. Most code names its spans with `Effect.fn` and `Effect.withSpan`; `span` is for code where
 * every microsecond counts. It has the signature of `Effect.useSpan`, begins and ends the recorder's spans by hand, and
 * creates no span while nothing records.
 */
import { Clock, Context, Effect, Exit, type Fiber, Option, References, Tracer } from "effect"
import { type Headers, HttpTraceContext } from "effect/http"
import type { Attributes } from "./attributes.ts"
import { RecordedSpan, RecordingTracer } from "./RecordedSpan.ts"

export type { Attributes } from "./attributes.ts"

interface SpanOptions {
  readonly attributes?: Attributes | undefined
  readonly kind?: Tracer.SpanKind | undefined
  /** In place of the current span. */
  readonly parent?: Tracer.Span | undefined
}

/** Whether spans go anywhere: Effect's own tracer only creates them. */
export const isRecording = (fiber: Fiber.Fiber<unknown, unknown>): boolean =>
  fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer

/**
 * Runs `body` in a span. The body gets the span instead of running under it: pass it on as `parent`, or with `childOf`.
 * It gets undefined while nothing records.
 */
export const span = <A, E, R>(
  name: string,
  options: SpanOptions,
  body: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const tracer = fiber.getRef(Tracer.Tracer)
    if (tracer === Tracer.nativeTracer) return body(undefined)
    const { attributes, kind = "internal" } = options
    const parent = options.parent ?? Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
    const isOwn = parent === undefined || parent instanceof RecordedSpan
    if (!(tracer instanceof RecordingTracer) || !isOwn || !fiber.getRef(References.TracerEnabled)) {
      return Effect.useSpan(name, { kind, parent: options.parent }, (current) => {
        setAttributes(current, attributes)
        return body(current)
      })
    }
    const begun = tracer.begin(name, parent, kind)
    if (attributes !== undefined) begun.setAttributes(attributes)
    // Suspended, so that an exception of `body` itself ends the span as a defect.
    return Effect.onExit(
      Effect.suspend(() => body(begun)),
      (exit) => {
        begun.finish(exit)
        return Effect.void
      }
    )
  })

/** Sets attributes of a span, if there is one. The object isn't copied: it must not change afterwards. */
export const setAttributes = (span: Tracer.Span | undefined, attributes: Attributes | undefined): void => {
  if (span === undefined || attributes === undefined) return
  if (span instanceof RecordedSpan) return span.setAttributes(attributes)
  for (const [key, value] of Object.entries(attributes))
    span.attribute(key, typeof value === "bigint" ? String(value) : value)
}

/** Capturing where a span begins in the source costs twice as much as the span. */
const WITHOUT_STACK = { captureStackTrace: false } as const

/** Runs an effect with `parent` as its current span, if there is one. */
export const childOf = <A, E, R>(
  parent: Tracer.AnySpan | undefined,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => (parent === undefined ? effect : Effect.withParentSpan(effect, parent, WITHOUT_STACK))

/** Runs `use` with the current span, or undefined outside of any. */
const withCurrent = <A, E, R>(use: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.matchEffect(Effect.currentSpan, { onFailure: () => use(undefined), onSuccess: use })

/**
 * Runs an effect as the root of a new trace with a link to the current span, whose channel it takes. No request header
 * decides the id of such a trace, unlike that of a request.
 */
export const linkedTrace = <A, E, R>(
  name: string,
  attributes: Attributes,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  withCurrent((current) => {
    const channel = current?.attributes.get("max.channel")
    const options = {
      root: true,
      links: current === undefined ? [] : [{ span: current, attributes: {} }],
      attributes: { ...(channel === undefined ? {} : { "max.channel": channel }), ...attributes }
    }
    return Effect.withSpan(name, options, WITHOUT_STACK)(effect) as Effect.Effect<A, E, R>
  })

/**
 * Runs an effect outside of any span. Services are built in it: they capture their context, and would otherwise do all
 * later work under the span that was current when they were built.
 */
export const outside = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateContext(
    effect,
    (context: Context.Context<R>) => Context.omit(Tracer.ParentSpan)(context) as typeof context
  )

/** Runs an effect that can't write to the current span; spans below it have their place in the trace. */
export const withReadOnlySpan = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withCurrent((current) => childOf(current && readOnly(current), effect))

const ignore = { value: () => {} }

const readOnly = (span: Tracer.Span): Tracer.Span =>
  Object.create(span, {
    spanId: { value: span.spanId },
    traceId: { value: span.traceId },
    attribute: ignore,
    setAttributes: ignore,
    event: ignore,
    addLinks: ignore
  }) as Tracer.Span

/** Records a span that has just ended and took so many nanoseconds. */
export const completed = (name: string, parent: Tracer.Span, nanoseconds: bigint): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const tracer = fiber.getRef(Tracer.Tracer)
    if (tracer instanceof RecordingTracer && parent instanceof RecordedSpan) {
      tracer.begin(name, parent, "internal", Number(nanoseconds) / 1e6).finish(Exit.void)
      return Effect.void
    }
    const end = fiber.getRef(Clock.Clock).currentTimeNanosUnsafe()
    tracer
      .span({
        name,
        parent: Option.some(parent),
        annotations: Context.empty(),
        links: [],
        startTime: end - nanoseconds,
        kind: "internal",
        root: false,
        sampled: parent.sampled
      })
      .end(end, Exit.void)
    return Effect.void
  })

/** Records why the current trace fails, as a word without a value; the first cause counts. */
export const recordCause = (cause: string): Effect.Effect<void> =>
  withCurrent((current) => {
    const root = current instanceof RecordedSpan ? current.recording.root : undefined
    if (root !== undefined && root.get(CAUSE) === undefined) root.attribute(CAUSE, cause)
    return Effect.void
  })

const CAUSE = "max.cause"

/** The cause that the current trace has recorded. */
export const recordedCause: Effect.Effect<string | undefined> = withCurrent((current) => {
  const cause = current instanceof RecordedSpan ? current.recording.root.get(CAUSE) : undefined
  return Effect.succeed(typeof cause === "string" ? cause : undefined)
})

/**
 * Joins the current trace to the one that a request's `traceparent` names (W3C Trace Context), if that is valid;
 * `force` keeps the trace if its caller samples it.
 */
export const continueFrom = (headers: Headers.Headers, force: boolean): Effect.Effect<void> =>
  withCurrent((current) => {
    const remote = HttpTraceContext.w3c(headers)
    if (current instanceof RecordedSpan && Option.isSome(remote)) current.continueFrom(remote.value, force)
    return Effect.void
  })

/** The `traceparent` header that continues the current trace in another process; no header outside of any span. */
export const traceparent: Effect.Effect<Readonly<Record<string, string>>> = withCurrent((current) =>
  Effect.succeed(current === undefined ? {} : { traceparent: HttpTraceContext.toHeaders(current)["traceparent"]! })
)
