/** Requests to Max: JSON in, JSON out, every failure a `Problem`. */

/** What a request failed with, as the server says it (docs/errors.md). */
export class Problem extends Error {
  override readonly name: string
  readonly status: number
  readonly reference: string | undefined

  constructor(name: string, status: number, detail: string, reference?: string) {
    super(detail)
    this.name = name
    this.status = status
    this.reference = reference
  }
}

/** Where Max is and what lets requests in: by default the server that the page came from, and its cookie. */
export interface Connection {
  /** Without a slash at its end; "" is this page's own server. */
  readonly base: string
  /** A bearer token, a fresh one when the last wasn't good any more; undefined for the cookie of a sign-in. */
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
    text("detail") ?? text("title") ?? "The server answered in a way that isn't understood.",
    text("reference")
  )
}

const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError"

/** How requests are sent over a connection; they reject with a `Problem`, named `unreachable` when nobody answers. */
export const requestOver =
  ({ base, token }: Connection): Request =>
  async (method, path, body, init = {}) => {
    const send = async (fresh: boolean): Promise<Response> => {
      const secret = await token?.(fresh)
      const headers = new Headers(init.headers)
      if (body !== undefined) headers.set("content-type", "application/json")
      if (secret !== undefined) headers.set("authorization", `Bearer ${secret}`)
      const response = await fetch(base + path, {
        ...init,
        method,
        headers,
        // With a token no cookie is sent along, and from another site there is none to send.
        credentials: secret === undefined && base === "" ? "same-origin" : "omit",
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

/** One request to the page's own server. */
export const request: Request = requestOver({ base: "" })

export const get = async <A>(path: string): Promise<A> => (await request("GET", path)).json() as Promise<A>
