/** Traces over HTTP: those of the caller's organization, and of no other. */
import { Effect, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Database } from "../../database/Database.ts"
import { findings } from "../../observability/findings.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { shortReference } from "../../domain/reference.ts"
import { criticalPath, inTree, selfTimes, type Trace } from "../../observability/Trace.ts"
import { compared } from "../../observability/traceComparison.ts"
import { Env } from "../../env.ts"
import { diagnose } from "../../services/traces/diagnose.ts"
import { type TraceLine, type TraceQuery, TraceStore } from "../../services/traces/TraceStore.ts"
import { Api } from "./Api.ts"
import { problem, problemOf, type PublicError } from "./problems.ts"

type Response = HttpServerResponse.HttpServerResponse

interface Selection {
  readonly name?: string
  readonly slow?: "true"
  readonly failed?: "true"
  readonly denied?: "true"
  readonly since?: number
  readonly atLeast?: number
}

const DEFAULT_LIMIT = 100
const TOP = 50
/** Whoever listens is asked anew who it is this often. */
const LISTENED = "5 minutes"

const ms = (nanoseconds: number): number => nanoseconds / 1e6

const heading = (trace: Trace) => ({
  traceId: trace.traceId,
  reference: shortReference(trace.traceId),
  startedAt: new Date(Number(trace.startedAt / 1_000_000n)).toISOString(),
  name: trace.spans[0]!.name,
  milliseconds: ms(trace.spans[0]!.duration)
})

const whole = (trace: Trace) => {
  const self = selfTimes(trace.spans)
  const critical = criticalPath(trace.spans)
  return {
    ...heading(trace),
    dropped: trace.dropped,
    spans: inTree(trace.spans).map(([{ attributes, duration, failure, name, spanId, start }, depth]) => ({
      spanId,
      depth,
      name,
      start: ms(start),
      milliseconds: ms(duration),
      self: ms(self.get(spanId)!),
      critical: critical.has(spanId),
      ...(failure === undefined ? {} : { failure }),
      attributes
    })),
    statements: trace.statements,
    findings: findings([trace])
  }
}

const answered = <R>(effect: Effect.Effect<Response, PublicError, R>) =>
  Effect.catch(effect, (error) => Effect.succeed(problemOf(error)))

const json = (value: unknown): Response => HttpServerResponse.jsonUnsafe(value)
const notFound = problem("NotFound", "No trace of this reference is kept.")

const encoder = new TextEncoder()
const written = (line: TraceLine): Uint8Array =>
  encoder.encode(Sse.encoder.write({ _tag: "Event", id: line.traceId, event: "trace", data: JSON.stringify(line) }))

/** Says at once, and then again and again, that the connection is alive. */
const STILL_HERE = Stream.tick("15 seconds").pipe(Stream.map(() => encoder.encode(": still here\n\n")))

export const Traces = HttpApiBuilder.group(
  Api,
  "traces",
  Effect.fnUntraced(function* (handlers) {
    const { traceSlow } = yield* Env
    const store = yield* TraceStore
    const services = yield* Effect.context<Database | TraceStore>()

    const queryOf = ({ atLeast, denied, failed, name, since, slow }: Selection, limit: number) =>
      Effect.map(CurrentPrincipal, ({ organizationId }): TraceQuery => ({
        organizationId,
        name,
        failed: failed === "true",
        denied: denied === "true",
        atLeastMilliseconds: slow === "true" ? Math.max(traceSlow, atLeast ?? 0) : atLeast,
        sinceMinutes: since,
        limit
      }))

    /** What is kept of one trace by several processes or requests is one trace. */
    const find = (id: string) =>
      Effect.flatMap(CurrentPrincipal, ({ organizationId }) =>
        Effect.map(store.get(id, organizationId), ([trace]) => trace)
      )

    return handlers.handleAll({
      list: ({ query }) =>
        answered(
          Effect.gen(function* () {
            const { limit = DEFAULT_LIMIT, ...selection } = query
            const asked = yield* queryOf(selection, limit)
            return json({
              traces: yield* store.list(asked),
              histogram: yield* store.histogram(asked),
              slow: traceSlow
            })
          })
        ),
      live: ({ query }) =>
        Effect.map(queryOf(query, 1), (asked) => {
          const news = store.follow(asked).pipe(
            Stream.map(written),
            Stream.catch(() => Stream.empty)
          )
          const listened = Stream.merge(news, STILL_HERE, { haltStrategy: "left" }).pipe(
            Stream.interruptWhen(Effect.sleep(LISTENED))
          )
          return HttpServerResponse.stream(listened, {
            contentType: "text/event-stream",
            headers: { "x-accel-buffering": "no" }
          })
        }),
      findings: ({ query }) =>
        answered(
          Effect.gen(function* () {
            const asked = yield* queryOf(query, 1)
            return json(yield* Effect.provideContext(diagnose(asked), services))
          })
        ),
      top: ({ query }) =>
        answered(Effect.map(Effect.flatMap(queryOf(query, TOP), store.top), (spans) => json({ spans }))),
      compare: ({ query }) =>
        answered(
          Effect.gen(function* () {
            const [before, after] = [yield* find(query.a), yield* find(query.b)]
            if (before === undefined || after === undefined) return notFound
            const places = compared(before, after).map((place) => ({
              path: place.path,
              before: { milliseconds: ms(place.before.duration), count: place.before.count },
              after: { milliseconds: ms(place.after.duration), count: place.after.count }
            }))
            return json({ before: heading(before), after: heading(after), places })
          })
        ),
      get: ({ params }) =>
        answered(Effect.map(find(params.id), (trace) => (trace === undefined ? notFound : json(whole(trace)))))
    })
  })
)
