/** The database that a benchmark runs on: an embedded one made for the run, one that is kept, or one that is given. */
import { Effect, Layer, Redacted } from "effect"
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Database } from "../src/database/Database.ts"
import { Env } from "../src/env.ts"
import { ConfiguredDatabase, Services } from "../src/layers.ts"

export interface Where {
  /** A folder for a database that stays. */
  readonly keep?: string | undefined
  readonly url?: string | undefined
}

type Settings = Parameters<typeof Env.layerWith>[0]

/** The settings that lead to a database; `release` removes what was made for the run. */
export const settingsOf = (where: Where): { readonly settings: Settings; readonly release: () => void } => {
  const wide = { lookupTimeout: 5000, searchTimeout: 60_000 }
  if (where.url !== undefined)
    return { settings: { ...wide, databaseUrl: Redacted.make(where.url) }, release: () => {} }
  const home = where.keep === undefined ? mkdtempSync(join(tmpdir(), "max-bench-data-")) : resolve(where.keep)
  mkdirSync(home, { recursive: true })
  // When root runs it, the server runs as somebody else, who has to get in here.
  chmodSync(home, 0o755)
  return {
    settings: { ...wide, databaseUrl: undefined, dataDir: join(home, "data"), stateDir: join(home, "state") },
    release: () => {
      if (where.keep === undefined) rmSync(home, { recursive: true, force: true })
    }
  }
}

/** Runs scenarios over every service. */
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
