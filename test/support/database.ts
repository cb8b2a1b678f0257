/** Migrated databases for test files, dropped with their scope. */
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { inject } from "vitest"
import { migrate } from "../../src/database/migrate.ts"
import { switchRowSecurity } from "../../src/database/switchRowSecurity.ts"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../src/layers.ts"
import { connectTo, newDatabase } from "./newDatabase.ts"

export const passwordOf = (url: string) => {
  const { password } = new URL(url)
  return password === "" ? undefined : Redacted.make(decodeURIComponent(password))
}

/** The URL of a new, empty database, dropped with the scope. */
export const freshDatabase = Effect.suspend(() => newDatabase(inject("serverUrl")))

/** Whether the suite runs with row-level security. */
const ROW_SECURITY = process.env["MAX_TEST_RLS"] === "on"

/** The URL of a copy of a migrated database without open connections; the copy has its own roles. */
export const copyOf = Effect.fnUntraced(function* (name: string) {
  const url = yield* newDatabase(inject("serverUrl"), name)
  yield* Effect.scoped(
    Effect.flatMap(connectTo(url), (owner) =>
      Effect.andThen(migrate(owner, passwordOf(url)), switchRowSecurity(owner, ROW_SECURITY))
    )
  )
  return url
}, Effect.provide(Reactivity.layer))

/** The URL of a new, migrated database. */
export const migratedDatabase = Effect.suspend(() => copyOf(inject("template")))

/** Configuration for a database, with wide timeouts, because timeouts have their own tests. */
export const envFor = (url: string, more: Partial<Parameters<typeof Env.layerWith>[0]> = {}) =>
  Env.layerWith({
    databaseUrl: Redacted.make(url),
    ...(inject("poolUrl") === "" ? {} : { poolUrl: Redacted.make(inject("poolUrl")) }),
    lookupTimeout: 10_000,
    searchTimeout: 30_000,
    ...more
  })

/** Every service over a new database, with other settings. */
export const servicesWith = (more: Parameters<typeof envFor>[1]) =>
  Services.pipe(
    Layer.provideMerge(
      Layer.unwrap(
        Effect.map(migratedDatabase, (url) => ConfiguredDatabase.pipe(Layer.provideMerge(envFor(url, more))))
      )
    ),
    Layer.orDie
  )

/** Every service over a new database. */
export const TestServices = servicesWith({})
