/** Creates an empty database, or a copy of one. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { rolesOf } from "../../src/database/migrate.ts"

/** One connection. A loaded machine may take longer than the five seconds that are the client's default. */
export const connectTo = (url: string, more: Partial<PgClient.PgClientConfig> = {}) =>
  PgClient.make({ url: Redacted.make(url), maxConnections: 1, connectTimeout: "1 minute", ...more })

/** Runs statements on a server. A new connection each time: a pool closes idle connections and can't open one in a finalizer. */
export const runOnServer = (serverUrl: string, ...statements: ReadonlyArray<string>) =>
  Effect.scoped(
    Effect.flatMap(connectTo(serverUrl), (admin) =>
      Effect.forEach(statements, (statement) => admin.unsafe(statement).unprepared, { discard: true })
    )
  ).pipe(Effect.provide(Reactivity.layer))

/** The URL of a new database. Closing the scope drops it with its roles, which belong to the server. */
export const newDatabase = Effect.fnUntraced(function* (serverUrl: string, from?: string) {
  const name = `max_test_${randomBytes(6).toString("hex")}`
  const run = (...statements: ReadonlyArray<string>) => runOnServer(serverUrl, ...statements)
  yield* Effect.acquireRelease(run(`CREATE DATABASE ${name}${from === undefined ? "" : ` TEMPLATE ${from}`}`), () =>
    Effect.ignore(
      run(
        `DROP DATABASE ${name} WITH (FORCE)`,
        ...Object.values(rolesOf(name)).map((role) => `DROP ROLE IF EXISTS ${role}`)
      )
    )
  )
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
})
