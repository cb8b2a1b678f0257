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
        Effect.map(memberWithToken(of, email, roles, scopes), (made) => made.token)
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
  it("streams the events of a turn as a browser reads them, with its numbers", async () => {
    messages.reset(inTurn(finds("people", [["name", "eq", "ada lovelace"]]), says("Ada Lovelace is a customer.")))
    const answer = await post({ text: "who is ada lovelace?" })
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/event-stream"])
    const blocks = answer.text.trim().split("\n\n")
    expect(blocks.map((block) => /^id: (\d+)\n?/m.exec(block)?.[1])).toEqual(blocks.map((_, at) => String(at + 1)))
    expect(blocks[0]).toContain("event: tool\n")
    const last = JSON.parse(/^data: (.*)$/m.exec(blocks.at(-1)!)![1]!)
    expect(last).toMatchObject({ _tag: "done", text: "Ada Lovelace is a customer." })
  })

  it("goes on with a conversation, which is listed, shown and deleted for its person and nobody else", async () => {
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

  it("doesn't show what was answered before the policy changed", async () => {
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

  it("answers with a problem as long as nothing was said, and calls no model for whoever may not chat", async () => {
    expect((await post({ text: "  " })).json).toMatchObject({ type: "urn:max:problem:invalid-input", status: 400 })
    expect((await post({ text: "x".repeat(5000) })).status).toBe(400)
    expect((await post({ choice: "people/nobody" })).status).toBe(400)
    expect((await post({ text: "hello", choice: "x" })).status).toBe(400)
    expect((await post({ text: "hello", turn: "not a name" })).status).toBe(400)
    expect((await post({ text: "hello" }, "toolsOnly")).json.type).toBe("urn:max:problem:not-in-scope")
    expect((await ask(server.url, "/v1/chat", { body: '{"text":"hi"}', headers: JSON_TYPE })).status).toBe(401)
    expect(messages.requests).toEqual([])
    messages.reset(() => ({ status: 401, error: "authentication_error" }))
    expect((await post({ text: "hello" })).json).toMatchObject({ type: "urn:max:problem:no-answer", status: 503 })
  })

  it("ends a stream that has begun with an error event", async () => {
    messages.reset(inTurn(finds("people", []), { status: 401, error: "authentication_error" }))
    const events = await collect(as("admin").chat({ text: "who is there?" }))
    expect(events.map(({ _tag }) => _tag)).toEqual(["tool", "error"])
  })

  it("cancels the model's call when the client goes away, and keeps nothing of the turn", async () => {
    messages.reset(() => slow)
    const before = (await as("admin").conversations.list()).conversations.length
    for await (const event of as("admin").chat({ text: "talk" })) if (event._tag === "delta") break
    await until(() => messages.requests[0]?.aborted === true)
    expect((await as("admin").conversations.list()).conversations).toHaveLength(before)
  })

  it("cancels the model's call when the client goes away before the first event", async () => {
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

  it("goes on with a turn that has a name, for whoever comes back for the rest", async () => {
    messages.reset(() => says("First part. Second part. Third part.", { pace: 60, piece: 6 }))
    const said = { text: "in parts", turn: "parts-1" }
    const heard: Array<TurnEvent> = []
    for await (const event of as("admin").chat(said)) {
      heard.push(event)
      if (event._tag === "delta") break
    }
    for (const who of ["member", "other"] as const) {
      await expect(collect(as(who).resume("parts-1"))).rejects.toMatchObject({ _tag: "NotFound" })
    }
    const rest = await collect(as("admin").resume("parts-1", heard.length))
    const text = [...heard, ...rest].map((event) => (event._tag === "delta" ? event.text : "")).join("")
    expect([text, done(rest).text]).toEqual(["First part. Second part. Third part.", done(rest).text])
    expect(messages.requests).toHaveLength(1)
    // Sending it again is listening to it again; with other words it is a mistake.
    expect(done(await collect(as("admin").chat(said))).session).toBe(done(rest).session)
    expect(messages.requests).toHaveLength(1)
    await expect(collect(as("admin").chat({ ...said, text: "other" }))).rejects.toMatchObject({ _tag: "InvalidInput" })
    await expect(collect(as("admin").resume("never-begun"))).rejects.toMatchObject({ _tag: "NotFound" })
  })

  it("stops a turn that has a name, for its person only, and keeps nothing of it", async () => {
    messages.reset(() => says("A long story that goes on and on. ".repeat(50), { pace: 40, piece: 8 }))
    const before = (await as("admin").conversations.list()).conversations.length
    const said = { text: "a story", turn: "story-1" }
    const listening = collect(as("admin").chat(said))
    await until(() => messages.requests.length > 0)
    for (const who of ["member", "other"] as const) {
      await expect(as(who).stop("story-1")).rejects.toMatchObject({ _tag: "NotFound" })
    }
    await as("admin").stop("story-1")
    await until(() => messages.requests[0]?.aborted === true)
    expect((await listening.catch((error: unknown) => [error])).at(-1)).toMatchObject(
      // Before anything was said it is a problem, and afterwards the last event.
      { _tag: expect.stringMatching(/^(error|NoAnswer)$/) }
    )
    expect((await as("admin").conversations.list()).conversations).toHaveLength(before)
    await expect(as("admin").stop("story-1")).rejects.toMatchObject({ _tag: "NotFound" })
    await expect(collect(as("admin").resume("story-1"))).rejects.toMatchObject({ _tag: "NotFound" })
    // The name is free again, and stopping what has ended takes nothing back.
    messages.reset(() => says("Short."))
    const { session } = done(await collect(as("admin").chat(said)))
    await as("admin").stop("story-1")
    expect((await as("admin").conversations.get(session)).turns).toMatchObject([{ answered: "Short." }])
  })

  it("tells whoever listens that a turn was stopped", async () => {
    messages.reset(() => says("A long story that goes on and on. ".repeat(50), { pace: 40, piece: 8 }))
    const heard: Array<TurnEvent> = []
    for await (const event of as("admin").chat({ text: "a story", turn: "story-2" })) {
      if (heard.length === 0) await as("admin").stop("story-2")
      heard.push(event)
    }
    expect(heard[0]).toMatchObject({ _tag: "delta" })
    expect(heard.at(-1)).toEqual({ _tag: "error", reason: "Stopped", message: "You stopped this answer." })
  })

  it("cancels every call of the model when all clients go away at once, and goes on answering", async () => {
    messages.reset(() => slow)
    const clients = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const said = as("admin").chat({ text: `talk ${index}` })
        const events = said[Symbol.asyncIterator]()
        for (let next = await events.next(); next.value?._tag !== "delta"; next = await events.next());
        return events
      })
    )
    await Promise.all(clients.map((events) => events.return?.()))
    await until(() => messages.requests.length === 40 && messages.requests.every(({ aborted }) => aborted))
    messages.reset(() => says("Still here."))
    expect(done(await collect(as("admin").chat({ text: "hello?" }))).text).toBe("Still here.")
  })

  it("answers fifty turns of one conversation at once, one after the other, each kept", async () => {
    const { session } = done(await collect(as("admin").chat({ text: "begin" })))
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, at) => collect(as("admin").chat({ text: `turn ${at}`, conversation: session })))
    )
    expect(new Set(all.map((events) => done(events).session))).toEqual(new Set([session]))
    const { turns } = await as("admin").conversations.get(session)
    expect(turns).toHaveLength(51)
    expect(new Set(turns.slice(1).map(({ asked }) => asked)).size).toBe(50)
  })

  it("counts each turn against the person's minute", async () => {
    const few = await startServer(url, { callsPerPerson: 2 })
    const said = () =>
      ask(few.url, "/v1/chat", {
        body: '{"text":"hello"}',
        headers: { ...JSON_TYPE, authorization: `Bearer ${tokens.member}` }
      })
    const statuses = [await said(), await said(), await said(), await said(), await said()].map(({ status }) => status)
    // A minute may end in between, and one of the two has three of them.
    expect(statuses).toContain(429)
    await few.stop()
  })
})
