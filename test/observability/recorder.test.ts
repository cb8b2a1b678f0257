import { layer } from "@effect/vitest"
import { Effect, Layer, Tracer } from "effect"
import { afterAll, describe, expect, it as plain } from "vitest"
import { fromOtlp, toOtlp } from "../../src/observability/otlp.ts"
import { shortReference } from "../../src/domain/reference.ts"
import { criticalPath, selfTimes, type Trace, type TraceSpan } from "../../src/observability/Trace.ts"
import { Env } from "../../src/env.ts"
import { Observability } from "../../src/layers.ts"
import { Recorder } from "../../src/observability/Recorder.ts"
import { Measures } from "../../src/observability/Measures.ts"
import { Database } from "../../src/database/Database.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import * as Telemetry from "../../src/observability/Telemetry.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { explainStatement, type PlanNode } from "../../src/services/traces/explainStatement.ts"
import { TraceStore } from "../../src/services/traces/TraceStore.ts"
import { addPeople, asMember, makeOrganization } from "../support/atlas.ts"
import { TestServices } from "../support/database.ts"
import { startReceiver, withoutChance } from "../support/receiver.ts"
import { EVERYTHING, NOTHING, recorded, storedTraces } from "../support/traces.ts"
import { until } from "../support/until.ts"

describe("Recorder", () => {
  plain("records attributes of the allowlist only, and of an error only its tag", async () => {
    class Refused extends Error {
      readonly _tag = "Refused"
    }
    const traces = await Effect.runPromise(
      recorded(
        Effect.fail(new Refused("canary message")).pipe(
          Effect.withSpan("inner", { attributes: { "max.type": "people", phone: "canary", "max.total": 3 } }),
          Effect.tap(Effect.logInfo("canary event")),
          Effect.withSpan("outer", { attributes: { "db.query.text": "SELECT 'canary'" } })
        )
      )
    )
    const text = JSON.stringify(traces, (_, value) => (typeof value === "bigint" ? String(value) : value))
    expect(text).not.toContain("canary")
    expect(traces[0]!.spans.map(({ attributes, failure, name }) => ({ attributes, failure, name }))).toEqual([
      { name: "postgres", failure: "Refused", attributes: { "db.query.summary": "SELECT" } },
      { name: "inner", failure: "Refused", attributes: { "max.type": "people", "max.total": 3 } }
    ])
  })

  plain("keeps slow, failed and denied traces at any sampling share, and no others at share 0", async () => {
    const kept = async (effect: Effect.Effect<unknown, unknown>, sampling = NOTHING) =>
      (await Effect.runPromise(recorded(Effect.withSpan(effect, "root"), sampling))).length
    expect(await kept(Effect.void)).toBe(0)
    expect(await kept(Effect.fail({ _tag: "Unavailable" }))).toBe(1)
    expect(await kept(Effect.ignore(Effect.withSpan(Effect.fail({ _tag: "Unavailable" }), "inner")))).toBe(1)
    expect(await kept(Effect.die("defect"))).toBe(1)
    expect(await kept(Effect.annotateCurrentSpan("max.denied", true))).toBe(1)
    expect(await kept(Effect.sleep(20), { share: 0, slow: 10 })).toBe(1)
    expect(await kept(Effect.void, EVERYTHING)).toBe(1)
  })

  plain("bounds the queue of traces and the spans of a trace, and counts what it drops", async () => {
    const measures = Measures.make()
    const recorder = Recorder.make(EVERYTHING, measures)
    const many = Effect.repeat(Effect.withSpan(Effect.void, "one"), { times: 1499 })
    await Effect.runPromise(Effect.withTracer(many, recorder.tracer))
    expect(recorder.take().length).toBe(1000)
    expect([recorder.takeLost(), recorder.takeLost()]).toEqual([500, 0])
    recorder.lose(7)
    const text = measures.prometheus()
    expect(text).toMatch(/^max_traces_lost_total\{max_where="queue"\} 500$/m)
    expect(text).toMatch(/^max_traces_lost_total\{max_where="store"\} 7$/m)
    const inner = Effect.repeat(Effect.withSpan(Effect.void, "inner"), { times: 2999 })
    const [trace] = await Effect.runPromise(recorded(Effect.withSpan(inner, "root")))
    expect([trace!.spans.length, trace!.dropped]).toEqual([2000, 1001])
  })

  plain("continues a trace of another process and follows its sampling decision", async () => {
    const parent = Tracer.externalSpan({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" })
    const [trace] = await Effect.runPromise(recorded(Effect.withSpan(Effect.void, "root", { parent }), NOTHING))
    expect(trace).toMatchObject({ traceId: parent.traceId, spans: [{ parentId: parent.spanId }] })
    const unsampled = Tracer.externalSpan({ ...parent, sampled: false })
    expect(await Effect.runPromise(recorded(Effect.withSpan(Effect.void, "root", { parent: unsampled })))).toEqual([])
  })
})

describe("Measures", () => {
  plain("counts every span, whether its trace is kept or not", async () => {
    const measures = Measures.make()
    const { take, tracer } = Recorder.make(NOTHING, measures)
    const statement = (pool: string) =>
      Telemetry.span("postgres", { kind: "client" }, (span) =>
        Effect.sync(() => {
          Telemetry.setAttributes(span, { "max.pool": pool })
          span!.attribute("db.query.text", "SELECT 1")
          if (pool === "search") span!.attribute("db.client.connection.wait_time_ms", 2)
        })
      )
    const find = Telemetry.span("EntityQueryService.find", {}, () => statement("lookup"))
    const fails = Telemetry.span("EntityQueryService.find", {}, () => Effect.fail({ _tag: "InvalidInput" }))
    const tool = Effect.void.pipe(
      Effect.withSpan("execute_tool x", {
        attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "findEntities" }
      })
    )
    await Effect.runPromise(
      Effect.withTracer(
        Effect.gen(function* () {
          for (let times = 0; times < 300; times++) yield* find
          for (let times = 0; times < 20; times++) yield* Effect.ignore(fails)
          for (let times = 0; times < 10; times++) yield* statement("search")
          for (let times = 0; times < 5; times++) yield* tool
        }),
        tracer
      )
    )
    expect(take()).toEqual([])
    const lines = measures
      .prometheus()
      .split("\n")
      .map((line) => line.replace(/unit="[^"]*",?/, "").replace(/,\}/, "}"))
    expect(lines.filter((line) => line.includes("_count")).toSorted()).toMatchInlineSnapshot(`
      [
        "db_client_connection_wait_time_seconds_count{max_pool="search"} 10",
        "db_client_operation_duration_seconds_count{db_system_name="postgresql",max_pool="lookup"} 300",
        "db_client_operation_duration_seconds_count{db_system_name="postgresql",max_pool="search"} 10",
        "gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="execute_tool",gen_ai_tool_name="findEntities"} 5",
        "max_lookup_duration_seconds_count{max_operation="find",error_type="InvalidInput"} 20",
        "max_lookup_duration_seconds_count{max_operation="find"} 300",
      ]
    `)
    const waits = lines.filter((line) => line.startsWith("db_client_connection_wait_time_seconds_bucket"))
    const until = (bound: string) =>
      Number(
        waits
          .find((line) => line.includes(`le="${bound}"`))
          ?.split(" ")
          .at(-1)
      )
    expect(["0.001", "0.005", "5", "+Inf"].map(until)).toEqual([0, 10, 10, 10])
  })

  plain("limits a family to 500 series", async () => {
    const measures = Measures.make()
    for (let which = 0; which < 600; which++) measures.denied(`place ${which}`)
    measures.denied("place 1")
    const lines = measures.prometheus().split("\n")
    expect(lines.filter((line) => line.startsWith("max_denied_total{"))).toHaveLength(500)
    expect(lines.find((line) => line.includes('"place 1"'))).toMatch(/ 2$/)
    measures.unavailable("elsewhere")
    expect(measures.prometheus()).toContain("max_unavailable_total")
  })
})

const span = (spanId: string, parentId: string | undefined, start: number, end: number): TraceSpan => ({
  spanId,
  ...(parentId === undefined ? {} : { parentId }),
  name: spanId,
  kind: "internal",
  start,
  duration: end - start,
  attributes: {}
})

describe("Trace", () => {
  const spans = [
    span("root", undefined, 0, 100),
    span("a", "root", 10, 40),
    span("b", "root", 20, 70),
    span("c", "b", 30, 60),
    span("late", "root", 90, 130)
  ]

  plain(
    "selfTimes subtracts overlapping children once, and a child that outlives its parent only up to the parent's end",
    () => {
      expect(Object.fromEntries(selfTimes(spans))).toEqual({ root: 30, a: 30, b: 20, c: 30, late: 40 })
    }
  )

  plain("criticalPath walks back from the end through the spans that it waited for", () => {
    expect([...criticalPath(spans)]).toEqual(["root", "b", "c"])
  })

  plain("survives a round trip through OTLP", async () => {
    const traces = await Effect.runPromise(
      recorded(
        Effect.fail({ _tag: "Unavailable" }).pipe(
          Effect.withSpan("inner", { kind: "client", attributes: { "max.total": 1.5, "max.entities": 2 } }),
          Effect.ignore,
          Effect.withSpan("root", { kind: "server", attributes: { "max.limited": true, "max.type": "people" } })
        )
      )
    )
    const document: unknown = JSON.parse(JSON.stringify(toOtlp(traces, "1.2.3")))
    expect(fromOtlp(document)).toEqual(traces)
    expect(toOtlp(fromOtlp(document)!, "1.2.3")).toEqual(document)
    for (const wrong of [null, [], {}, { resourceSpans: [{}] }, { resourceSpans: "x" }])
      expect(fromOtlp(wrong)).toBe(undefined)
  })
})

const receiver = await startReceiver()
afterAll(() => receiver.close())

const Traced = Layer.unwrap(
  Effect.map(Env, (env) =>
    Observability.pipe(
      Layer.provide(
        Layer.succeed(Env, {
          ...env,
          traceShare: 1,
          otlpEndpoint: receiver.url
        })
      )
    )
  )
).pipe(Layer.provideMerge(TestServices))

layer(Traced, { excludeTestServices: true })("Observability", (it) => {
  it.effect("writes traces to the store and to a collector, without any value of a row or of a question", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("traced")
      yield* addPeople(organization, [{ name: "Canary Name", phone: "724-857-2625", email: "canary@example.com" }])
      const lena = yield* asMember(organization, "lena@canary.example", "admin")
      yield* Effect.withSpan(
        Effect.gen(function* () {
          yield* lena.find({
            filters: [{ columnId: "phone", op: "eq", value: "724-857-2625" }],
            selectColumns: ["email"]
          })
          yield* lena.find({ filters: [{ columnId: "name", op: "ilike", value: "canary" }], selectColumns: ["phone"] })
          yield* Effect.ignore(lena.find({ entityTypeId: "canary" }))
          yield* Effect.ignore(lena.find({ filters: [{ columnId: "canary", op: "eq", value: "canary" }] }))
        }),
        "test turn"
      )
      const store = yield* TraceStore
      const [line] = yield* storedTraces({ organizationId: organization.id, name: "test turn", limit: 10 })
      expect(line).toMatchObject({ name: "test turn", failure: null, denied: true })
      expect(yield* store.get(line!.reference.toLowerCase())).toEqual(yield* store.get(line!.traceId))
      const [trace] = yield* store.get(line!.traceId)
      expect(shortReference(trace!.traceId)).toBe(line!.reference)
      const lookup = trace!.spans.find(({ attributes }) => attributes["db.query.summary"] === "max people phone:eq")!
      expect(lookup.attributes["max.pool"]).toBe("lookup")
      expect(trace!.statements[String(lookup.attributes["max.statement"])]).toContain("/* max people phone:eq */")
      const find = trace!.spans.find(({ name }) => name === "EntityQueryService.find")!
      expect(find.attributes).toMatchObject({ "max.type": "people", "max.total": 1, "max.entities": 1 })
      const exported = () => receiver.documents("/v1/traces").flatMap((document) => fromOtlp(document) ?? [])
      yield* Effect.promise(() => until(() => exported().some(({ traceId }) => traceId === line!.traceId)))
      const { traces } = yield* Database
      const stored = yield* traces<{ document: string }>`SELECT document FROM max.traces`
      const documents = [...stored.map(({ document }) => document), receiver.text("/v1/traces")]
      const everything = withoutChance(documents.join("\n")).toLowerCase()
      expect(everything.length).toBeGreaterThan(10_000)
      expect(["canary", "724-857", "8572625"].filter((value) => everything.includes(value))).toEqual([])
    })
  )

  it.effect("explains a traced lookup without values, and runs it read-only with values that are entered", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("explained")
      const lena = yield* asMember(organization, "lena@explained.example", "admin")
      yield* Effect.withSpan(
        lena.find({ filters: [{ columnId: "email", op: "eq", value: "lena@explained.example" }] }),
        "explained"
      )
      yield* storedTraces({ organizationId: organization.id, name: "explained", limit: 1 })
      const store = yield* TraceStore
      const [trace] = yield* store.read({ organizationId: organization.id, name: "explained", limit: 1 })
      const [whole] = yield* store.get(trace!.traceId)
      const [statement] = Object.values(whole!.statements)
      const names = (plan: PlanNode): ReadonlyArray<string> => [plan.what, ...plan.children.flatMap(names)]
      const plan = yield* explainStatement(statement!, undefined)
      expect(names(plan).join()).toContain("Scan")
      expect(plan.rows).toBe(undefined)
      const measured = yield* explainStatement(
        statement!,
        new Map([
          [1, String(organization.id)],
          [2, "1"],
          [3, "lena@explained.example"]
        ])
      )
      expect(measured.rows).toBeGreaterThan(0)
      const write = explainStatement("DELETE FROM data.people WHERE organization_id = $1", new Map([[1, "1"]]))
      expect((yield* Effect.flip(write))._tag).toBe("Unavailable")
      expect((yield* lena.find()).total).toBe(1)
    })
  )

  it.effect("limits traces and their totals to the organization of the query", () =>
    Effect.gen(function* () {
      const store = yield* TraceStore
      const [one, other] = [yield* makeOrganization("one"), yield* makeOrganization("other")]
      const member = yield* asMember(one, "lena@one.example", "admin")
      for (let times = 0; times < 5; times++) yield* member.find()
      const find = { name: "EntityQueryService.find", limit: 100 }
      yield* storedTraces({ ...find, organizationId: one.id }, 5)
      expect((yield* store.list({ ...find, organizationId: one.id })).length).toBe(5)
      expect(yield* store.list({ ...find, organizationId: other.id })).toEqual([])
      const [line] = yield* store.list({ ...find, organizationId: one.id })
      expect(yield* store.get(line!.traceId, other.id)).toEqual([])
      const totals = yield* store.top({ organizationId: one.id, name: "EntityQueryService.find", limit: 10 })
      expect(totals.map(({ count, name }) => [name, count]).toSorted()).toEqual([
        ["EntityQueryService.find", 5],
        ["OrgEntityStore.find", 5],
        ["PermissionEngine.plan", 1],
        ["postgres", 5]
      ])
      const queries = yield* EntityQueryService
      yield* Effect.ignore(
        Effect.provideService(queries.listEntityTypes({ organizationId: other.id }), CurrentPrincipal, member.principal)
      )
    })
  )

  it.effect("prunes traces by age, by number and by size", () =>
    Effect.gen(function* () {
      const store = yield* TraceStore
      const { traces: sql } = yield* Database
      const trace = (index: number, daysAgo: number): Trace => ({
        traceId: index.toString(16).padStart(32, "0"),
        startedAt: BigInt(Date.now() - daysAgo * 86_400_000) * 1_000_000n,
        spans: [{ ...span("0123456789abcdef", undefined, 0, 5), name: "bounded" }],
        dropped: 0,
        statements: {}
      })
      yield* store.write([trace(1, 9), trace(2, 6), trace(3, 1), trace(4, 0)])
      const left = sql<{
        id: string
      }>`SELECT right(trace_id, 1) AS id FROM max.traces WHERE name = 'bounded' ORDER BY 1`
      yield* store.prune({ days: 7, traces: 1_000_000, megabytes: 1000 })
      expect((yield* left).map(({ id }) => id)).toEqual(["2", "3", "4"])
      yield* store.prune({ days: 7, traces: 1, megabytes: 1000 })
      expect(yield* sql`SELECT 1 FROM max.traces`).toHaveLength(1)
      // Some 2 MB of traces; the newest that fit into 1 MB are left.
      const large = (index: number): Trace => {
        const one = trace(index, 0)
        const name = "bounded ".repeat(1250)
        return { ...one, startedAt: one.startedAt + BigInt(index) * 1_000_000n, spans: [{ ...one.spans[0]!, name }] }
      }
      yield* store.write(Array.from({ length: 200 }, (_, index) => large(index + 100)))
      yield* store.prune({ days: 7, traces: 1_000_000, megabytes: 1 })
      const [size] = yield* sql<{ bytes: number; newest: string; count: number }>`
        SELECT sum(bytes)::int AS bytes, max(trace_id) AS newest, count(*)::int AS count FROM max.traces`
      expect(size!.bytes).toBeLessThanOrEqual(1_000_000)
      expect(size!.count).toBeGreaterThan(80)
      expect(size!.newest).toBe((299).toString(16).padStart(32, "0"))
    })
  )
})
