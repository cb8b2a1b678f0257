/** Spans where every microsecond counts: handed on by hand instead of in a fiber's context, and none when nobody records. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Tracer } from "effect"
import { isHandTracer, type Told } from "./spans.ts"

interface Handed {
  readonly parent?: Tracer.Span
  readonly kind?: Tracer.SpanKind
}

/** `body` in a span of that name below `parent`, or else below the current one; without a tracer it gets none. */
export const spanned = <A, E, R>(
  name: string,
  options: Handed | undefined,
  body: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const { span: current, tracer, tracerEnabled } = fiber.cache
    if (tracer === undefined || tracer === Tracer.nativeTracer) return body(undefined)
    const parent = options?.parent ?? current
    if (!tracerEnabled || !isHandTracer(tracer) || !(parent === undefined || tracer.isOwn(parent)))
      return Effect.useSpan(name, options ?? {}, body)
    const span = tracer.begin(name, parent, options?.kind ?? "internal")
    // Nothing in it can be interrupted, so that nothing has to see to it that it isn't.
    return Effect.onExitPrimitive(bodyOf(body, span), (exit) => void span.finish(exit), true)
  })

/** What is thrown before there is an effect ends the span as a defect, too. */
const bodyOf = <A, E, R>(body: (span: Tracer.Span) => Effect.Effect<A, E, R>, span: Tracer.Span) => {
  try {
    return body(span)
  } catch (defect) {
    return Effect.die(defect)
  }
}

/** Where a span was begun in the source costs twice what the span does. */
const WITHOUT_PLACE = { captureStackTrace: false } as const

/** For what may be traced below a span that was handed on. */
export const below = <A, E, R>(span: Tracer.Span | undefined, effect: Effect.Effect<A, E, R>) =>
  span === undefined ? effect : Effect.withParentSpan(effect, span, WITHOUT_PLACE)

/** The driver's own attributes, which its span would have. */
export const driverAttributes = (config: PgClient.PgClientConfig): Told => ({
  ...(config.spanAttributes as Told | undefined),
  "db.system.name": "postgresql",
  "db.namespace": config.database ?? config.username ?? "postgres",
  "server.address": config.host ?? "localhost",
  "server.port": config.port ?? 5432,
  "db.operation.name": "execute"
})
