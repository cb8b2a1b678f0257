/**
 * The processor time of one turn's own work in this process: reading text and rows, guards, basic mode, cards. Each part
 * runs without interruption, so no other turn is charged for it. Lookups have limits of their own.
 */
import { Effect } from "effect"
import { TOO_MUCH_WORK, type TurnFault } from "./TurnFault.ts"

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
