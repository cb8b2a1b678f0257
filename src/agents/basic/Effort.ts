/**
 * A bound on the work of reading one message. The ways in which words can be divided into clauses, names and values grow much faster
 * than the words, so each attempt is counted; a message that needs more than the limit is not understood. The limit counts
 * attempts and not time, so that the same words are always read in the same way.
 */
export class Effort {
  private left: number

  constructor(limit: number) {
    this.left = limit
  }

  /** Takes this much of the limit; false if it is used up. */
  spend(amount: number): boolean {
    this.left -= amount
    return this.left >= 0
  }

  get isSpent(): boolean {
    return this.left < 0
  }
}
