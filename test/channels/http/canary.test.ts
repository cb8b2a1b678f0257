import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { type Answer, ask, callTool, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { watched } from "../../support/watched.ts"

/** A marker per organization, planted wherever text can be; no other organization may ever see it. */
const CANARY = { atlas: "qzatlasqz", borealis: "qzborealisqz" } as const
type Slug = keyof typeof CANARY

const scope = Scope.makeUnsafe()
const seen = watched()
let server: TestServer
const tokens = {} as Record<Slug, string>
const codes: Array<string> = []

const plant = (slug: Slug) =>
  Effect.gen(function* () {
    const canary = CANARY[slug]
    const organization = yield* makeOrganization(slug)
    const [owner] = yield* addPeople(organization, [{ name: `Owner ${canary}` }])
    // Both organizations have the same people except for the marker.
    yield* addPeople(organization, [
      { name: "Ada Lovelace", phone: "801-555-0101", email: "ada@example.com", status: `s-${canary}` },
      { name: `Grace ${canary}`, phone: "801-555-0102", email: `grace@${canary}.example` }
    ])
    const policies = yield* Policies
    const { document } = yield* policies.current(organization)
    const own = JSON.parse(document.replaceAll("own-people", `r-${canary}`))
    const changing = { id: "change", effect: "allow", role: "admin", action: "update", type: "people", columns: "*" }
    const confirm = [{ action: "update", type: "people", columns: ["phone"], by: "second", approvers: ["admin"] }]
    const policy = { ...own, rules: [...own.rules, changing], confirm }
    yield* policies.publish(organization, JSON.stringify(policy), "operator")
    const { anchorId, token } = yield* memberWithToken(
      organization,
      `admin@${canary}.example`,
      ["admin"],
      ["tools", "chat", "changes", "confirm", "admin"]
    )
    const credentials = yield* Credentials
    codes.push((yield* credentials.createLink(organization, anchorId)).secret)
    return { token, owner: owner! }
  })

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(url, {}, seen.layer)
  for (const slug of ["atlas", "borealis"] as const) tokens[slug] = (await server.run(plant(slug))).token
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const everything = (answer: Answer) => JSON.stringify([answer.status, answer.headers, answer.text])

/**
 * Every operation, with calls that find rows, find none or are refused. Inputs contain only the beginning of the other
 * organization's marker, because an error may quote its input.
 */
const questions = (canary: string, other = canary.slice(0, -3)): ReadonlyArray<readonly [string, unknown]> => [
  ["listEntityTypes", {}],
  ["listColumnsForType", { entityTypeId: "people" }],
  ["listColumnsForType", { entityTypeId: other }],
  [
    "findEntities",
    { entityTypeId: "people", filters: [], limit: 25, selectColumns: ["phone", "email", "status", "owner"] }
  ],
  ...["ada", "grace", other, "owner"].map(
    (value) =>
      ["findEntities", { entityTypeId: "people", filters: [{ columnId: "name", op: "ilike", value }] }] as const
  ),
  [
    "findEntities",
    { entityTypeId: "people", filters: [{ columnId: "email", op: "eq", value: `grace@${canary}.example` }] }
  ],
  ["findEntities", { entityTypeId: "people", filters: [{ columnId: other, op: "eq", value: "x" }] }],
  ["findEntities", { entityTypeId: "people", filters: [], cursorEntityId: other }],
  ["findEntities", { entityTypeId: "people", filters: 5 }]
]

it("the tools return no other organization's data, in results or errors", async () => {
  let own = 0
  for (const [slug, other] of [
    ["atlas", "borealis"],
    ["borealis", "atlas"]
  ] as const) {
    for (const accept of ["application/json", "text/plain"]) {
      for (const [tool, input] of questions(CANARY[other])) {
        const answer = await callTool(server, tokens[slug], tool, input, { accept })
        expect(everything(answer), `${tool} ${JSON.stringify(input)}`).not.toContain(CANARY[other])
        if (answer.text.includes(CANARY[slug])) own += 1
      }
    }
    const whoAmI = await ask(server.url, "/v1/session", { headers: { authorization: `Bearer ${tokens[slug]}` } })
    expect(everything(whoAmI)).not.toContain(CANARY[other])
  }
  // The markers are visible to their own organization, so the checks above can fail.
  expect(own).toBeGreaterThan(10)
})

it("conversations, SSE and MCP return no other organization's data", async () => {
  let own = 0
  for (const [slug, other] of [
    ["atlas", "borealis"],
    ["borealis", "atlas"]
  ] as const) {
    const authorized = { ...JSON_TYPE, authorization: `Bearer ${tokens[slug]}` }
    const looked: Array<Answer> = []
    const message = (method: string, params: unknown) =>
      ask(server.url, "/mcp", {
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        headers: { ...authorized, accept: "application/json, text/event-stream" }
      })
    looked.push(await message("tools/list", {}))
    for (const [name, input] of questions(CANARY[other])) {
      looked.push(await message("tools/call", { name, arguments: input }))
    }
    for (const text of [
      "who is ada lovelace?",
      "what is ada lovelace's status?",
      "who is grace?",
      `who is ${CANARY[other].slice(0, -3)}?`,
      "who is owner?",
      "how many people are there?",
      "what can I look up?"
    ]) {
      const turn = await ask(server.url, "/v1/chat", { body: JSON.stringify({ text }), headers: authorized })
      expect(turn.headers["content-type"], text).toBe("text/event-stream")
      looked.push(turn)
    }
    const kept = await ask(server.url, "/v1/conversations", { headers: authorized })
    looked.push(kept)
    for (const { id } of kept.json.conversations) {
      looked.push(await ask(server.url, `/v1/conversations/${id}`, { headers: authorized }))
      const theirs = { headers: { authorization: `Bearer ${tokens[other]}` } }
      expect((await ask(server.url, `/v1/conversations/${id}`, theirs)).status).toBe(404)
    }
    for (const answer of looked) {
      expect(answer.status).toBe(200)
      expect(everything(answer)).not.toContain(CANARY[other])
      if (answer.text.includes(CANARY[slug])) own += 1
    }
  }
  expect(own).toBeGreaterThan(10)
})

it("concurrent calls of two organizations each return their own data", async () => {
  const input = { entityTypeId: "people", filters: [], limit: 25 }
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const slug: Slug = index % 2 === 0 ? "atlas" : "borealis"
      return { slug, answer: await callTool(server, tokens[slug], "findEntities", input) }
    })
  )
  for (const { answer, slug } of answers) {
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(CANARY[slug])
    expect(answer.text).not.toContain(CANARY[slug === "atlas" ? "borealis" : "atlas"])
  }
})

it("changes, their cards, lists, histories and actions tell no other organization anything, nor the logs a value", async () => {
  const proposed = {} as Record<
    Slug,
    { readonly changes: ReadonlyArray<{ changeId: string; digest: string }>; readonly row: string }
  >
  const call = (slug: Slug, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    ask(server.url, path, {
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: { ...(body === undefined ? {} : JSON_TYPE), authorization: `Bearer ${tokens[slug]}`, ...headers }
    })
  for (const slug of ["atlas", "borealis"] as const) {
    const filters = [{ columnId: "name", op: "eq", value: "Ada Lovelace" }]
    const page = await callTool(server, tokens[slug], "findEntities", { entityTypeId: "people", filters })
    const row = page.json.entities[0].entityId
    // One for the person to confirm, and one that waits for any other person with the role that both organizations' admins have.
    const changes = []
    for (const values of [{ status: `t-${CANARY[slug]}` }, { phone: "801-555-0199" }]) {
      const steps = [{ actionId: "people.update", entityIds: [row], values }]
      const answer = await call(slug, "/v1/changes", { steps, key: Object.keys(values).join() })
      expect([answer.status, answer.text.includes(CANARY[slug])]).toEqual([200, true])
      changes.push({ changeId: answer.json.changeId, digest: answer.json.preview.digest })
    }
    const waits = await call(slug, `/v1/changes/${changes[1]!.changeId}/confirm`, { digest: changes[1]!.digest })
    expect(waits.json._tag).toBe("Waiting")
    proposed[slug] = { changes, row }
  }
  for (const [slug, other] of [
    ["atlas", "borealis"],
    ["borealis", "atlas"]
  ] as const) {
    const { changes, row } = proposed[other]
    const step = (id: string) => ({ actionId: "people.update", entityIds: [id], values: { status: "x" } })
    for (const { changeId, digest } of changes) {
      const unknown = changeId.replace(/^./, (first) => (first === "a" ? "b" : "a"))
      // Each request about the other organization's change, and the same about one that doesn't exist.
      const pairs: ReadonlyArray<readonly [(id: string) => string, unknown?]> = [
        [(id) => `/v1/changes/${id}`],
        [(id) => `/v1/changes/${id}/events`],
        [(id) => `/v1/changes/${id}/confirm`, { digest }],
        [(id) => `/v1/changes/${id}/reject`, {}],
        [(id) => `/v1/changes/${id}/withdraw`, {}],
        [(id) => `/v1/changes/${id}/undo`, {}],
        [(id) => `/v1/admin/changes/${id}`]
      ]
      for (const [path, body] of pairs) {
        const [theirs, none] = [await call(slug, path(changeId), body), await call(slug, path(unknown), body)]
        expect(theirs.status, path(changeId)).toBe(none.status)
        const plain = (text: string) =>
          text
            .replaceAll(changeId, "ID")
            .replaceAll(unknown, "ID")
            .replace(/"reference":"\w+"/, "")
        expect(plain(theirs.text), path(changeId)).toBe(plain(none.text))
      }
    }
    const told = [
      await call(slug, "/v1/changes", { steps: [step(row)] }),
      await call(slug, `/v1/entities/people/${row}/history`),
      ...(await Promise.all(["waiting", "mine", "decided"].map((list) => call(slug, `/v1/changes?list=${list}`)))),
      await call(slug, "/v1/admin/changes"),
      await call(slug, "/v1/actions"),
      await call(slug, "/v1/intake", { source: "desk", sourceId: "1", from: "x@example.com", text: "who is grace?" }),
      await call(
        slug,
        "/mcp/changes",
        {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "requestAction",
            arguments: { actionId: "people.update", entityIds: [row], values: ["status=x"] }
          }
        },
        { accept: "application/json, text/event-stream" }
      )
    ]
    for (const answer of told) {
      expect(everything(answer)).not.toContain(CANARY[other])
      for (const { changeId } of changes) expect(answer.text).not.toContain(changeId)
    }
    expect(told[0]!.status).toBe(404)
  }
  for (const slug of ["atlas", "borealis"] as const) {
    const { changeId, digest } = proposed[slug].changes[0]!
    const applied = await call(slug, `/v1/changes/${changeId}/confirm`, { digest })
    expect([applied.status, applied.json._tag]).toEqual([200, "Applied"])
    const undo = await call(slug, `/v1/changes/${changeId}/undo`, {})
    expect(undo.text).toContain(CANARY[slug])
  }
  // Control: the values were in requests and answers; what leaves the process beside has none of them.
  const left = seen.recorded()
  for (const canary of Object.values(CANARY)) expect(left).not.toContain(`t-${canary}`)
})

it("spans and logs contain no value, question or secret, whatever failed", async () => {
  const question = "qzquestionqz"
  const asked = { entityTypeId: "people", filters: [{ columnId: "name", op: "eq", value: question }] }
  await callTool(server, tokens.atlas, "findEntities", asked)
  await callTool(server, `max_${question}`, "findEntities", asked)
  const own = { ...JSON_TYPE, authorization: `Bearer ${tokens.atlas}` }
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "findEntities", arguments: asked } }
  expect((await ask(server.url, "/mcp", { body: JSON.stringify(message), headers: own })).text).toContain("total 0")
  for (const text of [`who is ${question}?`, `who is grace ${CANARY.atlas}?`]) {
    const turn = await ask(server.url, "/v1/chat", { body: JSON.stringify({ text, turn: question }), headers: own })
    expect(turn.status).toBe(text.includes(question) ? 200 : 400)
  }
  const found = await ask(server.url, "/v1/chat", {
    body: JSON.stringify({ text: "who is ada lovelace?" }),
    headers: own
  })
  expect(found.text).toContain("event: done")
  await ask(server.url, "/v1/conversations", { headers: own })
  await ask(server.url, `/v1/conversations/${question}`, { headers: own })
  await callTool(server, tokens.atlas, "findEntities", { ...asked, [question]: 1 })
  await ask(server.url, `/v1/${question}?q=${question}`, { headers: { "user-agent": question, "x-test": question } })
  await ask(server.url, "/v1/tools/findEntities", {
    body: `{"${question}`,
    headers: { ...JSON_TYPE, authorization: `Bearer ${tokens.atlas}` }
  })
  await ask(server.url, "/v1/session", {
    body: JSON.stringify({ code: codes[0] }),
    headers: { ...JSON_TYPE, origin: server.url }
  })
  await ask(server.url, "/v1/session", { headers: { cookie: `max_session=${question}` } })
  // An unreadable catalog: the defect's message quotes the invalid value.
  await server.run(
    Effect.gen(function* () {
      const { owner } = yield* Database
      const broken = `{"_tag":"${CANARY.atlas}"}`
      yield* owner`UPDATE builder.columns SET storage = ${broken}::text::jsonb WHERE column_key = 'status'`
      yield* owner`UPDATE max.organizations SET epoch = epoch + 1`
    })
  )
  expect((await callTool(server, tokens.atlas, "listEntityTypes", {})).status).toBe(500)
  const recorded = seen.recorded()
  const names = new Set(seen.spans.map(({ name }) => name))
  expect([...names]).toEqual(expect.arrayContaining(["POST /v1/tools/findEntities", "EntityQueryService.find", "GET"]))
  expect(seen.lines.length).toBeGreaterThan(0)
  const secrets = [...Object.values(tokens), ...codes].map((secret) => secret.slice(-43))
  const phones = ["801-555-0101", "+18015550101", "8015550101"]
  for (const hidden of [...Object.values(CANARY), question, ...secrets, ...phones, "ada@example.com", "lovelace"]) {
    expect(recorded.toLowerCase().includes(hidden.toLowerCase()), hidden).toBe(false)
  }
  const ofRequests = seen.spans.filter(({ kind }) => kind === "server")
  const attributes = new Set(ofRequests.flatMap((span) => [...span.attributes.keys()]))
  expect([...attributes].sort()).toEqual([
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "max.bytes",
    "max.channel",
    "max.organization.id",
    "mcp.method.name"
  ])
})
