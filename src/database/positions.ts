/**
 * An organization's position on the primary: its epoch and its data version. Rows of a standby are current if the standby had
 * the position that the primary has after the request arrived.
 */
import { Context, Deferred, Effect, Exit } from "effect"
import { forkUntraced } from "./batch.ts"
import type { StatementPool } from "./StatementPool.ts"

export interface Position {
  readonly epoch: bigint
  /** Null before the first write of the organization's rows. */
  readonly version: bigint | null
}

/** The position that a request's own count reads on the primary, so that its lookup needs no statement for it. */
export const CurrentPosition = Context.Reference<
  { readonly organizationId: bigint; readonly read: Effect.Effect<Position | undefined> } | undefined
>("max/database/CurrentPosition", { defaultValue: () => undefined })

// A server in recovery has no position: it may be a former primary that others have gone on without.
const POSITIONS = `/* max positions */ SELECT o.organization_id, o.epoch, d.version
  FROM max.organizations o LEFT JOIN max.data_versions d ON d.organization_id = o.organization_id
  WHERE o.organization_id = ANY($1::bigint[]) AND NOT pg_is_in_recovery()`

interface PositionRow extends Position {
  readonly organization_id: bigint
}

type Answer = Deferred.Deferred<Position | undefined>

/** Statements that run at the same time: while one is under way, the next one gathers requests. */
const CONCURRENT = 2

/** Reads positions on the primary. A request joins the next statement and never one under way, which may be older than itself. */
export class Positions {
  private waiting = new Map<bigint, Answer>()
  private running = 0
  private scheduled = false
  private readonly primary: Pick<StatementPool, "unsafe">

  constructor(primary: Pick<StatementPool, "unsafe">) {
    this.primary = primary
  }

  /** Starts reading a position; the result awaits it. Undefined when the primary doesn't say. */
  begin(organizationId: bigint): Effect.Effect<Position | undefined> {
    let answer = this.waiting.get(organizationId)
    if (answer === undefined) {
      answer = Deferred.makeUnsafe()
      this.waiting.set(organizationId, answer)
      this.schedule()
    }
    return Deferred.await(answer)
  }

  private schedule(): void {
    if (this.scheduled || this.running >= CONCURRENT || this.waiting.size === 0) return
    this.scheduled = true
    setImmediate(this.send)
  }

  private readonly send = (): void => {
    this.scheduled = false
    const asked = this.waiting
    this.waiting = new Map()
    this.running += 1
    const fiber = forkUntraced(this.primary.unsafe<PositionRow>(POSITIONS, [[...asked.keys()]]))
    fiber.addObserver((exit) => {
      this.running -= 1
      const rows = new Map(Exit.isSuccess(exit) ? exit.value.map((row) => [row.organization_id, row]) : [])
      for (const [id, answer] of asked) Deferred.doneUnsafe(answer, Effect.succeed(rows.get(id)))
      this.schedule()
    })
  }
}
