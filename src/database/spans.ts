/** Spans where every microsecond counts: handed on by hand instead of in a fiber's context, and none when nobody records. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Tracer } from "effect"

/** `body` in a span of that name below `parent`, or else below the current one; without a tracer it gets none. */
export const spanned = <A, E, R>(
  name: string,
  options: Tracer.SpanOptionsNoTrace | undefined,
  body: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer
      ? body(undefined)
      : options === undefined
        ? Effect.useSpan(name, body)
        : Effect.useSpan(name, options, body)
  )

/** For what may be traced below a span that was handed on. */
export const below = <A, E, R>(span: Tracer.Span | undefined, effect: Effect.Effect<A, E, R>) =>
  span === undefined ? effect : Effect.withParentSpan(effect, span)

/** The driver's own attributes, which its span would have. */
export const driverAttributes = (config: PgClient.PgClientConfig): Record<string, unknown> => ({
  ...config.spanAttributes,
  "db.system.name": "postgresql",
  "db.namespace": config.database ?? config.username ?? "postgres",
  "server.address": config.host ?? "localhost",
  "server.port": config.port ?? 5432,
  "db.operation.name": "execute"
})
