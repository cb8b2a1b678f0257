/**
 * Moves one organization to another database while it is in use, by logical replication with row filters. Every step can be
 * repeated: a run that finds an earlier one's work goes on from there.
 *
 * The row of `max.moves` at the target decides. While it is closed, the organization is in force at the source; the transaction that
 * opens it puts the organization in force at the target. A run does that only while the row has its number, which any later run or
 * undo replaces first.
 */
import { Effect, Exit, type Redacted } from "effect"
import { OPERATOR } from "../../database/audit.ts"
import { raiseEpoch } from "../../database/epoch.ts"
import { qualified } from "../../database/sql/SqlWriter.ts"
import { refreshStatistics } from "../../database/statistics.ts"
import { OperatorError } from "../../domain/errors.ts"
import { encodeId } from "../../domain/ids.ts"
import { printable } from "../../domain/text.ts"
import { isOwnTable } from "../catalog/physicalColumns.ts"
import { compareAhead, compareFenced } from "./move/checksums.ts"
import { checkDirectory, type Directory, route } from "./move/directory.ts"
import { close, reopen, TAKEN_OVER } from "./move/fence.ts"
import { type Moving, type MoveRow, nameFor, readMove } from "./move/Moving.ts"
import { checkServers, checkTarget, mappedRelations } from "./move/preflight.ts"
import { explaining, isInForceThere, prepare, refuse, type Sides } from "./move/prepare.ts"
import {
  awaitAll,
  awaitCopy,
  publicationStatement,
  publish,
  subscribe,
  subscriptionStatement,
  unpublish,
  unsubscribe
} from "./move/replicate.ts"
import { createOwnTables } from "./move/tables.ts"

export { connectionString, embeddedPlace, placeOf } from "./move/Moving.ts"
export type { Directory } from "./move/directory.ts"
export type { Side } from "./move/Moving.ts"
export { cleanAfterMove, undoMove } from "./move/undo.ts"

export interface MoveRequest extends Sides {
  /** The source as the target's server reaches it, for a user of the source. */
  readonly connection: (user: string, name: string) => Redacted.Redacted<string>
  readonly hasPassword: boolean
  readonly directory?: Directory | undefined
  /** Moves the organization though its mapped types read tables that stay behind. */
  readonly withoutMapped: boolean
}

/** Milliseconds. */
interface Window {
  readonly fence: number
  readonly catchUp: number
  readonly checksums: number
  readonly switch: number
  /** From the fence to the new route: as long, the organization's requests were answered as unavailable. */
  readonly whole: number
}

export interface Moved {
  readonly organization: string
  readonly to: string
  /** The organization's id in tokens and cookies, by which a proxy routes. */
  readonly key: string
  readonly cell?: string
  /** Of this run; absent where an earlier one had put the organization in force at the target. */
  readonly figures?: {
    readonly tables: number
    readonly rows: number
    readonly copySeconds: number
    readonly window: Window
  }
}

/** The plan of a move, after all checks: statements and steps, without passwords. */
export const planMove = Effect.fn("Move.plan")(function* (request: MoveRequest) {
  const { moving, here } = yield* prepare(request)
  yield* check(moving, here, request)
  const own = moving.tables.filter(isOwnTable)
  return [
    `-- at the target, ${printable(moving.target.place)}: ${own.length === 0 ? "no table" : own.map(qualified).join(", ")} is made`,
    "-- at the source",
    `${publicationStatement(moving)};`,
    `SELECT pg_create_logical_replication_slot('${nameFor(moving.id)}', 'pgoutput');`,
    "-- at the target",
    `${subscriptionStatement(moving.id)};`,
    "-- at the source, in one transaction: a new epoch, and a trigger on each table that refuses this organization's writes",
    "-- checksums of every table on both sides, a new epoch at the target, the route, and the removal of all of the above"
  ]
})

const check = Effect.fnUntraced(function* (moving: Moving, here: MoveRow | undefined, request: MoveRequest) {
  const { id, slug, source, target } = moving
  if (here?.incoming === true)
    return yield* OperatorError.of(`${slug} is arriving here from ${printable(here.place)}: finish that move first.`)
  if (here?.moved === true)
    return yield* OperatorError.of(
      `${slug} moved to ${printable(here.place)}. max move --org ${slug} --clean deletes its rows here.`
    )
  if (here !== undefined && here.place !== target.place)
    return yield* OperatorError.of(
      `${slug} is being moved to ${printable(here.place)}: finish that, or undo it with --undo.`
    )
  const mapped = yield* mappedRelations(source.owner, id)
  const reasons = [
    ...(yield* checkServers(moving, request.hasPassword)),
    ...(yield* checkTarget(moving)),
    ...(mapped.length > 0 && !request.withoutMapped
      ? [
          `Its mapped types read ${mapped.map(printable).join(", ")}, whose rows don't move: with --without-mapped it moves, and these types are unavailable there until max map --apply.`
        ]
      : [])
  ]
  if (reasons.length > 0) return yield* refuse(slug, reasons)
})

/** Records the run on both sides. From here on, imports of the organization are refused. */
const begin = Effect.fn("Move.begin")(function* (
  { id, run, slug, source, target }: Moving,
  there: MoveRow | undefined
) {
  const here = source.owner
  yield* Effect.gen(function* () {
    const [lock] = yield* here<{ free: boolean }>`
      SELECT pg_try_advisory_xact_lock(7236912, hashint8(${id}::bigint)) AS free`
    if (!lock!.free)
      return yield* OperatorError.of(`An import into ${slug} is running. Run the same command again when it has ended.`)
    yield* here`INSERT INTO max.moves (organization_id, slug, incoming, place, closed, run)
      VALUES (${id}, ${slug}, false, ${target.place}, false, ${run}) ON CONFLICT (organization_id) DO UPDATE SET run = excluded.run`
  }).pipe(here.withTransaction)
  const { owner } = target
  yield* Effect.gen(function* () {
    // It lived there before, and was cleaned up; its copy comes again.
    if (there?.incoming === false) {
      const left = yield* owner`UPDATE max.moves SET incoming = true, place = ${source.place}
        WHERE organization_id = ${id} AND NOT incoming AND cleaned_at IS NOT NULL RETURNING 1 AS one`
      if (left.length === 0) return yield* TAKEN_OVER
      yield* owner`DELETE FROM max.organizations WHERE organization_id = ${id}`
    }
    yield* owner`INSERT INTO max.moves (organization_id, slug, incoming, place, closed, run)
      VALUES (${id}, ${slug}, true, ${source.place}, true, ${run}) ON CONFLICT (organization_id) DO UPDATE SET run = excluded.run`
  }).pipe(owner.withTransaction)
})

/** Puts the organization in force at the target, if no other run has begun. */
const putInForce = Effect.fn("Move.putInForce")(({ id, run, source, target: { owner } }: Moving) =>
  Effect.gen(function* () {
    const opened = yield* owner`UPDATE max.moves SET closed = false
      WHERE organization_id = ${id} AND incoming AND closed AND run = ${run} RETURNING 1 AS one`
    if (opened.length === 0) return yield* TAKEN_OVER
    yield* raiseEpoch(owner, id, [
      { actor: OPERATOR, action: "organization.moved", subject: "database", details: { from: source.place } }
    ])
  }).pipe(owner.withTransaction)
)

/** What follows once the organization is in force at the target. */
const finish = Effect.fn("Move.finish")(function* (moving: Moving, directory: Directory | undefined) {
  const { id, source, target } = moving
  const routed = yield* Effect.exit(directory === undefined ? Effect.void : route(directory, encodeId(id)))
  const switched = performance.now()
  yield* source.owner`UPDATE max.moves SET moved_at = coalesce(moved_at, now()) WHERE organization_id = ${id} AND NOT incoming`
  yield* unsubscribe(moving)
  yield* unpublish(moving)
  yield* target.owner`DELETE FROM max.moves WHERE organization_id = ${id} AND incoming`
  yield* routed
  return switched
})

/** Copies the rows, and follows their changes until the fence. */
const copy = Effect.fn("Move.copy")(function* (moving: Moving, connection: MoveRequest["connection"]) {
  const { id, source, tables, target } = moving
  yield* createOwnTables(target.owner, tables)
  yield* publish(moving)
  const [user] = yield* source.owner<{ name: string }>`SELECT current_user::text AS name`
  yield* subscribe(moving, connection(user!.name, nameFor(id)))
  yield* awaitCopy(moving)
  yield* refreshStatistics(target.owner, tables)
})

/** Opens the organization at the source again after a failure behind the fence; says whether it did. */
const stay = (moving: Moving) =>
  Effect.gen(function* () {
    const here = yield* readMove(moving.source.owner, moving.id)
    if (here?.closed === true) yield* reopen(moving)
  }).pipe(
    Effect.andThen(
      moving.say(`${moving.slug} stays in force at the source. Run the same max move again, or with --undo.`)
    ),
    Effect.catch(() =>
      moving.say(`${moving.slug} is still closed at the source. Run the same max move again, or with --undo.`)
    )
  )

export const moveOrganization = Effect.fn("Move.organization")(function* (request: MoveRequest) {
  if (request.directory !== undefined) yield* checkDirectory(request.directory)
  const { directory, say, slug, target } = request
  const { here, moving, there } = yield* prepare(request)
  const moved = {
    organization: slug,
    to: target.place,
    key: encodeId(moving.id),
    ...(directory === undefined ? {} : { cell: directory.cell })
  }
  if (here?.place === target.place && !here.incoming) {
    const result: Moved = moved
    if (isInForceThere(there)) return yield* Effect.as(finish(moving, directory), result)
    if (here.moved && directory !== undefined) return yield* Effect.as(route(directory, result.key), result)
  }
  yield* check(moving, here, request)
  const began = performance.now()
  yield* begin(moving, there)
  yield* copy(moving, request.connection)
  const copied = performance.now()
  // Closed by a run that was killed. Read after `begin`: no earlier run can open or close it any more.
  const isClosed = (yield* readMove(moving.source.owner, moving.id))?.closed === true
  const ahead = isClosed ? new Map<string, never>() : yield* compareAhead(moving)
  yield* say(`The target follows. ${slug} is unavailable from now until it is in force there.`)
  const behind = yield* Effect.gen(function* () {
    const start = isClosed ? performance.now() : yield* close(moving)
    const fenced = performance.now()
    yield* awaitAll(moving)
    const caughtUp = performance.now()
    const { different, rows } = yield* compareFenced(moving, ahead)
    if (different.length > 0)
      return yield* OperatorError.of(`Rows differ at the target, in ${different.map(printable).join(", ")}.`)
    return { rows, start, fenced, caughtUp, compared: performance.now() }
  }).pipe(Effect.onExit((exit) => (Exit.isFailure(exit) ? stay(moving) : Effect.void)))
  const routed = yield* Effect.uninterruptible(Effect.andThen(putInForce(moving), finish(moving, directory)))
  const took = (from: number, to: number) => Math.round(to - from)
  return {
    ...moved,
    figures: {
      tables: moving.tables.length,
      rows: behind.rows,
      copySeconds: Math.round((copied - began) / 100) / 10,
      window: {
        fence: took(behind.start, behind.fenced),
        catchUp: took(behind.fenced, behind.caughtUp),
        checksums: took(behind.caughtUp, behind.compared),
        switch: took(behind.compared, routed),
        whole: took(behind.start, routed)
      }
    }
  } satisfies Moved as Moved
}, explaining)
