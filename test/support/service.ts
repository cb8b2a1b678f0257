/** A service on this machine that counts what it is asked to do, and answers as a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

type Answer = (asked: Asked, response: ServerResponse) => void

const OK: Answer = (_, response) => void response.setHeader("content-type", "application/json").end(`{"id":"7"}`)

export const startService = async () => {
  const asked: Array<Asked> = []
  let answer = OK
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (part: Buffer) => (body += part.toString()))
    request.on("end", () => {
      const one = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body }
      asked.push(one)
      answer(one, response)
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    asked,
    answers: (one: Answer = OK) => {
      answer = one
      asked.length = 0
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
}

/** A file with one action; `http` and `rest` replace its parts. */
export const fileOf = (
  url: string,
  http: Readonly<Record<string, unknown>> = {},
  rest: Readonly<Record<string, unknown>> = {}
) =>
  JSON.stringify({
    version: 1,
    actions: [
      {
        slug: "set_quantity",
        name: "Change the quantity of an item",
        description: "Sets the quantity of an item of a purchase order.",
        category: "write",
        fields: [
          { slug: "order", name: "Order", kind: "text", needed: true },
          { slug: "quantity", name: "Quantity", kind: "number", needed: true, min: 0 }
        ],
        http: {
          method: "PATCH",
          url: `${url}/orders/{order}`,
          body: { OrderQuantity: "{quantity:text}" },
          key: "Idempotency-Key",
          ...http
        },
        ...rest
      }
    ]
  })
