/** One person's answer is the same whatever way they ask: byte for byte what a program gets, word for word what went wrong. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { addPeople, makeOrganization } from "../support/atlas.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { Max } from "../../src/Max.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/IdentityResolver.ts"
import { toolCaller } from "../../src/tools/caller.ts"
import { program, runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { callTool, startServer, type TestServer } from "../support/http.ts"
import { memberWithToken } from "../support/members.ts"

const ROLES = ["admin", "member"] as const
const FIELDS = ["name", "status", "phone", "email", "owner", "salary"] as const

const scope = Scope.makeUnsafe()
let server: TestServer
let env: Record<string, string> = {}
const tokens: Record<string, string> = {}
let organization: Organization
let library: Max

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = { DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000" }
  server = await startServer(url)
  await server.run(
    Effect.gen(function* () {
      organization = yield* makeOrganization("atlas")
      for (const role of ROLES) {
        tokens[role] = (yield* memberWithToken(organization, `${role}@atlas.com`, [role])).token
      }
      yield* addPeople(organization, [
        { name: "Ada Lovelace", phone: "801-555-0101", email: "ada@example.com", status: "lead" },
        { name: "Grace Hopper", phone: "801-555-0102", email: "grace@example.com", status: "customer" }
      ])
    })
  )
  library = await Max.open({ databaseUrl: url, organization: "atlas", settings: { lookupTimeout: 10_000 } })
})

afterAll(async () => {
  await library.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const VALUES = {
  name: "ada",
  status: "lead",
  phone: "+1 801 555 0101",
  email: "ada@example.com",
  owner: "ada",
  salary: "1"
}

const calls: ReadonlyArray<readonly [tool: string, input: unknown]> = [
  ["listEntityTypes", {}],
  ["listColumnsForType", { entityTypeId: "people" }],
  ["listColumnsForType", { entityTypeId: "salaries" }],
  ...FIELDS.map(
    (field) =>
      [
        "findEntities",
        {
          entityTypeId: "people",
          filters: [
            { columnId: field, op: field === "name" || field === "owner" ? "ilike" : "eq", value: VALUES[field] }
          ],
          selectColumns: [field]
        }
      ] as const
  ),
  ["findEntities", { entityTypeId: "people", filters: [], limit: 26 }],
  // Not the shape of the tool: the same words, too.
  ["findEntities", {}],
  ["findEntities", { entityTypeId: "people", filters: 5 }],
  ["findEntities", { entityTypeId: "people", filters: [{ columnId: "name", op: "like", value: "ada" }] }],
  ["findEntities", { entityTypeId: "people", filters: [{ columnId: "name", op: "eq", value: 5 }] }],
  ["findEntities", { entityTypeId: "people", filters: [], limit: 1.5 }],
  ["findEntities", { entityTypeId: "people", filters: [], everything: true }],
  ["listColumnsForType", { entityTypeId: "people", filter: { nameContains: "e" } }],
  ["listEntityTypes", { all: true }]
]

describe.each(ROLES)("%s", (role) => {
  it.each(calls)("gets the same of %s %j by command and over HTTP", async (tool, input) => {
    const command = await runMax(["tool", tool, JSON.stringify(input), "--json", "--as", `${role}@atlas.com`], env)
    const answer = await callTool(server, tokens[role]!, tool, input)
    const ok = answer.status === 200
    const code = ok ? 0 : answer.status === 404 ? 6 : 2
    expect(command.code).toBe(code)
    expect(ok ? JSON.stringify(JSON.parse(command.stdout)) : command.stderr).toBe(
      ok ? answer.text : `${answer.json.detail}\n`
    )
  })

  it("reads the same table", async () => {
    const input = { entityTypeId: "people", filters: [], selectColumns: ["phone", "email"] }
    const command = await runMax(["tool", "findEntities", JSON.stringify(input), "--as", `${role}@atlas.com`], env)
    const answer = await callTool(server, tokens[role]!, "findEntities", input, { accept: "text/plain" })
    expect(command.stdout).toBe(`${answer.text}\n`)
    expect(answer.text.includes("801-555-0101")).toBe(role === "admin")
  })

  describe("as text", () => {
    type Answer = readonly [text: string, failed: boolean]
    type Ask = (tool: string, input: unknown) => Promise<Answer>
    const asks: Record<string, Ask> = {}
    const clients: Array<Client> = []

    const client = async (transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<Ask> => {
      const connected = new Client({ name: "test", version: "1" })
      await connected.connect(transport as never)
      clients.push(connected)
      return async (name, input) => {
        const found = await connected.callTool({ name, arguments: input as Record<string, unknown> })
        return [(found.content as ReadonlyArray<{ text: string }>)[0]!.text, found.isError === true]
      }
    }
    const stdio = (args: ReadonlyArray<string>, environment: Record<string, string>) =>
      client(new StdioClientTransport({ command: process.execPath, args: [program, "mcp", ...args], env: environment }))

    beforeAll(async () => {
      const authorization = `Bearer ${tokens[role]!}`
      const overHttp = { requestInit: { headers: { authorization } } }
      asks["MCP over HTTP"] = await client(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), overHttp))
      asks["MCP over stdio"] = await stdio(["--as", `${role}@atlas.com`], env)
      asks["the bridge"] = await stdio(["--url", server.url, "--token", "env:TOKEN"], { TOKEN: tokens[role]! })
      asks["the facade"] = async (tool, input) => {
        const { failed, text } = await library.as({ email: `${role}@atlas.com` }).callTool(tool, input)
        return [text, failed]
      }
      asks["the caller of one request"] = async (tool, input) => {
        const call = await server.run(
          Effect.gen(function* () {
            const identities = yield* IdentityResolver
            const { principal } = yield* identities.admit(organization, { kind: "email", key: `${role}@atlas.com` })
            return yield* Effect.provideService(toolCaller, CurrentPrincipal, principal)
          })
        )
        const { failed, text } = await call(tool, input)
        return [text, failed]
      }
    })

    afterAll(async () => {
      for (const connected of clients) await connected.close()
    })

    it.each(calls.filter(([tool]) => tool === "findEntities"))(
      "gets the same values of %s %j from the facade and the service as over HTTP",
      async (tool, input) => {
        const answer = await callTool(server, tokens[role]!, tool, input)
        // What isn't of the tool's shape can't be said in a program that compiles.
        if (answer.json.type === "urn:max:problem:invalid-input" && /what it has to be/.test(answer.json.detail)) return
        const words = (error: { readonly message: string }) => error.message
        const own = { ...(input as Parameters<ReturnType<typeof library.as>["findEntities"]>[0]) }
        const byFacade = await library
          .as({ email: `${role}@atlas.com` })
          .findEntities(own)
          .catch(words)
        const byService = await server.run(
          Effect.gen(function* () {
            const identities = yield* IdentityResolver
            const queries = yield* EntityQueryService
            const { principal } = yield* identities.admit(organization, { kind: "email", key: `${role}@atlas.com` })
            const asked = { ...own, organizationId: organization.id }
            return yield* queries.findEntities(asked).pipe(
              Effect.catch((error) => Effect.succeed(words(error))),
              Effect.provideService(CurrentPrincipal, principal)
            )
          })
        )
        const expected = answer.status === 200 ? answer.text : JSON.stringify(answer.json.detail)
        expect([JSON.stringify(byFacade), JSON.stringify(byService)]).toEqual([expected, expected])
      }
    )

    it.each(calls)(
      "gets the same of %s %j over HTTP, MCP and the bridge, and from the library",
      async (tool, input) => {
        const answer = await callTool(server, tokens[role]!, tool, input, { accept: "text/plain" })
        const expected: Answer = answer.status === 200 ? [answer.text, false] : [answer.json.detail, true]
        for (const [way, asked] of Object.entries(asks)) expect(await asked(tool, input), way).toEqual(expected)
      }
    )
  })
})
