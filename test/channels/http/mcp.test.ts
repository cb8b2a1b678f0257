import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect, Exit, Scope } from "effect"
import { McpClient, McpProtocol } from "effect/ai"
import { FetchHttpClient } from "effect/http"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { IdentityProviders } from "../../../src/services/access/IdentityProviders.ts"
import { subjectKey } from "../../../src/services/access/jwt.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, callTool, JSON_TYPE, startServer, startServerForTest, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { startProvider } from "../../support/provider.ts"
import { until } from "../../support/until.ts"

const scope = Scope.makeUnsafe()
let url: string
let server: TestServer
const tokens = {} as Record<"atlas" | "borealis" | "chatOnly" | "often", string>
const organizations: Record<string, Organization> = {}
const CANARY = { atlas: "qzatlasqz", borealis: "qzborealisqz" } as const

beforeAll(async () => {
  url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(url, { organization: "atlas" })
  await server.run(
    Effect.gen(function* () {
      for (const slug of ["atlas", "borealis"] as const) {
        const organization = yield* makeOrganization(slug)
        organizations[slug] = organization
        yield* addPeople(organization, [{ name: `Ada ${CANARY[slug]}`, phone: "801-555-0101" }])
        tokens[slug] = (yield* memberWithToken(organization, `boss@${slug}.example`, ["admin"])).token
        if (slug === "atlas") {
          tokens.chatOnly = (yield* memberWithToken(organization, "talks@atlas.example", ["admin"], ["chat"])).token
          tokens.often = (yield* memberWithToken(organization, "often@atlas.example", ["admin"])).token
        }
      }
    })
  )
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const connect = async (token: string, to = server.url) => {
  const client = new Client({ name: "test", version: "1" })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${to}/mcp`), { requestInit: { headers } }))
  const call = async (name: string, input: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: input })
    return { text: (content as ReadonlyArray<{ text: string }>)[0]!.text, failed: isError === true }
  }
  return { client, call }
}

const allPeople = { entityTypeId: "people", filters: [], limit: 25, selectColumns: ["phone"] }

const message = (body: unknown, headers: Readonly<Record<string, string>> = {}, token = tokens.atlas) =>
  ask(server.url, "/mcp", {
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: {
      ...JSON_TYPE,
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
      ...headers
    }
  })

const request = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 1, method, params })

describe("MCP over HTTP", () => {
  it("lists the three tools to the official client for at most 430 tokens", async () => {
    const { client } = await connect(tokens.atlas)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(["listEntityTypes", "listColumnsForType", "findEntities"])
    expect(encode(JSON.stringify(tools)).length).toBeLessThanOrEqual(430)
    await client.close()
  })

  it("returns the same text as the tools' endpoints, byte for byte", async () => {
    const { call, client } = await connect(tokens.atlas)
    for (const [name, input] of [
      ["listEntityTypes", {}],
      ["listColumnsForType", { entityTypeId: "people" }],
      ["findEntities", allPeople]
    ] as const) {
      const answer = await callTool(server, tokens.atlas, name, input, { accept: "text/plain" })
      expect((await call(name, input)).text).toBe(answer.text)
    }
    expect(await call("findEntities", { entityTypeId: "peopel", filters: [] })).toMatchObject({ failed: true })
    expect(await call("findEntities", { entityTypeId: 5 })).toMatchObject({ failed: true })
    await expect(call("dropEverything", {})).rejects.toThrow("not found")
    await client.close()
  })

  it("answers 200 concurrent calls of two organizations, each with its own data", async () => {
    const clients = { atlas: await connect(tokens.atlas), borealis: await connect(tokens.borealis) }
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const slug = at % 2 === 0 ? ("atlas" as const) : ("borealis" as const)
        return { slug, text: (await clients[slug].call("findEntities", allPeople)).text }
      })
    )
    for (const { slug, text } of answers) {
      expect(text).toContain(CANARY[slug])
      expect(text).not.toContain(CANARY[slug === "atlas" ? "borealis" : "atlas"])
    }
    for (const { client } of Object.values(clients)) await client.close()
  })

  it.each([McpProtocol.v2026_07_28, McpProtocol.v2025_11_25])(
    "supports $protocolVersion for two organizations concurrently",
    async (protocol) => {
      const asked = (slug: "atlas" | "borealis") =>
        Effect.gen(function* () {
          const headers = { authorization: `Bearer ${tokens[slug]}` }
          const transport = yield* McpClient.http({ url: `${server.url}/mcp`, protocol, headers })
          const client = yield* Effect.provideService(
            McpClient.make({ name: "test", version: "1" }),
            McpClient.Transport,
            transport
          )
          const tool = (yield* client.listTools()).find(({ name }) => name === "findEntities")!
          return JSON.stringify(yield* client.callTool({ tool, arguments: allPeople }))
        }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer), Effect.runPromise)
      const [atlas, borealis] = await Promise.all([asked("atlas"), asked("borealis")])
      expect([atlas.includes(CANARY.atlas), atlas.includes(CANARY.borealis)]).toEqual([true, false])
      expect([borealis.includes(CANARY.borealis), borealis.includes(CANARY.atlas)]).toEqual([true, false])
    }
  )

  it.each([
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2024-11-05", "2025-11-25"]
  ])("offers a client that requests %s the version %s", async (protocolVersion, offered) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } }
    expect((await message(request("initialize", params))).json.result.protocolVersion).toBe(offered)
  })

  it("has no sessions, so that each message may reach another server", async () => {
    const other = await startServerForTest(url)
    const { client } = await connect(tokens.atlas)
    const listed = await ask(other.url, "/mcp", {
      body: JSON.stringify(request("tools/list")),
      headers: { ...JSON_TYPE, authorization: `Bearer ${tokens.atlas}`, "mcp-protocol-version": "2025-11-25" }
    })
    expect(listed.json.result.tools).toHaveLength(3)
    expect(listed.headers["mcp-session-id"]).toBeUndefined()
    await client.close()
  })

  it("requires a valid credential with the scope tools on every message", async () => {
    const list = request("tools/list")
    expect((await message(list, { authorization: "" })).status).toBe(401)
    expect((await message(list, {}, `${tokens.atlas}x`)).status).toBe(401)
    expect((await message(list, {}, tokens.chatOnly)).json.type).toBe("urn:max:problem:not-in-scope")
    expect((await message(list, { origin: "https://evil.example" })).status).toBe(403)
    expect((await message(list, { host: "evil.example" })).status).toBe(421)
    const newest = { "mcp-protocol-version": "2026-07-28" }
    expect((await message(list, { ...newest, authorization: "" })).status).toBe(401)
    expect((await message(list, { ...newest, origin: "https://evil.example" })).status).toBe(403)
  })

  it("answers invalid messages with JSON-RPC errors", async () => {
    expect((await message("{")).json).toMatchObject({ id: null, error: { code: -32700 } })
    expect((await message([request("ping"), request("ping")])).json.error.code).toBe(-32600)
    expect((await message(request("prompts/list"))).json.error.code).toBe(-32601)
    expect((await message(request("tools/call", { name: 5 }))).json.error.code).toBe(-32602)
    expect((await message(request("ping"), { "mcp-protocol-version": "1999-01-01" })).status).toBe(400)
    expect((await message({ jsonrpc: "2.0", method: "notifications/initialized" })).status).toBe(202)
    expect((await ask(server.url, "/mcp")).status).toBe(405)
    expect((await ask(server.url, "/mcp", { method: "DELETE" })).json.type).toBe("urn:max:problem:method-not-allowed")
  })

  it("counts each tool call, and tells the model about an exceeded rate limit", async () => {
    const few = await startServerForTest(url, { callsPerPerson: 3 })
    const { call, client } = await connect(tokens.often, few.url)
    await client.listTools()
    const answers = []
    for (let made = 0; made < 7; made++) answers.push(await call("listEntityTypes", {}))
    expect(answers.find(({ failed }) => failed)?.text).toContain("Too many calls")
    expect(answers.some(({ failed }) => !failed)).toBe(true)
    await client.close()
  })

  it("refuses a suspended member from the next message on", async () => {
    const { call, client } = await connect(tokens.borealis)
    expect((await call("findEntities", allPeople)).text).toContain(CANARY.borealis)
    await server.run(
      Effect.gen(function* () {
        const members = yield* Memberships
        yield* members.suspend(organizations.borealis!, "boss@borealis.example")
      })
    )
    await expect(call("findEntities", allPeople)).rejects.toThrow(/403|access/)
    await client.close()
  })
})

describe("a client without a credential", () => {
  const METADATA = "/.well-known/oauth-protected-resource"

  it("gets no metadata while no identity provider is configured", async () => {
    expect((await ask(server.url, METADATA)).status).toBe(404)
    const { headers } = await message(request("ping"), { authorization: "" })
    expect(headers["www-authenticate"]).toBe('Bearer realm="max"')
  })

  it("gets the identity provider's address, and is admitted with that provider's token for this audience only", async () => {
    const provider = await startProvider()
    const audience = `${server.url}/mcp`
    await server.run(
      Effect.gen(function* () {
        const providers = yield* IdentityProviders
        yield* providers.add(organizations["atlas"]!, { issuer: provider.issuer, audience })
        const members = yield* Memberships
        yield* members.add(organizations["atlas"]!, {
          identifier: "jwt@atlas.example",
          roles: ["admin"],
          create: {},
          subject: subjectKey(provider.issuer, "user-1")
        })
      })
    )
    const metadataUrl = async () => {
      const { headers } = await message(request("ping"), { authorization: "" })
      return /resource_metadata="([^"]+)"/.exec(String(headers["www-authenticate"]))?.[1]
    }
    await until(async () => (await metadataUrl()) !== undefined)
    const where = (await metadataUrl())!
    expect(where).toBe(`${server.url}${METADATA}/mcp`)
    // Both responses cache the providers for a second.
    await until(async () => (await fetch(where)).status === 200)
    const metadata = (await (await fetch(where)).json()) as Record<string, unknown>
    expect(metadata).toMatchObject({ resource: audience, authorization_servers: [provider.issuer] })
    const list = request("tools/list")
    expect((await message(list, {}, await provider.sign({ sub: "user-1", aud: audience }))).status).toBe(200)
    expect((await message(list, {}, await provider.sign({ sub: "user-1", aud: "another" }))).status).toBe(401)
    await provider.stop()
  })
})
