/** The failure that an HTTP status of a model's provider means. */
import { ModelFailure } from "../ModelStep.ts"

/** Statuses that succeed when the request is repeated later: timeout, conflict, rate limit. */
const TRANSIENT: ReadonlyArray<number> = [408, 409, 429]

export const statusFailure = (status: number): ModelFailure =>
  new ModelFailure({ reason: status >= 500 || TRANSIENT.includes(status) ? "Busy" : "Refused" })
