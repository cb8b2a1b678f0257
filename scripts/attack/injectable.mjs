/**
 * The positive control for sqlmap: findEntities with a deliberate injection, a filter's value concatenated into the
 * statement. If sqlmap misses it, a clean result for Max is meaningless.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { createServer } from "node:http"
import { openServer } from "../server.mjs"

export const startInjectable = async () => {
  const postgres = await openServer()
  const runtime = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(postgres.url) }))
  const find = (value) =>
    Effect.flatMap(PgClient.PgClient, (sql) =>
      sql.unsafe(
        `SELECT name FROM (VALUES ('Ada Lovelace'), ('Grace Hopper')) people (name) WHERE name ILIKE '%${value}%'`
      )
    )
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request) body += chunk
    const answer = (status, value) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
    try {
      const { filters } = JSON.parse(body)
      answer(200, { entities: await runtime.runPromise(find(filters[0].value)) })
    } catch {
      answer(503, { detail: "I can't look things up right now." })
    }
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await runtime.dispose()
      await postgres.close()
    }
  }
}
