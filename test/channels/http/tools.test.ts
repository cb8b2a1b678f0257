import { Effect, Exit, Scope } from "effect"
import { connect as connectTcp } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../../src/channels/http/client.ts"
import { PROBLEMS } from "../../../src/wire/problems.ts"
import { Database } from "../../../src/database/Database.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, callTool, JSON_TYPE, raw, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let token: string
let guest: string

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(url, { allowedHosts: ["max.example.com"], allowedOrigins: ["https://app.example.com"] })
  await server.run(
    Effect.gen(function* () {
      const atlas = yield* makeOrganization("atlas")
      yield* addPeople(atlas, [
        { name: "Ada Lovelace", phone: "801-555-0101", email: "ada@example.com" },
        { name: "Bob Stone", status: "lead" }
      ])
      const policies = yield* Policies
      const { roles, rules, ...rest } = JSON.parse((yield* policies.current(atlas)).document)
      const rule = { id: "guests", effect: "allow", role: "guest", action: "read", type: "people", columns: ["name"] }
      const policy = { ...rest, roles: { ...roles, guest: { inherits: [] } }, rules: [...rules, rule] }
      yield* policies.publish(atlas, JSON.stringify(policy), "operator")
      token = (yield* memberWithToken(atlas, "admin@example.com", ["admin"])).token
      guest = (yield* memberWithToken(atlas, "guest@example.com", ["guest"])).token
    })
  )
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const byName = (value: string) => ({
  entityTypeId: "people",
  filters: [{ columnId: "name", op: "eq", value }],
  selectColumns: ["phone"]
})

/** Every error must be one of the table's problems, with its status. */
const expectProblem = (answer: { status: number; headers: object; json: any }, name: keyof typeof PROBLEMS) => {
  expect(answer.json).toMatchObject(PROBLEMS[name])
  expect(answer.status).toBe(PROBLEMS[name].status)
  expect(answer.headers).toMatchObject({
    "content-type": "application/problem+json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store"
  })
}

describe("the tools over HTTP", () => {
  it("return the tool's output as JSON", async () => {
    const types = await callTool(server, token, "listEntityTypes", {})
    expect(types.json.entityTypes.map(({ id }: { id: string }) => id)).toEqual(["people", "companies", "meetings"])
    const columns = await callTool(server, token, "listColumnsForType", { entityTypeId: "people" })
    expect(columns.json.columns.map(({ id }: { id: string }) => id)).toContain("phone")
    const page = await callTool(server, token, "findEntities", byName("ada lovelace"))
    expect(page).toMatchObject({ status: 200, headers: { "content-type": "application/json" } })
    expect(page.json).toMatchObject({
      total: 1,
      entities: [{ displayName: "Ada Lovelace", columns: { phone: "801-555-0101" } }]
    })
  })

  it("return the table that a model reads for Accept: text/plain", async () => {
    const page = await callTool(server, token, "findEntities", byName("ada lovelace"), { accept: "text/plain" })
    expect(page.headers["content-type"]).toMatch(/^text\/plain/)
    expect(page.text).toMatch(/^total 1\nname\tphone\tid\nAda Lovelace\t801-555-0101\t[a-z]+$/)
  })

  it("serve the typed client, which fails with problems", async () => {
    const client = connect({ url: server.url, token })
    const page = await client.findEntities({
      entityTypeId: "people",
      filters: [{ columnId: "name", op: "ilike", value: "ada" }]
    })
    expect(page.total).toBe(1)
    expect((await client.listColumnsForType({ entityTypeId: "people" })).columns.length).toBeGreaterThan(3)
    await expect(client.listColumnsForType({ entityTypeId: "salaries" })).rejects.toMatchObject({ _tag: "UnknownName" })
    await expect(connect({ url: server.url, token: "max_no" }).listEntityTypes()).rejects.toMatchObject({
      _tag: "NotAuthenticated"
    })
  })

  it("answer the same for a hidden name and for one that doesn't exist", async () => {
    const said = async (tool: string, name: string, input: (name: string) => unknown) => {
      const answer = await callTool(server, guest, tool, input(name))
      return { status: answer.status, text: answer.text.replaceAll(name, "NAME") }
    }
    for (const [tool, hidden, nowhere, input] of [
      ["listColumnsForType", "meetings", "salaries", (entityTypeId: string) => ({ entityTypeId })],
      ["findEntities", "meetings", "salaries", (entityTypeId: string) => ({ entityTypeId, filters: [] })],
      [
        "findEntities",
        "phone",
        "bonus",
        (columnId: string) => ({ entityTypeId: "people", filters: [{ columnId, op: "eq", value: "1" }] })
      ],
      [
        "findEntities",
        "email",
        "bonus",
        (name: string) => ({ entityTypeId: "people", filters: [], selectColumns: [name] })
      ]
    ] as const) {
      const one = await said(tool, hidden, input)
      expect(one.status).toBe(404)
      expect(one).toEqual(await said(tool, nowhere, input))
    }
  })
})

describe("a request over HTTP", () => {
  const withToken = () => ({ authorization: `Bearer ${token}` })

  it("is refused with the problem of its fault", async () => {
    const find = "/v1/tools/findEntities"
    expectProblem(await ask(server.url, "/nothing/here"), "NotFound")
    expectProblem(await ask(server.url, "/v1/tools/dropTables", { body: "{}", headers: JSON_TYPE }), "NotFound")
    expectProblem(await ask(server.url, `${find}/..%2f..%2fetc`, { body: "{}", headers: JSON_TYPE }), "NotFound")
    const get = await ask(server.url, find, { headers: withToken() })
    expectProblem(get, "MethodNotAllowed")
    expect(get.headers["allow"]).toBe("POST")
    expectProblem(await ask(server.url, find, { method: "DELETE", headers: withToken() }), "MethodNotAllowed")
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/jsonp"
    ]) {
      expectProblem(
        await ask(server.url, find, { body: "{}", headers: { ...withToken(), "content-type": type } }),
        "UnsupportedMediaType"
      )
    }
    expectProblem(await ask(server.url, find, { body: "{}", headers: withToken() }), "UnsupportedMediaType")
    expectProblem(
      await ask(server.url, find, {
        body: "{}",
        headers: { ...withToken(), ...JSON_TYPE, "content-encoding": "gzip" }
      }),
      "UnsupportedMediaType"
    )
    for (const body of [
      "{",
      "null",
      "[]",
      '"x"',
      "",
      '{"entityTypeId":1,"filters":[]}',
      '{"entityTypeId":"people"}',
      "{}\u0000"
    ]) {
      const answer = await ask(server.url, find, { method: "POST", body, headers: { ...withToken(), ...JSON_TYPE } })
      expectProblem(answer, "InvalidInput")
    }
  })

  it("with invalid input gets the path of each fault, without the value that was sent", async () => {
    const answer = await callTool(server, token, "findEntities", {
      entityTypeId: "people",
      filters: [{ columnId: "name", op: "matches", value: "c4n4ry" }]
    })
    expectProblem(answer, "InvalidInput")
    expect(answer.json.detail).toContain('"filters.0.op"')
    expect(answer.text).not.toContain("c4n4ry")
    const unknown = await callTool(server, token, "findEntities", {
      entityTypeId: "people",
      filters: [],
      organizationId: "1"
    })
    expectProblem(unknown, "InvalidInput")
  })

  it("is refused for an unknown query key, with the text of every invalid input", async () => {
    const asked = (path: string, method = "GET") => ask(server.url, path, { method, headers: withToken() })
    for (const [path, method, keys] of [
      ["/v1/session?limit=5", "GET", '"limit"'],
      ["/v1/conversations?limti=5&limit=5&Search=ada", "GET", '"limti", "Search"'],
      ["/v1/conversations/abc?limit=5", "DELETE", '"limit"'],
      ["/v1/traces/live?limit=5", "GET", '"limit"'],
      ["/v1/admin/audit?chain=reads&%63hains=reads", "GET", '"chains"'],
      ["/v1/admin/people/abc?organizationId=1", "GET", '"organizationId"'],
      ["/v1/welcome?limit=c4n4ry", "GET", '"limit"'],
      // Postgres has no text with NUL.
      ["/v1/traces?name=a%00b&since=5", "GET", '"name"'],
      ["/v1/admin/audit?action=%00", "GET", '"action"']
    ] as const) {
      const answer = await asked(path, method)
      expectProblem(answer, "InvalidInput")
      expect(answer.json.detail).toBe(`Invalid input at ${keys}.`)
    }
    const tool = await ask(server.url, "/v1/tools/listEntityTypes?organization=other", {
      body: "{}",
      headers: { ...withToken(), ...JSON_TYPE }
    })
    expectProblem(tool, "InvalidInput")
    for (const spelt of ["/v1/session/?limit=5", "/v1//session?limit=5", "/V1/Session?limit=5"]) {
      expect([400, 404], spelt).toContain((await asked(spelt)).status)
    }
    expect((await asked("/v1/session?limit=5", "HEAD")).status).toBe(400)
    expectProblem(await asked("/nothing/here?limit=5"), "NotFound")
    expectProblem(await asked("/v1/session?limit=5", "PATCH"), "MethodNotAllowed")
    expectProblem(await asked(`/v1/entities/people/${"a".repeat(300)}`, "GET"), "NotFound")
  })

  it("may add query keys to pages, probes and MCP", async () => {
    // Mail services add tracking keys, load balancers cache busters, and MCP clients keep a configured URL.
    for (const path of ["/?utm_source=mail", "/docs?fresh=1", "/openapi.json?v=2", "/healthz?t=1", "/readyz?t=1"]) {
      expect([path, (await ask(server.url, path)).status]).toEqual([path, 200])
    }
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
    const answer = await ask(server.url, "/mcp?client=desktop", {
      body: ping,
      headers: { ...withToken(), ...JSON_TYPE, accept: "application/json, text/event-stream" }
    })
    expect(answer.json).toMatchObject({ id: 1, result: {} })
  })

  it("is refused when the body is too large, with or without a Content-Length", async () => {
    const huge = Buffer.alloc(10 * 1024 * 1024, 32)
    const headers = { ...withToken(), ...JSON_TYPE }
    for (const chunked of [false, true]) {
      const outcome = await ask(server.url, "/v1/tools/findEntities", { body: huge, chunked, headers }).then(
        ({ json }) => json.type,
        (error: NodeJS.ErrnoException) => error.code
      )
      // The response may be lost if the server closes while the client still writes.
      expect([PROBLEMS.ContentTooLarge.type, "EPIPE", "ECONNRESET"]).toContain(outcome)
    }
    const announced = await raw(
      server.url,
      `POST /v1/tools/findEntities HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10485760\r\n\r\n{`
    )
    expect(announced).toMatch(/^HTTP\/1\.1 413 /)
    expect(announced).toContain("application/problem+json")
  })

  it("may send its body with or without a length, in pieces, and after Expect: 100-continue", async () => {
    const head = `POST /v1/tools/listColumnsForType HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nConnection: close\r\n`
    const body = JSON.stringify({ entityTypeId: "people" })
    const length = `Content-Length: ${body.length}\r\n`
    for (const rest of [
      `${length}\r\n${body}`,
      `Transfer-Encoding: chunked\r\n\r\n5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`,
      `${length}Expect: 100-continue\r\n\r\n${body}`
    ]) {
      const answer = await raw(server.url, head + rest)
      expect(answer.startsWith("HTTP/1.1 100 Continue"), rest).toBe(rest.includes("Expect"))
      expect(answer, rest).toMatch(/HTTP\/1\.1 200 [^]*x-content-type-options: nosniff[^]*"phone"/i)
    }
    const { hostname, port } = new URL(server.url)
    const slow = await new Promise<string>((resolve) => {
      const socket = connectTcp(Number(port), hostname, () => socket.write(`${head}${length}\r\n${body.slice(0, 9)}`))
      setTimeout(() => socket.write(body.slice(9)), 50)
      let text = ""
      socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
      socket.on("close", () => resolve(text))
    })
    expect(slow).toMatch(/^HTTP\/1\.1 200 [^]*"phone"/)
  })

  it("gets the same result under another spelling of its path", async () => {
    const spelt = (path: string) =>
      ask(server.url, path, {
        body: '{"entityTypeId":"people","filters":[]}',
        headers: { ...withToken(), ...JSON_TYPE }
      })
    const { json, status } = await spelt("/v1/tools/findEntities")
    for (const path of ["/v1/tools/findEntities?", "/v1//tools/findEntities"]) {
      expect(await spelt(path), path).toMatchObject({ json, status })
    }
  })

  it("that isn't valid HTTP is answered with a problem, too", async () => {
    expect(await raw(server.url, "HELLO\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 [^]*application\/problem\+json/)
    const many = `GET / HTTP/1.1\r\nHost: localhost\r\nX-Padding: ${"x".repeat(20_000)}\r\n\r\n`
    expect(await raw(server.url, many)).toMatch(/^HTTP\/1\.1 431 [^]*application\/problem\+json/)
    const smuggled = `POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    expect(await raw(server.url, smuggled)).toMatch(/^HTTP\/1\.1 400 /)
  })

  it.each([
    ["Host", "localhost", "max.example.com"],
    ["Authorization", "Bearer max_a", "Bearer max_b"],
    ["Origin", "https://app.example.com", "https://app.example.com"],
    ["Cookie", "max_session=a", "max_session=b"],
    ["Content-Length", "2", "2"],
    ["Content-Length", "2", "3"],
    ["Content-Type", "application/json", "text/plain"],
    ["Content-Encoding", "identity", "identity"],
    ["Transfer-Encoding", "chunked", "identity"],
    ["Sec-Fetch-Site", "same-origin", "cross-site"],
    ["X-Requested-With", "max", "max"],
    ["X-Twilio-Signature", "a", "b"]
  ])("with two headers %s is refused with a 400 on every path, in either order", async (name, one, two) => {
    const defaults = {
      Host: "localhost",
      Connection: "close",
      "Content-Type": "application/json",
      "Content-Length": "2"
    }
    const own = Object.entries(defaults).filter(
      ([other]) => other !== name && !(name === "Transfer-Encoding" && other === "Content-Length")
    )
    for (const [first, second] of [
      [one, two],
      [two, one]
    ])
      for (const path of ["/healthz", "/v1/tools/listEntityTypes", "/v1/session", "/mcp"]) {
        const lines = [...own, [name, first], [name.toLowerCase(), second]].map(([key, value]) => `${key}: ${value}`)
        const content = name === "Transfer-Encoding" ? "2\r\n{}\r\n0\r\n\r\n" : "{}"
        const answer = await raw(server.url, `POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${content}`)
        expect(answer, path).toMatch(/^HTTP\/1\.1 400 [^]*connection: close[^]*urn:max:problem:invalid-input/i)
        expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
      }
  })

  it("is refused for an unknown host or origin on every path", async () => {
    for (const host of [
      "evil.example",
      "localhost.evil.example",
      "max.example.com.evil.example",
      "127.0.0.1.nip.io",
      ""
    ]) {
      const answer = await raw(server.url, `GET /docs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(answer, host).toMatch(/^HTTP\/1\.1 421 /)
    }
    const absolute = `GET http://evil.example/docs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    expect(await raw(server.url, absolute)).toMatch(/^HTTP\/1\.1 421 /)
    for (const host of ["max.example.com", "MAX.example.com", "localhost:1", "[::1]:80"]) {
      const answer = await raw(server.url, `GET /docs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(answer, host).toMatch(/^HTTP\/1\.1 200 /)
    }
    for (const origin of [
      "https://evil.example",
      "null",
      "https://app.example.com.evil.example",
      "http://localhost.evil",
      "http://127.0.0.1:3000"
    ]) {
      expectProblem(await ask(server.url, "/docs", { headers: { origin } }), "OriginNotAllowed")
      expectProblem(
        await ask(server.url, "/v1/tools/listEntityTypes", {
          body: "{}",
          headers: { ...withToken(), ...JSON_TYPE, origin }
        }),
        "OriginNotAllowed"
      )
    }
    const allowed = await callTool(server, token, "listEntityTypes", {}, { origin: "https://app.example.com" })
    expect(allowed.status).toBe(200)
  })
})

describe("the server", () => {
  it("is live, ready and documented, and its pages load nothing from other origins", async () => {
    expect((await ask(server.url, "/healthz")).json).toEqual({ status: "ok" })
    expect((await ask(server.url, "/readyz")).json).toEqual({ status: "ok" })
    const specification = (await ask(server.url, "/openapi.json")).json
    expect(Object.keys(specification.paths)).toContain("/v1/tools/findEntities")
    const statuses = Object.keys(specification.paths["/v1/tools/findEntities"].post.responses)
    expect(statuses).toEqual(expect.arrayContaining(["200", "400", "401", "403", "404", "429", "503"]))
    for (const path of ["/docs", "/sign-in"]) {
      const page = await ask(server.url, path)
      expect(page.status).toBe(200)
      expect(page.headers["content-security-policy"]).toMatch(/default-src 'none'/)
      expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//)
    }
    expect((await ask(server.url, "/docs")).text).toContain("urn:max:problem:too-many-calls")
    expect((await ask(server.url, "/healthz", { method: "HEAD" })).status).toBe(200)
  })

  it("answers a defect with a reference and no details", async () => {
    const answer = await server.run(
      Effect.gen(function* () {
        const { owner } = yield* Database
        // An unreadable column in the catalog is a defect, not a caller's error.
        yield* owner`UPDATE builder.columns SET storage = '{"_tag":"Nonsense"}' WHERE column_key = 'status'`
        yield* owner`UPDATE max.organizations SET epoch = epoch + 1`
        const broken = yield* Effect.promise(() => callTool(server, token, "listEntityTypes", {}))
        yield* owner`UPDATE builder.columns SET storage = '{"_tag":"Value","column":"status","keyColumn":"status_k","indexed":true}' WHERE column_key = 'status'`
        yield* owner`UPDATE max.organizations SET epoch = epoch + 1`
        return broken
      })
    )
    expectProblem(answer, "Internal")
    expect(answer.json.reference).toMatch(/^[0-9a-f]{8}$/)
    expect(answer.text).not.toContain("Nonsense")
    expect((await callTool(server, token, "listEntityTypes", {})).status).toBe(200)
  })

  it("survives 300 clients that disconnect while sending", async () => {
    const { hostname, port } = new URL(server.url)
    const body = JSON.stringify(byName("ada lovelace"))
    const request = `POST /v1/tools/findEntities HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    await Promise.all(
      Array.from(
        { length: 300 },
        (_, index) =>
          new Promise<void>((resolve) => {
            const socket = connectTcp(Number(port), hostname, () => {
              socket.write(request.slice(0, 1 + ((index * 37) % request.length)), () => socket.destroy())
            })
            socket.on("error", () => resolve())
            socket.on("close", () => resolve())
          })
      )
    )
    expect((await callTool(server, token, "findEntities", byName("ada lovelace"))).json.total).toBe(1)
  })
})
