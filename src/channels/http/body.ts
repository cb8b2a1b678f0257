/** The text of a request's body. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import type { HttpServerError, HttpServerRequest } from "effect/http"

const decoder = new TextDecoder()

/** A body can be read once; a request whose credential has to be looked up anew asks for it once more. */
const known = new WeakMap<object, string>()

/**
 * Where the length was said the edge has held it against the limit, and node:http ends the body there. A body that is cut
 * off interrupts whoever reads it: its connection is closed. The generic way of streams costs as much as the rest of a
 * request.
 */
export const textOf = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<string, HttpServerError.HttpServerError> => {
  const { headers } = request
  if (headers["content-length"] === undefined || headers["expect"] !== undefined) return request.text
  return Effect.suspend(() => {
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    const before = known.get(source)
    if (before !== undefined) return Effect.succeed(before)
    return Effect.callback<string>((resume) => {
      const chunks: Array<Buffer> = []
      source.on("data", (chunk: Buffer) => void chunks.push(chunk))
      source.on("end", () => {
        const text = decoder.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
        known.set(source, text)
        resume(Effect.succeed(text))
      })
    })
  })
}
