/**
 * The Postgres that the tests run on: the one of DATABASE_URL, or an embedded server in a folder of its own. Every
 * test file makes databases of its own on it, so that files run side by side; they are copies of one that is migrated
 * here, once.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { start } from "../../src/database/embedded/EmbeddedServer.ts"
import { pendingStatements } from "../../src/database/migrate.ts"
import { newDatabase } from "./newDatabase.ts"

declare module "vitest" {
  export interface ProvidedContext {
    readonly serverUrl: string
    /** The name of the database to copy: every migration, and none of the roles, which are a database's own. */
    readonly template: string
  }
}

/** The URL of a server, which goes away with the scope unless it was there. */
const server = Effect.gen(function* () {
  const given = process.env["DATABASE_URL"]
  if (given !== undefined && given !== "") return given
  const home = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "max-test-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  // When root runs the tests, the server runs as somebody else, who has to get in here.
  chmodSync(home, 0o755)
  const { database, password, port, socketDir, username } = yield* start({
    dataDir: join(home, "data"),
    stateDir: join(home, "state")
  })
  return `postgres://${username}:${encodeURIComponent(Redacted.value(password))}@localhost/${database}?host=${encodeURIComponent(socketDir)}&port=${port}`
})

/** The name of a database with every migration in it, which goes away with the scope unless it was there. */
const template = Effect.fnUntraced(function* (serverUrl: string) {
  const given = process.env["MAX_TEST_TEMPLATE"]
  if (given !== undefined) return given
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

export default async ({ provide }: TestProject) => {
  const scope = Scope.makeUnsafe()
  const made = Effect.gen(function* () {
    const serverUrl = yield* server
    provide("serverUrl", serverUrl)
    provide("template", yield* template(serverUrl))
  })
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  await Effect.runPromise(made.pipe(Scope.provide(scope))).catch((error) => close().then(() => Promise.reject(error)))
  return close
}
