import { Effect, Exit, Scope } from "effect"
import { request as httpRequest } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { TraceStore } from "../../../src/services/traces/TraceStore.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, callTool, JSON_TYPE, startServer, startServerForTest, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { withoutChance } from "../../support/receiver.ts"
import { until } from "../../support/until.ts"
import { watched } from "../../support/watched.ts"

const CANARIES = ["qzcanaryqz", "724-857-2625", "8572625", "qzquestionqz"]
const scope = Scope.makeUnsafe()
const log = watched()
let url: string
let server: TestServer
let atlas: Organization
let token = ""
const settings = { provider: "basic", accessLog: "1", traceShare: 1 } as const

beforeAll(async () => {
  url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(url, settings, log.logging, true)
  await server.run(
    Effect.gen(function* () {
      atlas = yield* makeOrganization("atlas")
      yield* addPeople(atlas, [{ name: "Ada qzcanaryqz", phone: "724-857-2625" }])
      token = (yield* memberWithToken(atlas, "boss@qzcanaryqz.example", ["admin"], ["tools", "chat", "traces"])).token
    })
  )
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const owner = (statement: string) =>
  server.run(Effect.flatMap(Database, (database) => database.owner.unsafe(statement).unprepared))

/** Runs `use` while lookups fail: their tables have another name. */
const withoutTables = async (use: () => Promise<void>) => {
  await owner("ALTER SCHEMA data RENAME TO gone")
  try {
    await use()
  } finally {
    await owner("ALTER SCHEMA gone RENAME TO data")
  }
}

/** The fields of the lines since a position; a line is one logfmt record. */
const linesSince = (position: number) =>
  log.lines.slice(position).map((line) => {
    expect(line).not.toContain("\n")
    const fields = [...line.matchAll(/([\w.]+)=("(?:[^"\\]|\\.)*"|\S+)/g)].map(([, name, text]) => [
      name!,
      text!.startsWith('"') ? (JSON.parse(text!) as string) : text!
    ])
    return Object.fromEntries(fields) as Readonly<Record<string, string>>
  })
const warningsSince = (position: number) => linesSince(position).filter(({ level }) => level === "WARN")
const requestsSince = (position: number) => linesSince(position).filter(({ message }) => message === "A request")

const QUESTION = { entityTypeId: "people", filters: [{ columnId: "name", op: "ilike", value: "qzcanaryqz" }] }
const find = (at = server) => callTool(at, token, "findEntities", QUESTION)
const post = (path: string, body: unknown, more = {}) =>
  ask(server.url, path, {
    body: JSON.stringify(body),
    headers: {
      ...JSON_TYPE,
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      ...more
    }
  })

describe("a failure that a person sees", () => {
  it("is one WARN line with the SQLSTATE, the route's template and the reference of its trace", () =>
    withoutTables(async () => {
      const before = log.lines.length
      const failed = await find()
      expect(failed.status).toBe(503)
      expect(failed.json).toMatchObject({
        type: "urn:max:problem:unavailable",
        reference: warningsSince(before)[0]!["ref"]
      })
      expect(warningsSince(before)).toEqual([
        {
          timestamp: expect.any(String),
          level: "WARN",
          fiber: expect.any(String),
          message: "A request failed",
          method: "POST",
          route: "/v1/tools/findEntities",
          status: "503",
          cause: "42P01",
          trace: expect.stringMatching(/^[0-9a-f]{32}$/),
          ref: expect.stringMatching(/^[0-9A-Z]{4}$/)
        }
      ])
      const [{ ref, trace }] = warningsSince(before) as [Readonly<Record<string, string>>]
      const store = await server.run(TraceStore)
      await until(async () => (await server.run(store.get(trace!))).length > 0)
      const [stored] = await server.run(store.get(ref!))
      expect(stored!.spans[0]!.attributes).toMatchObject({ "max.cause": "42P01", "http.response.status_code": 503 })
    }))

  it("is one line of a turn, with the reference that the person gets", () =>
    withoutTables(async () => {
      const before = log.lines.length
      const failed = await post("/v1/chat", { text: "who is qzquestionqz?" })
      expect(failed.status).toBe(503)
      await until(() => warningsSince(before).length > 0)
      expect(warningsSince(before)).toEqual([
        expect.objectContaining({
          message: "A turn failed",
          reason: "Unavailable",
          cause: "42P01",
          ref: failed.json.reference
        })
      ])
    }))

  it("is one line of an MCP call, whose response is a 200", () =>
    withoutTables(async () => {
      const before = log.lines.length
      const called = await post("/mcp", {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "findEntities", arguments: QUESTION }
      })
      expect([called.status, called.json.result.isError]).toEqual([200, true])
      expect(warningsSince(before)).toEqual([
        expect.objectContaining({
          message: "A tool call failed",
          channel: "mcp",
          cause: "42P01",
          ref: expect.any(String)
        })
      ])
    }))

  it("is at most five lines of each kind in ten seconds, however many requests fail", () =>
    withoutTables(async () => {
      const before = log.lines.length
      const answers = await Promise.all(Array.from({ length: 60 }, () => find()))
      expect(answers.every(({ status }) => status === 503)).toBe(true)
      const lines = warningsSince(before)
      expect(lines.length).toBeGreaterThan(0)
      // A busy machine may take more than one window for them.
      expect(lines.length).toBeLessThanOrEqual(30)
      expect(requestsSince(before).length).toBe(60)
    }))
})

describe("the access log", () => {
  it("has a line for each request: route, status, bytes and time, without query, path or credential", async () => {
    const before = log.lines.length
    const found = await find()
    await ask(server.url, "/v1/traces/ZZZZ?qzquestionqz=1", { headers: { authorization: `Bearer ${token}` } })
    await ask(server.url, "/no/qzcanaryqz/path?qzquestionqz=1")
    await ask(server.url, "/v1/session")
    const [first, ...others] = requestsSince(before)
    expect(first).toEqual({
      timestamp: expect.any(String),
      level: "INFO",
      fiber: expect.any(String),
      message: "A request",
      method: "POST",
      route: "/v1/tools/findEntities",
      status: "200",
      bytes: String(Buffer.byteLength(found.text)),
      ms: expect.stringMatching(/^\d+(\.\d)?$/),
      trace: expect.stringMatching(/^[0-9a-f]{32}$/),
      ref: expect.stringMatching(/^[0-9A-Z]{4}$/)
    })
    expect(others.map(({ method, route, status }) => `${method} ${route} ${status}`)).toEqual([
      "GET /v1/traces/:id 400",
      "GET unmatched 404",
      "GET /v1/session 401"
    ])
  })

  it("has the line of a stream at its end, with all of its bytes", async () => {
    const before = log.lines.length
    const said = await post("/v1/chat", { text: "qzquestionqz: who is qzcanaryqz?" })
    expect(said.text).toContain("event: done")
    await until(() => requestsSince(before).length > 0)
    expect(requestsSince(before)).toEqual([
      expect.objectContaining({
        route: "/v1/chat",
        status: "200",
        bytes: String(Buffer.byteLength(said.text)),
        ref: expect.any(String)
      })
    ])
  })

  it("has the line of a stream whose client disconnects", async () => {
    const before = log.lines.length
    const headers = { authorization: `Bearer ${token}` }
    await new Promise<void>((resolve, reject) => {
      const listening = httpRequest(`${server.url}/v1/traces/live`, { headers }, (response) => {
        response.once("data", () => {
          listening.destroy()
          resolve()
        })
        response.on("error", () => {})
      })
      listening.on("error", reject)
      listening.end()
    })
    await until(() => requestsSince(before).length > 0)
    expect(requestsSince(before)).toEqual([expect.objectContaining({ route: "/v1/traces/live", status: "200" })])
  })

  it("is off by default", async () => {
    const quiet = watched()
    const silent = await startServerForTest(url, { ...settings, accessLog: "0" }, quiet.logging, true)
    expect((await find(silent)).status).toBe(200)
    expect(quiet.lines.filter((line) => line.includes("A request"))).toEqual([])
  })
})

it("no line of any level has a value of a row, a question or a token", () => {
  const everything = withoutChance(log.recorded()).toLowerCase()
  expect(log.lines.length).toBeGreaterThan(60)
  expect([...CANARIES, token.slice(-43).toLowerCase()].filter((canary) => everything.includes(canary))).toEqual([])
})

// Last, because questions about a name look the mapped view up, too.
describe("the warning about a mapped view", () => {
  it("names the drift of a mapped view as the cause", async () => {
    await owner("CREATE SCHEMA crm")
    await owner("CREATE TABLE crm.rows (id bigint PRIMARY KEY, name text)")
    await owner("CREATE VIEW crm.boats AS SELECT id, name FROM crm.rows")
    await server.run(
      Effect.gen(function* () {
        const mappings = yield* Mappings
        const { file } = yield* mappings.propose(atlas, ["crm.boats"], true)
        yield* mappings.apply(atlas, file)
      })
    )
    await owner("CREATE OR REPLACE VIEW crm.boats AS SELECT id, upper(name) AS name FROM crm.rows")
    const fresh = await startServerForTest(url, settings, log.logging, true)
    const before = log.lines.length
    const drifted = await callTool(fresh, token, "findEntities", { entityTypeId: "boats", filters: [] })
    expect(drifted.status).toBe(503)
    expect(warningsSince(before).map(({ cause }) => cause)).toEqual(["drift"])
  })
})
