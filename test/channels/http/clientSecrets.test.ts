/** The secret of an identity provider's client, replaced in place: only by one that the provider takes, and never shown. */
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Principal } from "../../../src/domain/Principal.ts"
import { IdentityProviders } from "../../../src/services/access/IdentityProviders.ts"
import { PUBLIC_URL } from "../../support/carrier.ts"
import { helperWith } from "../../support/members.ts"
import { type ProviderWorld, startProviderWorld } from "../../support/providerWorld.ts"

const OLD = "canary-old-secret-of-the-client"
const NEW = "canary-new-secret-of-the-client"
let world: ProviderWorld
let server: ProviderWorld["server"]
let provider: ProviderWorld["provider"]
let atlas: ProviderWorld["atlas"]
let borealis: ProviderWorld["borealis"]
let call: ProviderWorld["call"]

beforeAll(async () => {
  world = await startProviderWorld({ publicUrl: PUBLIC_URL })
  ;({ atlas, borealis, call, provider, server } = world)
})
afterAll(() => world.stop())

const client = () => ({ issuer: provider.issuer, audience: "client" })
const replace = (clientSecret: string, secret?: string) =>
  call("providers/secret", { ...client(), clientSecret }, secret)
const sql = <A extends object>(text: string) =>
  server.run(Effect.flatMap(Database, ({ owner }) => owner.unsafe<A>(text)))
const takes = (...taken: ReadonlyArray<string>) =>
  provider.answer((secret) =>
    taken.includes(secret) ? { status: 400, error: "invalid_grant" } : { status: 401, error: "invalid_client" }
  )
/** All that is stored of the secret, and its events. */
const kept = async () => [
  await sql("SELECT client_secret FROM max.identity_providers WHERE audience = 'client'"),
  await sql("SELECT version, sealed::text, set_by FROM max.secrets"),
  await sql("SELECT sequence FROM max.audit_log WHERE action = 'provider.secret-set'")
]
const opened = () =>
  server.run(
    Effect.gen(function* () {
      const providers = yield* IdentityProviders
      const [found] = yield* providers.list(atlas.organization)
      return yield* providers.sealedSecret({ ...found!, organization: atlas.organization })
    })
  )
const asAdministrator = (administrator: Principal | undefined, audience = "client") =>
  server.run(
    Effect.flatMap(IdentityProviders, (providers) =>
      Effect.match(
        providers.replaceSecret(
          atlas.organization,
          { issuer: provider.issuer, audience },
          { secret: Redacted.make(NEW) },
          administrator
        ),
        { onFailure: ({ message }) => message, onSuccess: () => "replaced" }
      )
    )
  )

beforeEach(async () => {
  provider.describesClients(true)
  takes(OLD)
  await call("providers/remove", client())
  const token = await provider.sign({ sub: "lena", aud: "client" })
  const added = await call("providers", { ...client(), token, signIn: "Atlas ID", clientSecret: OLD })
  expect(added.status).toBe(204)
})

describe("the secret of a provider's client", () => {
  it("is replaced in place by one that the provider takes, sealed, recorded and told to no reader, and the old one is gone", async () => {
    const [before] = await sql<{ sealed: string }>("SELECT sealed::text FROM max.secrets")
    takes(NEW)
    const presented = provider.presentations.length
    const answer = await replace(NEW)
    expect([answer.status, answer.text]).toEqual([204, ""])
    const [trial, ...more] = provider.presentations.slice(presented)
    expect([more, Object.fromEntries(trial!)]).toEqual([
      [],
      expect.objectContaining({
        grant_type: "authorization_code",
        client_id: "client",
        client_secret: NEW,
        redirect_uri: `${PUBLIC_URL}/v1/session/callback`
      })
    ])
    expect(await opened()).toBe(NEW)
    const [, after] = await kept()
    expect(after).toEqual([expect.objectContaining({ set_by: atlas.idOf("yuki") })])
    const { sealed } = before!
    expect(after).not.toEqual([expect.objectContaining({ sealed })])
    const [event] = await sql(
      "SELECT actor, subject, details::jsonb AS details FROM max.audit_log WHERE action = 'provider.secret-set' ORDER BY sequence DESC LIMIT 1"
    )
    const details = { audience: "client", clientSecret: "sealed" }
    expect(event).toEqual({ actor: atlas.idOf("yuki"), subject: provider.issuer, details })
    const listed = await call("providers")
    expect(listed.json.providers[0]).toMatchObject({ signIn: "Atlas ID", clientSecret: "sealed" })
    const tables = await sql<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('max', 'builder', 'data')`
    )
    for (const part of [OLD, NEW, sealed.slice(2)]) {
      expect(listed.text).not.toContain(part)
      for (const { name } of tables)
        expect([name, await sql(`SELECT 1 FROM ${name} t WHERE strpos(t::text, '${part}') > 0`)]).toEqual([name, []])
    }
  })

  it("stays as it is unless the provider says that it takes the new one", async () => {
    const before = await kept()
    const refused = "the provider refuses this secret, so nothing is changed."
    const unsaid = "the provider didn't say whether it takes this secret, so nothing is changed."
    for (const [reply, message] of [
      [{ status: 401, error: "invalid_client" }, refused],
      [{ status: 400, error: "invalid_client" }, refused],
      [{ status: 401 }, unsaid],
      [{ status: 400 }, unsaid],
      [{ status: 400, error: "unauthorized_client" }, unsaid],
      [{ status: 400, error: "invalid_request" }, unsaid],
      [{ status: 200 }, unsaid],
      [{ status: 200, error: "invalid_grant" }, unsaid],
      [{ status: 500, error: "invalid_grant" }, unsaid],
      [{ status: 302, error: "invalid_grant" }, unsaid]
    ] as const) {
      provider.answer(() => reply)
      const answer = await replace(NEW)
      expect([JSON.stringify(reply), answer.status, answer.json?.problems]).toEqual([
        JSON.stringify(reply),
        400,
        [{ field: "clientSecret", message }]
      ])
      expect(answer.text).not.toContain(NEW)
    }
    takes(NEW)
    provider.describesClients(false)
    expect((await replace(NEW)).json.problems).toEqual([{ field: "clientSecret", message: unsaid }])
    provider.fail(true)
    const failing = await replace(NEW)
    provider.fail(false)
    expect(failing.json.problems).toEqual([{ field: "clientSecret", message: unsaid }])
    expect(await kept()).toEqual(before)
    expect(await opened()).toBe(OLD)
  })

  it("is replaced only with every power, and the provider isn't asked without", async () => {
    takes(NEW)
    const before = await kept()
    const presented = provider.presentations.length
    const all = ["members", "policy", "data", "secrets"]
    for (const lacked of all) {
      const powers = all.filter((power) => power !== lacked)
      const token = await server.run(helperWith(atlas.organization, powers))
      const answer = await replace(NEW, token)
      expect([lacked, answer.status]).toEqual([lacked, 403])
      expect(answer.json.detail).toContain(lacked)
    }
    expect((await replace(NEW, atlas.auditor.secret)).status).toBe(403)
    expect([await kept(), provider.presentations.length]).toEqual([before, presented])
  })

  it("isn't replaced by an administrator who lost a power while the provider was asked", async () => {
    takes(NEW)
    const before = await kept()
    const administrator: Principal = {
      organizationId: atlas.organization.id,
      anchorEntityId: atlas.idOf("yuki"),
      roles: ["admin"],
      attributes: {},
      epoch: 1n
    }
    expect(await asAdministrator(administrator)).toContain("at the same time")
    expect(await kept()).toEqual(before)
  })

  it("isn't stored for a provider that was removed while it was asked", async () => {
    provider.answer(async () => {
      await call("providers/remove", client())
      return { status: 400, error: "invalid_grant" }
    })
    expect(await asAdministrator(undefined)).toBe("No provider has this issuer and audience.")
    expect(await sql("SELECT 1 FROM max.secrets")).toEqual([])
  })

  it("is of a provider of this organization with which people sign in", async () => {
    provider.answer(() => ({ status: 400, error: "invalid_grant" }))
    const presented = provider.presentations.length
    const unknown = await call("providers/secret", { ...client(), audience: "no-such", clientSecret: NEW })
    const theirs = await call("providers/secret", { ...client(), clientSecret: NEW }, borealis.admin.secret)
    expect([unknown.status, theirs.status]).toEqual([409, 409])
    expect(theirs.json.detail).toBe(unknown.json.detail)
    const token = await provider.sign({ sub: "lena", aud: "tokens" })
    await call("providers", { issuer: provider.issuer, audience: "tokens", token })
    const tokens = await call("providers/secret", { ...client(), audience: "tokens", clientSecret: NEW })
    expect([tokens.status, tokens.json.detail]).toEqual([409, expect.stringContaining("don't sign in")])
    await call("providers/remove", { issuer: provider.issuer, audience: "tokens" })
    expect(provider.presentations.length).toBe(presented)
  })

  it("is one word, and what would be an operator's reference is a secret like any other", async () => {
    provider.answer(() => ({ status: 400, error: "invalid_grant" }))
    for (const wrong of ["", " ", "two words", "a".repeat(501), "schlüssel"]) {
      const answer = await replace(wrong)
      expect([wrong, answer.status, answer.json.problems?.[0]?.field]).toEqual([wrong, 400, "clientSecret"])
    }
    expect((await replace("a\u0000b")).status).toBe(400)
    expect((await replace("file:/etc/hostname")).status).toBe(204)
    expect(await opened()).toBe("file:/etc/hostname")
    expect(provider.presentations.at(-1)!.get("client_secret")).toBe("file:/etc/hostname")
  })
})
