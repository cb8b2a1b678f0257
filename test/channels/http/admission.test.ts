import { Effect, Exit, Scope } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { encodeId } from "../../../src/domain/ids.ts"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { IdentityProviders } from "../../../src/services/access/IdentityProviders.ts"
import { subjectKey } from "../../../src/services/access/jwt.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, callTool, JSON_TYPE, startServer, startServerForTest, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { startProvider } from "../../support/provider.ts"

const scope = Scope.makeUnsafe()
let databaseUrl: string
let server: TestServer
let other: TestServer
let provider: Awaited<ReturnType<typeof startProvider>>
let atlas: Organization
let borealis: Organization

beforeAll(async () => {
  databaseUrl = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  provider = await startProvider()
  server = await startServer(databaseUrl)
  other = await startServer(databaseUrl)
  await server.run(
    Effect.gen(function* () {
      atlas = yield* makeOrganization("atlas")
      borealis = yield* makeOrganization("borealis")
      yield* addPeople(atlas, [{ name: "Only Atlas", phone: "801-555-0101" }])
      yield* addPeople(borealis, [{ name: "Only Borealis" }])
      const providers = yield* IdentityProviders
      yield* providers.add(atlas, { issuer: provider.issuer, audience: "max" })
      yield* providers.add(borealis, { issuer: provider.issuer, audience: "max-borealis" })
      const members = yield* Memberships
      const identifier = "jwt@atlas.com"
      const subject = subjectKey(provider.issuer, "user-1")
      yield* members.add(atlas, { identifier, roles: ["admin"], create: {}, subject })
      yield* members.add(borealis, { identifier: "jwt@atlas.com", roles: ["admin"], create: {} })
    })
  )
})

afterAll(async () => {
  await server.stop()
  await other.stop()
  await provider.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const allPeople = { entityTypeId: "people", filters: [], limit: 25 }
const find = (token: string, at = server) => callTool(at, token, "findEntities", allPeople)
const namesIn = (answer: { json: any }): ReadonlyArray<string> =>
  answer.json.entities.map(({ displayName }: { displayName: string }) => displayName)
const member = (email: string, roles = ["admin"], scopes: Parameters<typeof memberWithToken>[3] = ["tools"]) =>
  server.run(memberWithToken(atlas, email, roles, scopes))
const events = (action: string) =>
  server.run(
    Effect.gen(function* () {
      const { owner } = yield* Database
      return (yield* owner`SELECT subject, details FROM max.audit_log WHERE action = ${action}`).length
    })
  )

describe("a token", () => {
  it("admits its member to its organization", async () => {
    const { token } = await member("token@atlas.com")
    expect(token).toMatch(/^max_[a-z]+_[\w-]{43}$/)
    const answer = await find(token)
    expect(namesIn(answer)).toContain("Only Atlas")
    expect(namesIn(answer)).not.toContain("Only Borealis")
    expect((await ask(server.url, "/v1/session", { headers: { authorization: `bearer  ${token}` } })).json).toEqual({
      organization: "atlas",
      roles: ["admin"],
      scopes: ["tools"],
      powers: [],
      by: "token"
    })
  })

  it("needs a name of 1 to 100 characters and a lifetime of 1 to 730 days, and is revoked by its own id only", async () => {
    const { anchorId } = await member("limits@atlas.com")
    const faultOf = (name: string, days: number) =>
      server.run(
        Effect.gen(function* () {
          const credentials = yield* Credentials
          const wanted = { anchorId, name, days, scopes: ["tools"] as const }
          return yield* Effect.match(credentials.createToken(atlas, wanted), {
            onFailure: ({ message }) => message,
            onSuccess: () => "created"
          })
        })
      )
    for (const name of ["", "  ", "x".repeat(101)])
      expect(await faultOf(name, 1)).toBe("--name must have 1 to 100 characters.")
    for (const days of [0, 731, 1.5]) expect(await faultOf("n", days)).toBe("--days must be between 1 and 730.")
    expect([await faultOf(` ${"x".repeat(100)} `, 1), await faultOf("n", 730)]).toEqual(["created", "created"])
    const unknown = server.run(
      Effect.flatMap(Credentials, (credentials) => Effect.flip(credentials.revokeToken(atlas, "zzz")))
    )
    expect((await unknown).message).toBe(`No active token has the id "zzz".`)
  })

  it("is recorded with its person, name, scopes and end when it is created, and once when it is revoked", async () => {
    const { anchorId, id } = await member("recorded@atlas.com")
    await server.run(Effect.flatMap(Credentials, (all) => Effect.orDie(all.revokeToken(atlas, id))))
    const again = await server.run(Effect.flatMap(Credentials, (all) => Effect.flip(all.revokeToken(atlas, id))))
    expect(again.message).toContain("No active token has the id")
    const rows = await server.run(
      Effect.flatMap(
        Database,
        ({ owner }) =>
          owner<{ action: string; details: string }>`
            SELECT action, details FROM max.audit_log WHERE subject = ${id} ORDER BY action`
      )
    )
    expect(rows.map(({ action, details }) => [action, JSON.parse(details)])).toEqual([
      [
        "token.created",
        { person: anchorId, name: "recorded@atlas.com", scopes: ["tools"], until: expect.stringMatching(/Z$/) }
      ],
      ["token.revoked", { person: anchorId }]
    ])
  })

  it("is stored only as a hash", async () => {
    const { token } = await member("hashed@atlas.com")
    const secret = token.slice(-43)
    const found = await server.run(
      Effect.gen(function* () {
        const { owner } = yield* Database
        const tables = yield* owner<{ name: string }>`
          SELECT c.oid::regclass::text AS name FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'max'::regnamespace`
        const hits: Array<string> = []
        for (const { name } of tables) {
          const rows = yield* owner.unsafe(`SELECT 1 FROM ${name} t WHERE t::text LIKE '%' || $1::text || '%'`, [
            secret
          ])
          if (rows.length > 0) hits.push(name)
        }
        return { hits, tables: tables.length }
      })
    )
    expect(found.tables).toBeGreaterThan(8)
    expect(found.hits).toEqual([])
  })

  it("that was revoked is refused by every process from the next request on", async () => {
    const before = await events("token.revoked")
    const { id, token } = await member("revoked@atlas.com")
    for (const at of [server, other, server, other]) expect((await find(token, at)).status).toBe(200)
    await server.run(Effect.flatMap(Credentials, (credentials) => credentials.revokeToken(atlas, id)))
    for (const at of [other, server]) {
      const refused = await find(token, at)
      expect(refused.status).toBe(401)
      expect(refused.headers["www-authenticate"]).toBe('Bearer realm="max"')
    }
    expect(await events("token.revoked")).toBe(before + 1)
  })

  it("of a suspended member is refused by every process from the next request on", async () => {
    const { token } = await member("suspended@atlas.com")
    for (const at of [server, other]) expect((await find(token, at)).status).toBe(200)
    await other.run(Effect.flatMap(Memberships, (members) => members.suspend(atlas, "suspended@atlas.com")))
    for (const at of [server, other]) {
      const refused = await find(token, at)
      expect([refused.status, refused.json.type]).toEqual([403, "urn:max:problem:not-admitted"])
    }
  })

  it("expires at its time", async () => {
    const { id, token } = await member("expired@atlas.com")
    expect((await find(token, other)).status).toBe(200)
    await server.run(
      Effect.gen(function* () {
        const { owner } = yield* Database
        yield* owner`UPDATE max.credentials SET expires_at = now() - interval '1 second' WHERE credential_id = ${id}`
      })
    )
    // This process has never seen the token; the other one has cached its original expiry.
    expect((await find(token)).status).toBe(401)
    const listed = await server.run(Effect.flatMap(Credentials, (credentials) => credentials.tokens(atlas)))
    expect(listed.find((one) => one.id === id)?.state).toBe("expired")
  })

  it("is refused outside its scopes", async () => {
    const { token } = await member("chat@atlas.com", ["admin"], ["chat", "traces"])
    expect((await find(token)).json).toMatchObject({ status: 403, type: "urn:max:problem:not-in-scope" })
    expect((await ask(server.url, "/v1/session", { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  })

  it("that is invented, malformed or moved to another organization gets one identical refusal", async () => {
    const { token } = await member("real@atlas.com")
    const secret = randomBytes(32).toString("base64url")
    const refused: Array<unknown> = []
    for (const made of [
      `max_${encodeId(atlas.id)}_${secret}`,
      token.replace(encodeId(atlas.id), encodeId(borealis.id)),
      token.slice(0, -1),
      token.toUpperCase(),
      `max_a_${secret}`,
      "max_",
      "x",
      "a.b.c",
      "9".repeat(9000)
    ]) {
      const answer = await find(made)
      expect(answer.status, made.slice(0, 40)).toBe(401)
      refused.push(answer.json)
    }
    expect(new Set(refused.map((one) => JSON.stringify(one))).size).toBe(1)
    for (const authorization of ["", "Bearer", `Basic ${token}`, `Bearer ${token} x`, `x Bearer ${token}`, token]) {
      const answer = await ask(server.url, "/v1/session", { headers: { authorization } })
      expect(answer.status, authorization.slice(0, 10)).toBe(401)
    }
  })
})

describe("a token of an identity provider", () => {
  it("admits the member that its subject or verified e-mail address is bound to", async () => {
    expect(namesIn(await find(await provider.sign({ sub: "user-1" })))).toContain("Only Atlas")
    const byEmail = await provider.sign({ sub: "user-9", email: "JWT@Atlas.com", email_verified: true })
    expect(namesIn(await find(byEmail))).toContain("Only Atlas")
    const whoAmI = await ask(server.url, "/v1/session", { headers: { authorization: `Bearer ${byEmail}` } })
    expect(whoAmI.json).toMatchObject({ organization: "atlas", by: "provider", scopes: ["tools", "chat"] })
  })

  it("proposes, reads and confirms no change, because a provider gives no scope for it", async () => {
    const headers = { authorization: `Bearer ${await provider.sign({ sub: "user-1", scope: "changes confirm" })}` }
    const steps = [{ actionId: "people.create", values: { name: "From outside" } }]
    const refused = [
      await ask(server.url, "/v1/changes", {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ steps })
      }),
      await ask(server.url, "/v1/changes", { headers }),
      await ask(server.url, "/v1/actions", { headers })
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
    for (const { text } of refused) expect(text).toContain("lacks the scope changes")
  })

  it("belongs to the organization of its audience, whatever its other claims", async () => {
    const token = await provider.sign({
      sub: "x",
      aud: "max-borealis",
      email: "jwt@atlas.com",
      email_verified: true,
      org: "atlas",
      organizationId: String(atlas.id)
    })
    expect(namesIn(await find(token))).toContain("Only Borealis")
    // The subject is bound in atlas, not in borealis.
    expect((await find(await provider.sign({ sub: "user-1", aud: "max-borealis" }))).status).toBe(403)
    const both = await provider.sign({ sub: "user-1", aud: ["max", "max-borealis"] })
    expect((await find(both)).status).toBe(401)
  })

  it("is refused when it is expired, unsigned, forged or incomplete", async () => {
    const now = Math.floor(Date.now() / 1000)
    const good = await provider.sign({ sub: "user-1" })
    const [header, payload, signature] = good.split(".") as [string, string, string]
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
    const hmac = (key: string) => {
      const head = encoded({ alg: "HS256", kid: "one" })
      return `${head}.${payload}.${createHmac("sha256", key).update(`${head}.${payload}`).digest("base64url")}`
    }
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString())
    const refused: Record<string, string> = {
      expired: await provider.sign({ sub: "user-1", exp: now - 60 }),
      "not yet": await provider.sign({ sub: "user-1", nbf: now + 600 }),
      "without an end": await provider.sign({ sub: "user-1", exp: undefined as never }),
      "without a subject": await provider.sign({ email: "jwt@atlas.com", email_verified: true }),
      "for another audience": await provider.sign({ sub: "user-1", aud: "other-app" }),
      "of another issuer": await provider.sign({ sub: "user-1", iss: "https://evil.example" }),
      "signed with another key": await provider.sign({ sub: "user-1" }, {}, provider.foreignKey),
      "with a key of its own": await provider.sign(
        { sub: "user-1" },
        { jwk: provider.publicJwk as never },
        provider.foreignKey
      ),
      "of an unknown key": await provider.sign({ sub: "user-1" }, { kid: "two" }),
      "with keys from elsewhere": await provider.sign(
        { sub: "user-1" },
        { jku: "http://127.0.0.1:9/keys", kid: "one" },
        provider.foreignKey
      ),
      "unsigned (none)": `${encoded({ alg: "none" })}.${payload}.`,
      "unsigned (None)": `${encoded({ alg: "None" })}.${payload}.${signature}`,
      "signed with the public key as a secret": hmac(provider.publicKey),
      "signed with the public key's numbers": hmac(JSON.stringify(provider.publicJwk)),
      "with other claims under the same signature": `${header}.${encoded({ ...claims, sub: "user-2", email: "jwt@atlas.com", email_verified: true })}.${signature}`,
      "without a signature": `${header}.${payload}.`
    }
    for (const [what, token] of Object.entries(refused)) {
      const answer = await find(token)
      expect([what, answer.status, answer.json.type]).toEqual([what, 401, "urn:max:problem:not-authenticated"])
    }
    expect((await find(good)).status).toBe(200)
  })

  it("doesn't admit by an unverified e-mail address, or by one that is only row data", async () => {
    for (const email_verified of [undefined, false, "true", 1]) {
      const token = await provider.sign({ sub: "user-8", email: "jwt@atlas.com", email_verified })
      expect((await find(token)).status).toBe(403)
    }
    await server.run(addPeople(atlas, [{ name: "Row Only", email: "row@atlas.com" }]))
    const row = await provider.sign({ sub: "user-8", email: "row@atlas.com", email_verified: true })
    expect((await find(row)).status).toBe(403)
  })

  it("of Microsoft Entra admits by an address whose domain its tenant has verified, and of no other provider", async () => {
    const issuer = "https://login.microsoftonline.com/7a1c2e3d-4b5f-4a6c-8d9e-0f1a2b3c4d5e/v2.0"
    await server.run(
      Effect.flatMap(IdentityProviders, (providers) =>
        providers.add(atlas, { issuer, audience: "of-entra", jwksUrl: `${provider.issuer}/keys` })
      )
    )
    const of = async (iss: string, aud: string, claims: Record<string, unknown>) =>
      (await find(await provider.sign({ iss, aud, sub: "pairwise-1", email: "jwt@atlas.com", ...claims }))).status
    for (const xms_edov of [true, 1, "1", "true"])
      expect([xms_edov, await of(issuer, "of-entra", { xms_edov })]).toEqual([xms_edov, 200])
    for (const xms_edov of [undefined, false, 0, "0", "false", "", null, [true]])
      expect([xms_edov, await of(issuer, "of-entra", { xms_edov })]).toEqual([xms_edov, 403])
    expect(await of(issuer, "of-entra", { xms_edov: true, email_verified: false })).toBe(403)
    expect(await of(provider.issuer, "max", { xms_edov: true })).toBe(403)
  })

  it("whose subject is bound to a suspended member isn't admitted by another member's address", async () => {
    await server.run(
      Effect.gen(function* () {
        const members = yield* Memberships
        const subject = subjectKey(provider.issuer, "gone")
        yield* members.add(atlas, { identifier: "gone@atlas.com", roles: ["admin"], create: {}, subject })
        yield* members.suspend(atlas, "gone@atlas.com")
      })
    )
    const token = await provider.sign({ sub: "gone", email: "jwt@atlas.com", email_verified: true })
    expect((await find(token)).status).toBe(403)
  })

  it("carries roles in the configured claim; a role outside the policy grants nothing", async () => {
    await server.run(
      Effect.gen(function* () {
        const providers = yield* IdentityProviders
        const issuer = provider.issuer
        yield* providers.add(atlas, { issuer, audience: "with-roles", roleClaim: "realm_access.roles" })
      })
    )
    const sign = (roles?: unknown) =>
      provider.sign({ sub: "user-1", aud: "with-roles", ...(roles === undefined ? {} : { realm_access: { roles } }) })
    const columnsOf = async (token: string) => {
      const answer = await callTool(server, token, "listEntityTypes", {})
      return answer.json.entityTypes?.length
    }
    expect(await columnsOf(await sign(["admin"]))).toBe(3)
    const nothing = [undefined, [], ["root"], ["__proto__", "constructor"], "owner", { admin: true }, [["admin"]]]
    for (const roles of nothing) {
      const token = await sign(roles)
      expect(await columnsOf(token), JSON.stringify(roles)).toBe(0)
      // Not even after the cache is stale and the membership, an admin's, is read again.
      await server.run(
        Effect.gen(function* () {
          const { owner } = yield* Database
          yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${atlas.id}`
        })
      )
      expect((await find(token)).json).toMatchObject({ type: "urn:max:problem:unknown-name" })
    }
  })

  it("is refused by every process once its provider is removed", async () => {
    const add = server.run(
      Effect.flatMap(IdentityProviders, (providers) =>
        providers.add(atlas, { issuer: provider.issuer, audience: "for-a-while" })
      )
    )
    await add
    const token = await provider.sign({ sub: "user-1", aud: "for-a-while" })
    for (const at of [server, other]) expect((await find(token, at)).status).toBe(200)
    await server.run(
      Effect.flatMap(IdentityProviders, (providers) => providers.remove(atlas, provider.issuer, "for-a-while"))
    )
    for (const at of [server, other]) expect((await find(token, at)).status).toBe(401)
  })

  it("with an unknown key id doesn't make the server refetch keys each time", async () => {
    const before = provider.fetched()
    for (let index = 0; index < 50; index++) {
      expect((await find(await provider.sign({ sub: "user-1" }, { kid: `k${index}` }))).status).toBe(401)
    }
    expect(provider.fetched() - before).toBeLessThanOrEqual(2)
  })

  it("has an issuer and audience that a second organization can't claim", async () => {
    const claim = Effect.flatMap(IdentityProviders, (providers) =>
      providers.add(borealis, { issuer: provider.issuer, audience: "max" })
    )
    await expect(server.run(claim)).rejects.toMatchObject({ _tag: "InvalidInput", problems: [{ field: "issuer" }] })
  })

  it("is answered Unavailable, not refused, while the provider's keys can't be fetched", async () => {
    const third = await startProvider()
    onTestFinished(() => third.stop())
    await server.run(
      Effect.flatMap(IdentityProviders, (providers) =>
        providers.add(atlas, { issuer: third.issuer, audience: "max", jwksUrl: `${third.issuer}/keys` })
      )
    )
    third.fail(true)
    const token = await third.sign({ sub: "user-1" })
    expect((await find(token)).status).toBe(503)
    third.fail(false)
    expect((await find(token)).status).toBe(403)
  })
})

describe("a sign-in link", () => {
  const link = (email: string) =>
    server.run(
      Effect.gen(function* () {
        const { anchorId } = yield* memberWithToken(atlas, email, ["admin"])
        const credentials = yield* Credentials
        return (yield* credentials.createLink(atlas, anchorId)).secret
      })
    )
  const redeem = (code: string, at = server, headers: Record<string, string> = { origin: at.url }) =>
    ask(at.url, "/v1/session", { body: JSON.stringify({ code }), headers: { ...JSON_TYPE, ...headers } })
  const cookieOf = (answer: { headers: Readonly<Record<string, unknown>> }) =>
    String((answer.headers["set-cookie"] as ReadonlyArray<string>)[0]).split(";")[0]!

  it("becomes a session cookie that scripts and other sites can't use", async () => {
    const answer = await redeem(await link("session@atlas.com"))
    expect(answer.status).toBe(204)
    const [cookie] = answer.headers["set-cookie"] as ReadonlyArray<string>
    expect(cookie).toMatch(/^max_session=max_[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
    const headers = { cookie: cookieOf(answer) }
    expect((await ask(server.url, "/v1/session", { headers })).json).toMatchObject({
      by: "session",
      organization: "atlas",
      scopes: ["tools", "chat", "export", "changes", "confirm", "admin", "traces"]
    })
    const call = { body: JSON.stringify(allPeople), headers: { ...JSON_TYPE, ...headers } }
    expect((await ask(server.url, "/v1/tools/findEntities", call)).json.type).toBe("urn:max:problem:origin-not-allowed")
    const fromHere = { ...call, headers: { ...call.headers, origin: server.url } }
    expect(namesIn(await ask(server.url, "/v1/tools/findEntities", fromHere))).toContain("Only Atlas")
    // An Authorization header takes precedence over the cookie.
    const both = { ...fromHere, headers: { ...fromHere.headers, authorization: "Bearer max_no" } }
    expect((await ask(server.url, "/v1/tools/findEntities", both)).status).toBe(401)
  })

  it("gives a cookie that counts for requests of Max's own pages only", async () => {
    const app = "https://app.example.com"
    const site = await startServerForTest(databaseUrl, { allowedOrigins: [app] })
    const cookie = cookieOf(await redeem(await link("pages@atlas.com"), site))
    const statusWith = async (headers: Record<string, string>) =>
      (await ask(site.url, "/v1/session", { headers: { cookie, ...headers } })).status
    for (const own of [
      {},
      { origin: site.url },
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" }
    ] as ReadonlyArray<Record<string, string>>)
      expect([own, await statusWith(own)]).toEqual([own, 200])
    for (const foreign of [
      { origin: app },
      { origin: app, "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "same-site" },
      { origin: site.url, "sec-fetch-site": "cross-site" }
    ] as ReadonlyArray<Record<string, string>>)
      expect([foreign, await statusWith(foreign)]).toEqual([foreign, 401])
    for (const none of ["", "other=1", "max_session="])
      expect([none, await statusWith({ cookie: none })]).toEqual([none, 401])
    // A change also needs a header that no simple request can send.
    const signOut = async (headers: Record<string, string>) =>
      (await ask(site.url, "/v1/session", { method: "DELETE", headers: { cookie, ...headers } })).status
    const origin = site.url
    const requested = { "x-requested-with": "max" }
    for (const simple of [
      { origin },
      { origin, "content-type": "text/plain" },
      { origin, "content-type": "text/plain; x=application/json" },
      { origin, "content-type": "application/jsonp" },
      requested
    ] as ReadonlyArray<Record<string, string>>)
      expect([simple, await signOut(simple)]).toEqual([simple, 403])
    expect(await signOut({ ...requested, origin: app })).toBe(401)
    expect(await signOut({ origin, "content-type": "Application/JSON ; charset=utf-8" })).toBe(204)
    expect(await statusWith({})).toBe(401)
  })

  it("sets a Secure cookie and HSTS when the public URL is https", async () => {
    const secure = await startServerForTest(databaseUrl, { publicUrl: "https://max.example.com" })
    const headers = { ...JSON_TYPE, host: "max.example.com", origin: "https://max.example.com" }
    const answer = await ask(secure.url, "/v1/session", {
      body: JSON.stringify({ code: await link("https@atlas.com") }),
      headers
    })
    const [cookie] = answer.headers["set-cookie"] as ReadonlyArray<string>
    expect(cookie).toMatch(/^__Host-max=max_[^;]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/)
    expect(answer.headers["strict-transport-security"]).toBe("max-age=31536000")
    const own = { host: "max.example.com", cookie: cookieOf(answer) }
    expect((await ask(secure.url, "/v1/session", { headers: own })).status).toBe(200)
  })

  it("used concurrently succeeds exactly once", async () => {
    const code = await link("twice@atlas.com")
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => redeem(code, index % 2 === 0 ? server : other))
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 19 }, () => 401)])
  })

  it("that is expired, invented or sent from another origin is refused", async () => {
    const code = await link("late@atlas.com")
    expect((await redeem(code, server, {})).status).toBe(403)
    expect((await redeem(code, server, { origin: "https://evil.example" })).status).toBe(403)
    expect((await redeem("max_a_x")).status).toBe(401)
    expect((await redeem("x".repeat(201))).status).toBe(400)
    await server.run(
      Effect.gen(function* () {
        const { owner } = yield* Database
        yield* owner`UPDATE max.credentials SET expires_at = now() WHERE kind = 'link' AND ended_at IS NULL`
      })
    )
    expect((await redeem(code)).status).toBe(401)
  })

  it("is no token, and neither is its session", async () => {
    const code = await link("kinds@atlas.com")
    expect((await find(code)).status).toBe(401)
    const session = cookieOf(await redeem(code)).split("=")[1]!
    expect((await find(session)).status).toBe(401)
    const { token } = await member("kinds2@atlas.com")
    expect((await ask(server.url, "/v1/session", { headers: { cookie: `max_session=${token}` } })).status).toBe(401)
  })

  it("gives a session that signing out ends in every process", async () => {
    const before = await events("session.ended")
    const cookie = cookieOf(await redeem(await link("out@atlas.com")))
    for (const at of [server, other])
      expect((await ask(at.url, "/v1/session", { headers: { cookie } })).status).toBe(200)
    const out = await ask(server.url, "/v1/session", {
      method: "DELETE",
      headers: { cookie, origin: server.url, "x-requested-with": "max" }
    })
    expect(out.status).toBe(204)
    expect(String(out.headers["set-cookie"])).toMatch(/^max_session=; Max-Age=0/)
    for (const at of [server, other])
      expect((await ask(at.url, "/v1/session", { headers: { cookie } })).status).toBe(401)
    expect(await events("session.ended")).toBe(before + 1)
  })
})
