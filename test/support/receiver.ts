/** An OTLP collector that stores the documents it receives. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** Times, random ids and measured fractions of a document, as JSON: digits that may equal any number by chance. */
const CHANCE = /"\w*UnixNano":"?\d+"?|"(?:traceId|spanId|parentSpanId)":"[0-9a-f]+"|\b\d+\.\d{4,}\b/g

/** A document's text without the digits that no caller wrote: what a search for a person's number looks through. */
export const withoutChance = (text: string): string => text.replace(CHANCE, "")

export const startReceiver = async () => {
  const bodies: Array<{ readonly path: string; readonly text: string }> = []
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (chunk: Buffer) => (text += chunk.toString()))
    request.on("end", () => {
      if (request.headers["content-type"] === "application/json") bodies.push({ path: request.url ?? "", text })
      response.setHeader("content-type", "application/json").end("{}")
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The bodies received on a path, joined. */
    text: (path: string): string =>
      bodies
        .filter((body) => body.path === path)
        .map((body) => body.text)
        .join("\n"),
    /** The documents received on a path. */
    documents: (path: string): ReadonlyArray<any> =>
      bodies.filter((body) => body.path === path).map((body) => JSON.parse(body.text)),
    close: () => new Promise<void>((resolve) => void server.close(() => resolve()))
  }
}
