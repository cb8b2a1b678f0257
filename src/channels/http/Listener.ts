/**
 * Somebody who listens to a turn. There can be thousands, who mostly wait: a listener is a place in what has been said,
 * and what goes on when there is more. An event is encoded once for all of them.
 */
import { Cause, Effect, type Pull } from "effect"
import * as Sse from "effect/encoding/Sse"
import type { TurnEvent } from "../../wire/TurnEvent.ts"

/** An event with its number in the turn, from 1 on, and as it is written. */
export interface Numbered {
  readonly number: number
  readonly event: TurnEvent
  readonly bytes: Uint8Array
}

/** What is listened to: what has been said so far, and whether that was all. */
export interface Heard {
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

const STILL_HERE: Bytes = [encoder.encode(": still here\n\n")]

export class Listener {
  private place: number
  private resume: ((instead: Effect.Effect<Bytes | undefined>) => void) | undefined
  private readonly turn: Heard

  /** Listens from after the event of this number on. */
  constructor(turn: Heard, after: number) {
    this.turn = turn
    this.place = after
  }

  /** Whoever waits is told that there is more, or that it is still alive. */
  wake(instead?: Bytes): void {
    const { resume } = this
    this.resume = undefined
    resume?.(Effect.succeed(instead))
  }

  stillHere(): void {
    this.wake(STILL_HERE)
  }

  private wait(): Effect.Effect<Bytes | undefined> {
    return Effect.callback((resume) => {
      this.resume = resume
    })
  }

  /** The next event, which stays the next one; undefined when there is none any more. */
  next(): Effect.Effect<Numbered | undefined> {
    return Effect.suspend(() => {
      const { events, isOver } = this.turn
      return this.place < events.length || isOver
        ? Effect.succeed(events[this.place])
        : Effect.flatMap(this.wait(), () => this.next())
    })
  }

  /** What was said since, as it is written; when nothing was, it waits. */
  pull(): Pull.Pull<Bytes> {
    return Effect.suspend(() => {
      const [one, ...others] = this.turn.events.slice(this.place)
      if (one !== undefined) {
        this.place += 1 + others.length
        return Effect.succeed<Bytes>([one.bytes, ...others.map(({ bytes }) => bytes)])
      }
      if (this.turn.isOver) return Cause.done()
      return Effect.flatMap(this.wait(), (instead) => (instead === undefined ? this.pull() : Effect.succeed(instead)))
    })
  }
}
