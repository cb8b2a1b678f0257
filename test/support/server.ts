/**
 * The Postgres server of a test run: the one of DATABASE_URL, or an embedded server in a temporary folder. Each test file
 * creates its own databases on it, so that files run concurrently; they are copies of a template migrated once, here.
 */
import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { pendingStatements } from "../../src/database/migrate.ts"
import { clustersIn } from "./cluster.ts"
import { connectTo, newDatabase } from "./newDatabase.ts"
import { startPgBouncer } from "./pgbouncer.ts"

declare module "vitest" {
  export interface ProvidedContext {
    readonly serverUrl: string
    /** The name of a database with every migration applied; roles are created per copy, because they belong to one database. */
    readonly template: string
    /** PgBouncer's address with MAX_TEST_POOL=session or transaction; otherwise empty. */
    readonly poolUrl: string
    /** A folder for files that tests write. */
    readonly files: string
  }
}

const NAME = "server"

/** A temporary folder, removed with the scope. */
const temporary = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), name))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/**
 * Like the embedded server's, except that nothing waits for a disk, and that it keeps little in memory of its own: creating a
 * database takes a sixth of the time. Only a crash of the machine could lose a row, and no test survives that.
 */
const SETTINGS = [
  "-c listen_addresses=",
  "-c max_connections=200",
  "-c max_locks_per_transaction=256",
  "-c shared_buffers=128MB",
  "-c fsync=off",
  "-c full_page_writes=off",
  "-c timezone=UTC",
  "-c jit=off"
]

/** The URL of the server; closing the scope stops the one that was started for these tests. */
const server = Effect.gen(function* () {
  const external = process.env["DATABASE_URL"]
  if (external !== undefined && external !== "") return external
  const home = yield* temporary("max-test-")
  const clusters = yield* clustersIn(home)
  const password = randomBytes(16).toString("hex")
  const file = join(home, "password")
  clusters.prepare(NAME)
  writeFileSync(file, password)
  clusters.create(NAME, "-A", "scram-sha-256", `--pwfile=${file}`)
  clusters.start(NAME, ...SETTINGS)
  yield* Effect.addFinalizer(() => Effect.sync(() => clusters.stop(NAME)))
  yield* stopWithThisProcess(home)
  return clusters.urlOf(NAME, { password })
})

/** Stops the server and removes its folder if this process is killed, which runs no finalizer: the pipe to a shell closes. */
const stopWithThisProcess = (home: string) => {
  const stop = `cat; kill -INT "$(head -n 1 ${NAME}/data/postmaster.pid)" && while [ -e ${NAME}/data/postmaster.pid ]; do sleep 0.1; done; cd / && rm -rf "${home}"`
  return Effect.acquireRelease(
    Effect.sync(() => {
      const guard = spawn("sh", ["-c", stop], { cwd: home, detached: true, stdio: ["pipe", "ignore", "ignore"] })
      guard.unref()
      return guard
    }),
    (guard) => Effect.sync(() => guard.kill("SIGKILL"))
  )
}

/** The name of the template; closing the scope drops it, unless MAX_TEST_TEMPLATE names an existing one. */
const template = Effect.fnUntraced(function* (serverUrl: string) {
  const existing = process.env["MAX_TEST_TEMPLATE"]
  if (existing !== undefined) return existing
  const url = yield* newDatabase(serverUrl)
  yield* Effect.scoped(
    Effect.flatMap(connectTo(url), (owner) =>
      owner.withTransaction(
        Effect.forEach(pendingStatements(0), (statement) => owner.unsafe(statement).unprepared, { discard: true })
      )
    )
  )
  return new URL(url).pathname.slice(1)
}, Effect.provide(Reactivity.layer))

const pool = (serverUrl: string) => {
  const mode = process.env["MAX_TEST_POOL"] ?? ""
  return mode === "" ? Effect.succeed("") : startPgBouncer(serverUrl, mode)
}

export default async ({ provide }: TestProject) => {
  const scope = Scope.makeUnsafe()
  const provided = Effect.gen(function* () {
    const serverUrl = yield* server
    provide("serverUrl", serverUrl)
    provide("template", yield* template(serverUrl))
    provide("poolUrl", yield* pool(serverUrl))
    provide("files", yield* temporary("max-files-"))
  })
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  await Effect.runPromise(provided.pipe(Scope.provide(scope))).catch((error) =>
    close().then(() => Promise.reject(error))
  )
  return close
}
