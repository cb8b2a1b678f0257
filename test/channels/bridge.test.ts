import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { decodeId } from "../../src/domain/ids.ts"
import { Credentials, type Scope as TokenScope } from "../../src/services/access/Credentials.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { addPeople, makeOrganization } from "../support/atlas.ts"
import { cellOf } from "../support/changes.ts"
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
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { form: {} } } })
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

/**
 * A client of this version over standard input and output, which gives these answers to what it is asked, in order. The official
 * client has no continuations, so a client of the newest version is written out.
 */
const ofEra = async (era: string, answers: ReadonlyArray<object>) => {
  const child = spawn(
    process.execPath,
    [program, "mcp", "--url", server.url, "--token", `file:${tokenFile}`, "--changes"],
    { env, stdio: ["pipe", "pipe", "inherit"] }
  )
  const questions: Array<string> = []
  const waiting = new Map<unknown, (message: any) => void>()
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const answer = ({ message, requestedSchema }: { readonly message: string; readonly requestedSchema: unknown }) => {
    // Nothing has to be typed.
    const field =
      era === "2025-06-18" ? { type: "boolean", title: "Change it" } : { type: "string", enum: ["Change it", "Don't"] }
    expect(requestedSchema).toMatchObject({ properties: { answer: field } })
    return answers[questions.push(message) - 1]
  }
  createInterface(child.stdout).on("line", (line) => {
    const message = JSON.parse(line)
    if (message.method === "elicitation/create") send({ id: message.id, result: answer(message.params) })
    else waiting.get(message.id)?.(message)
  })
  let id = 0
  const request = (method: string, params: object) =>
    new Promise<any>((resolve) => {
      waiting.set((id += 1), ({ error, result }) => resolve(result ?? error))
      send({ id, method, params })
    })
  const elicitation = era === "2025-06-18" ? {} : { form: {} }
  const clientInfo = { name: "forms", version: "1" }
  const isNewest = era === "2026-07-28"
  if (!isNewest) {
    const { protocolVersion } = await request("initialize", {
      protocolVersion: era,
      capabilities: { elicitation },
      clientInfo
    })
    expect(protocolVersion).toBe(era)
    send({ method: "notifications/initialized" })
  }
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": era,
    "io.modelcontextprotocol/clientCapabilities": { elicitation },
    "io.modelcontextprotocol/clientInfo": clientInfo
  }
  const call = async (input: object) => {
    const params = { name: "requestAction", arguments: input, ...(isNewest ? { _meta } : {}) }
    let result = await request("tools/call", params)
    if (result.resultType === "input_required") {
      const { inputRequests, requestState } = result
      const inputResponses = { confirm: answer(inputRequests.confirm.params) }
      result = await request("tools/call", { ...params, requestState, inputResponses })
    }
    return result.content[0].text as string
  }
  const close = async () => {
    child.stdin.end()
    await once(child, "exit")
  }
  return { call, close, questions }
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

  describe.each(["2025-06-18", "2025-11-25", "2026-07-28"] as const)("to a client of %s that shows forms", (era) => {
    it("asks through it with a token that may confirm: the yes applies the change, and everything else leaves it open", async () => {
      const made = await server.run(
        memberWithToken(organization, `forms${era}@atlas.example`, ["admin"], ["tools", "changes", "confirm"])
      )
      writeFileSync(tokenFile, `${made.token}\n`)
      onTestFinished(() => writeFileSync(tokenFile, `${token}\n`))
      // What isn't an answer of the protocol is refused by the server in the newest version, which has no question open.
      const nonsense = era === "2026-07-28" ? [] : [[], { action: "bogus" }, { action: "accept", content: [] }]
      const { call, close, questions } = await ofEra(era, [
        ...nonsense,
        { action: "decline" },
        { action: "cancel" },
        { action: "accept", content: { answer: era === "2025-06-18" ? false : "Don't" } },
        { action: "accept", content: { answer: era === "2025-06-18" ? true : "Change it" } }
      ])
      const [person] = await server.run(addPeople(organization, [{ name: `Edsger ${era}`, status: "Lead" }]))
      const status = () => server.run(cellOf(organization, String(decodeId(person!)), "status"))
      const input = { actionId: "people.update", entityIds: [person], values: ["status=Won"] }
      for (const no of [...nonsense, "decline", "cancel", "Don't"]) {
        expect([no, await call(input)]).toEqual([no, expect.stringMatching(/^draft \w+: waits for the person/)])
        expect(await status()).toBe("Lead")
      }
      expect(await call(input)).toMatch(/^applied: /)
      expect(await status()).toBe("Won")
      expect(await call(input)).toMatch(/^applied: /)
      expect(questions).toHaveLength(nonsense.length + 4)
      for (const question of questions) expect(question).toContain(`Edsger ${era}\n  Status: Lead → Won`)
      await close()
    })

    it("asks nothing with a token that can't confirm, or about a change that needs two confirmations", async () => {
      const scoped = (scopes: ReadonlyArray<TokenScope>) =>
        server.run(memberWithToken(organization, `${scopes.length}${era}@atlas.example`, ["admin"], scopes))
      onTestFinished(() => writeFileSync(tokenFile, `${token}\n`))
      const [person] = await server.run(addPeople(organization, [{ name: `Alan ${era}`, status: "Lead" }]))
      for (const [scopes, input] of [
        [["tools", "changes"], { actionId: "people.update", entityIds: [person], values: ["status=Won"] }],
        [["tools", "changes", "confirm"], { actionId: "people.delete", entityIds: [person] }]
      ] as const) {
        writeFileSync(tokenFile, `${(await scoped(scopes)).token}\n`)
        const { call, close, questions } = await ofEra(era, [{ action: "accept", content: { answer: "Change it" } }])
        expect(await call(input)).toMatch(/^draft \w+: waits for the person/)
        expect(questions).toEqual([])
        await close()
      }
      expect(await server.run(cellOf(organization, String(decodeId(person!)), "status"))).toBe("Lead")
    })
  })

  it("asks through the official client", async () => {
    const made = await server.run(
      memberWithToken(organization, "official@atlas.example", ["admin"], ["tools", "changes", "confirm"])
    )
    writeFileSync(tokenFile, `${made.token}\n`)
    onTestFinished(() => writeFileSync(tokenFile, `${token}\n`))
    const { call, client } = await connect(server.url, "--changes")
    const questions: Array<string> = []
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message)
      return { action: "accept", content: { answer: "Change it" } }
    })
    const [person] = await server.run(addPeople(organization, [{ name: "Barbara Liskov", status: "Lead" }]))
    const input = { actionId: "people.update", entityIds: [person], values: ["status=Won"] }
    expect((await call("requestAction", input)).text).toMatch(/^applied: /)
    expect(questions).toEqual([expect.stringContaining("Barbara Liskov\n  Status: Lead → Won")])
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
