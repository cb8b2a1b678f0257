/** Streams a database as parts, from one snapshot, in constant memory. */
import type { PgClient } from "@effect/sql-pg"
import { hidesRows } from "../../../database/rowSecurity.ts"
import { Effect, Stream } from "effect"
import { inspect, refuseNewer } from "../../../database/migrate.ts"
import { qualified } from "../../../database/sql/SqlWriter.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { type Contents, FORMAT, Part } from "./Part.ts"
import { nameOf, readShapes, type TableShape } from "./TableShape.ts"

/** Fixes the text format of values, independent of the server's settings, and disables timeouts, for one transaction. */
export const fixSettings = (sql: PgClient.PgClient) =>
  Effect.forEach(
    [
      "SET LOCAL datestyle = 'ISO, YMD'",
      "SET LOCAL intervalstyle = 'postgres'",
      "SET LOCAL extra_float_digits = 1",
      "SET LOCAL bytea_output = 'hex'",
      "SET LOCAL statement_timeout = 0",
      "SET LOCAL idle_in_transaction_session_timeout = 0"
    ],
    (statement) => sql.unsafe(statement).unprepared,
    { discard: true }
  )

/** The sum of the first 64 bits of each row's SHA-256, independent of their order; the row is called `whole`. */
export const CHECKSUM = `coalesce(sum(('x' || encode(substr(sha256(convert_to(whole::text, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint), 0)::text`

/** A table's number of rows and their checksum. */
export const sumOf = Effect.fnUntraced(function* (sql: PgClient.PgClient, shape: TableShape) {
  const [sum] = yield* sql.unsafe<{ rows: string; checksum: string }>(
    `/* max sum */ SELECT count(*)::text AS rows, ${CHECKSUM} AS checksum
     FROM ${qualified(shape)} whole`
  ).unprepared
  return { rows: Number(sum!.rows), checksum: sum!.checksum }
})

/** Runs `use` with the contents and parts of one read-only snapshot. */
export const withSnapshot = <A, E, R>(
  sql: PgClient.PgClient,
  use: (contents: Contents, parts: Stream.Stream<Part, OperatorError | Fault>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    yield* sql.unsafe("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY").unprepared
    yield* fixSettings(sql)
    const inspection = yield* inspect(sql)
    yield* refuseNewer(inspection)
    if (inspection.schemaVersion === 0) return yield* OperatorError.of("This database contains no Max data.")
    if (yield* hidesRows(sql)) {
      return yield* OperatorError.of(
        "Row-level security hides rows from this database's user. Switch it off for the backup: max migrate --rls off"
      )
    }
    const contents = Part.cases.Contents.make({
      format: FORMAT,
      schemaVersion: inspection.schemaVersion,
      takenAt: new Date().toISOString(),
      tables: yield* readShapes(sql)
    })
    return yield* use(contents, parts(sql, contents))
  }).pipe(sql.withTransaction)

type Fault = Effect.Error<ReturnType<typeof sumOf>>

const parts = (sql: PgClient.PgClient, contents: Contents): Stream.Stream<Part, OperatorError | Fault> => {
  let total = 0
  const table = (shape: TableShape, number: number) => {
    let sent = 0
    const rows = sql.unsafe<{ row: string }>(
      `/* max backup */ SELECT whole::text AS row FROM ${qualified(shape)} whole`
    ).stream
    return Stream.concat(
      Stream.unwrap(Effect.as(sql.unsafe("SAVEPOINT one_table").unprepared, rows)).pipe(
        Stream.chunks,
        Stream.map((some) => {
          sent += some.length
          return Part.cases.Rows.make({ table: number, rows: some.map(({ row }) => row) })
        })
      ),
      Stream.fromEffect(
        Effect.gen(function* () {
          const sum = yield* sumOf(sql, shape)
          // Releases the locks on the table and its indexes: a server has room for a few thousand.
          yield* sql.unsafe("ROLLBACK TO SAVEPOINT one_table").unprepared
          if (sum.rows !== sent)
            return yield* OperatorError.of(`${sent} of the ${sum.rows} rows of ${nameOf(shape)} were read. Try again.`)
          total += sent
          return Part.cases.Sum.make({ table: number, ...sum })
        })
      )
    )
  }
  return Stream.make<[Part]>(contents).pipe(
    Stream.concat(
      Stream.fromIterable(contents.tables.entries()).pipe(Stream.flatMap(([number, shape]) => table(shape, number)))
    ),
    Stream.concat(Stream.suspend(() => Stream.make<[Part]>(Part.cases.End.make({ rows: total }))))
  )
}

/** Identifies a database: the server's start time in microseconds and the database's OID. */
export const identityOf = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ identity: string }>`
      SELECT extract(epoch FROM pg_postmaster_start_time())::text || ' ' || oid::text AS identity
      FROM pg_database WHERE datname = current_database()`,
    ([row]) => row!.identity
  )
