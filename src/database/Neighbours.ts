/**
 * Which organizations have read lately. One that reads beside others gets smaller shares of what they all need: Postgres's
 * processors and this process's thread. Alone it may use everything.
 */

/** Milliseconds after a read during which its organization counts as reading. */
const RECENT_MS = 1000

interface Reader {
  readonly organizationId: bigint
  at: number
}

export class Neighbours {
  private latest: Reader | undefined
  /** The latest of another organization than `latest`. */
  private previous: Reader | undefined
  private readonly now: () => number

  /** `now`: the time in milliseconds, for tests. */
  constructor(now = () => performance.now()) {
    this.now = now
  }

  /** Records a read. */
  arrive(organizationId: bigint): void {
    if (this.latest?.organizationId === organizationId) {
      this.latest.at = this.now()
      return
    }
    this.previous = this.latest
    this.latest = { organizationId, at: this.now() }
  }

  /** Whether another organization has read lately. */
  beside(organizationId: bigint): boolean {
    const other = this.latest?.organizationId === organizationId ? this.previous : this.latest
    return other !== undefined && other.at > this.now() - RECENT_MS
  }
}
