/** The public error for a turn that ends without an answer. */
import { InvalidInput, NotAdmitted, OperatorError, Unavailable } from "../domain/errors.ts"
import type { TurnEvent } from "../wire/TurnEvent.ts"

export const turnError = ({ message, reason, reference }: Extract<TurnEvent, { _tag: "error" }>) => {
  switch (reason) {
    case "NotAdmitted":
      return new NotAdmitted({ message })
    case "InvalidInput":
      return InvalidInput.of(message)
    case "Budget":
      return OperatorError.of(message)
    default:
      return Unavailable.because(undefined, reference, message)
  }
}
