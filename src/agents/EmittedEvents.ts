/** The events of a running turn: a queue to its consumer, and the list of all of them, for a channel that stores them. */
import { type Cause, Effect, Queue } from "effect"
import type { TurnEvent } from "../wire/TurnEvent.ts"

export class EmittedEvents {
  readonly all: Array<TurnEvent> = []
  private readonly queue: Queue.Enqueue<TurnEvent, Cause.Done>

  constructor(queue: Queue.Enqueue<TurnEvent, Cause.Done>) {
    this.queue = queue
  }

  emit(event: TurnEvent): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      this.all.push(event)
      return Queue.offer(this.queue, event)
    })
  }

  /** Does not wait for a stream that has no consumer. */
  emitUnsafe(event: TurnEvent): void {
    if (Queue.offerUnsafe(this.queue, event)) this.all.push(event)
  }
}
