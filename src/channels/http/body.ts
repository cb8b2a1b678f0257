/** The text of a request's body. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import type { HttpServerError, HttpServerRequest } from "effect/http"

const decoder = new TextDecoder()

/** Caches bodies that were read: a handler that runs again after its credential was reloaded reads the body again. */
const cache = new WeakMap<object, string>()

/**
 * Reads a body with a Content-Length directly from node:http, because `request.text` costs as much as the rest of a request.
 * This is safe: the edge has checked the length, node:http enforces it, and a truncated body closes its connection, which
 * interrupts the reader.
 */
export const textOf = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<string, HttpServerError.HttpServerError> => {
  const { headers } = request
  if (headers["content-length"] === undefined || headers["expect"] !== undefined) return request.text
  return Effect.suspend(() => {
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    const cached = cache.get(source)
    if (cached !== undefined) return Effect.succeed(cached)
    return Effect.callback<string>((resume) => {
      const chunks: Array<Buffer> = []
      source.on("data", (chunk: Buffer) => void chunks.push(chunk))
      source.on("end", () => {
        const text = decoder.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
        cache.set(source, text)
        resume(Effect.succeed(text))
      })
    })
  })
}
