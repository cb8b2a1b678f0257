/** Named turns over two servers and one database: answered once, and readable at each of them. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished } from "vitest"
import { connect } from "../../../src/channels/http/client.ts"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { TurnNames } from "../../../src/services/conversations/TurnNames.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { publish } from "../../support/agent.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { begun, blocksIn, type EventStream, lastIn, postTurn, resumeTurn } from "../../support/eventStream.ts"
import { startServer, startServerForTest, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { finds, inTurn, type MessagesServer, says, startMessages } from "../../support/messages.ts"
import { runOnServer } from "../../support/newDatabase.ts"
import { until } from "../../support/until.ts"

const scope = Scope.makeUnsafe()
let messages: MessagesServer
let url: string
let a: TestServer
let b: TestServer
let organization: Organization
const tokens = {} as Record<"admin" | "member" | "other", string>

const settings = () =>
  ({
    provider: "anthropic",
    anthropicKey: Redacted.make("sk-test"),
    anthropicUrl: messages.url,
    turnSeconds: 120,
    dayTurns: 10_000,
    dayTokens: 100_000_000
  }) as const

beforeAll(async () => {
  messages = await startMessages()
  url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  a = await startServer(url, settings())
  b = await startServer(url, settings())
  await a.run(
    Effect.gen(function* () {
      organization = yield* makeOrganization("atlas")
      yield* addPeople(organization, [{ name: "Ada Lovelace", status: "Customer", phone: "+1 512-555-0142" }])
      const second = yield* makeOrganization("other")
      const token = (of: Organization, email: string, roles: ReadonlyArray<string>) =>
        Effect.map(memberWithToken(of, email, roles, ["chat"]), (member) => member.token)
      tokens.admin = yield* token(organization, "boss@atlas.example", ["admin"])
      tokens.member = yield* token(organization, "staff@atlas.example", ["member"])
      tokens.other = yield* token(second, "boss@other.example", ["admin"])
    })
  )
})

afterAll(async () => {
  await a.stop()
  await b.stop()
  await messages.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const FIND = finds("people", [["name", "eq", "Ada Lovelace"]], { selectColumns: ["phone"] })
const ANSWER = "Ada Lovelace's number is (512) 555-0142. 🙂"
beforeEach(() => messages.reset(inTurn(FIND, says(ANSWER))))

/** An answer of half a minute, so that what happens meanwhile happens before its end. */
const SLOW = says("A long story that goes on. 🙂 ".repeat(20), { pace: 300, piece: 6 })
/** An answer of a few seconds. */
const STEADY = says("A long story that goes on. 🙂 ".repeat(20), { pace: 50, piece: 6 })

const client = (token = tokens.admin) => connect({ url: a.url, token })
const conversations = async () => (await client().conversations.list()).conversations
const rows = <Row extends object>(statement: string) =>
  a.run(Effect.flatMap(Database, ({ owner }) => owner.unsafe<Row>(statement)))
const all = (streams: ReadonlyArray<EventStream>) => Promise.all(streams.map((stream) => stream.all))

describe("a named turn that arrives at two processes", () => {
  it("is answered once, and both streams have the same bytes", async () => {
    const said = { text: "ada's phone?", turn: "once" }
    const before = (await conversations()).length
    const [one, two] = await all([await postTurn(a, tokens.admin, said), await postTurn(b, tokens.admin, said)])
    expect(lastIn(one!)).toMatchObject({ _tag: "done", text: ANSWER })
    expect(two).toBe(one)
    expect(messages.requests).toHaveLength(2)
    expect(await conversations()).toHaveLength(before + 1)
  })

  it("is followed while the answer is written", async () => {
    messages.reset(() => SLOW)
    const said = { text: "a story", turn: "live" }
    const one = await postTurn(a, tokens.admin, said)
    await begun(one)
    const two = await postTurn(b, tokens.admin, said)
    await begun(two)
    expect(one.ended()).toBe(false)
    await client().stop("live")
    await all([one, two])
    const shared = two.text().slice(0, two.text().lastIndexOf("id: "))
    expect(one.text().startsWith(shared)).toBe(true)
    expect(messages.requests).toHaveLength(1)
  })

  it("is answered once when it arrives fifty times at both at once", async () => {
    messages.reset(() => STEADY)
    const { session } = lastIn(await (await postTurn(a, tokens.admin, { text: "begin" })).all)
    messages.reset(() => STEADY)
    const said = { text: "all together", turn: "fifty", conversation: session }
    const streams = await Promise.all(
      Array.from({ length: 100 }, (_, at) => postTurn(at % 2 === 0 ? a : b, tokens.admin, said))
    )
    expect(new Set(await all(streams)).size).toBe(1)
    expect(lastIn(streams[0]!.text())).toMatchObject({ _tag: "done", session })
    expect(messages.requests).toHaveLength(1)
    expect((await client().conversations.get(session)).turns.map(({ asked }) => asked)).toEqual(["begin", said.text])
  })

  it("is refused with another message", async () => {
    messages.reset(() => STEADY)
    const one = await postTurn(a, tokens.admin, { text: "a story", turn: "taken" })
    const two = await postTurn(b, tokens.admin, { text: "another story", turn: "taken" })
    expect([two.status, JSON.parse(await two.all).detail]).toEqual([
      400,
      "A turn with this name and another message is in progress."
    ])
    expect(lastIn(await one.all)).toMatchObject({ _tag: "done" })
  })

  it("shares nothing with a turn of that name of another person or organization", async () => {
    messages.reset((_, index) => says(`Answer ${index}.`))
    const said = { text: "mine?", turn: "shared" }
    const streams: Array<string> = []
    for (const [server, token] of [
      [a, tokens.admin],
      [b, tokens.member],
      [b, tokens.other]
    ] as const) {
      expect((await resumeTurn(server, token, "shared")).status).toBe(404)
      streams.push(await (await postTurn(server, token, said)).all)
    }
    expect(streams.map((text) => lastIn(text).text)).toEqual(["Answer 0.", "Answer 1.", "Answer 2."])
  })

  it("answers again after its minute, and shows nothing of the earlier answer", async () => {
    messages.reset((_, index) => says(`Answer ${index}.`))
    const said = { text: "again?", turn: "expired" }
    await (
      await postTurn(a, tokens.admin, said)
    ).all
    await rows("UPDATE max.turn_names SET until = clock_timestamp() WHERE name = 'expired'")
    expect((await resumeTurn(b, tokens.admin, "expired")).status).toBe(404)
    const again = await (await postTurn(b, tokens.admin, said)).all
    expect(again).not.toContain("Answer 0.")
    expect(lastIn(again)).toMatchObject({ text: "Answer 1." })
  })
})

describe("the stream of a named turn", () => {
  it("resumes after each event at another process with the same bytes", async () => {
    const text = await (await postTurn(a, tokens.admin, { text: "ada's phone?", turn: "resumed" })).all
    const blocks = blocksIn(text)
    expect(blocks.length).toBeGreaterThan(3)
    for (const server of [a, b])
      for (let after = 0; after <= blocks.length; after += 1)
        expect(await (await resumeTurn(server, tokens.admin, "resumed", after)).all).toBe(blocks.slice(after).join(""))
    expect(messages.requests).toHaveLength(2)
  })

  it("resumes in its middle at another process", async () => {
    messages.reset(() => STEADY)
    const one = await postTurn(a, tokens.admin, { text: "a story", turn: "middle" })
    await begun(one)
    one.leave()
    const seen = blocksIn(one.text().slice(0, one.text().lastIndexOf("\n\n") + 2))
    const rest = await (await resumeTurn(b, tokens.admin, "middle", seen.length)).all
    const whole = await (await resumeTurn(a, tokens.admin, "middle")).all
    expect(blocksIn(seen.join("") + rest)).toEqual(blocksIn(whole))
    expect(messages.requests).toHaveLength(1)
  })

  it("resumes after the process that answered has ended", async () => {
    const third = await startServerForTest(url, settings())
    const text = await (await postTurn(third, tokens.admin, { text: "ada's phone?", turn: "restarted" })).all
    await third.stop()
    expect(await (await resumeTurn(b, tokens.admin, "restarted")).all).toBe(text)
    expect(await (await postTurn(b, tokens.admin, { text: "ada's phone?", turn: "restarted" })).all).toBe(text)
    expect(messages.requests).toHaveLength(2)
  })

  it("continues at another process when the one that answers shuts down", async () => {
    messages.reset((_, index) => (index === 0 ? SLOW : says("Short.")))
    const third = await startServerForTest(url, settings())
    const one = await postTurn(third, tokens.admin, { text: "a story", turn: "shutdown" })
    await begun(one)
    const two = await resumeTurn(b, tokens.admin, "shutdown")
    await begun(two)
    one.leave()
    await third.stop()
    expect(lastIn(await two.all)).toMatchObject({ _tag: "done", text: "Short." })
    expect(
      blocksIn(two.text())
        .map((block) => /event: (\w+)/.exec(block)![1])
        .slice(-3)
    ).toEqual(["retract", "delta", "done"])
    expect(messages.requests).toHaveLength(2)
  })

  it("ends at each process when a member is suspended", async () => {
    messages.reset(() => SLOW)
    const { token } = await a.run(memberWithToken(organization, "suspended@atlas.example", ["member"], ["chat"]))
    const said = { text: "a story", turn: "ends" }
    const streams = [await postTurn(a, token, said), await postTurn(b, token, said), await resumeTurn(b, token, "ends")]
    for (const stream of streams) await begun(stream)
    await a.run(Effect.flatMap(Memberships, (members) => members.suspend(organization, "suspended@atlas.example")))
    for (const text of await all(streams))
      expect(lastIn(text)).toMatchObject({ reason: "Unavailable", message: expect.stringContaining("has changed") })
    await until(() => messages.requests[0]!.aborted)
    expect(messages.requests).toHaveLength(1)
    expect(await rows("SELECT 1 FROM max.turn_names WHERE name = 'ends' AND ended")).toEqual([])
  })

  it("is not shown under a policy that hides what it contains", async () => {
    const said = { text: "ada's phone?", turn: "hidden" }
    expect(await (await postTurn(a, tokens.admin, said)).all).toContain("555-0142")
    const hidden = { id: "hidden", effect: "deny", role: "admin", action: "read", type: "people", columns: ["phone"] }
    await a.run(publish(organization, (rules) => [...rules, hidden]))
    for (const server of [a, b]) expect((await resumeTurn(server, tokens.admin, "hidden")).status).toBe(404)
    messages.reset(() => says("I can't see numbers."))
    expect(await (await postTurn(b, tokens.admin, said)).all).not.toContain("555-0142")
    await a.run(publish(organization, (rules) => rules.filter(({ id }) => id !== "hidden")))
  })

  it("ends at each process when its person stops it at another one, and nothing is stored", async () => {
    messages.reset(() => SLOW)
    const before = (await conversations()).length
    const said = { text: "a story", turn: "stopped" }
    const streams = [await postTurn(a, tokens.admin, said), await postTurn(b, tokens.admin, said)]
    for (const stream of streams) await begun(stream)
    const third = await startServerForTest(url, settings())
    await expect(connect({ url: third.url, token: tokens.member }).stop("stopped")).rejects.toBeDefined()
    await connect({ url: third.url, token: tokens.admin }).stop("stopped")
    for (const text of await all(streams)) expect(lastIn(text)).toMatchObject({ _tag: "error", reason: "Stopped" })
    await until(() => messages.requests[0]!.aborted)
    expect(await conversations()).toHaveLength(before)
    for (const server of [a, b]) expect((await resumeTurn(server, tokens.admin, "stopped")).status).toBe(404)
  })

  it("is deleted with its conversation", async () => {
    const { session } = lastIn(await (await postTurn(a, tokens.admin, { text: "ada?", turn: "deleted" })).all)
    await client().conversations.delete(session)
    for (const server of [a, b]) expect((await resumeTurn(server, tokens.admin, "deleted")).status).toBe(404)
  })

  it("is listed at each process", async () => {
    messages.reset(() => SLOW)
    const { token } = await a.run(memberWithToken(organization, "lists@atlas.example", ["member"], ["chat"]))
    const one = await postTurn(a, token, { text: "first", turn: "one" })
    const listed = async () => {
      const response = await fetch(`${b.url}/v1/chat`, { headers: { authorization: `Bearer ${token}` } })
      return ((await response.json()) as { turns: unknown }).turns
    }
    expect(await listed()).toEqual([{ turn: "one", asked: "first", answering: true }])
    await connect({ url: b.url, token }).stop("one")
    await one.all
    expect(await listed()).toEqual([])
    messages.reset(() => says("Short."))
    await (
      await postTurn(a, token, { text: "second", turn: "two" })
    ).all
    expect(await listed()).toEqual([{ turn: "two", asked: "second", answering: false }])
  })
})

describe("the claim of a named turn", () => {
  it("is lost to another process that took it over: the answer isn't stored", async () => {
    const before = (await conversations()).length
    messages.reset(async () => {
      await rows("UPDATE max.turn_names SET holder = 'another', attempt = 1 WHERE name = 'stalled'")
      return says("Too late.")
    })
    const stream = await postTurn(a, tokens.admin, { text: "hello", turn: "stalled" })
    // A problem before the first event, otherwise the last event.
    expect(await stream.all).toMatch(/"_tag":"error"|urn:max:problem:/)
    expect(await conversations()).toHaveLength(before)
  })

  it("ends with a failure of the database, after which the turn is answered once", async () => {
    const name = new URL(url).pathname.slice(1)
    const onServer = (statement: string) => Effect.runPromise(runOnServer(inject("serverUrl"), statement))
    onTestFinished(() => onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`).then(() => {}))
    let answer = () => {}
    messages.reset(() => new Promise((resolve) => (answer = () => resolve(FIND))))
    const before = (await conversations()).length
    const one = await postTurnWhile(a, { text: "ada's phone?", turn: "failing" }, async () => {
      await until(() => messages.requests.length > 0)
      await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
      await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
      answer()
    })
    expect(await one.all).toMatch(/"reason":"Unavailable"|urn:max:problem:unavailable/)
    await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    await until(async () => (await fetch(`${b.url}/readyz`)).ok && (await fetch(`${a.url}/readyz`)).ok)
    messages.reset(inTurn(FIND, says(ANSWER)))
    const said = { text: "ada's phone?", turn: "failing" }
    const [two, three] = await all([await postTurn(a, tokens.admin, said), await postTurn(b, tokens.admin, said)])
    expect(lastIn(two!)).toMatchObject({ _tag: "done", text: ANSWER })
    expect(three).toBe(two)
    expect(messages.requests).toHaveLength(2)
    expect(await conversations()).toHaveLength(before + 1)
  })

  it("costs two writes of one row, and an unnamed turn none", async () => {
    messages.reset(() => says("Short."))
    const fresh = await startServerForTest(url, settings())
    const { anchorId, token } = await a.run(memberWithToken(organization, "costs@atlas.example", ["member"], ["chat"]))
    const counts = async () => {
      const [row] = await rows<{ held: number; updated: number }>(`
        SELECT (SELECT count(*)::int FROM max.turn_names WHERE anchor_id = '${anchorId}') AS held, n_tup_upd::int AS updated
        FROM pg_stat_user_tables WHERE schemaname = 'max' AND relname = 'turn_names'`)
      return row!
    }
    const ask = async (said: object) => (await postTurn(fresh, token, said)).all
    await ask({ text: "hello" })
    const before = await counts()
    expect(before.held).toBe(0)
    const started = performance.now()
    await ask({ text: "hello", turn: "costs" })
    const renewals = Math.ceil((performance.now() - started) / 500)
    // A connection reports its counts at the latest when it closes.
    await fresh.stop()
    await until(async () => (await counts()).updated > before.updated)
    const { held, updated } = await counts()
    expect(held).toBe(1)
    expect(updated - before.updated).toBeLessThanOrEqual(1 + renewals)
  })

  it("is deleted two minutes after its end, and not before", async () => {
    await (
      await postTurn(a, tokens.admin, { text: "ada?", turn: "swept" })
    ).all
    const left = () => rows("SELECT name FROM max.turn_names WHERE name = 'swept'")
    await a.run(Effect.flatMap(TurnNames, ({ sweep }) => sweep))
    expect(await left()).toHaveLength(1)
    await rows("UPDATE max.turn_names SET until = until - interval '2 minutes' WHERE name = 'swept'")
    await a.run(Effect.flatMap(TurnNames, ({ sweep }) => sweep))
    expect(await left()).toEqual([])
  })
})

/** Sends a turn, and does something before its first event. */
const postTurnWhile = async (server: TestServer, said: object, use: () => Promise<void>) => {
  const sent = postTurn(server, tokens.admin, said)
  await use()
  return sent
}
