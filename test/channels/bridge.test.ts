import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Effect, Exit, Scope } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { Credentials } from "../../src/services/access/Credentials.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { addPeople, makeOrganization } from "../support/atlas.ts"
import { program, runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { callTool, startServer, startServerForTest, type TestServer } from "../support/http.ts"
import { memberWithToken } from "../support/members.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-bridge-"))
const tokenFile = join(folder, "token")
/** A machine without a database; the bridge must not create one. */
const env = { MAX_DATA_DIR: join(folder, "data"), MAX_STATE_DIR: join(folder, "state") }
let url: string
let server: TestServer
let organization: Organization
let token: string
let tokenId: string

beforeAll(async () => {
  url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(url)
  await server.run(
    Effect.gen(function* () {
      organization = yield* makeOrganization("atlas")
      yield* addPeople(organization, [{ name: "Ada Lovelace", phone: "801-555-0101" }])
      const made = yield* memberWithToken(organization, "boss@atlas.example", ["admin"])
      token = made.token
      tokenId = made.id
    })
  )
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 })
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const connect = async (to: string, ...args: ReadonlyArray<string>) => {
  const client = new Client({ name: "test", version: "1" })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, "mcp", "--url", to, "--token", `file:${tokenFile}`, ...args],
      env,
      stderr: "pipe"
    })
  )
  const call = async (name: string, input: Record<string, unknown>) => {
    const { content, isError, structuredContent } = await client.callTool({ name, arguments: input })
    return { text: (content as ReadonlyArray<{ text: string }>)[0]!.text, failed: isError === true, structuredContent }
  }
  return { client, call }
}

const allPeople = { entityTypeId: "people", filters: [], limit: 25, selectColumns: ["phone"] }

describe("max mcp --url", () => {
  it("returns the server's text, byte for byte, and creates no local database", async () => {
    const { call, client } = await connect(server.url)
    expect((await client.listTools()).tools).toHaveLength(3)
    for (const [name, input] of [
      ["listEntityTypes", {}],
      ["listColumnsForType", { entityTypeId: "people" }],
      ["findEntities", allPeople]
    ] as const) {
      const answer = await callTool(server, token, name, input, { accept: "text/plain" })
      expect(await call(name, input)).toMatchObject({ text: answer.text, failed: false })
    }
    const wrong = await call("findEntities", { entityTypeId: "peopel", filters: [] })
    expect(wrong).toMatchObject({ failed: true, text: expect.stringContaining("Did you mean people?") })
    await client.close()
    expect(existsSync(env.MAX_DATA_DIR)).toBe(false)
  })

  it("adds structured content with --structured", async () => {
    const { call, client } = await connect(server.url, "--structured")
    const { structuredContent, text } = await call("findEntities", allPeople)
    const answer = await callTool(server, token, "findEntities", allPeople)
    expect(structuredContent).toEqual(answer.json)
    expect(text).toContain("total 2")
    await client.close()
  })

  it("drafts changes with --changes and a token that may, and gets the link to the page", async () => {
    const refused = await connect(server.url, "--changes")
    expect((await refused.client.listTools()).tools).toHaveLength(4)
    const input = { actionId: "people.update" }
    expect(await refused.call("requestAction", input)).toMatchObject({
      failed: true,
      text: expect.stringContaining("scope changes")
    })
    await refused.client.close()

    const made = await server.run(
      memberWithToken(organization, "drafts@atlas.example", ["admin"], ["tools", "changes"])
    )
    writeFileSync(tokenFile, `${made.token}\n`)
    onTestFinished(() => writeFileSync(tokenFile, `${token}\n`))
    const { call, client } = await connect(server.url, "--changes")
    expect((await call("requestAction", input)).text).toMatch(/^takes entityIds values/)
    const [person] = await server.run(addPeople(organization, [{ name: "Grace Hopper", status: "Lead" }]))
    const drafted = await client.callTool({
      name: "requestAction",
      arguments: { ...input, entityIds: [person], values: ["status=Won"] }
    })
    expect(drafted.content).toMatchObject([
      { type: "text", text: expect.stringMatching(/^draft \w+: waits for the person/) },
      { type: "resource_link", uri: expect.stringContaining(`${server.url}/inbox/`) }
    ])
    await client.close()
  })

  it("reports transport failures as failed tool results, and never follows a redirect with the token", async () => {
    let seen = 0
    const listen = async (handler: RequestListener) => {
      const listening = createServer(handler)
      onTestFinished(() => {
        listening.closeAllConnections()
        listening.close()
      })
      await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve))
      return { listening, base: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` }
    }
    const target = await listen((_, response) => {
      seen += 1
      response.end("total 0")
    })
    const answers: Record<string, readonly [number, Record<string, string>, string]> = {
      redirected: [302, { location: `${target.base}/v1/tools/listEntityTypes` }, ""],
      page: [200, { "content-type": "text/html" }, "<html>"],
      proxy: [502, { "content-type": "text/html" }, "Bad gateway"]
    }
    for (const [status, headers, body] of Object.values(answers)) {
      const other = await listen((_, response) => void response.writeHead(status, headers).end(body))
      const { call, client } = await connect(other.base)
      expect(await call("listEntityTypes", {})).toMatchObject({
        failed: true,
        text: expect.stringContaining("isn't a Max server")
      })
      other.listening.closeAllConnections()
      await new Promise((resolve) => other.listening.close(resolve))
      expect(await call("listEntityTypes", {})).toMatchObject({
        failed: true,
        text: expect.stringContaining("can't be reached")
      })
      await client.close()
    }
    expect(seen).toBe(0)
  })

  it("reports an exceeded rate limit and a revoked token as failed tool results", async () => {
    const few = await startServerForTest(url, { callsPerPerson: 1 })
    const { call, client } = await connect(few.url)
    const texts = []
    for (let made = 0; made < 4; made++) texts.push((await call("listEntityTypes", {})).text)
    expect(texts.join("\n")).toContain("Too many calls.")
    await client.close()
    const other = await connect(server.url)
    expect((await other.call("listEntityTypes", {})).failed).toBe(false)
    await server.run(Effect.flatMap(Credentials, (credentials) => credentials.revokeToken(organization, tokenId)))
    expect(await other.call("listEntityTypes", {})).toMatchObject({
      failed: true,
      text: expect.stringContaining("rejects this token")
    })
    await other.client.close()
  })

  it.each([
    [["--url", "http://max.example.com", "--token", `file:${tokenFile}`], 3, "https://host"],
    [["--url", "https://max.example.com/path", "--token", `file:${tokenFile}`], 3, "https://host"],
    [["--url", "https://max.example.com", "--token", "max_secret"], 3, "file:/path"],
    [["--url", "https://max.example.com", "--token", "file:/nowhere"], 3, "can be read"],
    [["--url", "https://max.example.com"], 2, "must be used together"],
    [["--token", `file:${tokenFile}`], 2, "must be used together"]
  ])("doesn't start with %j", async (args, code, says) => {
    const ran = await runMax(["mcp", ...args], env)
    expect(ran).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(says) })
    expect(ran.stderr).not.toContain("max_secret")
  })
})

describe("max mcp install --url", () => {
  it("writes the server's address and the token's location, and verifies the server", async () => {
    const fresh = await server.run(memberWithToken(organization, "lena@atlas.example", ["admin"]))
    writeFileSync(tokenFile, fresh.token)
    const file = join(folder, "mcp.json")
    const ran = await runMax(
      ["mcp", "install", "cursor", "--url", server.url, "--token", `file:${tokenFile}`, "--file", file],
      env
    )
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain("it responds with 3 tools for People")
    const { args, env: handedOn } = JSON.parse(readFileSync(file, "utf8")).mcpServers.max
    expect(args).toEqual([program, "mcp", "--url", server.url, "--token", `file:${tokenFile}`])
    expect(handedOn).toEqual({})
    expect(readFileSync(file, "utf8")).not.toContain(fresh.token)
    expect(existsSync(env.MAX_DATA_DIR)).toBe(false)
  })
})
