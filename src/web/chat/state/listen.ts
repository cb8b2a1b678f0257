/** Streams a turn's events; after a broken connection it reconnects and resumes at the last event received. */
import { createParser } from "eventsource-parser"
import type { Say } from "../../../wire/chat.ts"
import type { TurnEvent } from "../../../wire/TurnEvent.ts"
import { Problem, type Request } from "../../shared/api.ts"

/** Milliseconds before each reconnection. */
const DELAYS = [300, 1000, 2000, 4000, 8000]
/** Reconnections before the first event. */
const FIRST_ATTEMPTS = 2

const isLast = (event: TurnEvent): boolean => event._tag === "done" || event._tag === "error"

async function* eventsIn(response: Response): AsyncGenerator<{ readonly number: number; readonly event: TurnEvent }> {
  const queue: Array<{ number: number; event: TurnEvent }> = []
  const parser = createParser({
    onEvent: ({ data, id }) => queue.push({ number: Number(id), event: JSON.parse(data) as TurnEvent })
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(value)
      yield* queue.splice(0)
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Whether the connection broke, which says nothing about the turn itself. */
const isBroken = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Problem && error.name === "unreachable")

/**
 * Yields every event of a turn once, ending with `done` or `error`; `say` starts the turn first. Rejects when the
 * connection can't be restored.
 */
export async function* listen(
  request: Request,
  turn: string,
  say: Say | undefined,
  signal: AbortSignal
): AsyncGenerator<TurnEvent> {
  let received = 0
  let failures = 0
  const open = (): Promise<Response> => {
    if (say !== undefined && received === 0) return request("POST", "/v1/chat", say, { signal })
    return request("GET", `/v1/chat/${turn}`, undefined, { signal, headers: { "last-event-id": String(received) } })
  }
  while (true) {
    try {
      const response = await open()
      for await (const { event, number } of eventsIn(response)) {
        if (number <= received) continue
        received = number
        failures = 0
        yield event
        if (isLast(event)) return
      }
    } catch (error) {
      if (!isBroken(error) || failures >= (received === 0 ? FIRST_ATTEMPTS : DELAYS.length)) throw error
    }
    if (failures >= DELAYS.length)
      throw new Problem("unreachable", 0, "The connection was lost in the middle of the answer.")
    await wait(DELAYS[failures++]!)
  }
}
