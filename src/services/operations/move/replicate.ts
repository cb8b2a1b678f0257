/** Logical replication of one organization's rows: what is published, the slot, the subscription, and their removal. */
import { Effect, Redacted, Schedule } from "effect"
import { classOf } from "../../../database/fault.ts"
import { literal, qualified } from "../../../database/sql/SqlWriter.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { define } from "../../catalog/physicalColumns.ts"
import { nameOf } from "../backup/TableShape.ts"
import { type Moving, nameFor, quotedName } from "./Moving.ts"

/**
 * The statement that publishes the organization's rows. TRUNCATE has no row filter: it would empty the table for every
 * organization of the target.
 */
export const publicationStatement = ({ id, tables }: Pick<Moving, "id" | "tables">): string =>
  `CREATE PUBLICATION ${quotedName(id)} FOR TABLE ${tables
    .map((shape) => `${qualified(shape)} WHERE (organization_id = ${id})`)
    .join(", ")} WITH (publish = 'insert, update, delete')`

/** Publishes the tables and keeps the log from here on, unless an earlier run did. */
export const publish = Effect.fn("Move.publish")(function* (moving: Moving) {
  const { id, source, tables } = moving
  const { owner } = source
  const published = yield* owner<{ name: string }>`
    SELECT schemaname || '.' || tablename AS name FROM pg_publication_tables WHERE pubname = ${nameFor(id)}`
  if (published.length === 0) yield* define(owner, [publicationStatement(moving)])
  else if (
    published.length !== tables.length ||
    !tables.every((shape) => published.some(({ name }) => name === nameOf(shape)))
  )
    return yield* OperatorError.of(
      "The organization's tables are others than an earlier run published. Run it with --undo, and move it again."
    )
  // After the publication: a slot decodes changes with the publications of their time.
  yield* owner`SELECT (pg_create_logical_replication_slot(${nameFor(id)}, 'pgoutput')).slot_name::text AS name
    WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = ${nameFor(id)})`
})

/** The statement that subscribes; the connection string is a setting of the transaction. */
export const subscriptionStatement = (id: bigint): string =>
  `DO $max$ BEGIN EXECUTE format('CREATE SUBSCRIPTION %I CONNECTION %L PUBLICATION %I WITH (create_slot = false, slot_name = %L)',
    ${[literal(nameFor(id)), "current_setting('max.connection')", literal(nameFor(id)), literal(nameFor(id))].join(", ")});
  EXCEPTION WHEN OTHERS THEN RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = 'the subscription was not made'; END $max$`

/**
 * Subscribes at the target, unless an earlier run did. The connection string, which contains a password, is a bound value, so that
 * it is in no statement's text and in no error's context.
 */
export const subscribe = Effect.fn("Move.subscribe")(function* (moving: Moving, connection: Redacted.Redacted<string>) {
  const { id, target } = moving
  const { owner } = target
  const [existing] = yield* owner`SELECT 1 AS one FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
    WHERE d.datname = current_database() AND s.subname = ${nameFor(id)}`
  if (existing !== undefined) return
  yield* Effect.andThen(
    owner`SELECT set_config('max.connection', ${Redacted.value(connection)}, true)`,
    define(owner, [subscriptionStatement(id)])
  ).pipe(
    owner.withTransaction,
    Effect.catchTag("SqlError", (error) =>
      Effect.fail(
        OperatorError.of(
          `The target's server can't subscribe at the source (${classOf(error)}). Its server must reach the source's: --from names the address from there, and pg_hba.conf of the source must admit it.`
        )
      )
    )
  )
})

const STATE = `SELECT count(*)::int AS tables, count(*) FILTER (WHERE r.srsubstate = 'r')::int AS ready,
    coalesce((SELECT s.apply_error_count + s.sync_error_count FROM pg_stat_subscription_stats s WHERE s.subid = b.oid), 0)::int AS errors
  FROM pg_subscription b JOIN pg_subscription_rel r ON r.srsubid = b.oid
  JOIN pg_database d ON d.oid = b.subdbid AND d.datname = current_database() WHERE b.subname = $1 GROUP BY b.oid`

/** Errors of the subscription after which waiting is of no use; the server repeats an attempt every five seconds. */
const MAX_ERRORS = 5

/** Waits until every table is copied and follows. */
export const awaitCopy = Effect.fn("Move.awaitCopy")(function* ({ id, say, target }: Moving) {
  let before: number | undefined
  let told = 0
  const state = Effect.gen(function* () {
    const [row] = yield* target.owner.unsafe<{ tables: number; ready: number; errors: number }>(STATE, [nameFor(id)])
      .unprepared
    if (row === undefined) return yield* OperatorError.of("The subscription is gone. Run the same max move again.")
    before ??= row.errors
    if (row.errors - before >= MAX_ERRORS)
      return yield* OperatorError.of(
        "The target's server reports errors while it copies; its log names them. Mend them and run the same max move again, or run it with --undo."
      )
    if (row.ready < row.tables && performance.now() - told > 5000) {
      told = performance.now()
      yield* say(`Copying: ${row.ready} of ${row.tables} tables follow the source.`)
    }
    return row.ready === row.tables
  })
  yield* Effect.repeat(state, { until: (ready) => ready, schedule: Schedule.spaced("100 millis") })
})

/** The longest wait behind the fence; afterwards the organization is opened at the source again. */
const CATCH_UP = "30 seconds"

/** Waits until the target has stored all that the source had committed. */
export const awaitAll = Effect.fn("Move.awaitAll")(function* ({ id, source: { owner } }: Moving) {
  const [position] = yield* owner<{ at: string }>`SELECT pg_current_wal_lsn()::text AS at`
  const behind = OperatorError.of(`The target didn't catch up within ${CATCH_UP}.`)
  const state = Effect.gen(function* () {
    const [slot] = yield* owner<{ done: boolean }>`
      SELECT confirmed_flush_lsn >= ${position!.at}::text::pg_lsn AS done FROM pg_replication_slots WHERE slot_name = ${nameFor(id)}`
    if (slot === undefined)
      return yield* OperatorError.of(
        "The replication slot is gone, as after a failover. Run it with --undo, and move it again."
      )
    return slot.done
  })
  yield* Effect.repeat(state, { until: (done) => done, schedule: Schedule.spaced("5 millis") }).pipe(
    Effect.timeoutOrElse({ duration: CATCH_UP, orElse: () => Effect.fail(behind) })
  )
})

/** Drops the subscription without asking the source, which the target may not reach any more. */
export const unsubscribe = Effect.fn("Move.unsubscribe")(function* ({
  id,
  target: { owner }
}: Pick<Moving, "id" | "target">) {
  const name = quotedName(id)
  const [existing] = yield* owner<{ slot: string | null }>`SELECT s.subslotname::text AS slot FROM pg_subscription s
    JOIN pg_database d ON d.oid = s.subdbid WHERE d.datname = current_database() AND s.subname = ${nameFor(id)}`
  if (existing === undefined) return
  yield* define(owner, [`ALTER SUBSCRIPTION ${name} DISABLE`])
  yield* define(owner, [`ALTER SUBSCRIPTION ${name} SET (slot_name = NONE)`, `DROP SUBSCRIPTION ${name}`])
})

/** Drops the slot, once its reader has gone, and the publication. */
export const unpublish = Effect.fn("Move.unpublish")(function* ({
  id,
  source: { owner }
}: Pick<Moving, "id" | "source">) {
  const drop = Effect.gen(function* () {
    yield* owner`SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = ${nameFor(id)} AND active`
    yield* owner`SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = ${nameFor(id)}`
  })
  yield* Effect.retry(drop, {
    while: (error) => classOf(error) === OBJECT_IN_USE,
    times: 100,
    schedule: Schedule.spaced("100 millis")
  })
  yield* define(owner, [`DROP PUBLICATION IF EXISTS ${quotedName(id)}`])
})

const OBJECT_IN_USE = "55006"
