/** The turns without an answer, each with its message for the person. */
import { Data, Effect } from "effect"
import type { LookupError } from "../domain/errors.ts"
import * as Telemetry from "../observability/Telemetry.ts"
import type { TurnFailure } from "../wire/TurnEvent.ts"
import { SENTENCES } from "./sentences.ts"

/** A turn without an answer, with the message for the person. */
export class TurnFault extends Data.TaggedError("TurnFault")<{
  readonly reason: TurnFailure
  readonly message: string
  /** The reference of the turn's trace, which also ends the message; absent where there is nothing to investigate. */
  readonly reference?: string
}> {}

export const TOO_MUCH_WORK = new TurnFault({ reason: "Budget", message: SENTENCES.tooMuchWork })
export const DAY_IS_SPENT = new TurnFault({ reason: "Budget", message: SENTENCES.dayIsSpent })
export const RIGHTS_CHANGED = new TurnFault({ reason: "Unavailable", message: SENTENCES.rightsChanged })
export const UNAVAILABLE = new TurnFault({ reason: "Unavailable", message: SENTENCES.unavailable })
const TOO_SLOW = new TurnFault({ reason: "Timeout", message: SENTENCES.tooSlow })

/** Ends a turn after so many seconds, and turns each of its failures into a fault with the trace's reference. */
export const orTurnFault =
  (seconds: number, reference: string) =>
  <A, R>(turn: Effect.Effect<A, TurnFault | LookupError, R>): Effect.Effect<A, TurnFault, R> =>
    turn.pipe(
      Effect.timeoutOrElse({
        duration: seconds * 1000,
        orElse: () => Effect.andThen(Telemetry.recordCause("deadline"), Effect.fail(TOO_SLOW))
      }),
      Effect.catchDefect((defect) =>
        // Only the defect's name: its message could contain a row's value.
        Effect.andThen(
          Telemetry.recordCause(defect instanceof Error ? defect.name : "Defect"),
          Effect.fail(UNAVAILABLE)
        )
      ),
      Effect.mapError((error) => {
        if (error._tag === "TurnFault") return withReference(error, reference)
        return error._tag === "NotAdmitted"
          ? new TurnFault({ reason: "NotAdmitted", message: error.message })
          : withReference(UNAVAILABLE, reference)
      })
    )

/** Appends the trace's reference to failures that an administrator may have to investigate. */
const withReference = (fault: TurnFault, reference: string): TurnFault =>
  fault.reason === "InvalidInput" || (fault.reason === "Budget" && fault !== TOO_MUCH_WORK)
    ? fault
    : new TurnFault({ reason: fault.reason, message: `${fault.message} (ref ${reference})`, reference })
