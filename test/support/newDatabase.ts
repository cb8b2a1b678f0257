/** Creates an empty database, or a copy of one. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"

/** Runs a statement on a server. A new connection each time: a pool closes idle connections and can't open one in a finalizer. */
export const runOnServer = (serverUrl: string, statement: string) =>
  Effect.scoped(
    Effect.flatMap(
      PgClient.make({ url: Redacted.make(serverUrl), maxConnections: 1 }),
      (admin) => admin.unsafe(statement).unprepared
    )
  ).pipe(Effect.provide(Reactivity.layer))

/** The URL of a new database, dropped with the scope. */
export const newDatabase = Effect.fnUntraced(function* (serverUrl: string, from?: string) {
  const name = `max_test_${randomBytes(6).toString("hex")}`
  const run = (statement: string) => runOnServer(serverUrl, statement)
  yield* Effect.acquireRelease(run(`CREATE DATABASE ${name}${from === undefined ? "" : ` TEMPLATE ${from}`}`), () =>
    Effect.ignore(run(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
})
