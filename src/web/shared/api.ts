/** Requests to the server that the page came from: JSON in, JSON out, every failure a `Problem`. */

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

const nameOf = (type: unknown): string => (typeof type === "string" ? (type.split(/[#/]/).pop() ?? "") : "")

export const problemOf = async (response: Response): Promise<Problem> => {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  const text = (key: string) => (typeof body[key] === "string" ? body[key] : undefined)
  return new Problem(
    nameOf(body["type"]),
    response.status,
    text("detail") ?? text("title") ?? "The server answered in a way that isn't understood.",
    text("reference")
  )
}

/** One request; rejects with a `Problem`, named `Unreachable` when the server isn't there. */
export const request = async (method: string, path: string, body?: unknown, init?: RequestInit): Promise<Response> => {
  const response = await fetch(path, {
    method,
    credentials: "same-origin",
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    ...init
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error
    throw new Problem("Unreachable", 0, "The server can't be reached.")
  })
  if (!response.ok) throw await problemOf(response)
  return response
}

export const get = async <A>(path: string): Promise<A> => (await request("GET", path)).json() as Promise<A>
