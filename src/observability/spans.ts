/** How traces hang together where a fiber's context alone would not say it, and how little a span may cost. */
import { Clock, Context, Effect, Exit, Option, Tracer } from "effect"

/** Attributes in one piece. What makes a trace one that is kept isn't among them: that is said by `attribute`. */
export type Told = Readonly<Record<string, string | number | boolean | bigint | undefined>> & {
  readonly "max.denied"?: never
  readonly "http.response.status_code"?: never
  readonly "db.query.text"?: never
}

/** A span that is ended by hand, and that takes attributes as they are, to look at only if its trace is kept. */
export interface HandSpan extends Tracer.Span {
  /** The object isn't copied: it must not change any more. */
  readonly tell: (attributes: Told) => void
  /** Now, by its own clock. */
  readonly finish: (exit: Exit.Exit<unknown, unknown>) => void
}

/** A tracer whose spans can be begun without what Effect does for each: half of what a span costs. */
export interface HandTracer extends Tracer.Tracer {
  /** Below `parent`, which is one of its own spans; it began so many milliseconds ago. */
  readonly begin: (name: string, parent: Tracer.Span | undefined, kind: Tracer.SpanKind, ago?: number) => HandSpan
  readonly isOwn: (span: Tracer.AnySpan) => span is HandSpan
}

export const isHandTracer = (tracer: Tracer.Tracer): tracer is HandTracer => "begin" in tracer

/** Sets attributes that cost next to nothing where the trace will probably be dropped. */
export const tell = (span: Tracer.Span, attributes: Told): void => {
  if ("tell" in span) return (span as HandSpan).tell(attributes)
  for (const [key, value] of Object.entries(attributes))
    span.attribute(key, typeof value === "bigint" ? String(value) : value)
}

/** A span on which nothing can be written any more; what is traced below it stands where it belongs. */
export const sealed = (span: Tracer.Span): Tracer.Span =>
  Object.create(span, {
    spanId: { value: span.spanId },
    traceId: { value: span.traceId },
    attribute: { value: () => {} },
    tell: { value: () => {} },
    event: { value: () => {} },
    addLinks: { value: () => {} }
  }) as Tracer.Span

/** For what outlives the span that it begins in: a part of the same trace, which is recorded by itself. */
export const apart = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.matchEffect(Effect.currentSpan, {
    onFailure: () => effect,
    onSuccess: ({ sampled, spanId, traceId }) =>
      Effect.withParentSpan(effect, Tracer.externalSpan({ sampled, spanId, traceId }))
  })

/** A span of what is over by now and took so many nanoseconds. */
export const past = (name: string, parent: Tracer.Span, nanoseconds: bigint): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const tracer = fiber.getRef(Tracer.Tracer)
    if (isHandTracer(tracer) && tracer.isOwn(parent)) {
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

/** A span that can become a part of a trace that began elsewhere. */
interface Continuing {
  readonly continueFrom: (parent: Tracer.ExternalSpan, force: boolean) => void
}

const canContinue = (span: Tracer.Span): span is Tracer.Span & Continuing => "continueFrom" in span

/** Makes the current trace a part of one that began elsewhere; `force` keeps it if the other one is kept. */
export const continueFrom = (parent: Tracer.ExternalSpan, force: boolean): Effect.Effect<void> =>
  Effect.match(Effect.currentSpan, {
    onFailure: () => {},
    onSuccess: (span) => {
      if (canContinue(span)) span.continueFrom(parent, force)
    }
  })

/** What a request to elsewhere says of the current trace (W3C Trace Context): two random ids, and whether it is kept. */
export const traceparent: Effect.Effect<Readonly<Record<string, string>>> = Effect.match(Effect.currentSpan, {
  onFailure: () => ({}),
  onSuccess: ({ sampled, spanId, traceId }) => ({ traceparent: `00-${traceId}-${spanId}-${sampled ? "01" : "00"}` })
})
