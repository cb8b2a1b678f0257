/**
 * A listener of a turn: a position in the turn's events and a callback for the next one. A process can hold thousands of
 * idle listeners, so a listener has no dedicated fiber or queue, and each event is encoded once for all of them.
 */
import { Cause, Effect, type Pull } from "effect"
import * as Sse from "effect/encoding/Sse"
import type { TurnEvent } from "../../wire/TurnEvent.ts"

/** An event with its number in the turn, starting at 1, and its encoding as a server-sent event. */
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

export const numbered = (number: number, event: TurnEvent): Numbered => {
  const data = JSON.stringify(event)
  return {
    number,
    event,
    bytes: encoder.encode(Sse.encoder.write({ _tag: "Event", id: String(number), event: event._tag, data }))
  }
}

const KEEP_ALIVE: Bytes = [encoder.encode(": still here\n\n")]

export class Listener {
  private position: number
  private resume: ((instead: Effect.Effect<Bytes | undefined>) => void) | undefined
  private readonly turn: EventLog
  private isClosed = false

  /** Starts after the event with this number. */
  constructor(turn: EventLog, after: number) {
    this.turn = turn
    this.position = after
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
      const { events, isOver } = this.turn
      if (this.isClosed) return Effect.undefined
      return this.position < events.length || isOver
        ? Effect.succeed(events[this.position])
        : Effect.flatMap(this.wait(), () => this.peek())
    })
  }

  /** The encoded events since the last pull; waits while there are none. */
  pull(): Pull.Pull<Bytes> {
    return Effect.suspend(() => {
      if (this.isClosed) return Cause.done()
      const [first, ...rest] = this.turn.events.slice(this.position)
      if (first !== undefined) {
        this.position += 1 + rest.length
        return Effect.succeed<Bytes>([first.bytes, ...rest.map(({ bytes }) => bytes)])
      }
      if (this.turn.isOver) return Cause.done()
      return Effect.flatMap(this.wait(), (instead) => (instead === undefined ? this.pull() : Effect.succeed(instead)))
    })
  }
}
