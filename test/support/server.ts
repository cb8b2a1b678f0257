/**
 * The Postgres server of a test run: the one of DATABASE_URL, or an embedded server in a temporary folder. Each test file
 * creates its own databases on it, so that files run concurrently; they are copies of a template migrated once, here.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { start, urlOf } from "../../src/database/embedded/EmbeddedServer.ts"
import { pendingStatements } from "../../src/database/migrate.ts"
import { newDatabase } from "./newDatabase.ts"
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

/** A temporary folder, removed with the scope. */
const temporary = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), name))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** The URL of the server; closing the scope stops an embedded one. */
const server = Effect.gen(function* () {
  const external = process.env["DATABASE_URL"]
  if (external !== undefined && external !== "") return external
  const home = yield* temporary("max-test-")
  // As root, the server runs as another user, which needs access to this folder.
  chmodSync(home, 0o755)
  const url = urlOf(yield* start({ dataDir: join(home, "data"), stateDir: join(home, "state") }))
  yield* stopWithThisProcess(home)
  return url
})

/** Stops the server and removes its folder if this process is killed, which runs no finalizer: the pipe to a shell closes. */
const stopWithThisProcess = (home: string) => {
  const stop = `cat; kill -INT "$(head -n 1 data/pg/postmaster.pid)" && while [ -e data/pg/postmaster.pid ]; do sleep 0.1; done; cd / && rm -rf "${home}"`
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
    Effect.flatMap(PgClient.make({ url: Redacted.make(url), maxConnections: 1 }), (owner) =>
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
