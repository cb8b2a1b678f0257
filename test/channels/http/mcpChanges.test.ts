/** The fourth tool over MCP: it drafts at once, the person decides on the page, and only some clients may ask for the yes. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Exit, Scope } from "effect"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { decodeId } from "../../../src/domain/ids.ts"
import type { Scope as TokenScope } from "../../../src/services/access/Credentials.ts"
import { addPeople } from "../../support/atlas.ts"
import { cellOf, changing, forgetLimits } from "../../support/changes.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"

const NEWEST = "2026-07-28"
const ERAS = ["2025-06-18", "2025-11-25", NEWEST] as const
const ALL: ReadonlyArray<TokenScope> = ["tools", "changes", "confirm"]

const scope = Scope.makeUnsafe()
let server: TestServer
let atlas: Organization
let boss: string
let drafter: string
let reader: string

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  atlas = (
    await server.run(
      changing("atlas", [], {
        confirm: [
          { action: "delete", type: "people", by: "twice" },
          { action: "update", type: "people", columns: ["owner"], by: "second", approvers: ["admin"] }
        ]
      })
    )
  ).organization
  const token = async (email: string, scopes: ReadonlyArray<TokenScope>) =>
    (await server.run(memberWithToken(atlas, email, ["admin"], scopes))).token
  boss = await token("boss@atlas.example", ALL)
  drafter = await token("drafter@atlas.example", ["tools", "changes"])
  reader = await token("reader@atlas.example", ["tools"])
})

beforeEach(() => server.run(forgetLimits(atlas)))

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const person = async (name: string) => (await server.run(addPeople(atlas, [{ name, status: "Lead" }])))[0]!
const statusOf = (id: string) => server.run(cellOf(atlas, String(decodeId(id)), "status"))
const expire = (changeId: string) =>
  Effect.flatMap(
    Database,
    ({ owner }) => owner`UPDATE max.changes SET expires_at = now() - interval '1 second' WHERE change_id = ${changeId}`
  )
const won = (id: string, status = "Won") => ({
  actionId: "people.update",
  entityIds: [id],
  values: [`status=${status}`]
})

interface Sent {
  readonly token?: string
  readonly era?: (typeof ERAS)[number]
  readonly path?: string
  /** The client's capabilities, in the newest version. */
  readonly elicitation?: object
  readonly more?: object
}
/** Sends one message as a client of this version does. */
const send = (
  method: string,
  params: object,
  { elicitation, era = NEWEST, more = {}, path = "/mcp/changes", token = boss }: Sent = {}
) => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientCapabilities": elicitation === undefined ? {} : { elicitation },
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" }
  }
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, ...more, ...(era === NEWEST ? { _meta } : {}) } }
  return ask(server.url, path, {
    body: JSON.stringify(body),
    headers: {
      ...JSON_TYPE,
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
      "mcp-protocol-version": era,
      ...(era === NEWEST ? { "mcp-method": method } : {}),
      ...(era === NEWEST && "name" in params ? { "mcp-name": String(params.name) } : {})
    }
  })
}
/** The result of a message, which the newest version may send as an event. */
const resultOf = ({ text }: { readonly text: string }): any =>
  JSON.parse(text.startsWith("{") ? text : /^data: (.*)$/m.exec(text)![1]!).result
const request = async (input: object, sent: Sent = {}) =>
  resultOf(await send("tools/call", { name: "requestAction", arguments: input }, sent))
const textOf = (result: any): string => result.content[0].text
const linkOf = (result: any) => result.content.find(({ type }: { type: string }) => type === "resource_link")

describe.each(ERAS)("a client of %s", (era) => {
  it("lists four tools at /mcp/changes, of which the first three are those of /mcp byte for byte", async () => {
    const listed = async (path: string) => resultOf(await send("tools/list", {}, { era, path })).tools
    const [three, four] = [await listed("/mcp"), await listed("/mcp/changes")]
    expect(JSON.stringify(four.slice(0, 3))).toBe(JSON.stringify(three))
    expect(four[3]).toMatchObject({
      name: "requestAction",
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true }
    })
    expect(encode(JSON.stringify(four[3])).length).toBeLessThanOrEqual(150)
  })

  it("proposes and gets text and a link to the page at once; the same call again answers with the state", async () => {
    const id = await person(`Ada ${era}`)
    const first = await request(won(id), { era, token: drafter })
    expect(textOf(first)).toContain("Nothing has changed yet. The person decides:")
    const changeId = /^draft (\w+): waits for the person/.exec(textOf(first))![1]!
    expect(linkOf(first)).toMatchObject({ uri: `${server.url}/inbox/${changeId}` })
    expect(textOf(await request(won(id), { era, token: drafter }))).toBe(textOf(first))
    expect(await statusOf(id)).toBe("Lead")

    // The person decides elsewhere.
    const headers = { ...JSON_TYPE, authorization: `Bearer ${boss}` }
    const own = await request(won(id), { era })
    const mine = /^draft (\w+)/.exec(textOf(own))![1]!
    const { digest } = (await ask(server.url, `/v1/changes/${mine}`, { headers })).json
    await ask(server.url, `/v1/changes/${mine}/confirm`, { body: JSON.stringify({ digest }), headers })
    expect(await statusOf(id)).toBe("Won")
    expect(textOf(await request(won(id), { era }))).toMatch(/^applied: /)
  })
})

it("the official client proposes, and reads the link", async () => {
  const client = new Client({ name: "test", version: "1" })
  const requestInit = { headers: { authorization: `Bearer ${boss}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp/changes`), { requestInit }))
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    "listEntityTypes",
    "listColumnsForType",
    "findEntities",
    "requestAction"
  ])
  expect(client.getInstructions()).toContain("only drafts")
  const id = await person("Grace")
  const drafted = await client.callTool({ name: "requestAction", arguments: won(id) })
  expect(linkOf(drafted).uri).toContain("/inbox/")
  const takes = await client.callTool({ name: "requestAction", arguments: { actionId: "people.update" } })
  expect(textOf(takes)).toMatch(/^takes entityIds values/)
  for (const bad of [{ actionId: "people.explode" }, won("zzzzzz"), { ...won(id), values: ["no equals sign"] }])
    expect((await client.callTool({ name: "requestAction", arguments: bad })).isError).toBe(true)
  await client.close()
})

it("the official client that accepts every question at once is asked none in its version, and changes nothing", async () => {
  let questions = 0
  const client = new Client({ name: "yolo", version: "1" }, { capabilities: { elicitation: { form: {} } } })
  client.setRequestHandler(ElicitRequestSchema, () => {
    questions += 1
    return { action: "accept", content: { answer: "Change it" } }
  })
  const requestInit = { headers: { authorization: `Bearer ${boss}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp/changes`), { requestInit }))
  const id = await person("Margaret")
  const began = performance.now()
  const drafted = await client.callTool({ name: "requestAction", arguments: won(id) })
  expect(performance.now() - began).toBeLessThan(1000)
  expect(textOf(drafted)).toMatch(/^draft \w+: waits for the person/)
  expect(linkOf(drafted).uri).toContain("/inbox/")
  expect([questions, await statusOf(id)]).toEqual([0, "Lead"])
  await client.close()
})

it("needs the scope changes; /mcp never has the fourth tool", async () => {
  for (const era of ERAS) {
    const refused = await send("tools/list", {}, { era, token: reader })
    expect([refused.status, refused.json.type]).toEqual([403, "urn:max:problem:not-in-scope"])
  }
  const id = await person("Alan")
  for (const era of ERAS) {
    const called = await send("tools/call", { name: "requestAction", arguments: won(id) }, { era, path: "/mcp" })
    expect(called.text).toMatch(/not found/)
  }
})

const FORMS = { form: {} }
const asked = (input: object, sent: Sent = {}) => request(input, { elicitation: FORMS, ...sent })
const answer = (input: object, requestState: unknown, response: object, sent: Sent = {}) =>
  asked(input, { ...sent, more: { requestState, inputResponses: { confirm: response } } })
const YES = { action: "accept", content: { answer: "Change it" } }

describe("a client that shows forms", () => {
  it("is asked to put the whole change to the person, and the yes applies it", async () => {
    const id = await person("Edsger")
    const question = await asked(won(id))
    expect(question).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        confirm: {
          method: "elicitation/create",
          params: { mode: "form", message: expect.stringMatching(/Edsger\n {2}Status: Lead → Won/) }
        }
      }
    })
    expect(textOf(await answer(won(id), question.requestState, YES))).toMatch(/^applied: /)
    expect(await statusOf(id)).toBe("Won")
    expect(textOf(await answer(won(id), question.requestState, YES))).toMatch(/^applied: /)
  })

  it.each([
    ["declines", { action: "decline" }],
    ["cancels", { action: "cancel" }],
    ["chooses Don't", { action: "accept", content: { answer: "Don't" } }],
    ["accepts without an answer", { action: "accept" }],
    ["answers something else", { action: "accept", content: { answer: true } }]
  ])("leaves the draft open when the person %s", async (what, response) => {
    const id = await person(`Barbara ${what}`)
    const { requestState } = await asked(won(id))
    expect(textOf(await answer(won(id), requestState, response))).toMatch(/^draft \w+: waits for the person/)
    expect(await statusOf(id)).toBe("Lead")
  })

  it("confirms nothing with a state that was changed, of another change, of another person, or without one", async () => {
    const [id, other] = [await person("Donald"), await person("Kurt")]
    const { requestState } = await asked(won(id))
    const another = (await asked(won(other))).requestState
    const theirs = /^draft (\w+)/.exec(textOf(await request(won(other), { token: drafter })))![1]
    for (const state of [another, theirs, `${requestState}a`, "", undefined])
      expect(textOf(await answer(won(id), state, YES))).toMatch(/^draft /)
    expect([await statusOf(id), await statusOf(other)]).toEqual(["Lead", "Lead"])
  })

  it("isn't asked without the scope confirm, and an answer that it makes up applies nothing", async () => {
    const id = await person("Ken")
    const drafted = await asked(won(id), { token: drafter })
    expect(drafted.resultType).not.toBe("input_required")
    const changeId = /^draft (\w+)/.exec(textOf(drafted))![1]
    await answer(won(id), changeId, YES, { token: drafter })
    expect(await statusOf(id)).toBe("Lead")
  })

  it("isn't asked about a change that needs two confirmations or a second person, and can't confirm it", async () => {
    const id = await person("Dennis")
    for (const input of [
      { actionId: "people.delete", entityIds: [id] },
      { actionId: "people.update", entityIds: [id], values: ["owner=Boss"] }
    ]) {
      const drafted = await asked(input)
      expect([drafted.resultType, textOf(drafted)]).toEqual(["complete", expect.stringMatching(/^draft /)])
      const changeId = /^draft (\w+)/.exec(textOf(drafted))![1]
      expect(textOf(await answer(input, changeId, YES))).toMatch(/^draft /)
    }
    expect(await statusOf(id)).toBe("Lead")
  })

  it("of an earlier version, or one that shows no forms, gets the link", async () => {
    const id = await person("Tony")
    for (const sent of [{ era: "2025-11-25" as const }, { elicitation: { url: {} } }])
      expect(textOf(await asked(won(id), sent))).toMatch(/^draft /)
  })
})

it("an expired draft is proposed again by the same call", async () => {
  const id = await person("Niklaus")
  const before = /^draft (\w+)/.exec(textOf(await request(won(id))))![1]!
  await server.run(expire(before))
  const after = /^draft (\w+): waits/.exec(textOf(await request(won(id))))![1]!
  expect(after).not.toBe(before)
  expect(textOf(await request(won(id)))).toContain(after)
})
