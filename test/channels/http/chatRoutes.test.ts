/** Each endpoint of chat and conversations: its status, headers and body. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { HttpServerResponse } from "effect/http"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { failure } from "../../../src/channels/http/chat.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { lastIn } from "../../support/eventStream.ts"
import { ask, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { finds, inTurn, type MessagesServer, says, startMessages } from "../../support/messages.ts"

const scope = Scope.makeUnsafe()
let messages: MessagesServer
let server: TestServer
let basic: TestServer
let token: string
let organization: Organization

beforeAll(async () => {
  messages = await startMessages()
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  const anthropicKey = Redacted.make("sk-test")
  server = await startServer(url, { provider: "anthropic", anthropicKey, anthropicUrl: messages.url })
  basic = await startServer(url, { provider: "basic" })
  await server.run(
    Effect.gen(function* () {
      organization = yield* makeOrganization("atlas")
      yield* addPeople(organization, [{ name: "Ada Lovelace" }, { name: "Grace Hopper" }])
      token = (yield* memberWithToken(organization, "boss@atlas.example", ["admin"], ["chat"])).token
    })
  )
})

afterAll(async () => {
  await server.stop()
  await basic.stop()
  await messages.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

beforeEach(() => messages.reset(() => says("Hello there.")))

const request = (path: string, more: { method?: string; body?: string; headers?: object } = {}, at = server) =>
  ask(at.url, path, { ...more, headers: { authorization: `Bearer ${token}`, ...more.headers } })
const say = (said: object) => request("/v1/chat", { body: JSON.stringify(said), headers: JSON_TYPE })
const missing = (kind: string) => ({ status: 404, detail: `You have no ${kind} with this name.` })

describe("chat over HTTP", () => {
  it("streams a turn without buffering, and continues its conversation", async () => {
    const first = await say({ text: "hello" })
    expect([first.status, first.headers["content-type"], first.headers["x-accel-buffering"]]).toEqual([
      200,
      "text/event-stream",
      "no"
    ])
    const { session, text } = lastIn(first.text)
    expect(text).toBe("Hello there.")
    expect(lastIn((await say({ text: "again", conversation: session })).text).session).toBe(session)
    await say({ text: "instead", conversation: session, after: 1 })
    const { json, status } = await request(`/v1/conversations/${session}`)
    expect([status, json.id, json.turns.map(({ asked }: { asked: string }) => asked)]).toEqual([
      200,
      session,
      ["hello", "instead"]
    ])
    const listed = await request("/v1/conversations?limit=1")
    expect([listed.status, listed.json.conversations.map(({ id }: { id: string }) => id)]).toEqual([200, [session]])
    const found = async (search: string) => (await request(`/v1/conversations?search=${search}`)).json.conversations
    expect([(await found("hello")).length, (await found("elsewhere")).length]).toEqual([1, 0])
    const removed = await request(`/v1/conversations/${session}`, { method: "DELETE" })
    expect([removed.status, removed.text]).toEqual([204, ""])
    for (const method of ["GET", "DELETE"])
      expect((await request(`/v1/conversations/${session}`, { method })).json).toMatchObject(missing("conversation"))
  })

  it("answers with a problem if the first event is an error, but a later error ends the stream", async () => {
    messages.reset(() => ({ status: 400, error: "invalid_request_error" }))
    const failed = await say({ text: "hello" })
    expect([failed.status, failed.json.type]).toEqual([503, "urn:max:problem:no-answer"])
    expect(failed.json.reference).toMatch(/^\w+$/)
    messages.reset(inTurn(finds("people", []), { status: 400, error: "invalid_request_error" }))
    const later = await say({ text: "who?", turn: "late" })
    expect([later.status, lastIn(later.text)._tag]).toEqual([200, "error"])
    const number = /^id: (\d+)$/m.exec(later.text.trim().split("\n\n").at(-1)!)![1]!
    const headers = { "last-event-id": String(Number(number) - 1) }
    const resumed = await request("/v1/chat/late", { headers })
    expect([resumed.status, lastIn(resumed.text)._tag]).toEqual([200, "error"])
  })

  it("offers choices on the last turn with an answer, and takes one", async () => {
    messages.reset(inTurn(finds("people", []), says("Ada Lovelace or Grace Hopper?"), says("All right.")))
    const { session } = lastIn((await say({ text: "who?" })).text)
    const turns = async () => (await request(`/v1/conversations/${session}`)).json.turns
    const [{ choices }] = await turns()
    expect(choices.map(({ name }: { name: string }) => name)).toEqual(["Ada Lovelace", "Grace Hopper"])
    expect(lastIn((await say({ choice: choices[1].handle, conversation: session })).text).text).toBe("All right.")
    const [first, second] = await turns()
    expect(first).not.toHaveProperty("choices")
    expect(second.choices).toEqual([])
    const before = await request(`/v1/conversations/${session}?before=2&limit=1`)
    expect(before.json.turns.map(({ position }: { position: number }) => position)).toEqual([1])
  })

  it("offers no choices on an answer that isn't shown any more", async () => {
    messages.reset(inTurn(finds("people", []), says("Ada Lovelace or Grace Hopper?")))
    const { session } = lastIn((await say({ text: "who?" })).text)
    const give = (...roles: ReadonlyArray<string>) =>
      server.run(
        Effect.flatMap(Memberships, (members) => members.add(organization, { identifier: "boss@atlas.example", roles }))
      )
    await give("member")
    const { json, status } = await request(`/v1/conversations/${session}`)
    await give("admin")
    expect([status, json.turns]).toEqual([
      200,
      [{ position: 1, asked: "who?", at: expect.any(String), reference: expect.any(String) }]
    ])
  })

  it("lists, resumes and stops named turns", async () => {
    const { text } = await say({ text: "hello", turn: "named" })
    const held = await request("/v1/chat")
    expect([held.status, held.json.turns.at(-1)]).toEqual([200, { turn: "named", asked: "hello", answering: false }])
    expect((await request("/v1/chat/named")).text).toBe(text)
    const number = Number(/^id: (\d+)$/m.exec(text)![1])
    const rest = await request("/v1/chat/named", { headers: { "last-event-id": String(number) } })
    expect(rest.text).toBe(text.slice(text.indexOf("\n\n") + 2))
    const stopped = await request("/v1/chat/named", { method: "DELETE" })
    expect([stopped.status, stopped.text]).toEqual([204, ""])
    for (const method of ["GET", "DELETE"])
      expect((await request("/v1/chat/named", { method })).json).toMatchObject(missing("turn"))
  })

  it("offers questions, and says whether a model answers", async () => {
    const welcome = await request("/v1/welcome")
    expect([welcome.status, welcome.json]).toMatchObject([200, { organization: "Atlas", mode: "model" }])
    expect((await request("/v1/welcome", {}, basic)).json.mode).toBe("basic")
  })

  it.each([
    ["NotAdmitted", 403, "not-admitted"],
    ["InvalidInput", 400, "invalid-input"],
    ["Budget", 429, "budget-spent"],
    ["Model", 503, "no-answer"],
    ["Timeout", 503, "no-answer"],
    ["Stopped", 503, "no-answer"],
    ["Unavailable", 503, "unavailable"]
  ] as const)("gives each failure of a turn its problem: %s", async (reason, status, slug) => {
    const response = failure({ _tag: "error", reason, message: "Why." })
    const body: any = await HttpServerResponse.toWeb(response).json()
    expect([response.status, body.type, body.detail]).toEqual([status, `urn:max:problem:${slug}`, "Why."])
    expect(body).not.toHaveProperty("reference")
  })

  it("gives a failure of a turn the reference of its trace", async () => {
    const response = failure({ _tag: "error", reason: "Timeout", message: "Why.", reference: "4DV2" })
    expect(await HttpServerResponse.toWeb(response).json()).toMatchObject({ reference: "4DV2" })
  })
})
