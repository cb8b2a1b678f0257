/**
 * A listener of a turn: a position in the turn's events and a callback for the next one. A process can hold thousands of
 * idle listeners, so a listener has no dedicated fiber or queue, and each event is encoded once for all of them.
 */
import { Cause, Effect, type Pull } from "effect"
import * as Sse from "effect/encoding/Sse"
import type { TurnEvent } from "../../wire/TurnEvent.ts"

/** An event with its number in the turn, starting at 1 and rising, and its encoding as a server-sent event. */
export interface Numbered {
  readonly number: number
  readonly event: TurnEvent
  readonly bytes: Uint8Array
}

/** The events of a turn so far, and whether the turn has ended. */
export interface EventLog {
  readonly events: ReadonlyArray<Numbered>
  readonly isOver: boolean
}

type Bytes = readonly [Uint8Array, ...Array<Uint8Array>]

const encoder = new TextEncoder()

/** An event as a block of a server-sent event stream. */
export const encoded = (number: number, event: TurnEvent): string =>
  Sse.encoder.write({ _tag: "Event", id: String(number), event: event._tag, data: JSON.stringify(event) })

export const numbered = (number: number, event: TurnEvent): Numbered => ({
  number,
  event,
  bytes: encoder.encode(encoded(number, event))
})

/** The events of blocks that `encoded` has written. */
export const decoded = (blocks: string): ReadonlyArray<Numbered> =>
  blocks
    .split("\n\n")
    .slice(0, -1)
    .map((block) => {
      const [id, , data] = block.split("\n").map((line) => line.slice(line.indexOf(": ") + 2))
      return { number: Number(id), event: JSON.parse(data!) as TurnEvent, bytes: encoder.encode(`${block}\n\n`) }
    })

const KEEP_ALIVE: Bytes = [encoder.encode(": still here\n\n")]

export class Listener {
  private position = 0
  private after: number
  private resume: ((instead: Effect.Effect<Bytes | undefined>) => void) | undefined
  private readonly turn: EventLog
  private isClosed = false

  /** Starts after the event with this number. */
  constructor(turn: EventLog, after: number) {
    this.turn = turn
    this.after = after
  }

  /** Resumes a waiting reader: to read new events, or to send these bytes instead. */
  wake(instead?: Bytes): void {
    const { resume } = this
    this.resume = undefined
    resume?.(Effect.succeed(instead))
  }

  keepAlive(): void {
    this.wake(KEEP_ALIVE)
  }

  /** Leaves out what the reader hasn't read yet. */
  skip(): void {
    this.position = this.turn.events.length
    this.after = 0
  }

  /** The events that the reader hasn't read yet. */
  private unread(): ReadonlyArray<Numbered> {
    const { events } = this.turn
    while (this.position < events.length && events[this.position]!.number <= this.after) this.position += 1
    return events.slice(this.position)
  }

  /** Ends the stream without a further event. */
  close(): void {
    this.isClosed = true
    this.wake()
  }

  private wait(): Effect.Effect<Bytes | undefined> {
    return Effect.callback((resume) => {
      this.resume = resume
    })
  }

  /** Peeks at the next event; undefined when the turn has ended. */
  peek(): Effect.Effect<Numbered | undefined> {
    return Effect.suspend(() => {
      if (this.isClosed) return Effect.undefined
      const [next] = this.unread()
      return next !== undefined || this.turn.isOver
        ? Effect.succeed(next)
        : Effect.flatMap(this.wait(), () => this.peek())
    })
  }

  /** The encoded events since the last pull; waits while there are none. */
  pull(): Pull.Pull<Bytes> {
    return Effect.suspend(() => {
      if (this.isClosed) return Cause.done()
      const [first, ...rest] = this.unread()
      if (first !== undefined) {
        this.position += 1 + rest.length
        return Effect.succeed<Bytes>([first.bytes, ...rest.map(({ bytes }) => bytes)])
      }
      if (this.turn.isOver) return Cause.done()
      return Effect.flatMap(this.wait(), (instead) => (instead === undefined ? this.pull() : Effect.succeed(instead)))
    })
  }
}
