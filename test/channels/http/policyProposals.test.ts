/** Proposed policies over HTTP: an administrator's credential proposes and approves, and no other. */
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Credentials, type Scope as TokenScope } from "../../../src/services/access/Credentials.ts"
import { migratedDatabase } from "../../support/database.ts"
import { governing, policyFile } from "../../support/governing.ts"
import { ask, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let harbor: Effect.Success<ReturnType<typeof governing>>

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  harbor = await server.run(governing("harbor"))
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const tokenOf = (anchorId: string, scopes: ReadonlyArray<TokenScope>) =>
  server.run(
    Effect.flatMap(Credentials, (credentials) =>
      credentials.createToken(harbor.organization, { anchorId, name: scopes.join(), scopes, days: 1 })
    )
  )

const call = (token: { readonly secret: string }, path: string, body?: unknown) =>
  ask(server.url, `/v1/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token.secret}`, ...(body === undefined ? {} : JSON_TYPE) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const WIDER = policyFile(["name", "status"])

it("A proposed policy is listed, read and approved with tokens for administration, and never with one that only confirms", async () => {
  const [ada, bo] = await Promise.all(
    [harbor.ada, harbor.bo].map((one) => tokenOf(one.anchorId, ["admin", "changes", "confirm"]))
  )
  const decides = await tokenOf(harbor.bo.anchorId, ["changes", "confirm"])
  const replacing = harbor.version
  expect((await call(decides, "admin/policy/proposals", { document: WIDER, replacing })).status).toBe(403)
  expect((await call(ada!, "admin/policy/publish", { document: WIDER, replacing })).json).toMatchObject({
    type: expect.stringContaining("not-possible"),
    detail: "A second person (admin) approves each publication here."
  })
  const { changeId } = (await call(ada!, "admin/policy/proposals", { document: WIDER, replacing })).json
  const { proposals } = (await call(bo!, "admin/policy/proposals")).json
  expect(proposals).toMatchObject([{ changeId, state: "waiting", proposer: harbor.ada.anchorId }])
  expect((await call(ada!, "admin/policy/proposals")).json.proposals).toMatchObject([{ changeId }])
  const found = (await call(bo!, `admin/policy/proposals/${changeId}`)).json
  expect(found).toMatchObject({
    document: WIDER,
    preview: { changeId, complete: true, policy: { replaces: replacing } }
  })
  const { digest } = found.preview

  const hidden = (await call(decides, `changes/${changeId}`)).json
  expect([hidden.complete, hidden.digest, hidden.policy]).toEqual([false, undefined, undefined])
  expect((await call(decides, `changes/${changeId}/confirm`, { digest })).status).toBe(403)
  expect((await server.run(harbor.inForce)).version).toBe(replacing)
  expect((await call(ada!, `changes/${changeId}/confirm`, { digest })).json).toMatchObject({ _tag: "Waiting" })

  const approved = await call(bo!, `changes/${changeId}/confirm`, { digest })
  expect([approved.status, approved.json.receipt.version]).toEqual([200, replacing + 1])
  expect((await server.run(harbor.inForce)).document).toBe(WIDER)
  expect((await call(bo!, "admin/policy/proposals")).json.proposals).toEqual([])
})

it("A proposal of a file that can't be read, or over a version that isn't in force, is refused, and an unknown one isn't found", async () => {
  const ada = await tokenOf(harbor.ada.anchorId, ["admin"])
  const { version } = await server.run(harbor.inForce)
  const propose = (document: string, replacing: number) => call(ada, "admin/policy/proposals", { document, replacing })
  expect((await propose("{", version)).status).toBe(400)
  expect((await propose(policyFile(["name", "phone"]), version - 1)).status).toBe(409)
  expect((await call(ada, "admin/policy/proposals/jopunmeybcyfn")).status).toBe(404)
  expect((await call(ada, "admin/policy/proposals")).json.proposals).toEqual([])
})

it("With changes switched off no policy is proposed, and the list of proposals is refused as an act, not as the session", async () => {
  const off = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    changes: "off"
  })
  try {
    const there = await off.run(governing("there"))
    const { secret } = await off.run(
      Effect.flatMap(Credentials, (credentials) =>
        credentials.createToken(there.organization, {
          anchorId: there.ada.anchorId,
          name: "x",
          scopes: ["admin"],
          days: 1
        })
      )
    )
    const answer = await ask(off.url, "/v1/admin/policy/proposals", { headers: { authorization: `Bearer ${secret}` } })
    expect([answer.status, answer.json.type]).toEqual([403, expect.stringContaining("not-allowed")])
  } finally {
    await off.stop()
  }
})
