import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { FAILURES_PER_MINUTE } from "../../../src/services/access/FailedAuthThrottle.ts"
import { ask, callTool, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"

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
        memberWithToken(organization, `p${index}@${slug}.com`, ["admin"])
      )
      return { organization, members }
    })
  )

const call = (token: string, at: TestServer) => callTool(at, token, "listEntityTypes", {})
const counted = (organization: Organization) =>
  one.run(
    Effect.gen(function* () {
      const { owner } = yield* Database
      return yield* owner<{ who: string; calls: number }>`
        SELECT who, calls FROM max.calls WHERE organization_id = ${organization.id} ORDER BY who`
    })
  )

/** The minute may turn while calls are made: what was counted in the one before is then counted again. */
const inOneMinute = async <A>(use: () => Promise<A>): Promise<A> => {
  const rest = 60_000 - (Date.now() % 60_000)
  if (rest < 8000) await new Promise((resolve) => setTimeout(resolve, rest + 100))
  return use()
}

describe("calls in a minute", () => {
  it("are counted exactly, whatever process they come to", () =>
    inOneMinute(async () => {
      const { members, organization } = await organizationWith("exact", 1)
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

  it("that one person was refused don't count against the colleagues", () =>
    inOneMinute(async () => {
      const { members } = await organizationWith("fair", 2)
      const [loud, quiet] = members as [(typeof members)[number], (typeof members)[number]]
      await Promise.all(Array.from({ length: 150 }, (_, index) => call(loud.token, index % 2 === 0 ? one : two)))
      expect((await call(loud.token, one)).status).toBe(429)
      expect((await call(quiet.token, two)).status).toBe(200)
    }))

  it("of an organization have a limit, too, and another organization's don't count", () =>
    inOneMinute(async () => {
      const { members, organization } = await organizationWith("many", 5)
      const answers = await Promise.all(
        members.flatMap(({ token }, place) =>
          Array.from({ length: 30 }, (_, index) => call(token, (index + place) % 2 === 0 ? one : two))
        )
      )
      expect(answers.filter(({ status }) => status === 200).length).toBe(100)
      expect((await counted(organization))[0]).toEqual({ who: "", calls: 100 })
      const elsewhere = await organizationWith("elsewhere", 1)
      expect((await call(elsewhere.members[0]!.token, one)).status).toBe(200)
    }))

  it("begin anew with the next minute", async () => {
    const { members, organization } = await organizationWith("anew", 1)
    const { token } = members[0]!
    await inOneMinute(async () => {
      await Promise.all(Array.from({ length: 31 }, () => call(token, one)))
      expect((await call(token, one)).status).toBe(429)
    })
    await one.run(
      Effect.gen(function* () {
        const { owner } = yield* Database
        yield* owner`UPDATE max.calls SET minute = minute - 1 WHERE organization_id = ${organization.id}`
      })
    )
    expect((await call(token, two)).status).toBe(200)
  })
})

describe("credentials that aren't good", () => {
  const who = (at: TestServer, token: string, forwarded?: string) =>
    ask(at.url, "/v1/session", {
      headers: {
        authorization: `Bearer ${token}`,
        ...(forwarded === undefined ? {} : { "x-forwarded-for": forwarded })
      }
    })
  const guess = (index: number) => `max_${String(index).padStart(43, "a")}`
  const guesses = (at: TestServer, forwarded?: string) =>
    Promise.all(Array.from({ length: FAILURES_PER_MINUTE + 20 }, (_, index) => who(at, guess(index), forwarded)))

  it("are tried so often a minute and no more, and shut nobody out who is there already", async () => {
    const server = await startServer(url, LIMITS)
    const { members } = await organizationWith("strangers", 2)
    const [known, late] = members as [(typeof members)[number], (typeof members)[number]]
    expect((await who(server, known.token)).status).toBe(200)
    const answers = await guesses(server)
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(FAILURES_PER_MINUTE)
    const after = await who(server, guess(9999))
    expect(after.json).toMatchObject({ type: "urn:max:problem:too-many-calls", status: 429 })
    expect(after.headers["retry-after"]).toBe(String(after.json.retryAfter))
    expect(after.json.retryAfter).toBeLessThanOrEqual(60)
    const link = await ask(server.url, "/v1/session", {
      body: JSON.stringify({ code: guess(1) }),
      headers: { "content-type": "application/json", origin: server.url }
    })
    expect(link.status).toBe(429)
    expect((await who(server, known.token)).status).toBe(200)
    // One that isn't known yet waits with the strangers of its address.
    expect((await who(server, late.token)).status).toBe(429)
    expect((await ask(server.url, "/v1/session")).status).toBe(401)
    await server.stop()
  })

  it("count by the address that the nearest proxy saw, where people come through one", async () => {
    const server = await startServer(url, { ...LIMITS, publicUrl: "https://max.example.com" })
    const { members } = await organizationWith("proxied", 1)
    await guesses(server, "198.51.100.7")
    expect((await who(server, guess(9999), "203.0.113.5, 198.51.100.7")).status).toBe(429)
    expect((await who(server, members[0]!.token, "198.51.100.7, 203.0.113.5")).status).toBe(200)
    await server.stop()
  })
})
