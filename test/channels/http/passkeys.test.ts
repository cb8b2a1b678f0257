/** Passkeys over HTTP, answered by an authenticator in software: what is taken, and what is refused. */
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { administered } from "../../support/administered.ts"
import { authenticator } from "../../support/authenticator.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, startServer, type TestServer } from "../../support/http.ts"

const scope = Scope.makeUnsafe()
const servers: Array<TestServer> = []
let origin: string
let harbor: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  const database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  // Two processes: a challenge of one is answered at the other.
  servers.push(await startServer(database), await startServer(database))
  origin = servers[0]!.url.replace("127.0.0.1", "localhost")
  harbor = await servers[0]!.run(administered({ slug: "harbor" }))
})

afterAll(async () => {
  for (const server of servers) await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const run = <A, E>(effect: Parameters<TestServer["run"]>[0] & Effect.Effect<A, E, any>): Promise<A> =>
  servers[0]!.run(effect as never) as Promise<A>
const session = (name: string) => run(harbor.session(name))

const send = (path: string, body: unknown, { cookie, from = origin }: { cookie?: string; from?: string } = {}) =>
  ask(origin, path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      origin: from,
      ...(cookie === undefined ? {} : { cookie: `max_session=${cookie}`, "x-requested-with": "max" })
    },
    body: JSON.stringify(body)
  })

const optionsTo = async (path: string, cookie?: string) => {
  const { json, status } = await send(path, {}, cookie === undefined ? {} : { cookie })
  expect(status).toBe(200)
  return json.options
}
const addOptions = (cookie: string) => optionsTo("/v1/passkeys/begin", cookie)
const signInOptions = () => optionsTo("/v1/session/passkey/begin")

/** A device with a passkey of this person. */
const added = async (name: string) => {
  const cookie = await session(name)
  const device = authenticator(origin)
  const made = await send(
    "/v1/passkeys",
    { name: "Laptop", response: device.make(await addOptions(cookie)) },
    { cookie }
  )
  expect(made).toMatchObject({ status: 200, json: { name: "Laptop", usedAt: null } })
  return device
}
const signIn = async (response: object) => (await send("/v1/session/passkey", { response })).status

describe("a passkey", () => {
  it("signs in its member, with the member's own access", async () => {
    const device = await added("theo")
    const { headers, status } = await send("/v1/session/passkey", { response: device.sign(await signInOptions()) })
    expect(status).toBe(204)
    const cookie = /max_session=([^;]+)/.exec(String(headers["set-cookie"]))![1]!
    const { json } = await ask(origin, "/v1/session", { headers: { cookie: `max_session=${cookie}` } })
    expect(json).toMatchObject({ organization: "harbor", roles: ["member"], by: "session", powers: [] })
  })

  it("is refused while its member is suspended, and signs in again afterwards", async () => {
    const device = await added("priya")
    const { host, organization } = harbor
    await run(Effect.flatMap(Memberships, (members) => members.suspend(organization, `priya@${host}`)))
    expect(await signIn(device.sign(await signInOptions()))).toBe(403)
    await run(Effect.flatMap(Memberships, (members) => members.resume(organization, `priya@${host}`)))
    expect(await signIn(device.sign(await signInOptions()))).toBe(204)
  })

  it("whose counter goes back or stands still is removed; one that doesn't count stays", async () => {
    for (const steps of [
      [2, -1],
      [1, 0]
    ]) {
      const device = await added("theo")
      expect(await signIn(device.sign(await signInOptions(), { step: steps[0]! }))).toBe(204)
      expect(await signIn(device.sign(await signInOptions(), { step: steps[1]! }))).toBe(401)
      // Removed: a later counter doesn't help.
      expect(await signIn(device.sign(await signInOptions(), { step: 9 }))).toBe(401)
    }
    const device = await added("theo")
    for (let time = 0; time < 3; time++) expect(await signIn(device.sign(await signInOptions(), { step: 0 }))).toBe(204)
  })

  it("is added only within an hour after the sign-in, by a session, and not with a provider's roles", async () => {
    const cookie = await session("lena")
    const begin = async () => (await send("/v1/passkeys/begin", {}, { cookie })).status
    const set = (what: string) =>
      run(
        Effect.flatMap(Database, ({ owner }) =>
          owner.unsafe(`UPDATE max.credentials SET ${what} WHERE kind = 'session' AND anchor_id = $1`, [
            harbor.idOf("lena")
          ])
        )
      )
    expect(await begin()).toBe(200)
    await set("claimed_roles = '{member}'")
    expect(await begin()).toBe(403)
    await set("claimed_roles = NULL, created_at = now() - interval '61 minutes'")
    expect(await begin()).toBe(403)
    const token = await ask(origin, "/v1/passkeys/begin", {
      method: "POST",
      headers: { authorization: `Bearer ${harbor.admin.secret}` }
    })
    expect(token.status).toBe(403)
  })

  it("of another person can't be removed", async () => {
    await added("theo")
    const cookie = await session("theo")
    const { json } = await ask(origin, "/v1/passkeys", { headers: { cookie: `max_session=${cookie}` } })
    const remove = async (by: string) =>
      (
        await ask(origin, `/v1/passkeys/${json.passkeys[0].id}`, {
          method: "DELETE",
          headers: { cookie: `max_session=${await session(by)}`, origin, "x-requested-with": "max" }
        })
      ).status
    expect(await remove("amina")).toBe(404)
    expect(await remove("theo")).toBe(204)
  })
})

describe("the answer of an authenticator", () => {
  it("signs in once: of fifty at once at two processes one succeeds", async () => {
    const device = await added("theo")
    // A device that doesn't count, as those whose passkeys are synchronized: the challenge alone makes it count once.
    const response = device.sign(await signInOptions(), { step: 0 })
    const statuses = await Promise.all(
      Array.from(
        { length: 50 },
        async (_, index) =>
          (
            await ask(servers[index % 2]!.url.replace("127.0.0.1", "localhost"), "/v1/session/passkey", {
              method: "POST",
              headers: {
                "content-type": "application/json",
                origin: servers[index % 2]!.url.replace("127.0.0.1", "localhost")
              },
              body: JSON.stringify({ response })
            })
          ).status
      )
    )
    expect(statuses.filter((status) => status === 204)).toHaveLength(1)
    expect(new Set(statuses)).toEqual(new Set([204, 401]))
  })

  it("to a challenge of another session, person or purpose is refused, and one that Max didn't make", async () => {
    const [mine, other, theirs] = [await session("theo"), await session("theo"), await session("amina")]
    const device = authenticator(origin)
    const add = async (options: any, cookie: string) =>
      (await send("/v1/passkeys", { name: "", response: device.make(options) }, { cookie })).status
    const options = await addOptions(mine)
    expect(await add(options, other)).toBe(400)
    expect(await add(options, theirs)).toBe(400)
    expect(await add({ ...options, challenge: (await signInOptions()).challenge }, mine)).toBe(400)
    for (const challenge of ["", "AAAA", Buffer.alloc(54).toString("base64url")])
      expect(await add({ ...options, challenge }, mine)).toBe(400)
    expect(await add(options, mine)).toBe(200)
    expect(await add(options, mine)).toBe(403)
    for (const challenge of [(await addOptions(mine)).challenge, "", Buffer.alloc(54).toString("base64url")])
      expect(await signIn(device.sign({ challenge }))).toBe(401)
    expect(await signIn(device.sign(await signInOptions()))).toBe(204)
  })

  it("of another site, without the person's verification or with a changed signature is refused", async () => {
    const cookie = await session("theo")
    const device = authenticator(origin)
    const made = async (more: object) =>
      (await send("/v1/passkeys", { name: "", response: device.make(await addOptions(cookie), more) }, { cookie }))
        .status
    expect(await made({ changed: { origin: "https://evil.example" } })).toBe(400)
    expect(await made({ changed: { type: "webauthn.get" } })).toBe(400)
    expect(await made({ flags: 0x01 })).toBe(400)
    expect(await made({})).toBe(200)
    const signed = async (more: object) => signIn(device.sign(await signInOptions(), more))
    expect(await signed({ changed: { origin: "https://evil.example" } })).toBe(401)
    expect(await signed({ site: "evil.example" })).toBe(401)
    expect(await signed({ flags: 0x01 })).toBe(401)
    const response = device.sign(await signInOptions())
    response.response.signature = Buffer.alloc(70).toString("base64url")
    expect(await signIn(response)).toBe(401)
    const other = authenticator(origin).sign(await signInOptions())
    const { id, rawId, response: own } = device.sign(await signInOptions())
    expect(await signIn({ ...other, id, rawId, response: { ...other.response, userHandle: own.userHandle } })).toBe(401)
  })

  it("of any other form is refused, and so is a request of another origin", async () => {
    const cookie = await session("theo")
    for (const response of [
      {},
      { id: 1 },
      { id: "a", response: null },
      { id: "a", response: { attestationObject: "AAAA" } }
    ])
      expect((await send("/v1/passkeys", { name: "x", response }, { cookie })).status).toBe(400)
    for (const response of [
      {},
      { id: 1, response: { userHandle: "AAAAAAAAAAA" } },
      { id: "a", response: { userHandle: 7 } }
    ])
      expect(await signIn(response)).toBe(401)
    const from = "https://evil.example"
    expect((await send("/v1/session/passkey", { response: {} }, { from })).status).toBe(403)
    expect((await send("/v1/passkeys/begin", {}, { cookie, from })).status).toBe(403)
  })
})
