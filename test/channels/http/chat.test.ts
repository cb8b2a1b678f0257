import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { connect, type TurnEvent } from "../../../src/channels/http/client.ts"
import { publish } from "../../support/agent.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { finds, inTurn, type MessagesServer, says, startMessages } from "../../support/messages.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"

const scope = Scope.makeUnsafe()
let messages: MessagesServer
let server: TestServer
let url: string
let organization: Organization
const tokens = {} as Record<"admin" | "member" | "other" | "toolsOnly", string>

beforeAll(async () => {
  messages = await startMessages()
  url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(url, {
    provider: "anthropic",
    anthropicKey: Redacted.make("sk-test"),
    anthropicUrl: messages.url,
    turnSeconds: 60
  })
  await server.run(
    Effect.gen(function* () {
      organization = yield* makeOrganization("atlas")
      yield* addPeople(organization, [{ name: "Ada Lovelace", status: "Customer", phone: "+1 512-555-0142" }])
      const second = yield* makeOrganization("other")
      const token = (of: Organization, email: string, roles: ReadonlyArray<string>, scopes: any = ["tools", "chat"]) =>
        Effect.map(memberWithToken(of, email, roles, scopes), (member) => member.token)
      tokens.admin = yield* token(organization, "boss@atlas.example", ["admin"])
      tokens.member = yield* token(organization, "staff@atlas.example", ["member"])
      tokens.toolsOnly = yield* token(organization, "robot@atlas.example", ["admin"], ["tools"])
      tokens.other = yield* token(second, "boss@other.example", ["admin"])
    })
  )
})

afterAll(async () => {
  await server.stop()
  await messages.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

beforeEach(() => messages.reset(() => says("Hello there.")))

const as = (who: keyof typeof tokens) => connect({ url: server.url, token: tokens[who] })

const collect = async (events: AsyncIterable<TurnEvent>) => {
  const all: Array<TurnEvent> = []
  for await (const event of events) all.push(event)
  return all
}

const done = (events: ReadonlyArray<TurnEvent>) => {
  const last = events.at(-1)
  if (last?._tag !== "done") throw new Error(`ended with ${JSON.stringify(last)}`)
  return last
}

const post = (body: unknown, who: keyof typeof tokens = "admin") =>
  ask(server.url, "/v1/chat", {
    body: JSON.stringify(body),
    headers: { ...JSON_TYPE, authorization: `Bearer ${tokens[who]}` }
  })

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const slow = says("One two three four five six seven eight nine ten. ".repeat(20), { pace: 40, piece: 10 })

describe("POST /v1/chat", () => {
  it("streams a turn as numbered server-sent events", async () => {
    messages.reset(inTurn(finds("people", [["name", "eq", "ada lovelace"]]), says("Ada Lovelace is a customer.")))
    const answer = await post({ text: "who is ada lovelace?" })
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/event-stream"])
    const blocks = answer.text.trim().split("\n\n")
    expect(blocks.map((block) => /^id: (\d+)\n?/m.exec(block)?.[1])).toEqual(blocks.map((_, at) => String(at + 1)))
    expect(blocks[0]).toContain("event: tool\n")
    const last = JSON.parse(/^data: (.*)$/m.exec(blocks.at(-1)!)![1]!)
    expect(last).toMatchObject({ _tag: "done", text: "Ada Lovelace is a customer." })
  })

  it("continues a conversation, which only its person can list, read and delete", async () => {
    const first = done(await collect(as("admin").chat({ text: "hello" })))
    const second = done(await collect(as("admin").chat({ text: "again", conversation: first.session })))
    expect(second.session).toBe(first.session)
    const { conversations } = await as("admin").conversations.list()
    expect(conversations.find(({ id }) => id === first.session)?.turns).toBe(2)
    const shown = await as("admin").conversations.get(first.session)
    expect(shown.turns.map(({ answered, asked }) => [asked, answered])).toEqual([
      ["hello", "Hello there."],
      ["again", "Hello there."]
    ])
    for (const who of ["member", "other"] as const) {
      expect((await as(who).conversations.list()).conversations).toEqual([])
      await expect(as(who).conversations.get(first.session)).rejects.toMatchObject({ _tag: "NotFound" })
      await expect(as(who).conversations.delete(first.session)).rejects.toMatchObject({ _tag: "NotFound" })
      const theirs = done(await collect(as(who).chat({ text: "mine?", conversation: first.session })))
      expect(theirs.session).not.toBe(first.session)
      await as(who).conversations.delete(theirs.session)
    }
    await as("admin").conversations.delete(first.session)
    await expect(as("admin").conversations.get(first.session)).rejects.toMatchObject({ _tag: "NotFound" })
  })

  it("withholds stored answers from before a policy change", async () => {
    const { session } = done(await collect(as("admin").chat({ text: "hello" })))
    const hidden = {
      id: "no-phones",
      effect: "deny",
      role: "member",
      action: "read",
      type: "people",
      columns: ["phone"]
    }
    await server.run(publish(organization, (rules) => [...rules, hidden]))
    const { turns } = await as("admin").conversations.get(session)
    expect(turns.map(({ answered, asked }) => [asked, answered])).toEqual([["hello", undefined]])
  })

  it("answers with a problem before the first event, and calls no model without the scope chat", async () => {
    expect((await post({ text: "  " })).json).toMatchObject({ type: "urn:max:problem:invalid-input", status: 400 })
    expect((await post({ text: "x".repeat(5000) })).status).toBe(400)
    expect((await post({ choice: "people/unknown" })).status).toBe(400)
    expect((await post({ text: "hello", choice: "x" })).status).toBe(400)
    expect((await post({ text: "hello", turn: "not a name" })).status).toBe(400)
    expect((await post({ text: "hello" }, "toolsOnly")).json.type).toBe("urn:max:problem:not-in-scope")
    expect((await ask(server.url, "/v1/chat", { body: '{"text":"hi"}', headers: JSON_TYPE })).status).toBe(401)
    expect(messages.requests).toEqual([])
    messages.reset(() => ({ status: 401, error: "authentication_error" }))
    expect((await post({ text: "hello" })).json).toMatchObject({ type: "urn:max:problem:no-answer", status: 503 })
  })

  it("ends a started stream with an error event when the model fails", async () => {
    messages.reset(inTurn(finds("people", []), { status: 401, error: "authentication_error" }))
    const events = await collect(as("admin").chat({ text: "who is there?" }))
    expect(events.map(({ _tag }) => _tag)).toEqual(["tool", "error"])
  })

  it("cancels the model call when the client disconnects, and stores nothing of the turn", async () => {
    messages.reset(() => slow)
    const before = (await as("admin").conversations.list()).conversations.length
    for await (const event of as("admin").chat({ text: "talk" })) if (event._tag === "delta") break
    await until(() => messages.requests[0]?.aborted === true)
    expect((await as("admin").conversations.list()).conversations).toHaveLength(before)
  })

  it("cancels the model call when the client disconnects before the first event", async () => {
    messages.reset(() => new Promise<never>(() => {}))
    const leaving = new AbortController()
    const asked = fetch(`${server.url}/v1/chat`, {
      method: "POST",
      body: JSON.stringify({ text: "talk" }),
      headers: { ...JSON_TYPE, authorization: `Bearer ${tokens.admin}` },
      signal: leaving.signal
    })
    await until(() => messages.requests.length > 0)
    leaving.abort()
    await expect(asked).rejects.toThrow("aborted")
    await until(() => messages.requests[0]!.aborted)
  })

  it("continues a named turn after a disconnect, and only its person can resume it", async () => {
    messages.reset(() => says("First part. Second part. Third part.", { pace: 60, piece: 6 }))
    const request = { text: "in parts", turn: "parts-1" }
    const received: Array<TurnEvent> = []
    for await (const event of as("admin").chat(request)) {
      received.push(event)
      if (event._tag === "delta") break
    }
    for (const who of ["member", "other"] as const) {
      await expect(collect(as(who).resume("parts-1"))).rejects.toMatchObject({ _tag: "NotFound" })
    }
    const rest = await collect(as("admin").resume("parts-1", received.length))
    const text = [...received, ...rest].map((event) => (event._tag === "delta" ? event.text : "")).join("")
    expect([text, done(rest).text]).toEqual(["First part. Second part. Third part.", done(rest).text])
    expect(messages.requests).toHaveLength(1)
    // Repeating the request resumes the turn; the same name with another text is invalid.
    expect(done(await collect(as("admin").chat(request))).session).toBe(done(rest).session)
    expect(messages.requests).toHaveLength(1)
    await expect(collect(as("admin").chat({ ...request, text: "other" }))).rejects.toMatchObject({
      _tag: "InvalidInput"
    })
    await expect(collect(as("admin").resume("never-begun"))).rejects.toMatchObject({ _tag: "NotFound" })
  })

  it("stops a named turn for its person only, and stores nothing of it", async () => {
    messages.reset(() => says("A long story that goes on and on. ".repeat(50), { pace: 40, piece: 8 }))
    const before = (await as("admin").conversations.list()).conversations.length
    const request = { text: "a story", turn: "story-1" }
    const listening = collect(as("admin").chat(request))
    await until(() => messages.requests.length > 0)
    for (const who of ["member", "other"] as const) {
      await expect(as(who).stop("story-1")).rejects.toMatchObject({ _tag: "NotFound" })
    }
    await as("admin").stop("story-1")
    await until(() => messages.requests[0]?.aborted === true)
    expect((await listening.catch((error: unknown) => [error])).at(-1)).toMatchObject(
      // A problem before the first event, otherwise the last event.
      { _tag: expect.stringMatching(/^(error|NoAnswer)$/) }
    )
    expect((await as("admin").conversations.list()).conversations).toHaveLength(before)
    await expect(as("admin").stop("story-1")).rejects.toMatchObject({ _tag: "NotFound" })
    await expect(collect(as("admin").resume("story-1"))).rejects.toMatchObject({ _tag: "NotFound" })
    // The name can be reused, and stopping an ended turn removes nothing.
    messages.reset(() => says("Short."))
    const { session } = done(await collect(as("admin").chat(request)))
    await as("admin").stop("story-1")
    expect((await as("admin").conversations.get(session)).turns).toMatchObject([{ answered: "Short." }])
  })

  it("reports a stopped turn to its listeners", async () => {
    messages.reset(() => says("A long story that goes on and on. ".repeat(50), { pace: 40, piece: 8 }))
    const received: Array<TurnEvent> = []
    for await (const event of as("admin").chat({ text: "a story", turn: "story-2" })) {
      if (received.length === 0) await as("admin").stop("story-2")
      received.push(event)
    }
    expect(received[0]).toMatchObject({ _tag: "delta" })
    expect(received.at(-1)).toEqual({ _tag: "error", reason: "Stopped", message: "You stopped this answer." })
  })

  it("cancels every model call when all clients disconnect simultaneously, and keeps answering others", async () => {
    messages.reset(() => slow)
    const clients = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const turn = as("admin").chat({ text: `talk ${index}` })
        const events = turn[Symbol.asyncIterator]()
        for (let next = await events.next(); next.value?._tag !== "delta"; next = await events.next());
        return events
      })
    )
    await Promise.all(clients.map((events) => events.return?.()))
    await until(() => messages.requests.length === 40 && messages.requests.every(({ aborted }) => aborted))
    messages.reset(() => says("Still here."))
    expect(done(await collect(as("admin").chat({ text: "hello?" }))).text).toBe("Still here.")
  })

  it("serializes fifty concurrent turns of one conversation, and stores each", async () => {
    const { session } = done(await collect(as("admin").chat({ text: "begin" })))
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, at) => collect(as("admin").chat({ text: `turn ${at}`, conversation: session })))
    )
    expect(new Set(all.map((events) => done(events).session))).toEqual(new Set([session]))
    const { turns } = await as("admin").conversations.get(session)
    expect(turns).toHaveLength(51)
    expect(new Set(turns.slice(1).map(({ asked }) => asked)).size).toBe(50)
  })

  it("counts each turn against the person's calls per minute", async () => {
    const few = await startServer(url, { callsPerPerson: 2 })
    const send = () =>
      ask(few.url, "/v1/chat", {
        body: '{"text":"hello"}',
        headers: { ...JSON_TYPE, authorization: `Bearer ${tokens.member}` }
      })
    const statuses = [await send(), await send(), await send(), await send(), await send()].map(({ status }) => status)
    // The minute may change in between; then one of the two minutes has at least three of the five calls.
    expect(statuses).toContain(429)
    await few.stop()
  })
})
