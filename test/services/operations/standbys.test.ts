/** What doctor says about the servers that follow the database's, and about an address that no failover moves. */
import { Effect, Redacted } from "effect"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { sourceOf } from "../../../src/database/DatabaseSource.ts"
import { examine } from "../../../src/services/operations/Doctor.ts"
import { startProxy } from "../../support/proxy.ts"
import { replicatedAt } from "../../support/standby.ts"
import { until } from "../../support/until.ts"

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

let cluster: Awaited<ReturnType<typeof replicatedAt>>
let port = 0
beforeAll(async () => {
  port = await freePort()
  // Patroni starts Postgres with these on the command line.
  cluster = await replicatedAt(port, 1, "-c cluster_name=max", "-c hot_standby=on")
})
afterAll(() => cluster?.end())

const database = () => new URL(cluster.url).pathname
const examined = async (url: string) => {
  const findings = await Effect.runPromise(
    examine({
      location: { databaseUrl: Redacted.make(url), dataDir: "/nowhere", stateDir: "/nowhere" },
      source: Effect.sync(() => sourceOf({ url: Redacted.make(url) })),
      sealingKey: Effect.undefined,
      searchConnections: 1
    })
  )
  return findings
    .filter(({ check }) => check === "standbys" || check === "postgres")
    .map(({ check, message, status }) => `${status} ${check}: ${message}`)
}
const OK = expect.stringMatching(/^ok postgres: /)
const OWN = expect.stringMatching(/^warn standbys: DATABASE_URL is the own address of one node of a cluster/)
const set = async (names: string) => {
  await cluster.run(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  await cluster.run("SELECT pg_reload_conf()")
  await until(async () => (await cluster.ask(-1, "SHOW synchronous_standby_names")) === names)
}

it("doctor warns of standbys that no commit waits for", async () => {
  const asynchronous = expect.stringMatching(/^warn standbys: 1 follow this server asynchronously/)
  await until(async () => (await examined(cluster.url)).length > 1)
  expect(await examined(cluster.url)).toEqual([OK, asynchronous])
  await set("*")
  expect(await examined(cluster.url)).toEqual([
    OK,
    expect.stringMatching(/^ok standbys: 1 follow this server; a commit waits/)
  ])
  await set("")
})

it("doctor names a node's own address, and neither a proxy's nor a socket", async () => {
  const asynchronous = expect.stringContaining("asynchronously")
  for (const host of ["127.0.0.1", "localhost"])
    expect(await examined(`postgres://owner@${host}:${port}${database()}`)).toEqual([OK, asynchronous, OWN])
  await Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(startProxy(cluster.url), ({ urlOf }) =>
        Effect.promise(async () => expect(await examined(urlOf(cluster.url))).toEqual([OK, asynchronous]))
      )
    )
  )
})

it("doctor refuses a standby's address", async () => {
  expect(await examined(cluster.standbys[0]!)).toContainEqual(
    expect.stringMatching(/^fail postgres: The server is a standby/)
  )
})

it("doctor names a cluster whose leader no standby follows, and commits that wait for one in vain", async () => {
  cluster.crash(0)
  await until(async () => (await examined(cluster.url))[1]?.includes("No standby follows") ?? false)
  await set("*")
  expect(await examined(cluster.url)).toEqual([
    OK,
    expect.stringMatching(/^fail standbys: Commits wait for a synchronous standby/)
  ])
  await set("")
  cluster.restart(0)
  await until(async () => (await examined(cluster.url))[1]?.includes("1 follow") ?? false)
})
