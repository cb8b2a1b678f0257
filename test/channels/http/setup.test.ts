/** The first run over HTTP: what it makes, and which links and inputs are refused. */
import { Effect, Exit, Scope } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import { offerSetup } from "../../../src/channels/cli/setupLink.ts"
import { Database } from "../../../src/database/Database.ts"
import { makeChallenge, makeChallengeKey } from "../../../src/services/access/passkeyChallenge.ts"
import { AuditLog } from "../../../src/services/audit/AuditLog.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { Setup, slugOf } from "../../../src/services/onboarding/Setup.ts"
import { Organizations } from "../../../src/services/organizations/Organizations.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, startServer, startServerForTest, type TestServer } from "../../support/http.ts"

let scope = Scope.makeUnsafe()
afterEach(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  scope = Scope.makeUnsafe()
})

/** A site whose pages may send requests, with a token of their own. */
const OTHER = "https://portal.example"

/** Servers of one database without an organization. */
const emptyServers = async (count: number): Promise<ReadonlyArray<TestServer>> => {
  const database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  const servers = await Promise.all(
    Array.from({ length: count }, () => startServer(database, { allowedOrigins: [OTHER] }))
  )
  // Before the database is dropped.
  await Effect.runPromise(
    Scope.addFinalizer(
      scope,
      Effect.promise(() => Promise.all(servers.map((server) => server.stop())))
    )
  )
  return servers
}
const emptyServer = async () => (await emptyServers(1))[0]!

const newLink = (server: TestServer) => server.run(Effect.flatMap(Setup, ({ createLink }) => createLink))
const organizations = (server: TestServer) => server.run(Effect.flatMap(Organizations, ({ list }) => list))

interface Typed {
  readonly name?: string
  readonly country?: string
  readonly timeZone?: string
  readonly person?: string
  readonly email?: string
}

const finish = (server: TestServer, code: string, typed: Typed = {}, origin = server.url, more: object = {}) => {
  const { country = "US", email = "ada@harbor.example", name = "Harbor Supply", person = "Ada Park" } = typed
  const { timeZone = "America/New_York" } = typed
  return ask(server.url, "/v1/setup", {
    method: "POST",
    headers: { "content-type": "application/json", origin, ...more },
    body: JSON.stringify({
      code,
      organization: { name, country, timeZone },
      administrator: { name: person, email }
    })
  })
}

const sessionOf = (server: TestServer, { headers }: Awaited<ReturnType<typeof finish>>) =>
  ask(server.url, "/v1/session", { headers: { cookie: String(headers["set-cookie"]).split(";")[0]! } })

describe("the first run", () => {
  it("makes what max init and max member add make, with the same audit events, and signs the administrator in", async () => {
    const server = await emptyServer()
    const answer = await finish(server, await newLink(server))
    expect(answer).toMatchObject({ status: 204, text: "" })
    expect((await sessionOf(server, answer)).json).toMatchObject({
      organization: "harbor-supply",
      roles: ["admin"],
      powers: ["members", "policy", "data", "secrets"],
      by: "session"
    })
    const [byPage] = await organizations(server)
    expect(byPage).toMatchObject({
      slug: "harbor-supply",
      name: "Harbor Supply",
      country: "US",
      timeZone: "America/New_York"
    })
    const byCommand = await server.run(
      Effect.gen(function* () {
        const made = yield* Effect.flatMap(Organizations, (all) =>
          all.create({ slug: "second", name: "Second", country: "US", timeZone: "America/New_York" })
        )
        const members = yield* Memberships
        yield* members.add(made, {
          identifier: "ada@harbor.example",
          roles: ["admin"],
          create: { name: "Ada Park" }
        })
        return made
      })
    )
    const recorded = (organization: typeof byCommand) =>
      server.run(
        Effect.gen(function* () {
          const members = yield* Effect.flatMap(Memberships, (all) => all.list(organization))
          const records = yield* Effect.flatMap(AuditLog, (log) =>
            log.list(organization, { chain: "changes", limit: 100 })
          )
          return {
            members: members.map((member) => ({ ...member, anchorId: "" })),
            records: records
              .filter(({ action }) => action !== "session.begun")
              .map(({ action, actor, details }) => ({ action, actor, details }))
          }
        })
      )
    const page = await recorded(byPage!)
    expect(page.members).toMatchObject([{ name: "Ada Park", identifiers: ["ada@harbor.example"], roles: ["admin"] }])
    expect(page.records.length).toBeGreaterThan(3)
    expect(page).toEqual(await recorded(byCommand))
  })

  it("gives the organization a slug from any name", () => {
    expect(slugOf("Harbor Supply")).toBe("harbor-supply")
    expect(slugOf("3 Café & Søn A/S.")).toMatch(/^cafe-[a-z0-9-]+[a-z0-9]$/)
    for (const name of ["株式会社 港", "42", "—"]) expect(slugOf(name)).toBe("organization")
    for (const name of ["a".repeat(100), `${"a".repeat(39)} b`]) expect(slugOf(name)).toMatch(/^a{39,40}$/)
  })
})

describe("a set-up link", () => {
  it("makes one organization, whichever links are used: of twenty at once at two processes exactly one succeeds", async () => {
    const servers = await emptyServers(2)
    const links = [await newLink(servers[0]!), await newLink(servers[1]!)]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        finish(servers[index % 2]!, links[Math.floor(index / 2) % 2]!, { name: `Company ${index}` })
      )
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 19 }, () => 401)])
    expect(await organizations(servers[0]!)).toHaveLength(1)
    // A used link is answered like one that never was.
    const refused = answers.filter(({ status }) => status === 401)
    const madeUp = await finish(servers[0]!, "max_setup_made-up")
    expect(new Set([...refused, madeUp].map(({ text }) => text)).size).toBe(1)
    // No new link is made either, whether members remain or not.
    await expect(newLink(servers[0]!)).rejects.toThrow("is set up already")
  })

  it("is refused when it is made up, has expired, or is a challenge for something else", async () => {
    const server = await emptyServer()
    const challenge = (purpose: string, seconds: number) =>
      server.run(
        Effect.gen(function* () {
          const { app } = yield* Database
          return `max_setup_${makeChallenge(yield* makeChallengeKey(app), purpose, seconds).toString("base64url")}`
        })
      )
    const link = await newLink(server)
    const codes = [
      "",
      "max_setup_",
      "max_setup_made-up",
      link.slice("max_setup_".length),
      link.slice(0, -4),
      await challenge("setup", -1),
      await challenge("sign-in", 300)
    ]
    for (const code of codes) expect(await finish(server, code), code).toMatchObject({ status: 401 })
    expect(await organizations(server)).toEqual([])
    expect(await finish(server, link)).toMatchObject({ status: 204 })
  })

  it("is used, and a person signs in, under Max's own names only", async () => {
    const server = await emptyServer()
    const link = await newLink(server)
    const port = new URL(server.url).port
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1.evil.example",
      "localhost.evil.example",
      "@"
    ]) {
      const more = { host }
      expect([host, (await finish(server, link, {}, server.url, more)).status]).toEqual([host, 421])
      for (const path of ["/setup", "/v1/session/ways", "/v1/session"])
        expect([host, path, (await ask(server.url, path, { headers: more })).status]).toEqual([host, path, 421])
    }
    expect(await organizations(server)).toEqual([])
    expect(await finish(server, link)).toMatchObject({ status: 204 })
  })

  it("is in a file that only its owner reads where there is no terminal, in the part of the address that no server gets", async () => {
    const stateDir = join(mkdtempSync(join(tmpdir(), "max-setup-link-")), "state")
    const database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
    const server = await startServer(database, { stateDir })
    const said: Array<string> = []
    const listeners = (["log", "error"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((...parts) => void said.push(parts.join(" ")))
    )
    try {
      // What another user has left there is replaced, with its mode.
      mkdirSync(stateDir, { recursive: true })
      writeFileSync(join(stateDir, "setup-link"), "old", { mode: 0o644 })
      const offer = await server.run(offerSetup(server.url))
      await server.run(offer)
      const path = join(stateDir, "setup-link")
      expect(said).toEqual([expect.stringContaining(path)])
      expect(said.join()).not.toContain("max_setup_")
      expect(statSync(path).mode & 0o777).toBe(0o600)
      const { hash, pathname, search } = new URL(readFileSync(path, "utf8").trim())
      expect([pathname, search, hash]).toEqual(["/setup", "", expect.stringMatching(/^#max_setup_[\w-]{40,}$/)])
      expect(await finish(server, hash.slice(1))).toMatchObject({ status: 204 })
      // Once there is an organization, no link is made.
      said.length = 0
      rmSync(path)
      await server.run(await server.run(offerSetup(server.url)))
      expect([said, existsSync(path)]).toEqual([[], false])
    } finally {
      for (const listener of listeners) listener.mockRestore()
      await server.stop()
      rmSync(join(stateDir, ".."), { recursive: true, force: true })
    }
  })

  it("counts for Max's own page only", async () => {
    const server = await emptyServer()
    const link = await newLink(server)
    for (const origin of [OTHER, "https://elsewhere.example", server.url.replace(/:\d+$/, ":1"), "null"])
      expect((await finish(server, link, {}, origin)).status, origin).toBe(403)
    expect(await organizations(server)).toEqual([])
  })

  it("survives bad input, which changes nothing and says what is wrong", async () => {
    const server = await emptyServer()
    const link = await newLink(server)
    for (const [typed, reason] of [
      [{ name: "  " }, /name/],
      [{ country: "XQ" }, /country/],
      [{ timeZone: "Mars/Olympus" }, /time zone/],
      [{ person: "" }, /name/],
      [{ email: "ada" }, /e-mail address/],
      [{ name: "a".repeat(101) }, /name/],
      [{ name: "a\u0000b" }, /name/],
      [{ person: "a\u0000b" }, /name/]
    ] as const) {
      const { json, status } = await finish(server, link, typed)
      expect(status, JSON.stringify(typed)).toBe(400)
      expect(json.detail, JSON.stringify(typed)).toMatch(reason)
    }
    expect(await organizations(server)).toEqual([])
    expect(await finish(server, link)).toMatchObject({ status: 204 })
  })

  it("can't be guessed: an address has 300 wrong codes a minute", async () => {
    const database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
    const server = await startServerForTest(database)
    const link = await newLink(server)
    for (let tried = 0; tried < 300; tried++) await finish(server, "max_setup_made-up")
    expect(await finish(server, link)).toMatchObject({ status: 429 })
  })
})
