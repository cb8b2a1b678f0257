/** Open streams end with the access that opened them. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { connect, type TurnEvent } from "../../../src/channels/http/client.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { IdentityProviders } from "../../../src/services/access/IdentityProviders.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { publish } from "../../support/agent.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { type MessagesServer, says, startMessages } from "../../support/messages.ts"
import { startProvider } from "../../support/provider.ts"
import { until } from "../../support/until.ts"

const scope = Scope.makeUnsafe()
let messages: MessagesServer
let server: TestServer
let provider: Awaited<ReturnType<typeof startProvider>>
let organization: Organization

beforeAll(async () => {
  messages = await startMessages()
  provider = await startProvider()
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    provider: "anthropic",
    anthropicKey: Redacted.make("sk-test"),
    anthropicUrl: messages.url,
    turnSeconds: 300
  })
  await server.run(
    Effect.gen(function* () {
      organization = yield* makeOrganization("atlas")
      yield* addPeople(organization, [{ name: "Ada Lovelace" }])
      const providers = yield* IdentityProviders
      yield* providers.add(organization, { issuer: provider.issuer, audience: "max" })
      const members = yield* Memberships
      yield* members.add(organization, { identifier: "lena@atlas.example", roles: ["member"], create: {} })
    })
  )
})

afterAll(async () => {
  await server.stop()
  await provider.stop()
  await messages.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** An answer that takes two minutes, so that a stream which ends earlier was ended. */
beforeEach(() => messages.reset(() => says("Hello there. ".repeat(300), { pace: 300, piece: 10 })))

const member = (email: string, roles = ["member"]) =>
  server.run(memberWithToken(organization, email, roles, ["chat", "traces"]))

/** Reads a turn, and calls `use` after its first text. */
const readUntilEnd = async (token: string, use: () => Promise<unknown>) => {
  const all: Array<TurnEvent> = []
  let used: Promise<unknown> | undefined
  for await (const event of connect({ url: server.url, token }).chat({ text: "a story", turn: "story" })) {
    all.push(event)
    if (event._tag === "delta") used ??= use()
  }
  await used
  return all
}

const ENDED = { _tag: "error", reason: "Unavailable", message: expect.stringContaining("What you may see has changed") }

describe("the stream of a turn", () => {
  it("ends when the member is suspended, and with it the model call", async () => {
    const { token } = await member("suspended@atlas.example")
    const all = await readUntilEnd(token, () =>
      server.run(Effect.flatMap(Memberships, (members) => members.suspend(organization, "suspended@atlas.example")))
    )
    expect(all.at(-1)).toMatchObject(ENDED)
    expect(all.filter(({ _tag }) => _tag === "error")).toHaveLength(1)
    await until(() => messages.requests[0]!.aborted)
  })

  it("ends when the token is revoked", async () => {
    const { id, token } = await member("revoked@atlas.example")
    const all = await readUntilEnd(token, () =>
      server.run(Effect.flatMap(Credentials, (credentials) => credentials.revokeToken(organization, id)))
    )
    expect(all.at(-1)).toMatchObject(ENDED)
  })

  it("ends when a rule of the person's plans ends", async () => {
    const { token } = await member("passing@atlas.example", ["member"])
    // The answer takes two minutes, so the rule ends while it streams.
    const passing = { id: "passing", effect: "allow", role: "member", action: "read", type: "people" } as const
    const notAfter = new Date(Date.now() + 10_000).toISOString()
    await server.run(publish(organization, (rules) => [...rules, { ...passing, columns: "*", notAfter }]))
    const all = await readUntilEnd(token, () => Promise.resolve())
    expect(all.at(-1)).toMatchObject(ENDED)
    // A turn that only noticed it at its own end would have let the model finish.
    await until(() => messages.requests[0]!.aborted, 60_000)
  })

  it("ends when the token of an identity provider expires, without a last event", async () => {
    const exp = Math.floor(Date.now() / 1000) + 10
    const token = await provider.sign({ sub: "lena", email: "lena@atlas.example", email_verified: true, exp })
    const all = await readUntilEnd(token, () => Promise.resolve()).catch((error: unknown) => [error])
    expect(JSON.stringify(all)).not.toContain('"done"')
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000)
  })
})

describe("GET /v1/traces/live", () => {
  it("ends when its token is revoked", async () => {
    const { id, token } = await member("watching@atlas.example", ["admin"])
    const response = await fetch(`${server.url}/v1/traces/live`, { headers: { authorization: `Bearer ${token}` } })
    expect(response.status).toBe(200)
    const reader = response.body!.getReader()
    await reader.read()
    await server.run(Effect.flatMap(Credentials, (credentials) => credentials.revokeToken(organization, id)))
    const started = performance.now()
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read());
    // Without the end of access it would end after five minutes.
    expect(performance.now() - started).toBeLessThan(60_000)
  })
})
