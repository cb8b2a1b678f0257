/** A turn's events as they come, over connections that may break: what was missed is asked for again. */
import { createParser } from "eventsource-parser"
import { Problem, type Request } from "../../shared/api.ts"
import type { Say, TurnEvent } from "../wire.ts"

/** Milliseconds between attempts to listen again. */
const AGAIN = [300, 1000, 2000, 4000, 8000]
/** Attempts that are enough for somebody who hasn't heard anything yet. */
const AT_FIRST = 2

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

/** What breaks a connection without saying anything of the turn. */
const isBroken = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Problem && error.name === "unreachable")

export interface Saying {
  readonly turn: string
  readonly conversation: string | undefined
  /** How many turns of the conversation stay; the others make room for this one. */
  readonly after: number | undefined
  readonly say: Say
}

/** Every event of a turn once, `done` or `error` last; rejects when it can't be listened to any more. */
export async function* listen(
  request: Request,
  turn: string,
  saying: Saying | undefined,
  signal: AbortSignal
): AsyncGenerator<TurnEvent> {
  let heard = 0
  let failures = 0
  const open = (): Promise<Response> => {
    if (saying !== undefined && heard === 0) {
      const { after, conversation, say } = saying
      return request("POST", "/v1/chat", { ...say, turn, conversation, after }, { signal })
    }
    return request("GET", `/v1/chat/${turn}`, undefined, { signal, headers: { "last-event-id": String(heard) } })
  }
  while (true) {
    try {
      const response = await open()
      for await (const { event, number } of eventsIn(response)) {
        if (number <= heard) continue
        heard = number
        failures = 0
        yield event
        if (isLast(event)) return
      }
    } catch (error) {
      if (!isBroken(error) || failures >= (heard === 0 ? AT_FIRST : AGAIN.length)) throw error
    }
    if (failures >= AGAIN.length)
      throw new Problem("unreachable", 0, "The connection was lost in the middle of the answer.")
    await wait(AGAIN[failures++]!)
  }
}
