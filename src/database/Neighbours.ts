/**
 * Which organizations have read lately, and which are searching. One that reads beside others gets smaller shares of what they
 * all need: Postgres's processors and this process's thread. Alone it may use everything.
 */
import { Effect } from "effect"

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
  /** The number of running searches by organization. */
  private readonly searches = new Map<bigint, number>()
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

  isSearching(organizationId: bigint): boolean {
    return this.searches.has(organizationId)
  }

  /** Counts a search while it runs. */
  searching<A, E, R>(organizationId: bigint, search: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.sync(() => this.searches.set(organizationId, (this.searches.get(organizationId) ?? 0) + 1)),
      () => search,
      () =>
        Effect.sync(() => {
          const left = this.searches.get(organizationId)! - 1
          if (left === 0) this.searches.delete(organizationId)
          else this.searches.set(organizationId, left)
        })
    )
  }
}
