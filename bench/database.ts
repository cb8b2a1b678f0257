/** The database of a benchmark: an embedded one for the run, a kept one, or an existing server. */
import { Effect, Layer, Redacted } from "effect"
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Database } from "../src/database/Database.ts"
import { Env } from "../src/env.ts"
import { ConfiguredDatabase, Services } from "../src/layers.ts"

export interface Where {
  /** The folder of a database that outlives the run. */
  readonly keep?: string | undefined
  readonly url?: string | undefined
}

type Settings = Parameters<typeof Env.layerWith>[0]

/** The settings of a database; `release` removes a database of this run. */
export const settingsOf = (where: Where): { readonly settings: Settings; readonly release: () => void } => {
  const wide = {
    lookupTimeout: 5000,
    searchTimeout: 60_000,
    callsPerPerson: 100_000_000,
    writesPerMinute: 100_000_000,
    changedRowsPerDay: 100_000_000
  }
  if (where.url !== undefined)
    return { settings: { ...wide, databaseUrl: Redacted.make(where.url) }, release: () => {} }
  const home = where.keep === undefined ? mkdtempSync(join(tmpdir(), "max-bench-data-")) : resolve(where.keep)
  mkdirSync(home, { recursive: true })
  // Started by root, the embedded server runs as another user, which needs access.
  chmodSync(home, 0o755)
  return {
    settings: { ...wide, databaseUrl: undefined, dataDir: join(home, "data"), stateDir: join(home, "state") },
    release: () => {
      if (where.keep === undefined) rmSync(home, { recursive: true, force: true })
    }
  }
}

/** Runs scenarios with all services. */
export const onDatabase = <A, E>(
  where: Where,
  scenarios: Effect.Effect<A, E, Layer.Success<typeof Services> | Database | Env>
) => {
  const { release, settings } = settingsOf(where)
  return scenarios.pipe(
    Effect.provide(Services.pipe(Layer.provideMerge(ConfiguredDatabase), Layer.provideMerge(Env.layerWith(settings)))),
    Effect.ensuring(Effect.sync(release))
  )
}
