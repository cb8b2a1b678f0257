/** The raw bytes of event streams, for comparisons and for reading a part of one. */
import { until } from "./until.ts"

export interface EventStream {
  readonly status: number
  /** Everything received so far. */
  readonly text: () => string
  readonly ended: () => boolean
  /** The whole stream, without the comments that keep it alive. */
  readonly all: Promise<string>
  readonly leave: () => void
}

const open = async (url: string, init: RequestInit): Promise<EventStream> => {
  const leaving = new AbortController()
  const response = await fetch(url, { ...init, signal: leaving.signal })
  let text = ""
  let ended = false
  const all = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) text += decoder.decode(chunk as Uint8Array, { stream: true })
    return text.replaceAll(": still here\n\n", "")
  })().finally(() => (ended = true))
  all.catch(() => {})
  return { status: response.status, text: () => text, ended: () => ended, all, leave: () => leaving.abort() }
}

export const postTurn = (server: { readonly url: string }, token: string, said: object): Promise<EventStream> =>
  open(`${server.url}/v1/chat`, {
    method: "POST",
    body: JSON.stringify(said),
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` }
  })

export const resumeTurn = (
  server: { readonly url: string },
  token: string,
  turn: string,
  after = 0
): Promise<EventStream> =>
  open(`${server.url}/v1/chat/${turn}`, {
    headers: { authorization: `Bearer ${token}`, "last-event-id": String(after) }
  })

/** Waits until a stream has received a part of the answer. */
export const begun = (stream: EventStream) => until(() => stream.text().includes("event: delta"))

/** The blocks of a stream, without comments. */
export const blocksIn = (text: string): ReadonlyArray<string> =>
  text
    .split("\n\n")
    .filter((block) => block.startsWith("id: "))
    .map((block) => `${block}\n\n`)

export const lastIn = (text: string): any => JSON.parse(/^data: (.*)$/m.exec(blocksIn(text).at(-1)!)![1]!)
