/** Identity providers on the administrators' page: what a pasted token would do, who removes a provider, and what is kept. */
import { Effect, Exit, Scope } from "effect"
import { createSecretKey } from "node:crypto"
import type { JWTPayload } from "jose"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Principal } from "../../../src/domain/Principal.ts"
import { IdentityProviders } from "../../../src/services/access/IdentityProviders.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { administered } from "../../support/administered.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, callTool, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { startProvider } from "../../support/provider.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let provider: Awaited<ReturnType<typeof startProvider>>
let atlas: Effect.Success<ReturnType<typeof administered>>
let borealis: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  provider = await startProvider()
  const database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(database, {}, undefined, true)
  atlas = await server.run(administered({ slug: "atlas" }))
  borealis = await server.run(administered({ slug: "borealis" }))
  await trust(atlas, "max")
  await trust(atlas, "max-roles", "realm.roles")
  await trust(borealis, "borealis")
})
afterAll(async () => {
  await server.stop()
  await provider.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const trust = (of: typeof atlas, audience: string, roleClaim?: string) =>
  server.run(
    Effect.flatMap(IdentityProviders, (providers) =>
      providers.add(of.organization, {
        issuer: provider.issuer,
        audience,
        ...(roleClaim === undefined ? {} : { roleClaim })
      })
    )
  )
const call = (path: string, body?: object, secret = atlas.admin.secret) =>
  ask(server.url, `/v1/admin/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${secret}`, ...(body === undefined ? {} : JSON_TYPE) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
const tried = async (token: string, audience = "max", roleClaim?: string) =>
  (
    await call("providers/try", {
      issuer: provider.issuer,
      audience,
      token,
      ...(roleClaim === undefined ? {} : { roleClaim })
    })
  ).json
const lena = (claims: JWTPayload = {}) =>
  provider.sign({ sub: "lena", email: "lena@atlas.example", email_verified: true, ...claims })
const sql = <A extends object>(text: string) =>
  server.run(Effect.flatMap(Database, ({ owner }) => owner.unsafe<A>(text)))
const admits = async (token: string) => (await callTool(server, token, "listEntityTypes", {})).status === 200

/** A role with these powers, in the policy of Atlas, and a token of a member with it. */
const withPowers = async (powers: ReadonlyArray<string>, person: string) => {
  const { document } = await server.run(Effect.flatMap(Policies, (policies) => policies.current(atlas.organization)))
  const file = JSON.parse(document) as { roles: object }
  const roles = { ...file.roles, helper: { inherits: ["member"], administers: powers } }
  await server.run(
    Effect.flatMap(Policies, (policies) =>
      policies.publish(atlas.organization, JSON.stringify({ ...file, roles }), "operator")
    )
  )
  return (await server.run(memberWithToken(atlas.organization, `${person}@atlas.example`, ["helper"], ["admin"]))).token
}

describe("a pasted token", () => {
  // First: requests with refused tokens are recorded a moment later.
  it("leaves no trace: not in the audit log, a recorded trace or any table, even of a refused one", async () => {
    const events = await sql("SELECT count(*)::int AS events FROM max.audit_log")
    const tokens = [await lena(), await lena({ email: "jonas@atlas.example" }), await lena({ exp: 1 })]
    for (const token of tokens) await tried(token)
    expect((await call("providers/try", { issuer: 1, audience: "max", token: tokens[0]! })).text).not.toContain(
      tokens[0]!.slice(-40)
    )
    expect(await sql("SELECT count(*)::int AS events FROM max.audit_log")).toEqual(events)
    const tables = await sql<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('max', 'builder', 'data')`
    )
    for (const { name } of tables)
      for (const token of tokens)
        for (const part of [token.slice(-40), token.split(".")[1]!])
          expect([name, await sql(`SELECT 1 FROM ${name} t WHERE t::text LIKE '%${part}%'`)]).toEqual([name, []])
  })

  it("says whom it would admit with which roles, and a request with it is then admitted", async () => {
    const token = await lena()
    expect(await tried(token)).toMatchObject({
      accepted: true,
      member: { id: atlas.idOf("lena"), name: "Lena Brandt" },
      rolesFrom: "membership",
      roles: ["member"],
      unknownRoles: [],
      until: expect.any(String)
    })
    expect(await admits(token)).toBe(true)
  })

  it("shows the roles of the provider's claim, or of another one, and which of them the policy doesn't have", async () => {
    const token = await lena({ aud: "max-roles", realm: { roles: ["manager", "no-such-role"] }, groups: "auditor x" })
    const roles = { rolesFrom: "token", roles: ["manager"], unknownRoles: ["no-such-role"] }
    expect(await tried(token, "max-roles")).toMatchObject(roles)
    expect(await tried(token, "max-roles", "groups")).toMatchObject({ roles: ["auditor"], unknownRoles: ["x"] })
    expect(await tried(token, "max-roles", "none")).toMatchObject({ accepted: true, roles: [], unknownRoles: [] })
    expect(await tried(token, "max-roles")).toMatchObject(roles)
  })

  it("may have any expiry and subject that the provider signs", async () => {
    expect(await tried(await lena({ exp: 1e20 }))).toMatchObject({
      accepted: true,
      until: "+275760-09-13T00:00:00.000Z"
    })
    const strange = await provider.sign({ sub: "a\u0000b", email: "le\u0000na@atlas.example", email_verified: true })
    expect(await tried(strange)).toMatchObject({
      accepted: false,
      reason: expect.stringContaining("no e-mail address")
    })
    expect((await callTool(server, strange, "listEntityTypes", {})).status).toBe(403)
  })

  it("is refused with the reason wherever a request with it is refused", async () => {
    const now = Math.floor(Date.now() / 1000)
    const shared = createSecretKey(Buffer.from(provider.publicKey))
    const refused: ReadonlyArray<readonly [reason: RegExp, token: string]> = [
      [/isn't a signed token/, "max_not-a-jwt"],
      [/Another issuer/, await lena({ iss: "https://elsewhere.example" })],
      [/another audience/, await lena({ aud: "other" })],
      [/has expired/, await lena({ exp: now - 600 })],
      [/isn't valid yet/, await lena({ nbf: now + 600 })],
      [/no key/, await provider.sign({ sub: "lena" }, { kid: "two" })],
      [/signature/, await provider.sign({ sub: "lena" }, {}, provider.foreignKey)],
      [/isn't signed in a way/, await provider.sign({ sub: "lena" }, { alg: "HS256" }, shared as never)],
      [/lacks its expiry/, await provider.sign({ email: "lena@atlas.example", email_verified: true })],
      [/several audiences/, await lena({ aud: ["max", "max-roles"] })],
      [/no e-mail address that the provider has verified/, await lena({ email_verified: false })],
      [/neither its subject/, await lena({ email: "stranger@atlas.example" })],
      [/membership is suspended/, await lena({ email: "jonas@atlas.example" })]
    ]
    for (const [reason, token] of refused) {
      const { accepted, reason: said } = await tried(token)
      expect([reason, accepted, said]).toEqual([reason, false, expect.stringMatching(reason)])
      expect([reason, await admits(token)]).toEqual([reason, false])
    }
  })

  it("doesn't tell by an unsigned one what another organization trusts", async () => {
    const forged = (audience: string) => provider.sign({ sub: "lena", aud: ["max", audience] }, {}, provider.foreignKey)
    const answers = await Promise.all(["borealis", "no-such"].map(async (one) => tried(await forged(one))))
    expect(answers[0]).toEqual(answers[1])
    const theirs = { issuer: provider.issuer, audience: "borealis", token: await lena({ aud: "borealis" }) }
    const unknown = { ...theirs, audience: "no-such" }
    const [other, none] = [await call("providers/try", theirs), await call("providers/try", unknown)]
    expect([other.status, other.json.detail]).toEqual([409, none.json.detail])
  })

  it("is tried with the power members, and never without", async () => {
    const body = { issuer: provider.issuer, audience: "max", token: await lena() }
    const token = await withPowers(["data", "secrets", "policy"], "theo")
    for (const secret of [token, atlas.auditor.secret]) {
      expect((await call("providers/try", body, secret)).status).toBe(403)
      expect((await call("providers", undefined, secret)).status).toBe(403)
    }
    const members = await withPowers(["members"], "theo")
    expect((await call("providers/try", body, members)).json).toMatchObject({ accepted: true })
  })
})

describe("a provider", () => {
  it("is listed with its keys and claim, never with its secret, and only one's own", async () => {
    await server.run(
      Effect.flatMap(IdentityProviders, (providers) =>
        providers.add(atlas.organization, {
          issuer: provider.issuer,
          audience: "client",
          signIn: { name: "Atlas ID", clientSecret: "env:CANARY_SECRET" }
        })
      )
    )
    const { json, text } = await call("providers")
    const of = { issuer: provider.issuer, keys: `${provider.issuer}/keys` }
    expect(json.providers).toEqual([
      { ...of, audience: "client", signIn: "Atlas ID", clientSecret: "operator" },
      { ...of, audience: "max" },
      { ...of, audience: "max-roles", roleClaim: "realm.roles" }
    ])
    expect(text).not.toContain("CANARY")
    expect((await call("providers", undefined, borealis.admin.secret)).json.providers).toHaveLength(1)
  })

  it("is removed only with every power, and never another organization's", async () => {
    const body = { issuer: provider.issuer, audience: "max" }
    const before = (await call("providers")).json
    for (const lacked of ["members", "policy", "data", "secrets"]) {
      const powers = ["members", "policy", "data", "secrets"].filter((power) => power !== lacked)
      const refused = await call("providers/remove", body, await withPowers(powers, "theo"))
      expect([lacked, refused.status]).toEqual([lacked, 403])
      expect(refused.json.detail).toContain(lacked)
    }
    expect((await call("providers/remove", { ...body, audience: "borealis" })).status).toBe(409)
    expect((await call("providers/remove", body, borealis.admin.secret)).status).toBe(409)
    expect((await call("providers")).json).toEqual(before)
    expect(JSON.stringify(before)).toContain('"max"')
    expect((await call("providers", undefined, borealis.admin.secret)).json.providers).toHaveLength(1)
  })

  it("isn't removed by an administrator who lost a power in between", async () => {
    const principal: Principal = {
      organizationId: atlas.organization.id,
      anchorEntityId: atlas.idOf("yuki"),
      roles: ["admin"],
      attributes: {},
      epoch: 1n
    }
    const late = await server.run(
      Effect.flatMap(IdentityProviders, (providers) =>
        Effect.match(providers.remove(atlas.organization, provider.issuer, "max", principal), {
          onFailure: ({ message }) => message,
          onSuccess: () => "removed"
        })
      )
    )
    expect(late).toContain("at the same time")
  })

  it("admits no longer once it is removed, and the audit log says who removed it", async () => {
    const token = await lena()
    expect(await admits(token)).toBe(true)
    expect((await call("providers/remove", { issuer: provider.issuer, audience: "max" })).status).toBe(204)
    expect(await admits(token)).toBe(false)
    const [event] = await sql<object>(
      "SELECT actor, subject, details::jsonb AS details FROM max.audit_log WHERE action = 'provider.removed' ORDER BY sequence DESC LIMIT 1"
    )
    expect(event).toEqual({ actor: atlas.idOf("yuki"), subject: provider.issuer, details: { audience: "max" } })
    expect((await call("providers/remove", { issuer: provider.issuer, audience: "max" })).status).toBe(409)
  })
})
