/** What every contestant shares: where it finds the benchmark's data, and an HTTP server that answers one question per request. */
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { FindQuery } from "../../src/domain/Query.ts"
import type { Role, Size } from "../world/load.ts"

/** The database that a contestant serves, and the role that it reads as. */
export interface Assignment {
  readonly rows: number
  readonly url: string
  readonly size: Size
  readonly role: Role
}

/** The JSON body of every request. */
export type Asked = Pick<FindQuery, "entityTypeId" | "filters" | "selectColumns" | "cursorEntityId">

/** Starts a server that answers each request body with `answer`. Returns its port. */
export const answering = (answer: (asked: Asked) => Promise<unknown>) =>
  Effect.callback<number>((resume) => {
    const server = createServer((request, response) => {
      let text = ""
      request.on("data", (chunk: Buffer) => (text += chunk.toString()))
      request.on("end", () => {
        void answer(JSON.parse(text) as Asked).then(
          (value) => {
            const body = JSON.stringify(value)
            response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
            response.end(body)
          },
          (error: unknown) => {
            response.writeHead(500)
            response.end(String(error))
          }
        )
      })
    })
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
  })
