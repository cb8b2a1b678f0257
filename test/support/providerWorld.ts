/** Two administered organizations, a running identity provider and a server that reaches it, for tests of providers over HTTP. */
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { administered } from "./administered.ts"
import { migratedDatabase } from "./database.ts"
import { ask, JSON_TYPE, startServer } from "./http.ts"
import { startProvider } from "./provider.ts"

export type ProviderWorld = Awaited<ReturnType<typeof startProviderWorld>>

export const startProviderWorld = async (settings: NonNullable<Parameters<typeof startServer>[1]> = {}) => {
  const scope = Scope.makeUnsafe()
  const stateDir = mkdtempSync(join(tmpdir(), "max-providers-"))
  const provider = await startProvider()
  const database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  const privateHosts = [new URL(provider.issuer).host]
  const server = await startServer(database, { privateHosts, stateDir, ...settings }, undefined, true)
  const atlas = await server.run(administered({ slug: "atlas" }))
  const borealis = await server.run(administered({ slug: "borealis" }))
  return {
    atlas,
    borealis,
    provider,
    server,
    /** Calls a route of administrators, by default as an administrator of Atlas. */
    call: (path: string, body?: object, secret = atlas.admin.secret) =>
      ask(server.url, `/v1/admin/${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${secret}`, ...(body === undefined ? {} : JSON_TYPE) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      }),
    stop: async () => {
      await server.stop()
      await provider.stop()
      rmSync(stateDir, { recursive: true, force: true })
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}
