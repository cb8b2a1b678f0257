import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Redacted, Scope } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { totalmem } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { canEnter } from "../../../src/database/embedded/folders.ts"
import { sharedBuffersOf } from "../../../src/database/embedded/postmaster.ts"
import {
  Peer,
  cleanUpAfterwards,
  clusterOf,
  createAndLeave,
  during,
  fresh,
  homeOf,
  isRunning,
  livePid,
  placeOf,
  postmasterPid,
  query,
  redirected,
  refusalOf,
  root,
  tcpSocketsOf,
  temp,
  uidOf
} from "../../support/embedded.ts"

cleanUpAfterwards()

describe.concurrent("the embedded server", () => {
  it("fails after 20 seconds when a server doesn't answer", async () => {
    const options = fresh()
    const peer = new Peer(options)
    await peer.started()
    const pid = livePid(options.dataDir)
    process.kill(pid, "SIGSTOP")
    const begun = Date.now()
    expect(await refusalOf(options)).toMatch(/can't be reached after 20 seconds/)
    expect(Date.now() - begun).toBeLessThan(60_000)
    process.kill(pid, "SIGCONT")
    await peer.leave()
  })

  it("listens on a private Unix socket only, with SCRAM, UTF-8 and fsync", async () => {
    const options = fresh()
    await during(options, (source) =>
      Effect.gen(function* () {
        const socket = lstatSync(source.connect.host)
        expect(socket.mode & 0o777).toBe(0o700)
        expect(socket.isDirectory()).toBe(true)
        expect(Buffer.byteLength(join(source.connect.host, ".s.PGSQL.5432"))).toBeLessThan(104)
        const setting = (name: string) => Effect.map(query(source, `SHOW ${name}`), (rows) => rows[0]?.[name])
        expect(yield* setting("listen_addresses")).toBe("")
        expect(yield* setting("fsync")).toBe("on")
        expect(yield* setting("server_encoding")).toBe("UTF8")
        const [buffers] = yield* query(
          source,
          "SELECT pg_size_bytes(current_setting('shared_buffers'))::float8 AS bytes"
        )
        expect(buffers?.["bytes"]).toBeGreaterThanOrEqual(128 * 2 ** 20)
        expect(buffers?.["bytes"]).toBeLessThanOrEqual(Math.max(128 * 2 ** 20, totalmem() / 4))
        expect(yield* setting("allow_alter_system")).toBe("off")
        expect(yield* setting("data_checksums")).toBe("on")
        const [row] = yield* query(
          source,
          `SELECT current_database() AS db, current_user::text AS who, lower('ÄÖ') AS lowered,
             (SELECT rolpassword LIKE 'SCRAM-SHA-256$%' FROM pg_authid WHERE rolname = 'max_owner') AS scram,
             (SELECT datlocprovider::text || ' ' || datlocale FROM pg_database WHERE datname = 'max') AS locale`
        )
        expect(row).toMatchObject({ db: "max", who: "max_owner", lowered: "äö", scram: true, locale: "b C.UTF-8" })
        const wrong = yield* Effect.flip(query(source, "SELECT 1", { password: Redacted.make("wrong") }))
        expect(wrong.reason._tag).toBe("AuthenticationError")
        expect(tcpSocketsOf(livePid(options.dataDir))).toEqual([])
      })
    )
  })

  it.each([
    [256 * 2 ** 20, "128MB"],
    [2 * 2 ** 30, "512MB"],
    [16 * 2 ** 30, "4096MB"],
    [1024 * 2 ** 30, "8192MB"]
  ])("of %d bytes of memory takes at most %s for shared buffers", (memory, buffers) => {
    expect(sharedBuffersOf(memory)).toBe(buffers)
  })

  it("stores a random password in a private file of the state folder only", async () => {
    const [one, two] = [fresh(), fresh()]
    await Promise.all([createAndLeave(one), createAndLeave(two)])
    const secrets = [one, two].map(({ stateDir }) => readFileSync(join(homeOf(stateDir), "secret"), "utf8"))
    expect(new Set(secrets).size).toBe(2)
    for (const secret of secrets) expect(secret).toMatch(/^[-\w]{43}$/)
    expect(statSync(join(homeOf(one.stateDir), "secret")).mode & 0o777).toBe(0o600)
    expect(statSync(one.stateDir).mode & 0o777).toBe(0o700)
    expect(
      execFileSync("sh", ["-c", `grep -rlF -e "$0" "$1" || true`, secrets[0] ?? "", one.dataDir], { encoding: "utf8" })
    ).toBe("")
    expect(readdirSync(one.dataDir).filter((name) => name.startsWith("init-"))).toEqual([])
  })

  it("logs no statement, value or row, and rotates a large log", async () => {
    const options = fresh()
    await during(options, (source) =>
      Effect.gen(function* () {
        yield* query(source, "CREATE TABLE t (email text PRIMARY KEY)")
        yield* query(source, "INSERT INTO t VALUES ('ada@secret.example')")
        yield* Effect.flip(query(source, "INSERT INTO t VALUES ('ada@secret.example')"))
        yield* Effect.flip(query(source, "SELECT 'ada@secret.example'::int"))
      })
    )
    const log = join(homeOf(options.stateDir), "server.log")
    expect(readFileSync(log, "utf8")).toContain("ready to accept connections")
    expect(readFileSync(log, "utf8")).not.toContain("secret.example")
    writeFileSync(log, "x".repeat(1_100_000))
    await createAndLeave(options)
    expect(statSync(log).size).toBeLessThan(10_000)
    expect(statSync(`${log}.1`).size).toBe(1_100_000)
  })

  it("stops with the last process, keeps its data, and starts again faster than the first time", async () => {
    const options = fresh()
    const created = performance.now()
    const socketDir = await during(options, (source) =>
      Effect.as(query(source, "CREATE TABLE kept AS SELECT 42 AS answer"), source.connect.host)
    )
    expect(isRunning(options.dataDir)).toBe(false)
    expect(postmasterPid(options.dataDir)).toBeUndefined()
    expect(existsSync(socketDir)).toBe(false)
    const creating = performance.now() - created
    const begun = performance.now()
    await during(options, async (source) => {
      // A tenth of the time: no initdb.
      expect(performance.now() - begun).toBeLessThan(creating)
      expect(await Effect.runPromise(query(source, "SELECT answer FROM kept"))).toEqual([{ answer: 42 }])
    })
  })

  it("runs as the current user, and for root as an unprivileged user", async () => {
    const options = fresh()
    const { server } = await placeOf(options)
    expect(server.uid === 0).toBe(false)
    expect(server.uid === process.geteuid?.()).toBe(!root)
    await during(options, (source) => {
      expect(uidOf(livePid(options.dataDir))).toBe(server.uid)
      expect(statSync(clusterOf(options.dataDir)).uid).toBe(server.uid)
      expect(statSync(source.connect.host).uid).toBe(server.uid)
      expect(statSync(options.dataDir).uid).toBe(process.geteuid?.())
      expect(statSync(options.dataDir).mode & 0o777).toBe(root ? 0o711 : 0o700)
      expect(source.notice).toBeUndefined()
    })
  })

  it("uses and reports another data folder when root's server can't enter the configured one", async () => {
    const options = fresh()
    const closed = join(options.dataDir, "..", "closed")
    mkdirSync(closed, { mode: 0o700 })
    const other = { uid: 4242, gid: 4242, name: "other" }
    expect(await Effect.runPromise(canEnter(closed, other))).toBe(false)
    expect(await Effect.runPromise(canEnter(temp, other))).toBe(true)
    const configured = { ...options, dataDir: join(closed, "data") }
    const notice = (await during(configured, (source) => source.notice)) ?? ""
    const used = notice.match(/in (\S+):/)?.[1] ?? configured.dataDir
    redirected.add(used)
    expect(notice).toBe(
      root
        ? `The database is in ${used}: its server runs as user ${(await placeOf(options)).server.name}, which can't enter ${configured.dataDir}.`
        : ""
    )
    expect(used === configured.dataDir).toBe(!root)
    expect(existsSync(configured.dataDir)).toBe(!root)
    expect(existsSync(join(used, "pg", "PG_VERSION"))).toBe(true)
  })
})

describe.concurrent("processes that share an embedded server", () => {
  it("create one data folder and one server when they start concurrently; the last one stops it", async () => {
    const options = fresh()
    const peers = [1, 2, 3].map(() => new Peer(options))
    await Promise.all(peers.map((peer) => peer.started()))
    const pid = livePid(options.dataDir)
    const pids = await Promise.all(peers.map((peer) => peer.ask("SELECT pg_read_file('postmaster.pid', 0, 9) AS pid")))
    for (const { rows } of pids) expect(Number.parseInt(String(rows?.[0]?.["pid"]))).toBe(pid)
    expect(readdirSync(join(options.stateDir, "embedded")).filter((name) => name.length === 32)).toHaveLength(1)
    await peers[0]?.leave()
    expect(livePid(options.dataDir)).toBe(pid)
    await peers[1]?.kill()
    expect(livePid(options.dataDir)).toBe(pid)
    // The server notices a killed client a moment later.
    const leases = "SELECT count(*)::int AS leases FROM pg_stat_activity WHERE application_name = 'max lease'"
    while ((await peers[2]?.ask(leases))?.rows?.[0]?.["leases"] !== 1) await delay(10)
    await peers[2]?.leave()
    expect(isRunning(options.dataDir)).toBe(false)
  })

  it("stop the server when all leave concurrently", async () => {
    const options = fresh()
    const peers = [1, 2, 3, 4].map(() => new Peer(options))
    await Promise.all(peers.map((peer) => peer.started()))
    await Promise.all(peers.map((peer) => peer.leave()))
    expect(isRunning(options.dataDir)).toBe(false)
  })

  it("get a server when they join while it is being stopped", async () => {
    const options = fresh()
    await createAndLeave(options)
    const work = async () => {
      for (let round = 0; round < 8; round++) {
        const rows = await during(options, (source) => query(source, "SELECT 1 AS one"))
        expect(rows).toEqual([{ one: 1 }])
      }
    }
    await Promise.all([work(), work(), work()])
    expect(isRunning(options.dataDir)).toBe(false)
  })

  it("keep the server when the process that started it is killed", async () => {
    const options = fresh()
    const parent = new Peer(options)
    await parent.started()
    const pid = livePid(options.dataDir)
    await parent.kill()
    expect(isRunning(options.dataDir)).toBe(true)
    await during(options, () => expect(livePid(options.dataDir)).toBe(pid))
    expect(isRunning(options.dataDir)).toBe(false)
  })

  it("leave the server running while another client has a session", async () => {
    const options = fresh()
    const scope = await Effect.runPromise(Scope.make())
    await during(options, (source) => Scope.provide(scope)(PgConnection.make(source.connect)))
    expect(isRunning(options.dataDir)).toBe(true)
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await createAndLeave(options)
    expect(isRunning(options.dataDir)).toBe(false)
  })
})
