import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { program, runMax, serveMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { ask, JSON_TYPE } from "../support/http.ts"
import { until } from "../support/until.ts"

const scope = Scope.makeUnsafe()
let env: Record<string, string> = {}
let server: Awaited<ReturnType<typeof serveMax>>
let token = ""
const max = (args: ReadonlyArray<string>, input?: string) => runMax(args, env, input)

interface Span {
  readonly name: string
  readonly depth: number
  readonly attributes: Readonly<Record<string, unknown>>
}

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = {
    DATABASE_URL: url,
    MAX_LOOKUP_TIMEOUT: "10000",
    MAX_SEARCH_TIMEOUT: "30000",
    MAX_TRACE_SHARE: "1",
    MAX_PROVIDER: "basic",
    MAX_HTTP_PORT: "0",
    MAX_AS: "boss@atlas.example"
  }
  await max(["init", "--org", "atlas", "--country", "US", "--time-zone", "UTC"])
  await max(["member", "add", "boss@atlas.example", "--role", "admin", "--create", "--name", "Ada Lovelace"])
  const scopes = ["tools", "chat", "traces"].flatMap((one) => ["--scope", one])
  const created = await max(["token", "create", "boss@atlas.example", "--name", "test", ...scopes])
  token = /max_[\w-]+/.exec(created.stdout)![0]
  server = await serveMax(env)
})

afterAll(async () => {
  server.end("SIGTERM")
  await server.ended
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const headers = () => ({
  ...JSON_TYPE,
  authorization: `Bearer ${token}`,
  accept: "application/json, text/event-stream"
})
const post = (path: string, body: unknown, more = {}) =>
  ask(server.url, path, { body: JSON.stringify(body), headers: { ...headers(), ...more } })
const read = async (path: string) => (await ask(server.url, path, { headers: headers() })).json

/** The spans of the trace with this id or reference, once it is stored. */
const spansOf = async (id: string): Promise<ReadonlyArray<Span>> => {
  await until(async () => Array.isArray((await read(`/v1/traces/${id}`)).spans))
  return (await read(`/v1/traces/${id}`)).spans
}

const TURN = ["invoke_agent max", "Sessions.open", "chat basic", "execute_tool findEntities", "postgres"]
const namesOf = (spans: ReadonlyArray<Span>) => spans.map(({ name }) => name)
const turnsIn = (spans: ReadonlyArray<Span>) => namesOf(spans).filter((name) => name === "invoke_agent max").length

const expectOneTurn = async (reference: string, channel: string) => {
  const spans = await spansOf(reference)
  expect(spans[0]).toMatchObject({ name: "invoke_agent max", depth: 0, attributes: { "max.channel": channel } })
  expect(namesOf(spans)).toEqual(expect.arrayContaining(TURN))
  expect(turnsIn(spans)).toBe(1)
}

describe("max serve", () => {
  it("records every turn of a conversation as a trace of its own, with all that the turn did", async () => {
    const traceparent = `00-${"ab".repeat(16)}-b7ad6b7169203331-01`
    const references: Array<string> = []
    let conversation: string | undefined
    for (const text of ["who is Ada?", "Ada Lovelace?", "who is Ada?", "Lovelace?", "Ada?", "who is Ada?"]) {
      const said = await post(
        "/v1/chat",
        { text, ...(conversation === undefined ? {} : { conversation }) },
        { traceparent }
      )
      const done = /event: done\ndata: (.*)/.exec(said.text)
      const { reference, session } = JSON.parse(done![1]!) as { reference: string; session: string }
      references.push(reference)
      conversation = session
    }
    expect(new Set(references).size).toBe(6)
    for (const reference of references) await expectOneTurn(reference, "http")
    expect(turnsIn(await spansOf("ab".repeat(16)))).toBe(0)
  })

  it("records every lookup and MCP call as the trace of its request", async () => {
    const initialized = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "listEntityTypes", arguments: {} }
    }
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" }
    }
    const newest = { ...initialized, params: { ...initialized.params, _meta } }
    const lookup = { entityTypeId: "people", filters: [{ columnId: "name", op: "ilike", value: "Ada" }] }
    const requests: ReadonlyArray<readonly [string, unknown, string, Record<string, string>]> = [
      ["/mcp", initialized, "execute_tool listEntityTypes", {}],
      [
        "/mcp",
        newest,
        "execute_tool listEntityTypes",
        { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "listEntityTypes" }
      ],
      ["/v1/tools/findEntities", lookup, "EntityQueryService.find", {}],
      ["/v1/tools/findEntities?", lookup, "EntityQueryService.find", {}]
    ]
    for (const [index, [path, body, name, more]] of requests.entries()) {
      const id = String(index).repeat(8).padStart(32, "c")
      const answered = await post(path, body, { ...more, traceparent: `00-${id}-b7ad6b7169203331-01` })
      expect([answered.status, answered.text]).toEqual([200, expect.not.stringContaining("isError")])
      const spans = await spansOf(id)
      expect(spans[0]).toMatchObject({ name: `POST ${path.replace("?", "")}`, depth: 0 })
      expect(namesOf(spans)).toEqual(expect.arrayContaining([name, "postgres"]))
    }
  })
})

/** The stored traces of a name. */
const listed = async (name: string) =>
  JSON.parse((await max(["trace", "list", "--json", "--name", name])).stdout) as ReadonlyArray<{
    name: string
    traceId: string
  }>

const cliTurns = async () => {
  const turns: Array<string> = []
  for (const { traceId } of await listed("invoke_agent")) {
    const spans = await spansOf(traceId)
    if (spans[0]!.attributes["max.channel"] !== "cli") continue
    await expectOneTurn(traceId, "cli")
    turns.push(traceId)
  }
  return turns
}

describe("the terminal", () => {
  it("records every turn of max chat and max ask as a trace of its own", async () => {
    const said = ["who is Ada?", "Ada?", "Ada Lovelace?", "who is Ada?", "Lovelace?"].join("\n")
    expect(await max(["chat"], said)).toMatchObject({ code: 0, stderr: "" })
    expect((await cliTurns()).length).toBe(5)
    const asked = await max(["ask", "who is Ada?", "--json"])
    const { reference } = JSON.parse(asked.stdout) as { reference: string }
    await expectOneTurn(reference, "cli")
    expect((await cliTurns()).length).toBe(6)
    const command = (await listed("max ask"))[0]!
    expect(turnsIn(await spansOf(command.traceId))).toBe(0)
  })
})

it("reports no repeated statement in all of this, where each turn and request looks up once", async () => {
  const { findings, traces } = await read("/v1/traces/findings?since=60")
  expect(traces).toBeGreaterThan(15)
  expect(findings.filter(({ kind }: { kind: string }) => kind === "repeated statement")).toEqual([])
})

describe("max mcp", () => {
  it("records every tool call as a trace of its own", async () => {
    const client = new Client({ name: "test", version: "1" })
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, "mcp"], env }))
    for (let call = 0; call < 3; call++) await client.callTool({ name: "listEntityTypes", arguments: {} })
    await client.close()
    const calls = (await listed("McpServer")).filter(({ name }) => name.endsWith("tools/call"))
    expect(calls.length).toBe(3)
    for (const { traceId } of calls) {
      const names = namesOf((await spansOf(traceId)).slice(1))
      expect(names[0]).toBe("execute_tool listEntityTypes")
      expect(names.filter((name) => name.startsWith("execute_tool"))).toHaveLength(1)
      expect(names).toContain("postgres")
    }
  })
})
