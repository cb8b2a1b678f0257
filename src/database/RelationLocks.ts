/**
 * Relations that another transaction has locked, for example to alter a table. A read that waits for a lock keeps its
 * connection from all others, so the lock timeout of the reading pools is short. Afterwards, reads of the locked relation
 * wait here, without a connection, until one probe at a time has found it free.
 */
import { Cause, Effect, Exit } from "effect"
import { SqlError } from "effect/sql"
import type { Unavailable } from "../domain/errors.ts"
import { unavailable } from "../observability/failures.ts"

/** The cause of a read that gave up. */
const LOCKED = "locked relation"

/** Milliseconds between two probes of the locked relations. */
const PROBE_MS = 50

/** A read failed because a relation is locked. `RelationLocks.run` repeats it. */
export class RelationLocked {
  readonly _tag = "RelationLocked"
  static readonly error = new RelationLocked()
}

export const isLockTimeout = (error: unknown): boolean =>
  SqlError.isSqlError(error) && error.reason._tag === "LockTimeoutError"

/** How long a read waits for a lock in all, in milliseconds. */
interface Patience {
  readonly lookup: number
  readonly search: number
}

export class RelationLocks {
  private readonly locked = new Set<string>()
  /** Called when a relation is free again. */
  private readonly waiting = new Set<() => void>()
  private isProbing = false
  private readonly probe: (relation: string) => Effect.Effect<unknown, unknown>
  private readonly patience: Patience

  /** `probe`: reads nothing of a relation, and fails with a lock timeout while it is locked. */
  constructor(probe: (relation: string) => Effect.Effect<unknown, unknown>, patience: Patience) {
    this.probe = probe
    this.patience = patience
  }

  isLocked(relations: ReadonlyArray<string> = []): boolean {
    return this.locked.size > 0 && relations.some((relation) => this.locked.has(relation))
  }

  /** Runs a read of these relations; fails with `Unavailable` if one of them stays locked for longer than the pool's timeout. */
  run<A, E>(
    pool: keyof Patience,
    relations: ReadonlyArray<string> | undefined,
    read: Effect.Effect<A, E | RelationLocked>
  ): Effect.Effect<A, Exclude<E, RelationLocked> | Unavailable> {
    const until = performance.now() + this.patience[pool]
    const attempt: Effect.Effect<A, Exclude<E, RelationLocked> | Unavailable> = Effect.suspend(() =>
      this.isLocked(relations) ? Effect.andThen(this.free(relations, until), attempt) : once
    )
    const once = Effect.catchTag(read, "RelationLocked", () => {
      this.suspect(relations)
      return performance.now() < until ? attempt : unavailable(LOCKED)
    })
    return attempt
  }

  /** Succeeds when none of the relations is locked. */
  private free(relations: ReadonlyArray<string> | undefined, until: number): Effect.Effect<void, Unavailable> {
    return Effect.callback((resume) => {
      const end = () => {
        clearTimeout(timer)
        this.waiting.delete(released)
      }
      const released = () => {
        if (this.isLocked(relations)) return
        end()
        resume(Effect.void)
      }
      const timer = setTimeout(() => {
        end()
        resume(unavailable(LOCKED))
      }, until - performance.now())
      this.waiting.add(released)
      return Effect.sync(end)
    })
  }

  /** Any of the relations may be the locked one. */
  private suspect(relations: ReadonlyArray<string> = []): void {
    for (const relation of relations) this.locked.add(relation)
    if (this.isProbing || this.locked.size === 0) return
    this.isProbing = true
    Effect.runFork(this.probeAll)
  }

  /** Probes one relation at a time until none is locked. */
  private readonly probeAll: Effect.Effect<void> = Effect.suspend(() => {
    this.isProbing = this.locked.size > 0
    if (!this.isProbing) return Effect.void
    const round = Effect.forEach([...this.locked], this.probeOne, { discard: true })
    return Effect.andThen(Effect.andThen(round, Effect.sleep(PROBE_MS)), this.probeAll)
  })

  private readonly probeOne = (relation: string): Effect.Effect<void> =>
    Effect.map(Effect.exit(this.probe(relation)), (exit) => {
      // After any other failure, a read itself has to tell.
      if (
        Exit.isFailure(exit) &&
        exit.cause.reasons.some((reason) => Cause.isFailReason(reason) && isLockTimeout(reason.error))
      )
        return
      this.locked.delete(relation)
      for (const released of this.waiting) released()
    })
}
