/** A `fetch` for libraries that ask addresses which an administrator, or what they named, chose. */
import { Effect } from "effect"
import { exchanged } from "./exchanged.ts"
import { hostProblem } from "./hosts.ts"

/** What the libraries pass to `fetch`. */
interface Options {
  readonly method?: string
  readonly headers?: Headers | Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | null
}

export type GuardedFetch = (url: string, options?: Options) => Promise<Response>

const SECONDS = 5
/** Statuses whose responses have no body. */
const BODILESS: ReadonlyArray<number> = [204, 205, 304]

/**
 * Asks public hosts by https, and those that the operator lists. Follows no redirect. Whatever prevents an answer, a forbidden host
 * too, is the same failure.
 */
export const guardedFetch =
  (hosts: ReadonlyArray<string>): GuardedFetch =>
  async (text, { body: given, headers = {}, method = "GET", signal } = {}) => {
    const url = new URL(text)
    if (hostProblem(url, hosts) !== undefined) throw unreachable()
    const body = given === undefined || given === null ? undefined : Buffer.from(String(given))
    const exchange = await Effect.runPromise(
      exchanged(url, {
        method,
        headers: {
          ...Object.fromEntries(new Headers(headers as Headers)),
          "accept-encoding": "identity",
          "user-agent": "max",
          ...(body === undefined ? {} : { "content-length": String(body.length) })
        },
        body,
        seconds: SECONDS,
        hosts
      }),
      signal === undefined || signal === null ? {} : { signal }
    )
    if (exchange._tag !== "Answered" || exchange.body === undefined) throw unreachable()
    const { headers: received, status } = exchange
    return new Response(BODILESS.includes(status) ? null : new Uint8Array(exchange.body), {
      status,
      headers: Object.entries(received).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one])
      )
    })
  }

/** As `fetch` fails where there is no answer. */
const unreachable = () => new TypeError("fetch failed", { cause: new Error("no answer") })
