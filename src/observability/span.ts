/** Former names, until their last callers use `Telemetry`. */
import type { PgClient } from "@effect/sql-pg"
import type { Effect, Tracer } from "effect"
import * as Telemetry from "./Telemetry.ts"

export const spanned = <A, E, R>(
  name: string,
  options: { readonly parent?: Tracer.Span; readonly kind?: Tracer.SpanKind } | undefined,
  body: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
) => Telemetry.span(name, options ?? {}, body)
export const below = Telemetry.childOf

/** The driver's own attributes, which its span would have. */
export const driverAttributes = (config: PgClient.PgClientConfig): Telemetry.Attributes => ({
  ...(config.spanAttributes as Telemetry.Attributes | undefined),
  "db.system.name": "postgresql",
  "db.namespace": config.database ?? config.username ?? "postgres",
  "server.address": config.host ?? "localhost",
  "server.port": config.port ?? 5432,
  "db.operation.name": "execute"
})
