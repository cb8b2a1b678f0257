import * as NodeServices from "@effect/platform-node/NodeServices"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Effect, Exit, Scope } from "effect"
import { McpClient, McpProtocol } from "effect/ai"
import { ChildProcess } from "effect/process"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { configurationFile, withServer } from "../../src/channels/mcp/clients.ts"
import { INSTRUCTIONS } from "../../src/channels/mcp/tools.ts"
import { freshDatabase } from "../support/database.ts"
import { program, runMax } from "../support/cli.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-mcp-"))
let env: Record<string, string> = {}
const max = (...args: ReadonlyArray<string>) => runMax(args, env)

beforeAll(async () => {
  const url = await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
  const file = join(folder, "database-url")
  writeFileSync(file, url, { mode: 0o600 })
  env = { DATABASE_URL: `file:${file}`, MAX_LOOKUP_TIMEOUT: "10000" }
  await max("migrate")
  for (const org of ["atlas", "other"]) {
    const people = join(folder, `${org}.csv`)
    const rows = Array.from(
      { length: 10 },
      (_, index) => `p${index},Person ${index},canary-${org}-${index}@example.com`
    )
    writeFileSync(people, `id,name,email\n${rows.join("\n")}\n`)
    expect((await max("init", "--org", org, "--country", "US", "--time-zone", "America/New_York")).code).toBe(0)
    expect((await max("import", people, "--type", "people", "--org", org)).code).toBe(0)
  }
  for (const [email, role] of [
    ["canary-atlas-0@example.com", "admin"],
    ["canary-atlas-1@example.com", "member"]
  ] as const) {
    expect((await max("member", "add", email, "--role", role, "--org", "atlas")).code).toBe(0)
  }
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const connect = async (as: string, ...args: ReadonlyArray<string>) => {
  const client = new Client({ name: "test", version: "1" })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "mcp", "--org", "atlas", "--as", as, ...args],
    env,
    stderr: "pipe"
  })
  await client.connect(transport)
  const call = async (name: string, input: Record<string, unknown>) => {
    const { content, isError, structuredContent } = await client.callTool({ name, arguments: input })
    return {
      text: (content as ReadonlyArray<{ text: string }>).map(({ text }) => text).join("\n"),
      failed: isError === true,
      structuredContent
    }
  }
  return { client, call }
}

const ADMIN = "canary-atlas-0@example.com"
const MEMBER = "canary-atlas-1@example.com"
const allPeople = { entityTypeId: "people", filters: [], limit: 25, selectColumns: ["email"] }

describe("MCP over standard input and output", () => {
  it("lists the three tools to the official client in at most 430 tokens, with instructions in 60", async () => {
    const { client } = await connect(ADMIN)
    const { tools } = await client.listTools()
    const cost = encode(JSON.stringify(tools)).length
    const instructions = encode(INSTRUCTIONS).length
    console.log(`MCP: tools/list ${cost} tokens, instructions ${instructions}`)
    expect(tools.map(({ name }) => name)).toEqual(["listEntityTypes", "listColumnsForType", "findEntities"])
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true && !annotations.destructiveHint)).toBe(
      true
    )
    expect(tools.every(({ outputSchema }) => outputSchema === undefined)).toBe(true)
    expect(client.getInstructions()).toBe(INSTRUCTIONS)
    expect(cost).toBeLessThanOrEqual(430)
    expect(instructions).toBeLessThanOrEqual(60)
    await client.close()
  })

  it("returns the same text as the command line's tool, byte for byte", async () => {
    const { call, client } = await connect(ADMIN)
    for (const [name, input] of [
      ["listEntityTypes", {}],
      ["listColumnsForType", { entityTypeId: "people" }],
      ["findEntities", allPeople],
      ["findEntities", { ...allPeople, limit: 0 }]
    ] as const) {
      const { stdout } = await max("tool", name, JSON.stringify(input), "--org", "atlas", "--as", ADMIN)
      expect(`${(await call(name, input)).text}\n`).toBe(stdout)
    }
    await client.close()
  })

  it("distinguishes an unknown name, invalid input and an unknown tool, and continues", async () => {
    const { call, client } = await connect(ADMIN)
    const wrong = await call("findEntities", { entityTypeId: "peopel", filters: [] })
    expect(wrong).toMatchObject({ failed: true, text: expect.stringContaining("Did you mean people?") })
    expect(await call("findEntities", { entityTypeId: 5 })).toMatchObject({ failed: true })
    await expect(call("dropEverything", {})).rejects.toThrow("not found")
    expect((await call("findEntities", allPeople)).failed).toBe(false)
    await client.close()
  })

  it("shows a member what the policy allows, no other organization's data, and nothing once suspended", async () => {
    const { call, client } = await connect(MEMBER)
    const seen = await call("findEntities", allPeople)
    expect(seen.text).toContain("canary-atlas-1@")
    expect(seen.text).not.toContain("canary-atlas-2@")
    expect(seen.text).not.toContain("canary-other")
    expect((await call("findEntities", { ...allPeople, organizationId: "other" })).text).not.toContain("canary-other")
    await max("member", "suspend", MEMBER, "--org", "atlas")
    expect(await call("findEntities", allPeople)).toMatchObject({ text: "total 0", failed: false })
    expect((await call("listEntityTypes", {})).text).toBe("nothing")
    await max("member", "add", MEMBER, "--role", "member", "--org", "atlas")
    expect((await call("findEntities", allPeople)).text).toContain("canary-atlas-1@")
    await client.close()
  })

  it("drafts a change with --changes, which the person decides about at a terminal", async () => {
    const { call, client } = await connect(ADMIN, "--changes")
    expect((await client.listTools()).tools.map(({ name }) => name)).toHaveLength(4)
    const { text } = await call("findEntities", {
      ...allPeople,
      filters: [{ columnId: "name", op: "eq", value: "Person 9" }]
    })
    const id = text.split("\n").at(-1)!.split("\t").at(-1)!
    const draft = await call("requestAction", {
      actionId: "people.update",
      entityIds: [id],
      values: ["name=Person IX"]
    })
    expect(draft.text).toMatch(
      /^draft \w+: waits for the person\n.*\nNothing has changed yet\. The person decides: max change show \w+$/
    )
    const changeId = /^draft (\w+)/.exec(draft.text)![1]!
    const shown = await max("change", "show", changeId, "--org", "atlas", "--as", ADMIN)
    expect(shown.stdout).toContain("Person IX")
    await client.close()
    const { call: three, client: other } = await connect(ADMIN)
    expect((await three("requestAction", { actionId: "people.update" }).catch(() => ({ failed: true }))).failed).toBe(
      true
    )
    await other.close()
  })

  it("adds structured content and output schemas with --structured", async () => {
    const { call, client } = await connect(ADMIN, "--structured")
    expect((await client.listTools()).tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true)
    const { structuredContent, text } = await call("findEntities", allPeople)
    expect(structuredContent).toMatchObject({ total: 10 })
    expect(text).toContain("total 10")
    await client.close()
  })

  it.each([McpProtocol.v2026_07_28, McpProtocol.v2025_11_25])("supports $protocolVersion", async (protocol) => {
    const types = await Effect.runPromise(
      Effect.gen(function* () {
        const transport = yield* McpClient.stdio({
          command: ChildProcess.make(process.execPath, [program, "mcp", "--org", "atlas", "--as", ADMIN], { env }),
          protocol
        })
        const client = yield* Effect.provideService(
          McpClient.make({ name: "test", version: "1" }),
          McpClient.Transport,
          transport
        )
        const [tool] = yield* client.listTools()
        return yield* client.callTool({ tool: tool! })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
    expect(types.content[0]).toMatchObject({ text: expect.stringContaining("people\tPerson\tPeople") })
  })

  it("doesn't start without a person, or for one who isn't admitted", async () => {
    expect(await max("mcp", "--org", "atlas", "--as", "unknown@example.com")).toMatchObject({ code: 4, stdout: "" })
    expect(await max("mcp", "--org", "atlas")).toMatchObject({ code: 2, stdout: "" })
  })
})

describe("max mcp install", () => {
  const install = (client: string, file: string, ...args: ReadonlyArray<string>) =>
    max("mcp", "install", client, "--org", "atlas", "--as", ADMIN, "--file", file, ...args)

  it("adds Max to the client's servers, makes a backup and verifies the server", async () => {
    const file = join(folder, "mcp.json")
    const before = '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": { "command": "x" }\n\t}\n}\n'
    writeFileSync(file, before)
    const { code, stdout } = await install("cursor", file)
    expect(code).toBe(0)
    expect(stdout).toContain("it responds with 3 tools for People, Companies, Meetings")
    const after = JSON.parse(readFileSync(file, "utf8"))
    expect(after).toMatchObject({ theme: "dark", mcpServers: { other: { command: "x" } } })
    const { args, command, env: handedOn } = after.mcpServers.max
    expect([command, ...args]).toEqual([process.execPath, program, "mcp", "--org", "atlas", "--as", ADMIN])
    expect(handedOn).toEqual({ DATABASE_URL: env["DATABASE_URL"] })
    const backup = readdirSync(folder).find((name) => name.startsWith("mcp.json.before-max-"))!
    expect(readFileSync(join(folder, backup), "utf8")).toBe(before)
  })

  it("adds the tool that drafts changes with --changes", async () => {
    const file = join(folder, "changes.json")
    const { code, stdout } = await install("cursor", file, "--changes")
    expect([code, stdout]).toEqual([0, expect.stringContaining("it responds with 4 tools")])
    expect(JSON.parse(readFileSync(file, "utf8")).mcpServers.max.args).toContain("--changes")
  })

  it("creates a missing file, and only prints the configuration with --print", async () => {
    const file = join(folder, "deep", "er", "claude.json")
    const printed = await install("claude-code", file, "--print")
    expect(JSON.parse(printed.stdout).mcpServers.max.type).toBe("stdio")
    expect(existsSync(file)).toBe(false)
    expect((await install("claude-code", file)).code).toBe(0)
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(JSON.parse(printed.stdout))
  })

  it("doesn't change a file with comments, and prints the entry to add", async () => {
    const file = join(folder, "comments.json")
    const text = '{ // mine\n "servers": {} }'
    writeFileSync(file, text)
    const { code, stderr } = await install("vscode", file)
    expect(code).toBe(1)
    expect(stderr).toContain('"servers"')
    expect(readFileSync(file, "utf8")).toBe(text)
  })

  it("never writes a password into a client's file", async () => {
    const file = join(folder, "secret.json")
    const url = readFileSync(env["DATABASE_URL"]!.slice("file:".length), "utf8")
    const secret = new URL(url)
    secret.password ||= "canary-password"
    const { code, stderr } = await runMax(
      ["mcp", "install", "cursor", "--org", "atlas", "--as", ADMIN, "--file", file],
      { ...env, DATABASE_URL: secret.href }
    )
    expect(code).not.toBe(0)
    expect(stderr).not.toContain(secret.password)
    expect(existsSync(file)).toBe(false)
  })

  it("restores the file when the server doesn't respond", async () => {
    const file = join(folder, "undone.json")
    writeFileSync(file, "{}\n")
    const broken = join(folder, "broken-node")
    writeFileSync(broken, "#!/bin/sh\nexit 1\n")
    chmodSync(broken, 0o755)
    const shim = join(folder, "shim.mjs")
    writeFileSync(shim, `process.execPath = ${JSON.stringify(broken)}\n`)
    const { code, stderr } = await runMax(
      ["mcp", "install", "cursor", "--org", "atlas", "--as", ADMIN, "--file", file],
      {
        ...env,
        NODE_OPTIONS: `--import ${shim}`
      }
    )
    expect([code, stderr]).toEqual([1, expect.stringContaining("doesn't respond")])
    expect(readFileSync(file, "utf8")).toBe("{}\n")
  })

  it("finds each client's configuration file", () => {
    const mac = { platform: "darwin", home: "/Users/lena" } as const
    const windows = {
      platform: "win32",
      home: "C:\\Users\\lena",
      appData: "C:\\Users\\lena\\AppData\\Roaming"
    } as const
    const linux = { platform: "linux", home: "/home/lena" } as const
    expect(configurationFile("claude-desktop", mac)).toBe(
      "/Users/lena/Library/Application Support/Claude/claude_desktop_config.json"
    )
    expect(configurationFile("claude-desktop", windows)).toBe(
      "C:\\Users\\lena\\AppData\\Roaming\\Claude\\claude_desktop_config.json"
    )
    expect(configurationFile("vscode", linux)).toBe("/home/lena/.config/Code/User/mcp.json")
    expect(configurationFile("cursor", mac)).toBe("/Users/lena/.cursor/mcp.json")
    expect(configurationFile("claude-code", linux)).toBe("/home/lena/.claude.json")
  })

  it("refuses a file with an unknown structure", () => {
    const entry = { command: "node", args: [], env: {} }
    for (const text of ["[]", '"x"', '{"mcpServers": []}', '{"mcpServers": null, }'])
      expect(() => withServer("cursor", text, "max", entry)).toThrow(/client.s file/)
    expect(JSON.parse(withServer("cursor", "", "max", entry))).toEqual({ mcpServers: { max: entry } })
  })
})
