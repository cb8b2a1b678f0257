/**
 * What an answer was made from: a hash of all inputs of its plans, and when a time-bound rule of them next starts or ends. An
 * answer that was stored or held is shown only to a caller with the same hash, and only before that time.
 */
export interface Basis {
  /** The same for every call of the same person with the same rights, from any device. */
  readonly key: string
  /** In milliseconds since 1970; Infinity without a time-bound rule. */
  readonly expiresAt: number
}
