/**
 * The fence: a trigger on each table that refuses every write of one organization's rows. It is made in one transaction with the new
 * epoch and the closed row of `max.moves`. The locks of CREATE TRIGGER wait for writers that have begun, so that after it commits,
 * nothing of the organization is written, whichever code tries it.
 */
import { Effect, Schedule } from "effect"
import { SqlError } from "effect/sql"
import { OPERATOR } from "../../../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../../../database/epoch.ts"
import { classOf } from "../../../database/fault.ts"
import { identifier, qualified } from "../../../database/sql/SqlWriter.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { printable } from "../../../domain/text.ts"
import { define, isOwnTable } from "../../catalog/physicalColumns.ts"
import { type Moving, nameFor, type Side } from "./Moving.ts"
import { ownTablesOf } from "./tables.ts"

/**
 * The longest wait for all locks of one attempt. It is less than Postgres' `deadlock_timeout` of a second: while an attempt holds
 * some locks and waits for others, a writer of another organization is delayed, and never ended as a deadlock.
 */
const PATIENCE = "800ms"
/** Attempts until an operator has to decide; each waits for `PATIENCE` and pauses as long. */
const ATTEMPTS = 60
/** For DROP TRIGGER, which waits for readers and holds up others behind it. */
const DROP_PATIENCE = "50ms"

const triggersOf = (id: bigint) => [identifier(nameFor(id)), identifier(`${nameFor(id)}_rows`)] as const

const inOneBlock = (statements: ReadonlyArray<string>) =>
  `DO $max$ BEGIN ${statements.map((each) => `${each};`).join(" ")} END $max$`

/** Locks the organization and its tables against writers, or fails within `PATIENCE`. */
const lockTables = Effect.fnUntraced(function* ({ id, source: { owner }, tables }: Moving) {
  yield* define(owner, [`SET LOCAL lock_timeout = '${PATIENCE}'`, `SET LOCAL statement_timeout = '${PATIENCE}'`])
  yield* holdEpoch(owner, id)
  yield* define(owner, [`LOCK TABLE ${tables.map(qualified).join(", ")} IN SHARE ROW EXCLUSIVE MODE`])
})

const BUSY: ReadonlyArray<string> = ["55P03", "57014", "40P01"]
const isBusy = (error: unknown): boolean => SqlError.isSqlError(error) && BUSY.includes(classOf(error))

/** Repeats an attempt while it can't have its locks; says now and then who has them. */
const whenFree =
  ({ say, source, tables }: Moving) =>
  <A, E, R>(attempt: Effect.Effect<A, E, R>) => {
    let waits = 0
    return attempt.pipe(
      Effect.tapError((error) =>
        isBusy(error) && waits++ % 5 === 0 ? Effect.flatMap(holders(source, tables), say) : Effect.void
      ),
      Effect.retry({
        while: isBusy,
        times: ATTEMPTS,
        schedule: Schedule.spaced(PATIENCE.replace("ms", " millis") as "800 millis")
      })
    )
  }

/** Who holds locks that keep writers out, in words. */
const holders = ({ owner }: Side, tables: Moving["tables"]) =>
  owner
    .unsafe<{ who: string }>(
      `SELECT DISTINCT coalesce(nullif(a.application_name, ''), a.backend_type) || ' (process ' || a.pid || ', for '
         || extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, a.backend_start))::int || ' s)' AS who
       FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
       WHERE l.granted AND l.pid <> pg_backend_pid() AND l.mode NOT IN ('AccessShareLock', 'RowShareLock')
         AND l.relation = ANY (ARRAY[${tables.map((shape) => `to_regclass('${qualified(shape).replaceAll("'", "''")}')`).join(", ")}]::oid[]) LIMIT 5`
    )
    .unprepared.pipe(
      Effect.map((rows) =>
        rows.length === 0
          ? "Other writers are busy; trying again."
          : `Waiting for writers that have begun: ${rows.map(({ who }) => printable(who)).join(", ")}.`
      ),
      Effect.orElseSucceed(() => "Other writers are busy; trying again.")
    )

/** Closes the organization at the source; returns when the attempt began that had its locks, in milliseconds. */
export const close = Effect.fn("Move.close")((moving: Moving) => {
  const { id, run, source, tables, target } = moving
  const { owner } = source
  const [rows, deletions] = triggersOf(id)
  return Effect.gen(function* () {
    const began = performance.now()
    yield* lockTables(moving)
    const known = new Set(tables.filter(isOwnTable).map(({ table }) => table))
    if ((yield* ownTablesOf(owner, id)).some((table) => !known.has(table)))
      return yield* OperatorError.of(
        "A type of the organization got a table during the move. Undo the move with --undo, and move it again."
      )
    yield* raiseEpoch(owner, id, [
      { actor: OPERATOR, action: "organization.moving", subject: "database", details: { to: target.place } }
    ])
    const closed = yield* owner`UPDATE max.moves SET closed = true
      WHERE organization_id = ${id} AND run = ${run} AND NOT incoming RETURNING 1 AS one`
    if (closed.length === 0) return yield* TAKEN_OVER
    yield* define(owner, [
      "SET LOCAL statement_timeout = '10s'",
      inOneBlock(
        tables.flatMap((shape) => [
          `CREATE OR REPLACE TRIGGER ${rows} BEFORE INSERT OR UPDATE ON ${qualified(shape)} FOR EACH ROW WHEN (NEW.organization_id = ${id}) EXECUTE FUNCTION max.refuse_moved()`,
          `CREATE OR REPLACE TRIGGER ${deletions} BEFORE DELETE ON ${qualified(shape)} FOR EACH ROW WHEN (OLD.organization_id = ${id}) EXECUTE FUNCTION max.refuse_moved()`
        ])
      )
    ])
    return began
  }).pipe(owner.withTransaction, whenFree(moving))
})

export const TAKEN_OVER = OperatorError.of("Another max move of this organization has begun since: this one ends.")

/** Opens the organization at the source again. The caller's run is the last one, so that no other puts it in force at the target. */
export const reopen = Effect.fn("Move.reopen")(function* (moving: Moving) {
  const { id, run, source } = moving
  const { owner } = source
  yield* Effect.gen(function* () {
    yield* lockTables(moving)
    const opened = yield* owner`UPDATE max.moves SET closed = false
      WHERE organization_id = ${id} AND run = ${run} AND NOT incoming AND moved_at IS NULL RETURNING 1 AS one`
    if (opened.length === 0) return yield* TAKEN_OVER
    const fenced = yield* fencedTables(moving)
    if (fenced.length > 0)
      yield* define(owner, [
        inOneBlock(
          fenced.flatMap(({ names, table }) =>
            names.map((name) => `ALTER TABLE ${table} DISABLE TRIGGER ${identifier(name)}`)
          )
        )
      ])
    yield* raiseEpoch(owner, id, [{ actor: OPERATOR, action: "organization.stayed", subject: "database" }])
  }).pipe(owner.withTransaction, whenFree(moving))
  yield* dropTriggers(moving)
})

/** The tables that have the organization's triggers. */
const fencedTables = ({ id, source: { owner } }: Pick<Moving, "id" | "source">) =>
  Effect.map(
    owner<{ schema: string; table: string; names: ReadonlyArray<string> }>`
      SELECT n.nspname::text AS schema, c.relname::text AS table, array_agg(t.tgname::text) AS names
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE NOT t.tgisinternal AND t.tgname IN (${nameFor(id)}, ${`${nameFor(id)}_rows`}) GROUP BY 1, 2`,
    (rows) => rows.map(({ names, schema, table }) => ({ names, table: qualified({ schema, table }) }))
  )

/** Drops the triggers, table by table: DROP TRIGGER waits for readers, and others wait behind it for 50 ms at most. */
export const dropTriggers = Effect.fn("Move.dropTriggers")(function* (moving: Pick<Moving, "id" | "source">) {
  const { owner } = moving.source
  for (const { names, table } of yield* fencedTables(moving)) {
    yield* define(owner, [
      `SET LOCAL lock_timeout = '${DROP_PATIENCE}'`,
      ...names.map((name) => `DROP TRIGGER ${identifier(name)} ON ${table}`)
    ]).pipe(owner.withTransaction, Effect.retry({ while: isBusy, times: 600, schedule: Schedule.spaced("200 millis") }))
  }
})
