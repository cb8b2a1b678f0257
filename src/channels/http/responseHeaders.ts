/** Default headers of every response, including those that node:http writes itself. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"

const DEFAULTS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

type Headers = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

/** Merges default headers into a flat list of names and values; the response's own headers win. */
const merge = (defaults: ReadonlyArray<readonly [string, string]>, own: OutgoingHttpHeaders) => {
  const merged: Array<OutgoingHttpHeader> = []
  for (const [name, value] of defaults) if (own[name] === undefined) merged.push(name, value)
  for (const name in own) {
    const value = own[name]
    if (value !== undefined) merged.push(name, value)
  }
  return merged
}

/**
 * The response class of a server. It passes all headers to `writeHead` as one list: after a single `setHeader`, node:http
 * takes its slow path.
 */
export const responseClass = (secure: boolean, isEnding: () => boolean): typeof ServerResponse => {
  const defaults = Object.entries(secure ? { ...DEFAULTS, "strict-transport-security": "max-age=31536000" } : DEFAULTS)
  // During shutdown open connections still get their responses, but aren't reused.
  const whileEnding = [...defaults, ["connection", "close"] as const]
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
      const own = typeof reason === "string" || reason === undefined ? headers : reason
      if (Array.isArray(own)) throw new TypeError("writeHead takes headers as an object")
      return super.writeHead(
        status,
        typeof reason === "string" ? reason : undefined,
        merge(isEnding() ? whileEnding : defaults, own ?? {})
      )
    }
  }
}
