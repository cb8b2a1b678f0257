/** Requests to Max: JSON in, JSON out, every failure a `Problem`. */

/** The failure of a request: the problem in the response (docs/errors.md), or `unreachable` without a response. */
export class Problem extends Error {
  /** The last part of the problem's type, such as "not-found". */
  override readonly name: string
  readonly status: number
  readonly reference: string | undefined
  /** What else the response says. */
  readonly more: Readonly<Record<string, unknown>>

  constructor(
    name: string,
    status: number,
    detail: string,
    reference?: string,
    more: Readonly<Record<string, unknown>> = {}
  ) {
    super(detail)
    this.name = name
    this.status = status
    this.reference = reference
    this.more = more
  }
}

/** The server and the credential of requests: by default the page's own origin and its session cookie. */
export interface Connection {
  /** An origin without a trailing slash; "" is the page's own. */
  readonly base: string
  /** Returns a bearer token; `fresh` asks for a new one after a 401. Undefined means the session cookie. */
  readonly token?: (fresh: boolean) => Promise<string | undefined>
}

export type Request = (method: string, path: string, body?: unknown, init?: RequestInit) => Promise<Response>

const nameOf = (type: unknown): string => (typeof type === "string" ? (type.split(/[:#/]/).pop() ?? "") : "")

const problemOf = async (response: Response): Promise<Problem> => {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  const text = (key: string) => (typeof body[key] === "string" ? body[key] : undefined)
  return new Problem(
    nameOf(body["type"]),
    response.status,
    text("detail") ?? text("title") ?? "The server sent an unexpected response.",
    text("reference"),
    body
  )
}

const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError"

/** Sends requests over a connection; they reject with a `Problem`, and only an abort rejects with its own error. */
export const requestOver =
  ({ base, token }: Connection): Request =>
  async (method, path, body, init = {}) => {
    const send = async (fresh: boolean): Promise<Response> => {
      const secret = await token?.(fresh)
      const headers = new Headers(init.headers)
      // The cookie is the credential only on the page's own origin and without a token.
      const isOwnOrigin = secret === undefined && base === ""
      if (body !== undefined) headers.set("content-type", "application/json")
      // Pages of other origins can't send it without a preflight, so the server requires it beside the cookie.
      if (isOwnOrigin) headers.set("x-requested-with", "max")
      if (secret !== undefined) headers.set("authorization", `Bearer ${secret}`)
      const response = await fetch(base + path, {
        ...init,
        method,
        headers,
        credentials: isOwnOrigin ? "same-origin" : "omit",
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      }).catch((error: unknown) => {
        if (isAbort(error)) throw error
        throw new Problem("unreachable", 0, "The server can't be reached.")
      })
      if (response.status === 401 && secret !== undefined && !fresh) return send(true)
      if (!response.ok) throw await problemOf(response)
      return response
    }
    return send(false)
  }

/** A request to the page's own origin. */
export const request: Request = requestOver({ base: "" })

export const get = async <A>(path: string): Promise<A> => (await request("GET", path)).json() as Promise<A>
