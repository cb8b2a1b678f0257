/** Lookups on streaming standbys: rows of a standby count only while the primary confirms that they are current. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Organization } from "../../src/domain/EntityType.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { FindQuery } from "../../src/domain/Query.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { makeOrganization } from "../support/atlas.ts"
import { publish } from "../support/changes.ts"
import { ask, callTool, startServer, type TestServer } from "../support/http.ts"
import { importFile } from "../support/imports.ts"
import { LONG, series } from "../support/long.ts"
import { memberWithToken } from "../support/members.ts"
import { startProxy } from "../support/proxy.ts"
import { connectOwner } from "../../src/database/Database.ts"
import { sourceOf } from "../../src/database/DatabaseSource.ts"
import { inspect } from "../../src/database/migrate.ts"
import { replicas } from "../../src/services/operations/doctor/replicas.ts"
import { replicatedFor } from "../support/standby.ts"
import { until } from "../support/until.ts"

const METRICS = "the token with which the test reads metrics"
const CALLER = "rep@atlas.example"
const ADA = { columnId: "email", op: "eq", value: "ada@example.com" } as const

const scope = Scope.makeUnsafe()
let cluster: Awaited<ReturnType<typeof replicatedFor>>
let proxy: Effect.Success<ReturnType<typeof startProxy>>
/** Makes changes; knows no standby. */
let writer: TestServer
/** Answers lookups with both standbys, of which the first is behind the proxy. */
let reader: TestServer
let atlas: Organization
let token = ""

const settings = { metricsToken: Redacted.make(METRICS), lookupTimeout: 1000, searchTimeout: 5000 }
const redacted = (urls: ReadonlyArray<string>) => urls.map((url) => Redacted.make(url))

beforeAll(async () => {
  cluster = await replicatedFor(2)
  const [first, second] = cluster.standbys as [string, string]
  proxy = await Effect.runPromise(startProxy(first).pipe(Scope.provide(scope)))
  writer = await startServer(cluster.url)
  reader = await startServer(
    cluster.url,
    { ...settings, replicaUrls: redacted([proxy.urlOf(first), second]) },
    undefined,
    true
  )
  atlas = await writer.run(makeOrganization("atlas"))
  await show("*")
  token = await writer.run(Effect.map(memberWithToken(atlas, CALLER, ["rep"]), (member) => member.token))
  await phone("212-555-0100")
})

afterAll(async () => {
  await Promise.all([reader?.stop(), writer?.stop()])
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await cluster?.end()
})

/** Publishes the columns of people that the caller sees. */
const show = (columns: "*" | ReadonlyArray<string>) =>
  writer.run(
    publish(atlas, [
      { id: "rep-read-people", effect: "allow", role: "rep", action: "read", type: "people", columns, where: {} }
    ])
  )

/** Imports Ada's phone number. */
const phone = (number: string) =>
  writer.run(importFile(atlas, ["id,name,email,phone", `ada,Ada Lovelace,ada@example.com,${number}`]))

const suspend = (on: boolean) =>
  writer.run(
    Effect.flatMap(Memberships, (members) => (on ? members.suspend(atlas, CALLER) : members.resume(atlas, CALLER)))
  )

/** A function that looks things up as the caller, with the reader's services. */
const caller = () =>
  reader.run(
    Effect.gen(function* () {
      const identities = yield* IdentityResolver
      const queries = yield* EntityQueryService
      const { principal } = yield* identities.admit(atlas, { kind: "email", key: CALLER })
      const query = { organizationId: atlas.id, entityTypeId: "people", filters: [ADA], selectColumns: ["email"] }
      return (more: Partial<FindQuery> = {}) =>
        Effect.provideService(queries.findEntities({ ...query, ...more }), CurrentPrincipal, principal)
    })
  )

const overHttp = (more: object = {}) =>
  callTool(reader, token, "findEntities", { entityTypeId: "people", filters: [ADA], ...more })

/** How many lookups had an outcome, by the reader's metrics. */
const outcomes = async (): Promise<Readonly<Record<string, number>>> => {
  const { text } = await ask(reader.url, "/metrics", { headers: { authorization: `Bearer ${METRICS}` } })
  const counts = text.matchAll(/^max_replica_reads_total\{.*max_outcome="([^"]+)".*\} (\d+)$/gm)
  return Object.fromEntries([...counts].map(([, outcome, count]) => [outcome!, Number(count)]))
}
const answered = async () => (await outcomes())["answered"] ?? 0

/** Until lookups are answered by standbys again. */
const settled = async () => {
  const find = await caller()
  const before = await answered()
  await until(async () => {
    await reader.run(Effect.result(find()))
    return (await answered()) > before + 4
  })
}

/** The phone number that the first standby has itself. */
const onStandby = (index: number) =>
  cluster.ask(index, "SELECT phone FROM data.people WHERE email_k = 'ada@example.com'")

describe("a lookup with standbys", () => {
  it("is answered by a standby that is current, over HTTP and within the process", async () => {
    await settled()
    const before = await answered()
    const find = await caller()
    await until(async () => {
      expect((await overHttp()).json.total).toBe(1)
      expect((await reader.run(find())).total).toBe(1)
      expect((await reader.run(find({ filters: [{ columnId: "name", op: "ilike", value: "lovel" }] }))).total).toBe(1)
      return (await answered()) >= before + 30
    })
  })

  it.each([
    ["says what the primary has while rows, policy and memberships change", () => Effect.void],
    ["says what the primary has while standbys are 200 ms behind", (index: number) => cluster.delay(index, 200)],
    ["says what the primary has while standbys are 500 ms behind", (index: number) => cluster.delay(index, 500)],
    [
      "says what the primary has while standbys have stopped replaying",
      (index: number) => Effect.promise(() => cluster.ask(index, "SELECT pg_wal_replay_pause()"))
    ]
  ])("%s", async (what, slow) => {
    for (const index of [0, 1]) await Effect.runPromise(slow(index))
    const { oldOnStandby, sentAfter, wrong } = await underChange(ROUNDS)
    expect(wrong).toEqual([])
    expect(sentAfter).toBeGreaterThanOrEqual(ROUNDS * 3 * SENT_AFTER)
    // The control: this often, a standby's own rows were old after a change had returned, as its answer without the proof.
    expect(oldOnStandby > 0 || !what.includes("standbys")).toBe(true)
    if (LONG)
      console.log(
        `${what}: ${wrong.length} wrong of ${sentAfter}; own rows old after ${oldOnStandby} of ${ROUNDS} imports`
      )
    for (const index of [0, 1]) {
      await cluster.ask(index, "SELECT pg_wal_replay_resume()")
      await Effect.runPromise(cluster.delay(index, 0))
    }
    await settled()
  })
})

describe("lookups under change whose standby is killed", () => {
  it("say what the primary has, whether it is up, dead or recovering", async () => {
    await Promise.all([0, 1].map((index) => Effect.runPromise(cluster.delay(index, 500))))
    const killAndRestart = async (round: number) => {
      if (round % 2 === 0) {
        cluster.kill(1)
        return
      }
      // Postgres starts once the last of its earlier processes has noticed the end.
      await until(() => {
        try {
          cluster.restart(1)
          return true
        } catch {
          return false
        }
      })
    }
    const { oldOnStandby, sentAfter, wrong } = await underChange(ROUNDS, killAndRestart)
    expect(wrong).toEqual([])
    expect(sentAfter).toBeGreaterThanOrEqual(ROUNDS * 3 * SENT_AFTER)
    expect(oldOnStandby).toBeGreaterThan(0)
    if (LONG) console.log(`killed ${ROUNDS / 2} times: ${wrong.length} wrong of ${sentAfter}`)
    for (const index of [0, 1]) await Effect.runPromise(cluster.delay(index, 0))
    await settled()
  })
})

/** Even: what is killed in one round is started again in the next. */
const ROUNDS = series({ short: 4, long: 60 })

describe("doctor", () => {
  it("says of each standby whether it is current, behind, no standby or down", async () => {
    const found = (urls: ReadonlyArray<string>) =>
      Effect.runPromise(
        Effect.scoped(
          Effect.gen(function* () {
            const from = yield* connectOwner(sourceOf({ url: Redacted.make(cluster.url) }))
            const inspection = yield* inspect(from.owner)
            const { owner } = from
            return yield* replicas({ from, owner, inspection, searchConnections: 1, replicaUrls: redacted(urls) })
          })
        )
      )
    const [first, second] = cluster.standbys as [string, string]
    await cluster.pause(0)
    await phone("212-555-0188")
    await until(async () => (await onStandby(1)) === "212-555-0188")
    const down = "postgres://127.0.0.1:1/max"
    expect(
      (await found([first, second, cluster.url, down])).map(({ status, message }) => `${status} ${message}`)
    ).toEqual([
      expect.stringMatching(/^warn .* is behind for 1 of 1 organizations: /),
      expect.stringMatching(/^ok .* answers lookups, and is current\.$/),
      expect.stringMatching(/^warn .* isn't a standby/),
      expect.stringMatching(/^fail 127\.0\.0\.1:1 can't be used: /)
    ])
    await cluster.ask(0, "SELECT pg_wal_replay_resume()")
    await until(async () => (await onStandby(0)) === "212-555-0188")
  })
})

describe("standbys that fail", () => {
  /** Looks things up until standbys have answered some more; every answer must be Ada's. */
  const untilAnswered = async (number: string) => {
    const find = await caller()
    const before = await answered()
    await until(async () => {
      const pages = await Promise.all([1, 2, 3].map(() => reader.run(find({ selectColumns: ["phone"] }))))
      for (const page of pages) expect(page.entities.map(({ columns }) => columns)).toEqual([{ phone: number }])
      expect((await overHttp()).status).toBe(200)
      return (await answered()) >= before + 10
    })
  }

  it("leave their lookups to another that is current, and get them back", async () => {
    await cluster.pause(0)
    await phone("212-555-0177")
    await untilAnswered("212-555-0177")
    expect(await onStandby(0)).not.toBe("212-555-0177")
    await cluster.ask(0, "SELECT pg_wal_replay_resume()")
    await until(async () => (await onStandby(0)) === "212-555-0177")

    cluster.crash(1)
    await untilAnswered("212-555-0177")
    cluster.restart(1)
    await until(async () => (await onStandby(1)) === "212-555-0177")
  })

  it("cost no answer when their connections fall silent, or when none of them is left", async () => {
    await untilAnswered("212-555-0177")
    const failed = (await outcomes())["failed"] ?? 0
    const find = await caller()
    // One at a time: several in one statement are tried again on a new connection, and the standby answers. Standbys take
    // turns, so the other one may answer the first; and one that is being probed opens a new connection.
    await until(async () => {
      proxy.swallow()
      for (let tried = 0; tried < 50; tried++) {
        expect((await reader.run(find())).total).toBe(1)
        if (((await outcomes())["failed"] ?? 0) > failed) return true
      }
      return false
    })
    // Together: on the new connection, or at the other standby.
    proxy.swallow()
    await untilAnswered("212-555-0177")

    cluster.kill(0)
    cluster.kill(1)
    for (let count = 0; count < 10; count++) expect((await reader.run(find())).total).toBe(1)
    expect((await overHttp()).json.total).toBe(1)
  })
})

/** Lookups that are sent after each change. */
const SENT_AFTER = 10

/** Changes one thing after the other while callers look it up; what is sent after a change has returned must know it. */
const underChange = async (rounds: number, before: (round: number) => void | Promise<void> = () => {}) => {
  const run = { wrong: [] as Array<string>, sentAfter: 0, oldOnStandby: 0 }
  let truth: { readonly what: string; readonly isWrong: (answer: string) => boolean } | undefined
  let find = await caller()
  const ended = new AbortController()
  const once = async (isHttp: boolean) => {
    const sent = truth
    const answer = isHttp
      ? overHttp().then(({ status, text }) => `${status} ${text}`)
      : reader
          .run(Effect.result(find({ selectColumns: ["email", "phone"] })))
          .then((result) =>
            result._tag === "Success" ? `200 ${JSON.stringify(result.success)}` : `4xx ${result.failure._tag}`
          )
    const said = await answer
    if (sent === undefined) return
    // An answer to what was sent after a change may know the next one already.
    if (sent !== truth) return
    run.sentAfter += 1
    if (sent.isWrong(said)) run.wrong.push(`${sent.what}: ${said}`)
  }
  const loop = async (isHttp: boolean) => {
    while (!ended.signal.aborted) await once(isHttp)
  }
  const loops = [true, true, false, false, false].map(loop)
  const during = async (what: string, isWrong: (answer: string) => boolean) => {
    const enough = run.sentAfter + SENT_AFTER
    truth = { what, isWrong }
    await until(() => run.sentAfter >= enough)
    truth = undefined
  }
  for (let round = 0; round < rounds; round++) {
    await before(round)
    const number = `212-555-01${String(10 + (round % 90))}`
    await phone(number)
    if ((await onStandby(0)) !== number) run.oldOnStandby += 1
    await during("an old row", (answer) => answer.includes("212-555") && !answer.includes(number))
    await show(["name", "email"])
    await during("a hidden column", (answer) => answer.includes("212-555"))
    await show("*")
    await suspend(true)
    await during("a suspended member", (answer) => answer.startsWith("200"))
    await suspend(false)
    find = await caller()
  }
  ended.abort()
  await Promise.all(loops)
  return run
}
