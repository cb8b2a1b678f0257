/** A primary with streaming standbys, of the embedded server's programs, behind Unix sockets in a folder of their own. */
import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { execFileSync } from "node:child_process"
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { migrate } from "../../src/database/migrate.ts"
import { clustersIn } from "./cluster.ts"
import { connectTo, newDatabase, runOnServer } from "./newDatabase.ts"

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
  const clusters = yield* clustersIn(folder)
  const nodes = ["primary", ...Array.from({ length: standbys }, (_, index) => `standby${index + 1}`)]
  const portOf = (name: string) => (name === "primary" ? (port ?? 5432) : 5432)
  const urlOf = (name: string, database = "postgres") => clusters.urlOf(name, { database, port: portOf(name) })
  for (const name of nodes) clusters.prepare(name)
  const start = (name: string, ...options: ReadonlyArray<string>) =>
    clusters.start(name, ...OPTIONS, ...more, ...options)
  const follow = (name: string) =>
    start(name, `-c primary_conninfo='host=${clusters.homeOf("primary")} port=${portOf("primary")} user=owner'`)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const name of nodes.toReversed()) {
        try {
          clusters.stop(name)
        } catch {
          // It was killed by its test.
        }
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    })
  )
  clusters.create("primary", "-A", "trust")
  for (const name of nodes.slice(1)) {
    // A copy of the stopped cluster; the standby streams all that has been written since.
    const data = clusters.dataOf(name)
    cpSync(clusters.dataOf("primary"), data, { recursive: true, preserveTimestamps: true })
    writeFileSync(join(data, "standby.signal"), "")
    execFileSync("chown", ["-R", `${clusters.user.uid}:${clusters.user.gid}`, data])
    chmodSync(data, 0o700)
  }
  start("primary", ...(port === undefined ? [] : [`-c listen_addresses=127.0.0.1 -c port=${port}`]))
  for (const name of nodes.slice(1)) follow(name)
  const url = yield* newDatabase(urlOf("primary"))
  const owner = yield* connectTo(url)
  yield* migrate(owner, undefined)
  const database = new URL(url).pathname.slice(1)
  const clients = yield* Effect.forEach(nodes, (name) => connectTo(urlOf(name, database)))
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
    log: () => readFileSync(join(clusters.homeOf("primary"), "log"), "utf8"),
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
    crash: (index: number) => clusters.stop(nodes[index + 1]!),
    /** The process of a standby's server, or of the primary's, which is -1. */
    pidOf: (index: number) => clusters.pidOf(nodes[index + 1]!),
    /** Kills a standby for good. */
    kill: (index: number) => process.kill(clusters.pidOf(nodes[index + 1]!), "SIGKILL"),
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
