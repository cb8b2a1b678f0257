import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { FAILURES_PER_MINUTE } from "../../../src/services/access/FailedAuthThrottle.ts"
import { ask, callTool, startServer, startServerForTest, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { inOneMinute as withinOneMinute } from "../../support/minute.ts"

const scope = Scope.makeUnsafe()
const LIMITS = { callsPerPerson: 30, callsPerOrganization: 100 }
let one: TestServer
let two: TestServer
let url: string

beforeAll(async () => {
  url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  one = await startServer(url, LIMITS)
  two = await startServer(url, LIMITS)
})

afterAll(async () => {
  await one.stop()
  await two.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const organizationWith = (slug: string, people: number) =>
  one.run(
    Effect.gen(function* () {
      const organization = yield* makeOrganization(slug)
      const members = yield* Effect.forEach(Array.from({ length: people }), (_, index) =>
        memberWithToken(organization, `p${index}@${slug}.com`, ["admin"], ["tools", "chat", "export"])
      )
      return { organization, members }
    })
  )

type One = Awaited<ReturnType<typeof organizationWith>>["members"][number]

const call = (token: string, at: TestServer) => callTool(at, token, "listEntityTypes", {})
const counted = (organization: Organization) =>
  one.run(
    Effect.gen(function* () {
      const { owner } = yield* Database
      return yield* owner<{ who: string; calls: number }>`
        SELECT who, calls FROM max.calls WHERE organization_id = ${organization.id} ORDER BY who`
    })
  )

const inOneMinute = (use: (suffix: string) => Promise<void>) =>
  Effect.runPromise(withinOneMinute((suffix) => Effect.promise(() => use(suffix))))

describe("the rate limits per minute", () => {
  it("count a person's calls exactly across processes", () =>
    inOneMinute(async (suffix) => {
      const { members, organization } = await organizationWith(`exact${suffix}`, 1)
      const [{ anchorId, token }] = members as [(typeof members)[number]]
      const answers = await Promise.all(
        Array.from({ length: 90 }, (_, index) => call(token, index % 2 === 0 ? one : two))
      )
      expect(answers.filter(({ status }) => status === 200).length).toBe(30)
      const refused = answers.filter(({ status }) => status === 429)
      expect(refused.length).toBe(60)
      for (const { headers, json } of refused) {
        expect(json).toMatchObject({ type: "urn:max:problem:too-many-calls", status: 429 })
        expect(headers["retry-after"]).toBe(String(json.retryAfter))
        expect(json.retryAfter).toBeGreaterThan(0)
        expect(json.retryAfter).toBeLessThanOrEqual(60)
      }
      expect(await counted(organization)).toEqual([
        { who: "", calls: 30 },
        { who: anchorId, calls: 30 }
      ])
    }))

  it("count groups and figures as five calls, over each channel and within a conversation, and refuse what doesn't fit", () =>
    inOneMinute(async (suffix) => {
      const { members, organization } = await organizationWith(`figures${suffix}`, 4)
      const [tool, mcp, chat, exporting] = members as [One, One, One, One]
      const find = ({ token }: One, selectColumns: ReadonlyArray<string>) =>
        callTool(one, token, "findEntities", { entityTypeId: "people", filters: [], selectColumns })
      expect((await find(tool, ["name"])).status).toBe(200)
      for (const words of [["by status"], ["count"], ["by status", "distinct name"], ["distinct name"]])
        expect((await find(tool, words)).status).toBe(200)
      // What a request asks for decides, whether or not it can be answered.
      expect((await find(tool, ["by nothing"])).status).toBe(404)
      const used = async () =>
        Object.fromEntries(
          (await counted(organization)).flatMap(({ calls, who }) => (who.startsWith("export ") ? [] : [[who, calls]]))
        )
      expect(await used()).toEqual({ "": 26, [tool.anchorId]: 26 })
      expect((await find(tool, ["name"])).status).toBe(200)
      const refused = await find(tool, ["by status"])
      expect(refused.status).toBe(429)
      expect(refused.json).toMatchObject({ type: "urn:max:problem:too-many-calls", retryAfter: expect.any(Number) })
      // What was left of the minute is used up.
      expect(await used()).toEqual({ "": 30, [tool.anchorId]: 30 })

      const send = ({ token }: One, path: string, body: object) =>
        ask(one.url, path, {
          body: JSON.stringify(body),
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream"
          }
        })
      const input = { entityTypeId: "people", filters: [], selectColumns: ["by status"] }
      const params = { name: "findEntities", arguments: input }
      const message = () => send(mcp, "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params })
      for (let more = 0; more < 6; more++) expect((await message()).text).toContain("in 1 groups")
      expect((await message()).text).toContain("Too many calls. Try again in")
      const say = (text: string) => send(chat, "/v1/chat", { text })
      for (let more = 0; more < 5; more++)
        expect((await say("how many people per status")).text).toContain("People by status (4 in all)")
      for (let more = 0; more < 2; more++) expect((await say("hello")).status).toBe(200)
      expect((await say("how many people per status")).text).toMatch(
        /"text":"Too many calls\. Try again in \d+ seconds\."/
      )
      expect(
        (await send(exporting, "/v1/export", { entityTypeId: "people", filters: [], selectColumns: ["by status"] }))
          .status
      ).toBe(200)
      expect(await used()).toEqual({
        "": 95,
        [tool.anchorId]: 30,
        [mcp.anchorId]: 30,
        [chat.anchorId]: 30,
        [exporting.anchorId]: 5
      })
    }))

  it("are answered after a second when they refuse a call, so that a client that repeats it at once costs little", () =>
    inOneMinute(async (suffix) => {
      const { members } = await organizationWith(`delay${suffix}`, 1)
      const [{ token }] = members as [(typeof members)[number]]
      await Promise.all(Array.from({ length: 30 }, () => call(token, one)))
      // One after the other: on a busy machine a single one may take a second anyway.
      const took: Array<number> = []
      for (let index = 0; index < 4; index++) {
        const begun = performance.now()
        expect((await call(token, one)).status).toBe(429)
        took.push(performance.now() - begun)
      }
      expect(Math.min(...took)).toBeGreaterThan(990)
    }))

  it("don't count a person's refused calls against the organization", () =>
    inOneMinute(async (suffix) => {
      const { members } = await organizationWith(`fair${suffix}`, 2)
      const [loud, quiet] = members as [(typeof members)[number], (typeof members)[number]]
      await Promise.all(Array.from({ length: 150 }, (_, index) => call(loud.token, index % 2 === 0 ? one : two)))
      expect((await call(loud.token, one)).status).toBe(429)
      expect((await call(quiet.token, two)).status).toBe(200)
    }))

  it("apply to an organization without affecting another one", () =>
    inOneMinute(async (suffix) => {
      const { members, organization } = await organizationWith(`many${suffix}`, 5)
      const answers = await Promise.all(
        members.flatMap(({ token }, place) =>
          Array.from({ length: 30 }, (_, index) => call(token, (index + place) % 2 === 0 ? one : two))
        )
      )
      expect(answers.filter(({ status }) => status === 200).length).toBe(100)
      expect((await counted(organization))[0]).toEqual({ who: "", calls: 100 })
      const elsewhere = await organizationWith(`elsewhere${suffix}`, 1)
      expect((await call(elsewhere.members[0]!.token, one)).status).toBe(200)
    }))

  it("restart with the next minute", () =>
    inOneMinute(async (suffix) => {
      const { members, organization } = await organizationWith(`next-minute${suffix}`, 1)
      const { token } = members[0]!
      await Promise.all(Array.from({ length: 31 }, () => call(token, one)))
      expect((await call(token, one)).status).toBe(429)
      await one.run(
        Effect.gen(function* () {
          const { owner } = yield* Database
          yield* owner`UPDATE max.calls SET minute = minute - 1 WHERE organization_id = ${organization.id}`
        })
      )
      expect((await call(token, two)).status).toBe(200)
    }))
})

describe("the failed-auth throttle", () => {
  const whoAmI = (at: TestServer, token: string, forwarded?: string) =>
    ask(at.url, "/v1/session", {
      headers: {
        authorization: `Bearer ${token}`,
        ...(forwarded === undefined ? {} : { "x-forwarded-for": forwarded })
      }
    })
  const guess = (index: number) => `max_${String(index).padStart(43, "a")}`
  const guesses = (at: TestServer, forwarded?: string) =>
    Promise.all(Array.from({ length: FAILURES_PER_MINUTE + 20 }, (_, index) => whoAmI(at, guess(index), forwarded)))

  it("limits an address's invalid credentials per minute without locking out cached callers", async () => {
    const server = await startServerForTest(url, LIMITS)
    const { members } = await organizationWith("throttled", 2)
    const [cached, late] = members as [(typeof members)[number], (typeof members)[number]]
    expect((await whoAmI(server, cached.token)).status).toBe(200)
    const answers = await guesses(server)
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(FAILURES_PER_MINUTE)
    const after = await whoAmI(server, guess(9999))
    expect(after.json).toMatchObject({ type: "urn:max:problem:too-many-calls", status: 429 })
    expect(after.headers["retry-after"]).toBe(String(after.json.retryAfter))
    expect(after.json.retryAfter).toBeLessThanOrEqual(60)
    const link = await ask(server.url, "/v1/session", {
      body: JSON.stringify({ code: guess(1) }),
      headers: { "content-type": "application/json", origin: server.url }
    })
    expect(link.status).toBe(429)
    expect((await whoAmI(server, cached.token)).status).toBe(200)
    // A change made by another process, at which the address isn't throttled.
    const other = await startServerForTest(url, LIMITS)
    expect((await whoAmI(other, cached.token)).status).toBe(200)
    await other.run(Effect.flatMap(Database, ({ owner }) => owner`UPDATE max.organizations SET epoch = epoch + 1`))
    for (const at of [server, other]) expect((await whoAmI(at, cached.token)).status).toBe(200)
    // An uncached credential is throttled with its address, although it is valid.
    expect((await whoAmI(server, late.token)).status).toBe(429)
    expect((await ask(server.url, "/v1/session")).status).toBe(401)
  })

  it("behind a proxy counts by the address that the proxy forwards", async () => {
    const server = await startServerForTest(url, { ...LIMITS, publicUrl: "https://max.example.com" })
    const { members } = await organizationWith("proxied", 1)
    await guesses(server, "198.51.100.7")
    expect((await whoAmI(server, guess(9999), "203.0.113.5, 198.51.100.7")).status).toBe(429)
    expect((await whoAmI(server, members[0]!.token, "198.51.100.7, 203.0.113.5")).status).toBe(200)
  })
})
