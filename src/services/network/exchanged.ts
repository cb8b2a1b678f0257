/** One HTTP request to an address that people chose: to hosts that may be reached, without redirects, bounded in time and size. */
import { Effect } from "effect"
import { request as httpRequest, type IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
import { guardedLookup } from "./hosts.ts"

/** The most of an answer that is read, in bytes. */
const MAX_ANSWER = 1_000_000

/** What came of one exchange. Without a body, the answer was too large, encoded, or cut off. */
export type Exchange =
  | {
      readonly _tag: "Answered"
      readonly status: number
      readonly headers: IncomingMessage["headers"]
      readonly body: Buffer | undefined
    }
  | { readonly _tag: "NotReached"; readonly error: string }
  | { readonly _tag: "Lost"; readonly error: string }

interface Outgoing {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  readonly seconds: number
  readonly hosts: ReadonlyArray<string>
}

/** One request on a connection of its own; never fails, and follows no redirect. */
export const exchanged = (url: URL, { body, headers, hosts, method, seconds }: Outgoing): Effect.Effect<Exchange> =>
  Effect.callback<Exchange>((resume) => {
    let isReached = false
    let isOver = false
    const end = (exchange: Exchange) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      resume(Effect.succeed(exchange))
      sent.destroy()
    }
    const lost = (error: string): Exchange => (isReached ? { _tag: "Lost", error } : { _tag: "NotReached", error })
    const isSecure = url.protocol === "https:"
    const sent = (isSecure ? httpsRequest : httpRequest)(url, {
      method,
      headers,
      agent: false,
      lookup: guardedLookup(url, hosts)
    })
    const timer = setTimeout(() => end(lost("timeout")), seconds * 1000)
    sent.on("socket", (socket) => socket.once(isSecure ? "secureConnect" : "connect", () => (isReached = true)))
    sent.on("error", (error: NodeJS.ErrnoException) => end(lost(wordOf(error.code))))
    sent.on("close", () => end(lost("closed")))
    sent.on("response", (response) => {
      const { headers: received, statusCode: status = 0 } = response
      const answered = (read: Buffer | undefined) => end({ _tag: "Answered", status, headers: received, body: read })
      clearTimeout(timer)
      const parts: Array<Buffer> = []
      let size = 0
      const reading = setTimeout(() => answered(undefined), seconds * 1000)
      response.on("data", (part: Buffer) => {
        size += part.length
        if (size > MAX_ANSWER) return answered(undefined)
        parts.push(part)
      })
      response.on("end", () => {
        const isEncoded = !["", "identity"].includes(String(received["content-encoding"] ?? ""))
        answered(response.complete && !isEncoded ? Buffer.concat(parts) : undefined)
      })
      response.on("error", () => answered(undefined))
      response.on("close", () => {
        clearTimeout(reading)
        answered(undefined)
      })
    })
    sent.end(body)
    return Effect.sync(() => end(lost("interrupted")))
  })

const wordOf = (code: string | undefined): string =>
  code !== undefined && /^[A-Z0-9_]{1,40}$/.test(code) ? code : "error"
