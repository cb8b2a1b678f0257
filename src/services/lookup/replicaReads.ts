/**
 * Reads on standbys. A standby lags behind its primary, so its rows count only under a proof: rows, epoch and data version come
 * from one statement on the standby, and the primary, asked after the request arrived, has the same epoch and version, which
 * is also the epoch of the plan. Otherwise the primary answers; lag costs time and never truth. No clock is compared.
 */
import { Effect, Exit, type Scope, type Tracer } from "effect"
import { forkUntraced, LookupBatcher } from "../../database/batch.ts"
import type { Database } from "../../database/Database.ts"
import { attributesOfPool, detached } from "../../database/execute.ts"
import type { Neighbours } from "../../database/Neighbours.ts"
import { CurrentPosition, Positions } from "../../database/positions.ts"
import type { ReadPools } from "../../database/readPools.ts"
import type { ResolvedQuery, Statement } from "../../database/sql/ResolvedQuery.ts"
import * as Telemetry from "../../observability/Telemetry.ts"
import { makeSearchPermits } from "./searchPermits.ts"

/** Milliseconds for which a standby isn't asked about an organization for which it was behind. */
const BEHIND_MS = 100
/** Organizations that are remembered as behind. */
const MAX_BEHIND = 1000
const PROBE = { timeout: "1 second", pause: "1 second" } as const

/** What the first row of every result on a standby has. */
interface StandbyRow {
  readonly fresh: boolean | null
  readonly version: bigint | null
}

type Rows = ReadonlyArray<object>
type Pool = ResolvedQuery["pool"]

/** A standby's relations are locked while it replays a lock of the primary: the primary then answers. */
const NO_LOCKS = { isLocked: () => false }

class Standby {
  /** Before the first probe has succeeded, a standby isn't used: its address may swallow connections. */
  private isUp = false
  private isProbed = false
  private readonly behindUntil = new Map<bigint, number>()
  private readonly pools: ReadPools
  private readonly scope: Scope.Scope
  private readonly batcher: LookupBatcher
  private readonly withPermit: ReturnType<typeof makeSearchPermits>
  private readonly attributes: Readonly<Record<Pool, Telemetry.Attributes>>

  constructor(pools: ReadPools, searchConnections: number, neighbours: Neighbours, scope: Scope.Scope) {
    this.pools = pools
    this.scope = scope
    this.batcher = new LookupBatcher(pools.lookup, pools.busyLookup, NO_LOCKS, neighbours)
    this.withPermit = makeSearchPermits(searchConnections, neighbours)
    this.attributes = { lookup: attributesOfPool(pools.lookup), search: attributesOfPool(pools.search) }
  }

  mayAnswer(organizationId: bigint): boolean {
    return this.isUp && (this.behindUntil.get(organizationId) ?? 0) <= performance.now()
  }

  markBehind(organizationId: bigint): void {
    if (this.behindUntil.size >= MAX_BEHIND) this.behindUntil.clear()
    this.behindUntil.set(organizationId, performance.now() + BEHIND_MS)
  }

  /** Takes the standby out until a probe succeeds. */
  readonly suspect: Effect.Effect<void> = Effect.suspend(() => {
    this.isUp = false
    if (this.isProbed) return Effect.void
    this.isProbed = true
    return Effect.asVoid(Effect.forkIn(Effect.withTracerEnabled(this.probe, false), this.scope))
  })

  private readonly probe: Effect.Effect<void> = Effect.suspend(() =>
    Effect.flatMap(
      Effect.exit(Effect.timeout(this.pools.lookup.unsafe("/* max probe */ SELECT 1"), PROBE.timeout)),
      (exit) => {
        if (Exit.isFailure(exit)) return Effect.andThen(Effect.sleep(PROBE.pause), this.probe)
        this.isUp = true
        this.isProbed = false
        return Effect.void
      }
    )
  )

  /** The rows of a statement; undefined if it fails in any way. */
  rows(
    pool: Pool,
    organizationId: bigint,
    statement: Statement,
    parent: Tracer.Span | undefined
  ): Effect.Effect<Rows | undefined> {
    return Telemetry.span("postgres", { kind: "client", parent, attributes: this.attributes[pool] }, (span) => {
      span?.attribute("db.query.text", statement.text)
      const rows: Effect.Effect<Rows, unknown> =
        pool === "lookup"
          ? this.batcher.request(organizationId, statement, span)
          : this.withPermit(
              organizationId,
              detached(this.pools.search.unsafe<object>(statement.text, statement.parameters), forkUntraced)
            )
      return Effect.flatMap(Effect.exit(rows), (exit) =>
        Exit.isSuccess(exit) ? Effect.succeed(exit.value) : Effect.as(this.suspect, undefined)
      )
    })
  }
}

/** What became of a read that could go to a standby. */
type Outcome = "answered" | "behind" | "failed" | "stale plan" | "unproven"

/** A read, compiled for standbys, under the plan of an epoch. */
export interface ReplicaRead {
  readonly pool: Pool
  readonly organizationId: bigint
  readonly epoch: bigint
  readonly statement: Statement
}

/**
 * Returns a function that reads on a standby; undefined where there is none. Its result is undefined when the primary must
 * answer: no standby is up and current, or the proof fails.
 */
export const makeReplicaReads = (
  { lookup, replicas, searchConnections }: Database["Service"],
  neighbours: Neighbours,
  scope: Scope.Scope
) => {
  if (replicas.length === 0) return undefined
  const positions = new Positions(lookup)
  const standbys = replicas.map((pools) => new Standby(pools, searchConnections, neighbours, scope))
  let next = 0
  /** In turns, so that each gets an equal share. */
  const choose = (organizationId: bigint): Standby | undefined => {
    for (let tried = 0; tried < standbys.length; tried++) {
      const standby = standbys[next++ % standbys.length]!
      if (standby.mayAnswer(organizationId)) return standby
    }
    return undefined
  }
  const read = <Row extends object>(
    { epoch, organizationId, pool, statement }: ReplicaRead,
    span: Tracer.Span | undefined
  ): Effect.Effect<ReadonlyArray<Row> | undefined> =>
    Effect.withFiber((fiber) => {
      const standby = choose(organizationId)
      if (standby === undefined) return Effect.undefined
      const current = fiber.getRef(CurrentPosition)
      // Both at once: the position need not be read after the rows, only after the request arrived.
      const position = current?.organizationId === organizationId ? current.read : positions.begin(organizationId)
      return Effect.flatMap(standby.rows(pool, organizationId, statement, span), (rows) =>
        Effect.map(position, (primary) => {
          const outcome = judge(rows as ReadonlyArray<StandbyRow> | undefined, epoch, primary)
          if (outcome === "behind") standby.markBehind(organizationId)
          span?.attribute("max.replica", outcome)
          return outcome === "answered" ? (rows as ReadonlyArray<Row>) : undefined
        })
      )
    })
  return { read, start: Effect.forEach(standbys, ({ suspect }) => suspect, { discard: true }) }
}

/** A stale plan isn't the standby's fault. */
const judge = (
  rows: ReadonlyArray<StandbyRow> | undefined,
  epoch: bigint,
  primary: { readonly epoch: bigint; readonly version: bigint | null } | undefined
): Outcome => {
  const first = rows?.[0]
  if (first === undefined) return "failed"
  if (primary === undefined) return "unproven"
  if (primary.epoch !== epoch) return "stale plan"
  return first.fresh === true && first.version === primary.version ? "answered" : "behind"
}
