/**
 * What sqlmap has to find, so that finding nothing in Max means something: findEntities as nobody should write it, with
 * the value of a filter pasted into the statement. Listens on this machine, for as long as it is watched.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Redacted } from "effect"
import { createServer } from "node:http"
import { openServer } from "./server.mjs"

const port = Number(process.argv[2] ?? 7799)

const program = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const find = (value) =>
    sql.unsafe(
      `SELECT name FROM (VALUES ('Ada Lovelace'), ('Grace Hopper')) people (name) WHERE name ILIKE '%${value}%'`
    )
  createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request) body += chunk
    const answer = (status, value) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
    try {
      const { filters } = JSON.parse(body)
      answer(200, { entities: await Effect.runPromise(find(filters[0].value)) })
    } catch {
      answer(503, { detail: "I can't look things up right now." })
    }
  }).listen(port, "127.0.0.1")
  yield* Effect.never
})

const { url } = await openServer()
await Effect.runPromise(Effect.provide(program, PgClient.layer({ url: Redacted.make(url) })))
