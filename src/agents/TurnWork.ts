/**
 * The processor time of one turn's own work in this process: reading text and rows, guards, basic mode, cards. Each part
 * runs without interruption, so no other turn is charged for it. Lookups have limits of their own.
 */
import { Data, Effect } from "effect"
import { SENTENCES } from "./sentences.ts"
import type { TurnFailure } from "../wire/TurnEvent.ts"

/** A turn without an answer, with the message for the person. */
export class TurnFault extends Data.TaggedError("TurnFault")<{
  readonly reason: TurnFailure
  readonly message: string
  /** The reference of the turn's trace, which also ends the message; absent where there is nothing to investigate. */
  readonly reference?: string
}> {}

export const TOO_MUCH_WORK = new TurnFault({ reason: "Budget", message: SENTENCES.tooMuchWork })

export class TurnWork {
  /** Milliseconds. */
  readonly limit: number
  spent = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** Runs a part of the turn's work. */
  run<A>(part: () => A): A {
    // Of the whole process: threads of the garbage collector work for this part, too.
    const before = process.cpuUsage()
    try {
      return part()
    } finally {
      const { system, user } = process.cpuUsage(before)
      this.spent += (system + user) / 1000
    }
  }

  /** Runs a part of the turn's work, and ends the turn if its parts together have exceeded the limit. */
  part<A>(part: () => A): Effect.Effect<A, TurnFault> {
    return Effect.suspend(() => {
      const result = this.run(part)
      return this.spent > this.limit ? Effect.fail(TOO_MUCH_WORK) : Effect.succeed(result)
    })
  }
}
