/** A migrated database of its own for a test file, dropped afterwards. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { migrate } from "../../src/database/migrate.ts"
import { switchRowSecurity } from "../../src/database/switchRowSecurity.ts"
import { Env } from "../../src/env.ts"
import { Services } from "../../src/layers.ts"

const passwordOf = (url: string) => {
  const { password } = new URL(url)
  return password === "" ? undefined : Redacted.make(decodeURIComponent(password))
}

const urlOf = (server: string, database: string): string => {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

const admin = (url: string) => PgClient.make({ url: Redacted.make(url), maxConnections: 1 })

const newDatabase = Effect.fnUntraced(function* (from?: string) {
  const server = inject("serverUrl")
  const name = `max_test_${randomBytes(6).toString("hex")}`
  // A connection of its own each time: one that has been idle for a minute is closed, and not opened again in a finalizer.
  const run = (statement: string) =>
    Effect.scoped(Effect.flatMap(admin(server), (client) => client.unsafe(statement).unprepared)).pipe(
      Effect.provide(Reactivity.layer)
    )
  yield* Effect.acquireRelease(run(`CREATE DATABASE ${name}${from === undefined ? "" : ` TEMPLATE ${from}`}`), () =>
    Effect.ignore(run(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  return urlOf(server, name)
})

/** The URL of a new, empty database that goes away with the scope. */
export const freshDatabase = newDatabase()

/** Whether the suite runs with row-level security. */
const ROW_SECURITY = process.env["MAX_TEST_RLS"] === "on"

/** A migrated database to copy, for mutation testing, which makes thousands of them. */
const TEMPLATE = process.env["MAX_TEST_TEMPLATE"]

/** The URL of a new, migrated database. */
export const migratedDatabase = Effect.gen(function* () {
  const url = yield* newDatabase(TEMPLATE)
  yield* Effect.scoped(
    Effect.flatMap(admin(url), (owner) =>
      Effect.andThen(migrate(owner, passwordOf(url)), switchRowSecurity(owner, ROW_SECURITY))
    )
  )
  return url
}).pipe(Effect.provide(Reactivity.layer))

/** Configuration that points at a database. The lookup timeout is wide: what it does has a test of its own. */
export const envFor = (url: string) =>
  Env.layerWith({ databaseUrl: Redacted.make(url), lookupTimeout: 10_000, searchTimeout: 30_000 })

/** Every service over a new database. */
export const TestServices = Services.pipe(
  Layer.provideMerge(
    Layer.unwrap(Effect.map(migratedDatabase, (url) => Database.layer.pipe(Layer.provideMerge(envFor(url)))))
  ),
  Layer.orDie
)
