/** Connections to a server that no longer responds: a dead machine, a hung server, a firewall that drops packets. */
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { migratedDatabase } from "../support/database.ts"
import { ask, callTool, startServer, type TestServer } from "../support/http.ts"
import { makeOrganization } from "../support/atlas.ts"
import { memberWithToken } from "../support/members.ts"
import { startProxy } from "../support/proxy.ts"
import { until } from "../support/until.ts"

const scope = Scope.makeUnsafe()
let proxy: Effect.Success<ReturnType<typeof startProxy>>
let server: TestServer
let token = ""

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  proxy = await Effect.runPromise(startProxy(inject("serverUrl")).pipe(Scope.provide(scope)))
  server = await startServer(proxy.urlOf(url), { lookupTimeout: 250, searchTimeout: 1000 })
  token = await server.run(
    Effect.flatMap(makeOrganization("atlas"), (organization) =>
      Effect.map(memberWithToken(organization, "ada@example.com", ["admin"]), (member) => member.token)
    )
  )
})

afterAll(async () => {
  await server?.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const find = () =>
  callTool(server, token, "findEntities", {
    entityTypeId: "people",
    filters: [{ columnId: "email", op: "eq", value: "ada@example.com" }]
  })

describe("a server whose database connections fall silent", () => {
  it("replaces them, so that requests succeed again after one failure", async () => {
    expect((await find()).json.total).toBe(1)
    expect((await ask(server.url, "/readyz")).status).toBe(200)
    proxy.swallow()
    const failed = performance.now()
    expect((await find()).status).toBe(503)
    await until(async () => (await find()).status === 200)
    // Every attempt until then waits for a timeout; without a watched socket, all of them do for good.
    expect(performance.now() - failed).toBeLessThan(30_000)
  })

  it("is not ready while a connection that requests need is silent", async () => {
    expect((await find()).json.total).toBe(1)
    proxy.swallow()
    await until(async () => (await ask(server.url, "/readyz")).status === 503)
    await until(async () => (await ask(server.url, "/readyz")).status === 200)
  })
})
