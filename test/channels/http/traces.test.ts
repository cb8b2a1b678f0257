import { Effect, Exit, Redacted, Scope } from "effect"
import { request as httpRequest } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { fromOtlp } from "../../../src/observability/otlp.ts"
import { shortReference } from "../../../src/domain/reference.ts"
import { organizationOf, type Trace, type TraceSpan } from "../../../src/observability/Trace.ts"
import { TraceStore } from "../../../src/services/traces/TraceStore.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { type Answer, ask, callTool, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { finds, inTurn, type MessagesServer, says, startMessages } from "../../support/messages.ts"
import { startReceiver, withoutChance } from "../../support/receiver.ts"
import { until } from "../../support/until.ts"
import { watched } from "../../support/watched.ts"

const scope = Scope.makeUnsafe()
const METRICS = "a-secret-for-prometheus"
const CANARIES = ["qzcanaryqz", "724-857-2625", "8572625", "qzquestionqz"]
const log = watched()
let receiver: Awaited<ReturnType<typeof startReceiver>>
let messages: MessagesServer
/** Stores every trace; `sparse` stores only those that are always kept. */
let server: TestServer
let sparse: TestServer
let atlas: Organization
let borealisId: bigint
const tokens = {} as Record<"tools" | "traces" | "other", string>
let adminId: string
let memberId: string

beforeAll(async () => {
  receiver = await startReceiver()
  messages = await startMessages()
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  const settings = {
    provider: "anthropic",
    anthropicKey: Redacted.make("sk-test"),
    anthropicUrl: messages.url,
    metricsToken: Redacted.make(METRICS),
    traceSlow: 600_000
  }
  server = await startServer(url, { ...settings, traceShare: 1, otlpEndpoint: receiver.url }, log.logging, true)
  sparse = await startServer(url, { ...settings, traceShare: 0, metricsToken: undefined }, undefined, true)
  await server.run(
    Effect.gen(function* () {
      atlas = yield* makeOrganization("atlas")
      const borealis = yield* makeOrganization("borealis")
      borealisId = borealis.id
      yield* addPeople(atlas, [{ name: "Ada qzcanaryqz", phone: "724-857-2625" }])
      const made = yield* memberWithToken(atlas, "boss@qzcanaryqz.example", ["admin"], ["tools", "chat"])
      tokens.tools = made.token
      adminId = made.anchorId
      memberId = (yield* memberWithToken(atlas, "staff@atlas.example", ["member"], ["tools"])).anchorId
      tokens.traces = (yield* memberWithToken(atlas, "ops@atlas.example", ["admin"], ["tools", "traces"])).token
      tokens.other = (yield* memberWithToken(borealis, "ops@borealis.example", ["admin"], ["tools", "traces"])).token
    })
  )
})

afterAll(async () => {
  await server.stop()
  await sparse.stop()
  await messages.close()
  await receiver.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const bearer = (who: keyof typeof tokens) => ({ authorization: `Bearer ${tokens[who]}` })
const read = (path: string, who: keyof typeof tokens = "traces") => ask(server.url, path, { headers: bearer(who) })
const QUESTION = { entityTypeId: "people", filters: [{ columnId: "name", op: "ilike", value: "qzcanaryqz" }] }
const find = (at: TestServer, who: keyof typeof tokens, headers = {}) =>
  callTool(at, tokens[who], "findEntities", QUESTION, headers)

/** Waits until the trace with this id is stored. */
const stored = async (traceId: string): Promise<Answer["json"]> => {
  let found: Answer | undefined
  await until(async () => (found = await read(`/v1/traces/${traceId}`)).status === 200)
  return found!.json
}

let next = 1
const elsewhere = (flags: "00" | "01") => {
  const id = (next++).toString(16).padStart(5, "b").padEnd(32, "a")
  return { id, headers: { traceparent: `00-${id}-b7ad6b7169203331-${flags}` } }
}

describe("a request with a traceparent", () => {
  it("continues the trace of an authenticated caller, down to the statement", async () => {
    const { headers, id } = elsewhere("01")
    expect((await find(server, "tools", headers)).status).toBe(200)
    const trace = await stored(id)
    expect(trace.reference).toBe(shortReference(id))
    expect(trace.spans.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining([
        "POST /v1/tools/findEntities",
        "EntityQueryService.find",
        "PermissionEngine.plan",
        "OrgEntityStore.find",
        "postgres"
      ])
    )
    const span = (name: string) => trace.spans.findLast((one: { name: string }) => one.name === name).attributes
    expect(span("POST /v1/tools/findEntities")).toMatchObject({
      "max.organization.id": String(atlas.id),
      "http.response.status_code": 200,
      "max.bytes": expect.any(Number)
    })
    expect(span("EntityQueryService.find")).toMatchObject({
      "max.shape": "people name:ilike",
      "max.plan.cached": false,
      "max.plan.hash": expect.stringMatching(/^[0-9a-f]{8}$/),
      "max.total": 1
    })
    expect(span("OrgEntityStore.find")).toMatchObject({ "max.rows": 1 })
    expect(span("postgres")).toMatchObject({
      "db.query.summary": "max people name:ilike",
      "max.pool": "search",
      "db.client.connection.wait_time_ms": expect.any(Number)
    })
  })

  it("stores a trace that its caller samples only if the caller may read traces", async () => {
    const member = elsewhere("01")
    const operator = elsewhere("01")
    const quiet = elsewhere("00")
    expect((await find(sparse, "tools", member.headers)).status).toBe(200)
    expect((await find(sparse, "traces", quiet.headers)).status).toBe(200)
    expect((await find(sparse, "traces", operator.headers)).status).toBe(200)
    await stored(operator.id)
    expect((await read(`/v1/traces/${member.id}`)).status).toBe(404)
    expect((await read(`/v1/traces/${quiet.id}`)).status).toBe(404)
  })

  it("ignores the traceparent of a rejected caller, and an invalid one", async () => {
    const { headers, id } = elsewhere("01")
    const refused = await ask(server.url, "/v1/session", { headers: { ...headers, authorization: "Bearer max_no" } })
    expect(refused.status).toBe(401)
    expect(JSON.stringify(refused.headers)).not.toContain(id)
    for (const traceparent of ["00-zz", `00-${"0".repeat(32)}-b7ad6b7169203331-01`, "x".repeat(500), "01-a-b-c"])
      expect((await find(server, "tools", { traceparent })).status).toBe(200)
    const { headers: after, id: later } = elsewhere("00")
    await find(server, "tools", after)
    await stored(later)
    const received = () => receiver.documents("/v1/traces").flatMap((document) => fromOtlp(document) ?? [])
    await until(async () => received().some(({ traceId }) => traceId === later))
    const sent = received()
    expect(sent.map(({ traceId }) => traceId)).not.toContain(id)
    const rejected = sent.filter(({ spans }) => spans[0]!.attributes["http.response.status_code"] === 401)
    expect(rejected.length).toBe(1)
    expect(rejected[0]!.spans[0]).not.toHaveProperty("parentId")
  })

  it("records a turn as a trace of its own, which links to its request and is passed on to the model's provider", async () => {
    const { headers, id } = elsewhere("01")
    const turns: Array<string> = []
    for (let asked = 0; asked < 2; asked++) {
      messages.reset(inTurn(finds("people", [["name", "ilike", "qzcanaryqz"]]), says("qzcanaryqz is there.")))
      const said = await ask(server.url, "/v1/chat", {
        body: JSON.stringify({ text: "qzquestionqz: who is qzcanaryqz?" }),
        headers: { ...JSON_TYPE, ...bearer("tools"), ...headers }
      })
      expect(said.text).toContain("event: done")
      const sent = messages.requests.map((request) => String(request.headers["traceparent"]).split("-"))
      const [turn] = sent.map(([, traceId]) => traceId!)
      expect(sent.map(([, traceId]) => traceId)).toEqual([turn, turn])
      expect(said.text).toContain(`"reference":"${shortReference(turn!)}"`)
      const trace = await stored(turn!)
      expect(trace.links).toEqual([{ traceId: id, reference: shortReference(id) }])
      const chat = trace.spans.find(({ name }: { name: string }) => name.startsWith("chat "))
      expect(sent.map(([, , spanId]) => spanId)).toContain(chat.spanId)
      expect(trace.spans.map(({ depth, name }: { depth: number; name: string }) => `${depth} ${name}`)).toEqual(
        expect.arrayContaining(["0 invoke_agent max", "1 execute_tool findEntities", "2 EntityQueryService.find"])
      )
      expect(trace.spans[0].attributes).toMatchObject({ "max.channel": "http" })
      turns.push(turn!)
    }
    expect(new Set([...turns, id]).size).toBe(3)
    const request = await stored(id)
    const names = request.spans.map(({ name }: { name: string }) => name)
    expect(names.filter((name: string) => name === "POST /v1/chat")).toHaveLength(2)
    expect(names).not.toContain("invoke_agent max")
    await until(async () => receiver.text("/v1/traces").includes(`"links":[{"traceId":"${id}"`))
  })

  it("keeps requests of two organizations apart that name the same trace", async () => {
    const { headers, id } = elsewhere("01")
    expect((await find(server, "tools", headers)).status).toBe(200)
    expect((await callTool(server, tokens.other, "listEntityTypes", {}, headers)).status).toBe(200)
    const own = await stored(id)
    await until(async () => (await read(`/v1/traces/${id}`, "other")).status === 200)
    const others = (await read(`/v1/traces/${id}`, "other")).json
    for (const [trace, organizationId] of [
      [own, atlas.id],
      [others, borealisId]
    ]) {
      expect(trace.spans.filter(({ depth }: { depth: number }) => depth === 0)).toHaveLength(1)
      expect(trace.spans[0].attributes["max.organization.id"]).toBe(String(organizationId))
      expect(trace.others).toEqual([])
    }
    // An operator sees both, each by itself; the collector's documents hold both under one id and are read apart, too.
    const all = await server.run(Effect.flatMap(TraceStore, (store) => store.get(id)))
    expect((all as ReadonlyArray<Trace>).map(organizationOf).toSorted()).toEqual([atlas.id, borealisId].toSorted())
    const both = () => receiver.documents("/v1/traces").flatMap((document) => fromOtlp(document) ?? [])
    await until(async () => both().filter(({ traceId }) => traceId === id).length === 2)
    for (const { spans } of both().filter(({ traceId }) => traceId === id))
      expect(spans.filter(({ name }) => name.startsWith("POST"))).toHaveLength(1)
  })
})

describe("/v1/traces", () => {
  it("requires the scope traces, which an admin's session has", async () => {
    expect((await read("/v1/traces", "tools")).status).toBe(403)
    expect((await ask(server.url, "/v1/traces")).status).toBe(401)
    const cookieOf = async (anchorId: string) => {
      const { secret } = await server.run(Effect.flatMap(Credentials, (all) => all.createLink(atlas, anchorId)))
      const signedIn = await ask(server.url, "/v1/session", {
        body: JSON.stringify({ code: secret }),
        headers: { ...JSON_TYPE, origin: server.url }
      })
      return { cookie: String(signedIn.headers["set-cookie"]).split(";")[0]! }
    }
    expect((await ask(server.url, "/v1/traces", { headers: await cookieOf(adminId) })).status).toBe(200)
    expect((await ask(server.url, "/v1/traces", { headers: await cookieOf(memberId) })).status).toBe(403)
  })

  it("returns only traces of the caller's organization", async () => {
    const { headers, id } = elsewhere("01")
    await find(server, "traces", headers)
    await stored(id)
    expect((await read(`/v1/traces/${id}`, "other")).status).toBe(404)
    expect((await read(`/v1/traces/${shortReference(id)}`, "other")).status).toBe(404)
    expect((await read(`/v1/traces/compare?a=${id}&b=${id}`, "other")).status).toBe(404)
    const others = (await read("/v1/traces?limit=1000", "other")).json.traces
    expect(others.map(({ traceId }: { traceId: string }) => traceId)).not.toContain(id)
    const top = (await read("/v1/traces/top", "other")).json.spans
    expect(top.map(({ name }: { name: string }) => name)).not.toContain("EntityQueryService.find")
  })

  it("finds every trace of a reference, first those whose id no caller chose", async () => {
    const store = await server.run(TraceStore)
    const { headers, id } = elsewhere("01")
    await find(server, "traces", headers)
    const continued = await stored(id)
    const [{ spans, ...trace }] = (await server.run(store.get(id))) as [Trace]
    const [{ parentId, ...root }, ...below] = spans as [TraceSpan, ...ReadonlyArray<TraceSpan>]
    expect(parentId).toBe("b7ad6b7169203331")
    const colliding = (digit: string, daysAgo: number): Trace => ({
      ...trace,
      spans: [root, ...below],
      traceId: id.slice(0, 5) + digit.repeat(27),
      startedAt: trace.startedAt - BigInt(daysAgo) * 86_400_000_000_000n
    })
    await server.run(store.write([colliding("1", 2), colliding("2", 1)]))
    const { others, traceId } = (await read(`/v1/traces/${shortReference(id)}`)).json
    expect([traceId, ...others.map((one: { traceId: string }) => one.traceId)]).toEqual([
      colliding("2", 1).traceId,
      colliding("1", 2).traceId,
      continued.traceId
    ])
    expect((await read(`/v1/traces/${id}`)).json.others).toEqual([])
    expect((await read(`/v1/traces/${shortReference(id)}`, "other")).status).toBe(404)
  })

  it("lists by criteria with a histogram, totals spans, compares traces and reports findings", async () => {
    await callTool(server, tokens.traces, "findEntities", { entityTypeId: "nothing", filters: [] })
    await until(async () => (await read("/v1/traces?denied=true")).json.traces.length > 0)
    const { histogram, slow, traces } = (await read("/v1/traces?name=POST%20/v1/tools&since=60&limit=1000")).json
    expect(slow).toBe(600_000)
    expect(traces.length).toBeGreaterThan(2)
    const counted = histogram.reduce((sum: number, { count }: { count: number }) => sum + count, 0)
    expect(counted).toBe(traces.length)
    expect((await read("/v1/traces?slow=true")).json.traces).toEqual([])
    expect((await read("/v1/traces?atLeast=600000")).json.traces).toEqual([])
    const denied = (await read("/v1/traces?denied=true")).json.traces
    expect(denied.every((line: { denied: boolean }) => line.denied)).toBe(true)
    const { places } = (await read(`/v1/traces/compare?a=${traces[0].traceId}&b=${traces[1].traceId}`)).json
    expect(places[0]).toMatchObject({ path: expect.any(Array), before: { count: expect.any(Number) } })
    expect((await read("/v1/traces/top")).json.spans.map(({ name }: { name: string }) => name)).toContain("postgres")
    expect((await read("/v1/traces/findings?since=60")).json.traces).toBeGreaterThan(2)
    for (const wrong of ["?limit=0", "?since=x", "?slow=yes", "/ZZ", "/compare?a=7F3K"])
      expect((await read(`/v1/traces${wrong}`)).status, wrong).toBe(400)
    expect((await read("/v1/traces/ZZZZ")).status).toBe(404)
  })

  it("streams traces as they are stored", async () => {
    const events = new Promise<string>((resolve, reject) => {
      const listening = httpRequest(
        `${server.url}/v1/traces/live?name=POST`,
        { headers: bearer("traces") },
        (response) => {
          expect(response.headers["content-type"]).toContain("text/event-stream")
          let text = ""
          response.on("data", (chunk: Buffer) => {
            text += chunk.toString()
            if (!text.includes("event: trace")) return
            resolve(text)
            listening.destroy()
          })
          response.on("error", () => {})
        }
      )
      listening.on("error", reject)
      listening.end()
    })
    const asking = setInterval(() => void find(server, "tools"), 500)
    const text = await events
    clearInterval(asking)
    expect(text).toMatch(/event: trace\ndata: \{"traceId":"[0-9a-f]{32}","reference":"[0-9A-Z]{4}"/)
  })
})

describe("/metrics", () => {
  it("accepts only its own secret, and is off without one", async () => {
    const given = { authorization: `Bearer ${METRICS}` }
    // The first gauges of the event loop come after ten seconds.
    const isComplete = async () =>
      (await ask(server.url, "/metrics", { headers: given })).text.includes("nodejs_eventloop_delay_p99_seconds")
    await until(isComplete)
    const { headers, status, text } = await ask(server.url, "/metrics", { headers: given })
    expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"])
    for (const line of [
      /^gen_ai_client_operation_duration_seconds_count\{.*gen_ai_operation_name="invoke_agent".*\} 2$/m,
      /^gen_ai_client_operation_duration_seconds_count\{.*gen_ai_tool_name="findEntities".*\} 2$/m,
      /^gen_ai_client_token_usage_sum\{.*gen_ai_token_type="input".*\} \d+$/m,
      /^http_server_request_duration_seconds_count\{.*http_route="\/v1\/tools\/findEntities",http_response_status_code="200"\} \d+$/m,
      /^max_lookup_duration_seconds_bucket\{max_operation="find",le="5"\} \d+$/m,
      /^db_client_operation_duration_seconds_count\{.*max_pool="search"\} \d+$/m,
      /^db_client_connection_wait_time_seconds_count\{max_pool="search"\} \d+$/m,
      /^max_denied_total\{max_where="EntityQueryService.find"\} 1$/m,
      /^nodejs_eventloop_delay_max_seconds [\d.e-]+$/m
    ])
      expect(text).toMatch(line)
    expect((await ask(server.url, "/metrics")).status).toBe(401)
    expect((await read("/metrics")).status).toBe(401)
    expect((await ask(sparse.url, "/metrics", { headers: given })).status).toBe(404)
  })
})

it("exports traces, metrics and logs with trace ids and without any value", async () => {
  const { headers, id } = elsewhere("01")
  const chat = (at: TestServer) =>
    ask(at.url, "/v1/chat", {
      body: JSON.stringify({ text: "qzquestionqz?" }),
      headers: { ...JSON_TYPE, ...bearer("tools"), ...headers }
    })
  messages.reset(() => {
    throw new Error("qzcanaryqz")
  })
  await chat(server)
  await server.run(Effect.logInfo("a line of its own").pipe(Effect.withSpan("test span")))
  await stored(id)
  await server.stop()
  const records = receiver
    .documents("/v1/logs")
    .flatMap(({ resourceLogs }) => resourceLogs)
    .flatMap(({ scopeLogs }) => scopeLogs)
    .flatMap(({ logRecords }) => logRecords)
  const own = records.find(({ body }) => body.stringValue === "a line of its own")
  expect(own.traceId).toMatch(/^[0-9a-f]{32}$/)
  const metrics = receiver.documents("/v1/metrics").at(-1).resourceMetrics[0]
  const names = metrics.scopeMetrics[0].metrics.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(["gen_ai.client.operation.duration", "max.denied"]))
  expect(metrics.resource.attributes).toContainEqual({ key: "service.name", value: { stringValue: "max" } })
  const exported = ["/v1/traces", "/v1/logs", "/v1/metrics"].map(receiver.text).join("\n")
  const everything = withoutChance(exported).toLowerCase()
  expect(everything.length).toBeGreaterThan(20_000)
  expect(CANARIES.filter((canary) => everything.includes(canary))).toEqual([])
  expect(CANARIES.filter((canary) => withoutChance(log.recorded()).toLowerCase().includes(canary))).toEqual([])
  const secrets = Object.values(tokens).map((token) => token.slice(-43).toLowerCase())
  expect(secrets.filter((secret) => everything.includes(secret))).toEqual([])
})
