/**
 * Faults of the database's server and of the way to it. Requests end with their rows or with 503, never with an empty page, and
 * succeed again by themselves.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { addPeople, makeOrganization } from "../support/atlas.ts"
import { runMax } from "../support/cli.ts"
import { ask, callTool, startServer, type TestServer } from "../support/http.ts"
import { memberWithToken } from "../support/members.ts"
import { startProxy } from "../support/proxy.ts"
import { replicatedFor } from "../support/standby.ts"
import { until } from "../support/until.ts"

const MAX_CONNECTIONS = 60
const scope = Scope.makeUnsafe()
let cluster: Awaited<ReturnType<typeof replicatedFor>>
let proxy: Effect.Success<ReturnType<typeof startProxy>>
let server: TestServer
let token = ""

beforeAll(async () => {
  cluster = await replicatedFor(0, `-c max_connections=${MAX_CONNECTIONS}`)
  proxy = await Effect.runPromise(startProxy(cluster.url).pipe(Scope.provide(scope)))
  server = await startServer(proxy.urlOf(cluster.url), { lookupTimeout: 2000, searchTimeout: 5000 })
  token = await server.run(
    Effect.gen(function* () {
      const atlas = yield* makeOrganization("atlas")
      const people = Array.from({ length: 25 }, (_, index) => ({
        name: `Lovelace ${index}`,
        email: `p${index}@example.com`
      }))
      yield* addPeople(atlas, people)
      return (yield* memberWithToken(atlas, "ada@example.com", ["admin"])).token
    })
  )
})

afterAll(async () => {
  await server?.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await cluster?.end()
})

const lookup = () =>
  callTool(server, token, "findEntities", {
    entityTypeId: "people",
    filters: [{ columnId: "email", op: "eq", value: "p7@example.com" }]
  })
const search = () =>
  callTool(server, token, "findEntities", {
    entityTypeId: "people",
    filters: [{ columnId: "name", op: "ilike", value: "lovelace" }],
    limit: 25
  })
const isReady = async () => (await ask(server.url, "/readyz")).status === 200

/** Sends lookups and searches until each has been answered so often; every answer has its rows, or is 503. */
const untilAnswered = async (times = 3) => {
  for (const [request, total] of [
    [lookup, 1],
    [search, 25]
  ] as const) {
    let answered = 0
    await until(async () => {
      const { json, status } = await request()
      expect([200, 503]).toContain(status)
      if (status === 200) {
        expect(json.total).toBe(total)
        answered += 1
      }
      return answered >= times
    })
  }
}

describe("a network to the database that is slow", () => {
  it.each([{ delay: 10 }, { delay: 50 }, { delay: 200 }, { bytesPerSecond: 50_000 }])(
    "delays answers, and fails none: %j",
    async (how) => {
      await untilAnswered(1)
      proxy.slow(how)
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all([lookup(), search(), lookup()])
        expect(answers.map(({ json, status }) => [status, json.total])).toEqual([
          [200, 1],
          [200, 25],
          [200, 1]
        ])
      }
      expect(await isReady()).toBe(true)
      proxy.slow({})
    }
  )
})

describe("a network that refuses or resets connections", () => {
  it("makes every request 503, and requests succeed once connections are accepted", async () => {
    await untilAnswered(1)
    proxy.refuse()
    const refused = await Promise.all(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? lookup() : search())))
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
    await until(async () => !(await isReady()))
    await proxy.accept()
    await untilAnswered()
    await until(isReady)
  })

  it("fails at most what is in progress when it resets connections", async () => {
    await untilAnswered(1)
    for (let round = 0; round < 5; round++) {
      const during = [lookup(), search()]
      proxy.reset()
      for (const { json, status } of await Promise.all(during)) expect(status === 503 || json.total > 0).toBe(true)
      await untilAnswered(1)
    }
  })
})

describe("a backend that the kernel kills for its memory", () => {
  it("ends all connections of the server, and requests succeed as soon as Postgres has recovered", async () => {
    await untilAnswered(1)
    for (const name of ["max lookup", "max search"]) {
      const pid = await server.run(
        Effect.map(
          PgConnection.make({ url: Redacted.make(cluster.url) }).pipe(
            Effect.flatMap((pg) =>
              pg.query(`SELECT pid FROM pg_stat_activity WHERE application_name = '${name}' LIMIT 1`)
            )
          ),
          ({ rows }) => (rows[0] as { pid: number }).pid
        ).pipe(Effect.scoped)
      )
      process.kill(pid, "SIGKILL")
      await untilAnswered()
      await until(isReady)
    }
    expect((await lookup()).json.total).toBe(1)
  })
})

describe("a server without a free connection", () => {
  it("answers the requests of a running process; a new one exits with 7, and doctor names the reason", async () => {
    await untilAnswered(1)
    const filled = Scope.makeUnsafe()
    // Other programs take what is left, including the connections that are reserved for superusers.
    const take = PgConnection.make({ url: Redacted.make(cluster.url) }).pipe(Scope.provide(filled), Effect.exit)
    try {
      let taken = 0
      while (Exit.isSuccess(await Effect.runPromise(take))) taken += 1
      expect(taken).toBeLessThan(MAX_CONNECTIONS)
      for (let round = 0; round < 10; round++) expect((await lookup()).json.total).toBe(1)
      const env = { DATABASE_URL: cluster.url, MAX_AS: "ada@example.com" }
      const [found, doctor] = [await runMax(["find", "people"], env), await runMax(["doctor"], env)]
      expect(found).toMatchObject({
        code: 7,
        stdout: "",
        stderr: "The database can't do this now: it has no connection left. max doctor shows the remedy.\n"
      })
      expect([doctor.code, doctor.stdout + doctor.stderr]).toEqual([
        1,
        expect.stringContaining("it has no connection left")
      ])
    } finally {
      await Effect.runPromise(Scope.close(filled, Exit.void))
    }
    await untilAnswered()
  })
})

describe("a clock that is an hour wrong", () => {
  it.each([
    ["behind", -3_600_000],
    ["ahead", 3_600_000]
  ])("is named by doctor where the process is %s", async (_, shift) => {
    const shifted = `const now = Date.now; Date.now = () => now() + ${shift}`
    const { code, stdout } = await runMax(["doctor"], {
      DATABASE_URL: cluster.url,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shifted)}`
    })
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        shift < 0 ? /clock is 36\d\d s ahead of this machine's/ : /clock is 3[56]\d\d s behind this machine's/
      )
    ])
  })
})
