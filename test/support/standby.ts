/** A primary with streaming standbys, of the embedded server's programs, behind Unix sockets in a folder of their own. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { findPackage, openBinaries } from "../../src/database/embedded/binaries.ts"
import { settle } from "../../src/database/embedded/folders.ts"
import { currentUser, isRoot, spawnAs, unprivilegedUser } from "../../src/database/embedded/processes.ts"
import { migrate } from "../../src/database/migrate.ts"
import { newDatabase, runOnServer } from "./newDatabase.ts"

const OPTIONS = [
  "-c listen_addresses=",
  "-c fsync=off",
  "-c autovacuum=off",
  "-c wal_keep_size=512MB",
  "-c wal_receiver_status_interval=1s",
  "-c hot_standby_feedback=on"
]

/**
 * Starts a primary and so many standbys, all with these options, which end with the scope, and their folder with them. With a port,
 * the primary also listens at 127.0.0.1.
 */
const startReplicated = Effect.fnUntraced(function* (
  port: number | undefined,
  standbys: number,
  ...more: ReadonlyArray<string>
) {
  const folder = mkdtempSync("/tmp/max-rs-")
  chmodSync(folder, 0o755)
  const native = yield* findPackage()
  const place = yield* settle({ dataDir: join(folder, "unused"), stateDir: join(folder, "state") })
  const programs = yield* openBinaries(native, place)
  const me = yield* currentUser
  const user = isRoot(me) ? yield* unprivilegedUser : me
  const run = (program: string, ...args: ReadonlyArray<string>) =>
    execFileSync(program, args, { ...spawnAs(user), cwd: "/tmp", stdio: "ignore", timeout: 60_000 })
  const nodes = ["primary", ...Array.from({ length: standbys }, (_, index) => `standby${index + 1}`)]
  const homeOf = (name: string) => join(folder, name)
  const dataOf = (name: string) => join(homeOf(name), "data")
  const portOf = (name: string) => (name === "primary" ? (port ?? 5432) : 5432)
  const urlOf = (name: string, database = "postgres") =>
    `postgres://owner@localhost/${database}?host=${encodeURIComponent(homeOf(name))}&port=${portOf(name)}`
  for (const name of nodes) {
    mkdirSync(homeOf(name), { mode: 0o755 })
    chownSync(homeOf(name), user.uid, user.gid)
  }
  const start = (name: string, ...options: ReadonlyArray<string>) => {
    const log = join(homeOf(name), "log")
    const settings = [...OPTIONS, ...more, `-c unix_socket_directories=${homeOf(name)}`, ...options].join(" ")
    try {
      run(programs.pgCtl, "start", "-w", "-D", dataOf(name), "-l", log, "-o", settings)
    } catch {
      throw new Error(`${name} doesn't start:\n${readFileSync(log, "utf8")}`)
    }
  }
  const follow = (name: string) =>
    start(name, `-c primary_conninfo='host=${homeOf("primary")} port=${portOf("primary")} user=owner'`)
  const pidOf = (name: string) => Number(readFileSync(join(dataOf(name), "postmaster.pid"), "utf8").split("\n")[0])
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const name of nodes.toReversed()) {
        try {
          run(programs.pgCtl, "stop", "-m", "immediate", "-w", "-D", dataOf(name))
        } catch {
          // It was killed by its test.
        }
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    })
  )
  const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
  run(programs.initdb, "-D", dataOf("primary"), "-U", "owner", "-A", "trust", "-E", "UTF8", ...locale, "--no-sync")
  for (const name of nodes.slice(1)) {
    // A copy of the stopped cluster; the standby streams all that has been written since.
    cpSync(dataOf("primary"), dataOf(name), { recursive: true, preserveTimestamps: true })
    writeFileSync(join(dataOf(name), "standby.signal"), "")
    execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, dataOf(name)])
    chmodSync(dataOf(name), 0o700)
  }
  start("primary", ...(port === undefined ? [] : [`-c listen_addresses=127.0.0.1 -c port=${port}`]))
  for (const name of nodes.slice(1)) follow(name)
  const url = yield* newDatabase(urlOf("primary"))
  const owner = yield* PgClient.make({ url: Redacted.make(url), maxConnections: 1 })
  yield* migrate(owner, undefined)
  const database = new URL(url).pathname.slice(1)
  const clients = yield* Effect.forEach(nodes, (name) =>
    PgClient.make({ url: Redacted.make(urlOf(name, database)), maxConnections: 1 })
  )
  const ask = (index: number, statement: string) =>
    Effect.runPromise(
      Effect.map(
        clients[index + 1]!.unsafe<Record<string, unknown>>(statement).unprepared,
        ([row]) => Object.values(row ?? {})[0]
      )
    )

  return {
    /** A new, migrated database on the primary. */
    url,
    /** What the primary has logged. */
    log: () => readFileSync(join(homeOf("primary"), "log"), "utf8"),
    /** Runs a statement on the primary. */
    run: (statement: string) => Effect.runPromise(runOnServer(url, statement)),
    /** The same database on the standbys. */
    standbys: nodes.slice(1).map((name) => urlOf(name, database)),
    /** The first value that a statement returns on a standby, counted from 0, or on the primary, which is -1. */
    ask,
    /** Stops the replay on a standby; a delay would be in force only some time after it is set. */
    pause: async (index: number) => {
      await ask(index, "SELECT pg_wal_replay_pause()")
      while ((await ask(index, "SELECT pg_get_wal_replay_pause_state()")) !== "paused") await sleep(20)
    },
    /** Delays the replay of commits on a standby. */
    delay: (index: number, milliseconds: number) =>
      Effect.andThen(
        runOnServer(urlOf(nodes[index + 1]!), `ALTER SYSTEM SET recovery_min_apply_delay = '${milliseconds}ms'`),
        runOnServer(urlOf(nodes[index + 1]!), "SELECT pg_reload_conf()")
      ),
    /** Stops a standby at once, without a shutdown of its connections. */
    crash: (index: number) => run(programs.pgCtl, "stop", "-m", "immediate", "-w", "-D", dataOf(nodes[index + 1]!)),
    /** The process of a standby's server, or of the primary's, which is -1. */
    pidOf: (index: number) => pidOf(nodes[index + 1]!),
    /** Kills a standby for good. */
    kill: (index: number) => process.kill(pidOf(nodes[index + 1]!), "SIGKILL"),
    restart: (index: number) => follow(nodes[index + 1]!)
  }
}, Effect.provide(Reactivity.layer))

/** The same for a test file, with the function that ends it. */
export const replicatedAt = async (...args: Parameters<typeof startReplicated>) => {
  const scope = Scope.makeUnsafe()
  const end = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const cluster = await Effect.runPromise(startReplicated(...args).pipe(Scope.provide(scope))).catch((error) =>
    end().then(() => Promise.reject(error))
  )
  return { ...cluster, end }
}

export const replicatedFor = (standbys: number, ...options: ReadonlyArray<string>) =>
  replicatedAt(undefined, standbys, ...options)
