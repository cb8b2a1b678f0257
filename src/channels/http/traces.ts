/** Endpoints for traces, limited to the caller's organization. */
import { Effect, type Schema, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Database } from "../../database/Database.ts"
import { findings } from "../../observability/findings.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { shortReference } from "../../domain/reference.ts"
import { criticalPath, inTreeOrder, linksOf, selfTimes, type Trace } from "../../observability/Trace.ts"
import { compareTraces } from "../../observability/compareTraces.ts"
import { Env } from "../../env.ts"
import { diagnose } from "../../services/traces/diagnose.ts"
import { type TraceQuery, TraceStore } from "../../services/traces/TraceStore.ts"
import type {
  Findings,
  TopSpans,
  TraceFilter,
  Trace as TraceDetail,
  TraceComparison,
  TraceLine,
  TraceList
} from "../../wire/traces.ts"
import { Api } from "./Api.ts"
import { CurrentCaller } from "./authenticate.ts"
import { json } from "./json.ts"
import { OpenStreams } from "./OpenStreams.ts"
import { problem, problemOf, type PublicError } from "./problems.ts"

type Response = HttpServerResponse.HttpServerResponse

type Selection = Schema.Struct.Type<typeof TraceFilter>

const DEFAULT_LIMIT = 100
const TOP = 50
/** A live connection ends after this time; the client authenticates again to reconnect. */
const LIVE = "5 minutes"

const ms = (nanoseconds: number): number => nanoseconds / 1e6

const heading = (trace: Trace) => ({
  traceId: trace.traceId,
  reference: shortReference(trace.traceId),
  startedAt: new Date(Number(trace.startedAt / 1_000_000n)).toISOString(),
  name: trace.spans[0]!.name,
  milliseconds: ms(trace.spans[0]!.duration)
})

const detailOf = (trace: Trace, others: ReadonlyArray<Trace>) => {
  const self = selfTimes(trace.spans)
  const critical = criticalPath(trace.spans)
  return {
    ...heading(trace),
    dropped: trace.dropped,
    links: linksOf(trace).map((traceId) => ({ traceId, reference: shortReference(traceId) })),
    others: others.map(heading),
    spans: inTreeOrder(trace.spans).map(([{ attributes, duration, failure, name, spanId, start }, depth]) => ({
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

const orProblem = <R>(effect: Effect.Effect<Response, PublicError, R>) =>
  Effect.catch(effect, (error) => Effect.succeed(problemOf(error)))

const notFound = problem("NotFound", "No trace with this reference is stored.")

const encoder = new TextEncoder()
const encodeLine = (line: TraceLine): Uint8Array =>
  encoder.encode(Sse.encoder.write({ _tag: "Event", id: line.traceId, event: "trace", data: JSON.stringify(line) }))

/** Comments that keep the connection open, the first one immediately. */
const KEEP_ALIVE = Stream.tick("15 seconds").pipe(Stream.map(() => encoder.encode(": still here\n\n")))

export const Traces = HttpApiBuilder.group(
  Api,
  "traces",
  Effect.fnUntraced(function* (handlers) {
    const { traceSlow } = yield* Env
    const store = yield* TraceStore
    const streams = yield* OpenStreams
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

    const findAll = (id: string) =>
      Effect.flatMap(CurrentPrincipal, ({ organizationId }) => store.get(id, organizationId))
    const find = (id: string) => Effect.map(findAll(id), ([trace]) => trace)

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { limit = DEFAULT_LIMIT, ...selection } = query
        const criteria = yield* queryOf(selection, limit)
        return json<TraceList>({
          traces: yield* store.list(criteria),
          histogram: yield* store.histogram(criteria),
          slow: traceSlow
        })
      }, orProblem),
      live: ({ query }) =>
        Effect.gen(function* () {
          const criteria = yield* queryOf(query, 1)
          const { expiresAt, principal } = yield* CurrentCaller
          const lines = store.follow(criteria).pipe(
            Stream.map(encodeLine),
            Stream.catch(() => Stream.empty)
          )
          const events = Stream.merge(lines, KEEP_ALIVE, { haltStrategy: "left" }).pipe(
            Stream.interruptWhen(Effect.sleep(LIVE)),
            Stream.interruptWhen(streams.ended({ ...principal, expiresAt }))
          )
          return HttpServerResponse.stream(events, {
            contentType: "text/event-stream",
            headers: { "x-accel-buffering": "no" }
          })
        }),
      findings: Effect.fnUntraced(function* ({ query }) {
        const criteria = yield* queryOf(query, 1)
        return json<Findings>(yield* Effect.provideContext(diagnose(criteria), services))
      }, orProblem),
      top: ({ query }) =>
        orProblem(Effect.map(Effect.flatMap(queryOf(query, TOP), store.top), (spans) => json<TopSpans>({ spans }))),
      compare: Effect.fnUntraced(function* ({ query }) {
        const [before, after] = [yield* find(query.a), yield* find(query.b)]
        if (before === undefined || after === undefined) return notFound
        const places = compareTraces(before, after).map((place) => ({
          path: place.path,
          before: { milliseconds: ms(place.before.duration), count: place.before.count },
          after: { milliseconds: ms(place.after.duration), count: place.after.count }
        }))
        return json<TraceComparison>({ before: heading(before), after: heading(after), places })
      }, orProblem),
      get: ({ params }) =>
        orProblem(
          Effect.map(findAll(params.id), ([trace, ...others]) =>
            trace === undefined ? notFound : json<TraceDetail>(detailOf(trace, others))
          )
        )
    })
  })
)
