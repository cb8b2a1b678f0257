/** How traces hang together where a fiber's context alone would not say it. */
import { Clock, Context, Effect, Exit, Option, Tracer } from "effect"

/** A span on which nothing can be written any more; what is traced below it stands where it belongs. */
export const sealed = (span: Tracer.Span): Tracer.Span =>
  Object.create(span, {
    spanId: { value: span.spanId },
    traceId: { value: span.traceId },
    attribute: { value: () => {} },
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
    const end = fiber.getRef(Clock.Clock).currentTimeNanosUnsafe()
    fiber
      .getRef(Tracer.Tracer)
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
