/**
 * The tokens that a model reads from Max and from other MCP servers for Postgres, over standard input and output: tool
 * definitions, and two results with the same rows. The other servers run SQL without permissions.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Effect } from "effect"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { spawnSync } from "node:child_process"
import { type AddressInfo, connect, createServer } from "node:net"
import { join } from "node:path"
import { Database } from "../src/database/Database.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { type Outside, outside, urlOf } from "./outside.ts"
import { installPeer, oneLine, type PeerName } from "./peers.ts"
import { emailOf, openWorld, phoneOf, type WorldOrganization } from "./world/load.ts"
import { ROLES } from "./world/policy.ts"
import { personAt } from "./world/questions.ts"

interface Server {
  readonly name: string
  readonly peer?: PeerName
  readonly command: (folder: string, at: Outside) => ReadonlyArray<string>
  readonly env?: (at: Outside) => Readonly<Record<string, string>>
  /** The tool that runs SQL, and the name of its argument. */
  readonly sql: readonly [tool: string, argument: string, more?: Readonly<Record<string, unknown>>]
}

const node = process.execPath
const SERVERS: ReadonlyArray<Server> = [
  {
    name: "DBHub 1.4.0",
    peer: "dbhub",
    command: (folder, at) => [
      node,
      join(folder, "node_modules/@bytebase/dbhub/dist/index.js"),
      "--transport",
      "stdio",
      "--dsn",
      `${urlOf(at)}?sslmode=disable`
    ],
    sql: ["execute_sql", "sql"]
  },
  {
    name: "MCP Toolbox 1.12.0, prebuilt postgres",
    peer: "toolbox",
    command: (folder) => [join(folder, "node_modules/.bin/toolbox"), "--prebuilt", "postgres", "--stdio"],
    env: ({ database, host, password, port, user }) => ({
      POSTGRES_HOST: host,
      POSTGRES_PORT: String(port),
      POSTGRES_DATABASE: database,
      POSTGRES_USER: user,
      POSTGRES_PASSWORD: password
    }),
    sql: ["execute_sql", "sql"]
  },
  {
    name: "@modelcontextprotocol/server-postgres 0.6.2",
    peer: "server-postgres",
    command: (folder, at) => [
      node,
      join(folder, "node_modules/@modelcontextprotocol/server-postgres/dist/index.js"),
      urlOf(at)
    ],
    sql: ["query", "sql"]
  },
  {
    name: "@henkey/postgres-mcp-server 1.0.7",
    peer: "postgres-mcp-server",
    command: (folder, at) => [
      node,
      join(folder, "node_modules/@henkey/postgres-mcp-server/build/index.js"),
      "--connection-string",
      urlOf(at)
    ],
    sql: ["pg_execute_query", "query", { operation: "select" }]
  }
]

interface Cost {
  readonly name: string
  readonly tools: number
  readonly list: number
  readonly answers: ReadonlyArray<number>
}

const tokens = (value: unknown): number => encode(typeof value === "string" ? value : JSON.stringify(value)).length

/** Forwards a TCP port to a Unix socket, because not all servers can connect to one. */
const overTcp = (at: Outside) =>
  at.host.startsWith("/")
    ? Effect.map(
        Effect.acquireRelease(
          Effect.callback<ReturnType<typeof createServer>>((resume) => {
            const server = createServer((socket) => {
              const other = connect(join(at.host, `.s.PGSQL.${at.port}`))
              socket.pipe(other).pipe(socket)
              for (const one of [socket, other]) one.on("error", () => [socket, other].forEach((end) => end.destroy()))
            })
            server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
          }),
          (server) => Effect.sync(() => void server.close())
        ),
        (server): Outside => ({ ...at, host: "127.0.0.1", port: (server.address() as AddressInfo).port })
      )
    : Effect.succeed(at)

type Call = readonly [name: string, input: Readonly<Record<string, unknown>>]

/** The tokens of a server's definitions and of its results for these calls. */
const ask = async (
  name: string,
  command: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  calls: ReadonlyArray<Call>
): Promise<Cost> => {
  const client = new Client({ name: "bench", version: "1" })
  const inherited = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" }
  const transport = new StdioClientTransport({
    command: command[0]!,
    args: command.slice(1),
    env: { ...inherited, ...env },
    stderr: "pipe"
  })
  let said = ""
  transport.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()))
  try {
    await client.connect(transport, { timeout: 30_000 })
    const { tools } = await client.listTools()
    const list = tokens(
      tools.map(({ description, inputSchema, name: tool }) => ({ name: tool, description, inputSchema }))
    )
    const answers: Array<number> = []
    for (const [tool, input] of calls) {
      const answer = await client.callTool({ name: tool, arguments: input })
      const text = (answer.content as ReadonlyArray<{ readonly text?: string }>)
        .map((part) => part.text ?? "")
        .join("\n")
      if (answer.isError === true || !text.includes("Board")) throw new Error(text)
      answers.push(tokens(text))
    }
    return { name, tools: tools.length, list, answers }
  } catch (error) {
    throw new Error(`${oneLine(error)}${said === "" ? "" : ` (${said.trim().split("\n").at(-1)!})`}`, { cause: error })
  } finally {
    await client.close()
  }
}

/** A person with the rare status, which makes the first question's result recognizable. */
const questions = (of: WorldOrganization) => {
  const phone = phoneOf(personAt(of, 0))
  const own = `organization_id = ${of.organization.id}`
  const sql = (where: string) =>
    `SELECT id, name, status, phone FROM data.people WHERE ${own} AND ${where} ORDER BY id LIMIT 10`
  const find = (columnId: string, value: string): Call => [
    "findEntities",
    { entityTypeId: "people", filters: [{ columnId, op: "eq", value }], selectColumns: ["phone"], limit: 10 }
  ]
  return {
    sql: [sql(`phone_k = '${phone}'`), sql("status = 'Board'")],
    max: [find("phone", phone), find("status", "Board")]
  }
}

export const mcpTokens = (where: Where, quiet: boolean) => onDatabase(where, Effect.scoped(compared(quiet)))

const compared = Effect.fnUntraced(function* (quiet: boolean) {
  const { owner } = yield* Database
  const of = (yield* openWorld(10_000)).organizations.huge
  const at = yield* overTcp(outside(owner))
  const { max, sql } = questions(of)
  spawnSync(node, [join("bin", "max"), "--version"], { stdio: "ignore" })
  const ours = yield* Effect.promise(() =>
    ask(
      "Max",
      [node, join("dist", "bin", "max.js"), "mcp"],
      { DATABASE_URL: urlOf(at), MAX_ORG: of.organization.slug, MAX_AS: emailOf(of.first + ROLES.everything) },
      max
    )
  )
  const others: Array<Cost> = []
  for (const {
    command,
    env,
    name,
    peer,
    sql: [tool, argument, more]
  } of SERVERS) {
    const installed = peer === undefined ? undefined : installPeer(peer)
    const found = yield* Effect.promise(async () => {
      if (typeof installed === "string") return installed
      const calls = sql.map((text): Call => [tool, { ...more, [argument]: text }])
      return ask(name, command(installed?.folder ?? "", at), env?.(at) ?? {}, calls).catch((error: unknown) =>
        oneLine(error)
      )
    })
    if (typeof found !== "string") others.push(found)
    else if (!quiet) console.log(`${name} wasn't run: ${found}`)
  }
  if (!quiet) {
    console.log(
      `${"tokens (o200k)".padEnd(46)}${["tools", "tools/list", "a person", "ten people"].map((head) => head.padStart(12)).join("")}`
    )
    for (const { answers, list, name, tools } of [ours, ...others])
      console.log(`${name.padEnd(46)}${[tools, list, ...answers].map((count) => String(count).padStart(12)).join("")}`)
  }
  return others.flatMap(({ answers, list, name }): ReadonlyArray<Measured> => [
    { scenario: `tools/list of Max against ${name}`, ratio: ours.list / list },
    { scenario: `ten people from Max against ${name}`, ratio: ours.answers[1]! / answers[1]! }
  ])
})
