/** Two cells: servers of Postgres of their own with `max serve`s, and a router that reads a map file as haproxy does. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { readFileSync } from "node:fs"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { replicatedFor } from "./standby.ts"
import { connectTo } from "./newDatabase.ts"

const LOGICAL = [
  "-c wal_level=logical",
  "-c max_worker_processes=16",
  "-c max_logical_replication_workers=12",
  "-c max_sync_workers_per_subscription=6",
  "-c wal_retrieve_retry_interval=500ms"
]

/** A new server of Postgres with logical replication, and a migrated database in it. */
export const startCell = (...options: ReadonlyArray<string>) => replicatedFor(0, ...LOGICAL, ...options)

/** Runs statements on one connection of a database's owner. */
const onDatabase = <A, E>(url: string, use: (owner: PgClient.PgClient) => Effect.Effect<A, E>) =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(connectTo(url, { startupParameters: { search_path: "pg_catalog" } }), use)).pipe(
      Effect.provide(Reactivity.layer)
    )
  )

/** The rows that a statement returns. */
export const rowsIn = <Row extends object = Record<string, any>>(
  url: string,
  statement: string,
  parameters: ReadonlyArray<unknown> = []
) => onDatabase(url, (owner) => owner.unsafe<Row>(statement, parameters).unprepared)

/** Holds what a statement locks, in a transaction, until the returned function is called. */
export const hold = async (url: string, statement: string) => {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  let ended: Promise<unknown> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    ended = onDatabase(url, (owner) =>
      Effect.andThen(
        owner.unsafe(statement).unprepared,
        Effect.promise(() => {
          resolve()
          return released
        })
      ).pipe(owner.withTransaction)
    ).catch(reject)
  })
  return async () => {
    release()
    await ended
  }
}

/** Forwards requests to the cell that the map file names for the organization of their token, or else to the first. */
export const startRouter = async (file: string, cells: Readonly<Record<string, string>>) => {
  const [first = ""] = Object.keys(cells)
  const server = createServer((incoming, answer) => {
    const key = (incoming.headers.authorization ?? "").split("_")[1]
    const line = readFileSync(file, "utf8")
      .split("\n")
      .find((each) => each.split(" ")[0] === key)
    const cell = line?.split(" ")[1] ?? first
    const forwarded = request(
      new URL(incoming.url ?? "/", cells[cell]),
      { method: incoming.method, headers: incoming.headers, agent: false },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(answer)
      }
    )
    forwarded.on("error", () => answer.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve()))
  }
}
