/** An identity provider that an administrator adds: only with a token that it has signed, with every power, and what is kept. */
import { Effect, Redacted } from "effect"
import type { JWTPayload } from "jose"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Principal } from "../../../src/domain/Principal.ts"
import { IdentityProviders } from "../../../src/services/access/IdentityProviders.ts"
import { callTool } from "../../support/http.ts"
import { helperWith } from "../../support/members.ts"
import { type ProviderWorld, startProviderWorld } from "../../support/providerWorld.ts"

const SECRET = "canary-secret-of-the-client-4711"
let world: ProviderWorld
let server: ProviderWorld["server"]
let provider: ProviderWorld["provider"]
let atlas: ProviderWorld["atlas"]
let borealis: ProviderWorld["borealis"]
let call: ProviderWorld["call"]

beforeAll(async () => {
  world = await startProviderWorld()
  ;({ atlas, borealis, call, provider, server } = world)
})
afterAll(() => world.stop())

const lena = (audience: string | ReadonlyArray<string>, claims: JWTPayload = {}) =>
  provider.sign({ sub: "lena", email: "lena@atlas.example", email_verified: true, aud: audience as string, ...claims })
const of = (audience: string, token: string, rest: object = {}) => ({
  issuer: provider.issuer,
  audience,
  token,
  ...rest
})
const sql = <A extends object>(text: string) =>
  server.run(Effect.flatMap(Database, ({ owner }) => owner.unsafe<A>(text)))
const stored = async (audience: string) =>
  (await sql(`SELECT 1 FROM max.identity_providers WHERE audience = '${audience}'`)).length
const admits = async (token: string) => (await callTool(server, token, "listEntityTypes", {})).status === 200
const remove = (audience: string) => call("providers/remove", { issuer: provider.issuer, audience })
const problems = (answer: { readonly status: number; readonly json: any }) => [
  answer.status,
  ...((answer.json?.problems ?? []) as ReadonlyArray<{ readonly field: string }>).map(({ field }) => field)
]

describe("an administrator's provider", () => {
  it("is tried first, which stores nothing, and then admits, with who added it in the list and in the audit log", async () => {
    const token = await lena("fresh", { realm: { roles: ["manager", "no-such-role"] } })
    const body = of("fresh", token, { roleClaim: "realm.roles" })
    expect((await call("providers/trial", body)).json).toMatchObject({
      accepted: true,
      member: { id: atlas.idOf("lena"), name: "Lena Brandt" },
      rolesFrom: "token",
      roles: ["manager"],
      unknownRoles: ["no-such-role"]
    })
    expect([await stored("fresh"), await admits(token)]).toEqual([0, false])
    expect((await call("providers", body)).status).toBe(204)
    expect(await admits(token)).toBe(true)
    expect((await call("providers")).json.providers).toEqual([
      {
        issuer: provider.issuer,
        audience: "fresh",
        keys: `${provider.issuer}/keys`,
        roleClaim: "realm.roles",
        addedBy: { id: atlas.idOf("yuki"), name: expect.any(String) }
      }
    ])
    const [event] = await sql<object>(
      "SELECT actor, subject, details::jsonb AS details FROM max.audit_log WHERE action = 'provider.added' ORDER BY sequence DESC LIMIT 1"
    )
    const details = { issuer: provider.issuer, audience: "fresh", roleClaim: "realm.roles" }
    expect(event).toEqual({
      actor: atlas.idOf("yuki"),
      subject: provider.issuer,
      details: { ...details, jwksUrl: `${provider.issuer}/keys` }
    })
    expect((await remove("fresh")).status).toBe(204)
    expect(await admits(token)).toBe(false)
  })

  it("needs a token that verifies in the same request, whatever was tried or the request says", async () => {
    const good = await lena("proved")
    expect((await call("providers/trial", of("proved", good))).json.accepted).toBe(true)
    const now = Math.floor(Date.now() / 1000)
    for (const token of [
      "",
      "max_not-a-jwt",
      await lena("other"),
      await lena("proved", { iss: "https://elsewhere.example" }),
      await lena("proved", { exp: now - 600 }),
      await lena("proved", { nbf: now + 600 }),
      await provider.sign({ sub: "lena", aud: "proved" }, { kid: "two" }),
      await provider.sign({ sub: "lena", aud: "proved" }, {}, provider.foreignKey),
      `${good.slice(0, -8)}AAAAAAAA`
    ]) {
      const tried = await call("providers/trial", of("proved", token))
      expect([tried.status, tried.json.accepted]).toEqual([200, false])
      const said = await call("providers", of("proved", token))
      expect(problems(said)).toEqual([400, "token"])
      expect(said.json.problems[0].message).toBe(tried.json.reason)
    }
    const { token: _, ...without } = of("proved", good)
    for (const more of [{}, { tried: true }, { accepted: true, verified: true }])
      expect((await call("providers", { ...without, ...more })).status).toBe(400)
    expect(await stored("proved")).toBe(0)
  })

  it("may be added with a token that admits no member yet", async () => {
    const stranger = await lena("stranger", { email: "stranger@elsewhere.example" })
    expect((await call("providers/trial", of("stranger", stranger))).json).toMatchObject({
      accepted: false,
      reason: expect.stringContaining("neither its subject"),
      rolesFrom: "membership"
    })
    expect((await call("providers", of("stranger", stranger))).status).toBe(204)
    expect((await remove("stranger")).status).toBe(204)
  })

  it("is tried and added only with every power", async () => {
    const body = of("powers", await lena("powers"))
    const all = ["members", "policy", "data", "secrets"]
    for (const lacked of all) {
      const powers = all.filter((power) => power !== lacked)
      const token = await server.run(helperWith(atlas.organization, powers))
      for (const path of ["providers/trial", "providers"]) {
        const refused = await call(path, body, token)
        expect([lacked, path, refused.status]).toEqual([lacked, path, 403])
        expect(refused.json.detail).toContain(lacked)
      }
    }
    for (const path of ["providers/trial", "providers"])
      expect((await call(path, body, atlas.auditor.secret)).status).toBe(403)
    expect(await stored("powers")).toBe(0)
  })

  it("isn't added by an administrator who lost a power in between", async () => {
    const administrator: Principal = {
      organizationId: atlas.organization.id,
      anchorEntityId: atlas.idOf("yuki"),
      roles: ["admin"],
      attributes: {},
      epoch: 1n
    }
    const token = Redacted.make(await lena("late"))
    const late = await server.run(
      Effect.flatMap(IdentityProviders, (providers) =>
        Effect.match(
          providers.add(atlas.organization, { issuer: provider.issuer, audience: "late" }, { administrator, token }),
          { onFailure: ({ message }) => message, onSuccess: () => "added" }
        )
      )
    )
    expect(late).toContain("at the same time")
    expect(await stored("late")).toBe(0)
  })

  it("has each field's problem at the field", async () => {
    const token = await lena("fields")
    const long = "a".repeat(501)
    for (const [field, rest] of [
      ["issuer", { issuer: "" }],
      ["issuer", { issuer: "login.example.com" }],
      ["issuer", { issuer: "http://login.example.com" }],
      ["issuer", { issuer: "https://user:secret@login.example.com" }],
      ["issuer", { issuer: "javascript:alert(1)" }],
      ["issuer", { issuer: "file:///etc/passwd" }],
      ["issuer", { issuer: `https://login.example.com/${long}` }],
      ["issuer", { issuer: `${provider.issuer}?a=b` }],
      ["issuer", { issuer: `${provider.issuer}#a` }],
      ["issuer", { issuer: `${provider.issuer}/` }],
      ["audience", { audience: "" }],
      ["audience", { audience: " " }],
      ["audience", { audience: long }],
      ["roleClaim", { roleClaim: "" }],
      ["roleClaim", { roleClaim: long }],
      ["signIn", { signIn: " " }],
      ["signIn", { signIn: long }],
      ["signIn", { clientSecret: SECRET }],
      ["clientSecret", { signIn: "Atlas ID", clientSecret: "two words" }],
      ["clientSecret", { signIn: "Atlas ID", clientSecret: long }]
    ] as const)
      for (const path of ["providers/trial", "providers"]) {
        const answer = await call(path, of("fields", token, rest))
        expect([JSON.stringify(rest), ...problems(answer)]).toEqual([JSON.stringify(rest), 400, field])
        expect(answer.text).not.toContain(SECRET)
      }
    for (const broken of [
      { audience: "a\u0000b" },
      { issuer: 1 },
      { jwksUrl: `${provider.issuer}/keys` },
      { addedBy: "x" }
    ])
      expect((await call("providers", of("fields", token, broken))).status).toBe(400)
    expect(await stored("fields")).toBe(0)
  })

  it("isn't one that is trusted already, here or elsewhere, which only a signed token is told", async () => {
    const theirs = of("theirs", await lena("theirs"))
    expect((await call("providers", theirs, borealis.admin.secret)).status).toBe(204)
    for (const secret of [atlas.admin.secret, borealis.admin.secret])
      for (const path of ["providers/trial", "providers"]) {
        const answer = await call(path, theirs, secret)
        expect([...problems(answer), answer.json.detail]).toEqual([400, "issuer", expect.stringContaining("already")])
      }
    const forged = (audience: string) => provider.sign({ sub: "lena", aud: audience }, {}, provider.foreignKey)
    const answers = await Promise.all(
      ["theirs", "no-such"].map(async (one) => (await call("providers", of(one, await forged(one)))).json)
    )
    expect(answers[0]).toEqual(answers[1])
    const both = await call("providers", of("mine", await lena(["mine", "theirs"])))
    expect([...problems(both), both.text]).toEqual([400, "token", expect.stringContaining("several audiences")])
    expect(await stored("mine")).toBe(0)
  })

  it("ends what a token of two audiences was admitted for, at once", async () => {
    expect((await call("providers", of("one", await lena("one")))).status).toBe(204)
    const token = await lena(["one", "two"])
    expect(await admits(token)).toBe(true)
    expect((await call("providers", of("two", await lena("two")))).status).toBe(204)
    expect(await admits(token)).toBe(false)
    for (const audience of ["one", "two"]) await remove(audience)
    expect(await admits(token)).toBe(false)
  })

  it("keeps the client's secret sealed, in no answer, table, trace or event, and forgets it when it is removed", async () => {
    const token = await lena("client")
    const body = of("client", token, { signIn: "Atlas ID", clientSecret: SECRET })
    expect((await call("providers/trial", body)).json.accepted).toBe(true)
    expect(await sql("SELECT 1 FROM max.secrets")).toEqual([])
    expect((await call("providers", body)).status).toBe(204)
    expect((await call("providers")).text).not.toContain(SECRET)
    const tables = await sql<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('max', 'builder', 'data')`
    )
    for (const { name } of tables)
      for (const part of [SECRET, token.slice(-40), token.split(".")[1]!])
        expect([name, await sql(`SELECT 1 FROM ${name} t WHERE t::text LIKE '%${part}%'`)]).toEqual([name, []])
    expect(await sql("SELECT client_secret FROM max.identity_providers WHERE audience = 'client'")).toEqual([
      { client_secret: "sealed" }
    ])
    expect(await sql("SELECT sealed IS NOT NULL AS sealed FROM max.secrets")).toEqual([{ sealed: true }])
    expect((await remove("client")).status).toBe(204)
    expect(await sql("SELECT 1 FROM max.secrets")).toEqual([])
    // What would be an operator's reference is a secret like any other.
    for (const clientSecret of ["file:/etc/hostname", "env:PATH"]) {
      expect((await call("providers", { ...body, clientSecret })).status).toBe(204)
      expect(await sql("SELECT client_secret FROM max.identity_providers WHERE audience = 'client'")).toEqual([
        { client_secret: "sealed" }
      ])
      await remove("client")
    }
  })
})
