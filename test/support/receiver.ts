/** An OTLP collector that stores the documents it receives. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

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
