/** What every answer says in its head, whoever writes it: the application, a stream, or node:http by itself. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"

const ALWAYS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

type Headers = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

/** A list of what is in both, names before values; what an answer says of itself stands. */
const together = (always: ReadonlyArray<readonly [string, string]>, own: OutgoingHttpHeaders) => {
  const all: Array<OutgoingHttpHeader> = []
  for (const [name, value] of always) if (own[name] === undefined) all.push(name, value)
  for (const name in own) {
    const value = own[name]
    if (value !== undefined) all.push(name, value)
  }
  return all
}

/**
 * The answers of a server. Their heads are written in one piece: headers that are set one by one make node:http put the
 * head together the long way.
 */
export const answersOf = (secure: boolean, isEnding: () => boolean): typeof ServerResponse => {
  const always = Object.entries(secure ? { ...ALWAYS, "strict-transport-security": "max-age=31536000" } : ALWAYS)
  // Whoever still comes while the server ends is answered, and has to connect elsewhere next time.
  const atTheEnd = [...always, ["connection", "close"] as const]
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
      const own = typeof reason === "string" || reason === undefined ? headers : reason
      if (Array.isArray(own)) throw new TypeError("Headers are given by name")
      return super.writeHead(
        status,
        typeof reason === "string" ? reason : undefined,
        together(isEnding() ? atTheEnd : always, own ?? {})
      )
    }
  }
}
