/**
 * A matrix of role, field and operation: a person gets the same result over every channel, with the same values and the
 * same error texts. On the command line `npm test` asks a sample of the questions and `npm run prove` all of them.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connect } from "../../src/channels/http/client.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { decodeId } from "../../src/domain/ids.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import { Max } from "../../src/Max.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { anthropicTools } from "../../src/tools/anthropic.ts"
import { axFunctions } from "../../src/tools/ax.ts"
import { toolCaller } from "../../src/tools/caller.ts"
import { addPeople, makeOrganization } from "../support/atlas.ts"
import { program, runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { callTool, startServer, type TestServer } from "../support/http.ts"
import { LONG } from "../support/long.ts"
import { memberWithToken } from "../support/members.ts"

/** Everything; the starter policy; own customers, with phones of leads only; names and statuses of non-leads. */
const ROLES = ["admin", "member", "rep", "guest"] as const
const OPERATIONS = ["eq", "ilike", "gte", "lt"] as const

type Role = (typeof ROLES)[number]
type Call = readonly [tool: string, input: Readonly<Record<string, unknown>>]

const RULES = [
  {
    id: "reps-own",
    effect: "allow",
    role: "rep",
    action: "read",
    type: "people",
    columns: ["name", "status", "owner"],
    where: { owner: "$me" }
  },
  {
    id: "reps-phones",
    effect: "allow",
    role: "rep",
    action: "read",
    type: "people",
    columns: ["phone"],
    where: { status: "lead" }
  },
  { id: "guests", effect: "allow", role: "guest", action: "read", type: "people", columns: ["name", "status"] },
  {
    id: "guests-no-leads",
    effect: "deny",
    role: "guest",
    action: "read",
    type: "people",
    columns: "*",
    where: { status: "lead" }
  }
]

/** The filter's value per field: an existing one, in another spelling if that is equivalent. */
const VALUES = {
  name: "ADA LOVELACE",
  status: "lead",
  phone: "(801) 555-0101",
  email: "Ada@Example.com",
  owner: "rep@atlas.com",
  salary: "1"
} as const
const FIELDS = Object.keys(VALUES) as ReadonlyArray<keyof typeof VALUES>

const filterCall = (field: keyof typeof VALUES, op: (typeof OPERATIONS)[number]): Call => [
  "findEntities",
  {
    entityTypeId: "people",
    filters: [{ columnId: field, op, value: op === "ilike" ? VALUES[field].slice(0, 5) : VALUES[field] }],
    selectColumns: ["name", field]
  }
]

/** Calls beyond filters: pages, names and invalid inputs. */
const OTHERS: ReadonlyArray<Call> = [
  ["listEntityTypes", {}],
  ["listEntityTypes", { nameContains: "mee|nothing" }],
  ["listColumnsForType", { entityTypeId: "people" }],
  ["listColumnsForType", { entityTypeId: "people", filter: { nameContains: ["e"], max: 2 } }],
  ["listColumnsForType", { entityTypeId: "salaries" }],
  ["findEntities", { entityTypeId: "people", filters: [], limit: 0 }],
  ["findEntities", { entityTypeId: "people", filters: [], limit: 26 }],
  ["findEntities", { entityTypeId: "people", filters: [], selectColumns: ["phone", "email"] }],
  ["findEntities", {}],
  ["findEntities", { entityTypeId: "people", filters: 5 }],
  ["findEntities", { entityTypeId: "people", filters: [{ columnId: "name", op: "like", value: "ada" }] }],
  ["findEntities", { entityTypeId: "people", filters: [{ columnId: "name", op: "eq", value: 5 }] }],
  ["findEntities", { entityTypeId: "people", filters: [], limit: 1.5 }],
  ["findEntities", { entityTypeId: "people", filters: [], everything: true }],
  ["listColumnsForType", { entityTypeId: "people", filter: { nameContains: "e" } }],
  ["listEntityTypes", { all: true }]
]

const scope = Scope.makeUnsafe()
let server: TestServer
let env: Record<string, string> = {}
const tokens = {} as Record<Role, string>
let organization: Organization
let library: Max

const emailOf = (role: Role) => `${role}@atlas.com`

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = { DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000" }
  server = await startServer(url)
  await server.run(
    Effect.gen(function* () {
      organization = yield* makeOrganization("atlas")
      const policies = yield* Policies
      const { roles, rules, ...rest } = JSON.parse((yield* policies.current(organization)).document)
      const policy = {
        ...rest,
        roles: { ...roles, rep: { inherits: [] }, guest: { inherits: [] } },
        rules: [...rules, ...RULES]
      }
      yield* policies.publish(organization, JSON.stringify(policy), "operator")
      let rep = ""
      for (const role of ROLES) {
        const { anchorId, token } = yield* memberWithToken(organization, emailOf(role), [role])
        tokens[role] = token
        if (role === "rep") rep = decodeId(anchorId)!.toString()
      }
      yield* addPeople(organization, [
        { name: "Ada Lovelace", phone: "801-555-0101", email: "ada@example.com", status: "lead", owner: rep },
        { name: "Adam Smith", phone: "801-555-0103", email: "adam@example.com", status: "customer", owner: rep },
        { name: "Grace Hopper", phone: "801-555-0102", email: "grace@example.com", status: "customer" },
        { name: "Zoë Ångström", status: "lead" }
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

const words = (error: { readonly message: string; readonly detail?: string }) => error.detail ?? error.message

/** Calls of the tools by channel: as a value (or the error's text), and as the text that a model reads. */
interface Channels {
  readonly values: Record<string, (call: Call) => Promise<unknown>>
  readonly texts: Record<string, (call: Call) => Promise<readonly [text: string, failed: boolean | undefined]>>
  readonly close: () => Promise<void>
}

const openChannels = async (role: Role): Promise<Channels> => {
  const clients: Array<Client> = []
  const client = async (transport: StdioClientTransport | StreamableHTTPClientTransport) => {
    const connected = new Client({ name: "test", version: "1" })
    await connected.connect(transport as never)
    clients.push(connected)
    return ([name, input]: Call) => connected.callTool({ name, arguments: input })
  }
  const stdio = (args: ReadonlyArray<string>, environment: Record<string, string>) =>
    client(new StdioClientTransport({ command: process.execPath, args: [program, "mcp", ...args], env: environment }))
  const byText = (call: Awaited<ReturnType<typeof client>>) => async (asking: Call) => {
    const { content, isError } = await call(asking)
    return [(content as ReadonlyArray<{ text: string }>)[0]!.text, isError === true] as const
  }
  const byValue = (call: Awaited<ReturnType<typeof client>>) => async (asking: Call) => {
    const { content, isError, structuredContent } = await call(asking)
    return isError === true ? (content as ReadonlyArray<{ text: string }>)[0]!.text : structuredContent
  }
  const authorization = `Bearer ${tokens[role]}`
  const over = await client(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers: { authorization } } })
  )
  const here = await stdio(["--as", emailOf(role)], env)
  const structured = await stdio(["--as", emailOf(role), "--structured"], env)
  const bridged = ["--url", server.url, "--token", "env:TOKEN"]
  const bridge = await stdio(bridged, { TOKEN: tokens[role] })
  const structuredBridge = await stdio([...bridged, "--structured"], { TOKEN: tokens[role] })
  const typed = connect({ url: server.url, token: tokens[role] }) as unknown as Record<
    string,
    (input?: unknown) => Promise<unknown>
  >
  const facade = library.as({ email: emailOf(role) })
  const asPrincipal = <A, E>(use: Effect.Effect<A, E, any>) =>
    server.run(
      Effect.gen(function* () {
        const identities = yield* IdentityResolver
        const { principal } = yield* identities.admit(organization, { kind: "email", key: emailOf(role) })
        return yield* Effect.provideService(use, CurrentPrincipal, principal)
      })
    )
  const call = await asPrincipal(toolCaller)
  const anthropic = anthropicTools(call)
  const ax = axFunctions(call)
  return {
    values: {
      "the typed client": ([tool, input]) => typed[tool]!(input).catch(words),
      "the facade": ([tool, input]) =>
        (facade as unknown as Record<string, (input?: unknown) => Promise<unknown>>)[tool]!(input).catch(words),
      "the service": ([tool, input]) =>
        asPrincipal(
          Effect.flatMap(EntityQueryService, (queries) =>
            (queries as unknown as Record<string, (input: unknown) => Effect.Effect<unknown, Error>>)[tool]!({
              ...input,
              organizationId: organization.id
            }).pipe(Effect.catch((error) => Effect.succeed(words(error))))
          )
        ),
      "MCP over stdio": byValue(structured),
      "the bridge": byValue(structuredBridge)
    },
    texts: {
      "MCP over HTTP": byText(over),
      "MCP over stdio": byText(here),
      "MCP over stdio, structured": byText(structured),
      "the bridge": byText(bridge),
      "the facade": async ([tool, input]) => {
        const { failed, text } = await facade.callTool(tool, input)
        return [text, failed]
      },
      "the caller of one request": async ([tool, input]) => {
        const { failed, text } = await call(tool, input)
        return [text, failed]
      },
      "Anthropic's tools": async ([tool, input]) => [
        await anthropic.find(({ name }) => name === tool)!.run(input),
        undefined
      ],
      "Ax's functions": async ([tool, input]) => [
        String(await ax.find(({ name }) => name === tool)!.func!(input)),
        undefined
      ]
    },
    close: async () => {
      for (const connected of clients) await connected.close()
    }
  }
}

/** Runs a call on the command line, as JSON or as text. */
const byCommand = async (role: Role, [tool, input]: Call, json: boolean) =>
  runMax(["tool", tool, JSON.stringify(input), "--as", emailOf(role), ...(json ? ["--json"] : [])], env)

/** The command line's formats for a call: one of them for every `share`th call, or both in a long run. */
const commands = (number: number, share: number): ReadonlyArray<"json" | "text"> =>
  LONG ? ["json", "text"] : number % share === 0 ? [(number / share) % 2 === 0 ? "json" : "text"] : []

/** Counts of answers by kind and role: a matrix with only one kind would prove nothing. */
const kinds = {} as Record<Role, { rows: number; none: number; refused: number }>

describe.each(ROLES)("%s", (role) => {
  let channels: Channels

  beforeAll(async () => {
    kinds[role] = { rows: 0, none: 0, refused: 0 }
    channels = await openChannels(role)
  })
  afterAll(() => channels.close())

  /** Makes a call over every channel and compares the results with HTTP's; returns the number of comparisons. */
  const compareAll = async (call: Call, command: ReadonlyArray<"json" | "text">) => {
    const [tool, input] = call
    const answer = await callTool(server, tokens[role], tool, input)
    const text = await callTool(server, tokens[role], tool, input, { accept: "text/plain" })
    const ok = answer.status === 200
    expect([text.status, ok ? undefined : text.text]).toEqual([answer.status, ok ? undefined : answer.text])
    kinds[role][!ok ? "refused" : answer.json.total === 0 ? "none" : "rows"] += 1

    const value = ok ? answer.text : JSON.stringify(answer.json.detail)
    const isInvalid = !ok && answer.json.detail.startsWith("Invalid input")
    let compared = 0
    for (const [channel, ask] of Object.entries(channels.values)) {
      // A typed program can't compile with an invalid input.
      if (isInvalid && !/MCP|bridge/.test(channel)) continue
      compared += 1
      expect(JSON.stringify(await ask(call)), channel).toBe(value)
    }
    for (const [channel, ask] of Object.entries(channels.texts)) {
      const [result, failed] = await ask(call)
      compared += 1
      expect([result, failed ?? !ok], channel).toEqual([ok ? text.text : answer.json.detail, !ok])
    }
    const code = ok ? 0 : answer.status === 404 ? 6 : 2
    for (const form of command) {
      compared += 1
      const ran = await byCommand(role, call, form === "json")
      expect([form, ran.code, ran.stderr]).toEqual([form, code, ok ? "" : `${answer.json.detail}\n`])
      if (!ok) continue
      expect(form === "json" ? JSON.stringify(JSON.parse(ran.stdout)) : ran.stdout).toBe(
        form === "json" ? answer.text : `${text.text}\n`
      )
    }
    return compared
  }

  it.each(FIELDS)("gets the same answers over every channel for filters of %s", async (field) => {
    for (const [index, op] of OPERATIONS.entries()) {
      const command = commands(ROLES.indexOf(role) + FIELDS.indexOf(field) + 2 * index, 8)
      expect(await compareAll(filterCall(field, op), command)).toBe(13 + command.length)
    }
  })

  it("gets the same answers over every channel for pages, names and invalid inputs", async () => {
    for (const [index, call] of OTHERS.entries()) {
      expect(await compareAll(call, commands(ROLES.indexOf(role) + index, 4))).toBeGreaterThanOrEqual(10)
    }
  })
})

it("the matrix contains answers with rows, without rows, and refusals", () => {
  expect(kinds.admin.rows).toBeGreaterThan(12)
  for (const role of ROLES) {
    expect([role, kinds[role].rows > 2, kinds[role].refused > 4]).toEqual([role, true, true])
  }
  expect(kinds.rep.none + kinds.guest.none).toBeGreaterThan(2)
})
