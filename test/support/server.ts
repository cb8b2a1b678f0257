/**
 * The Postgres that the tests run on: the one of DATABASE_URL, or an embedded server in a folder of its own. Every
 * test file makes databases of its own on it, so that files run side by side.
 */
import { Effect, Exit, Redacted, Scope } from "effect"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { start } from "../../src/database/EmbeddedServer.ts"

declare module "vitest" {
  export interface ProvidedContext {
    readonly serverUrl: string
  }
}

export default async ({ provide }: TestProject) => {
  const given = process.env["DATABASE_URL"]
  if (given !== undefined && given !== "") {
    provide("serverUrl", given)
    return
  }
  const home = mkdtempSync(join(tmpdir(), "max-test-"))
  // When root runs the tests, the server runs as somebody else, who has to get in here.
  chmodSync(home, 0o755)
  const scope = Scope.makeUnsafe()
  const server = await Effect.runPromise(
    start({ dataDir: join(home, "data"), stateDir: join(home, "state") }).pipe(Scope.provide(scope))
  )
  const password = encodeURIComponent(Redacted.value(server.password))
  provide(
    "serverUrl",
    `postgres://${server.username}:${password}@localhost/${server.database}?host=${encodeURIComponent(server.socketDir)}&port=${server.port}`
  )
  return async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(home, { recursive: true, force: true })
  }
}
