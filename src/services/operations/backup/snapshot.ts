/** Database → parts: everything of Max's in one snapshot, row by row, in as much memory as a few rows take. */
import type { PgClient } from "@effect/sql-pg"
import { hidesRows } from "../../../database/rowSecurity.ts"
import { Effect, Stream } from "effect"
import { inspect, refuseNewer } from "../../../database/migrate.ts"
import { qualified } from "../../../database/sql/SqlWriter.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { type Contents, FORMAT, Part } from "./Part.ts"
import { nameOf, readShapes, type TableShape } from "./TableShape.ts"

/** How values are written and read as text, whatever the server's settings are; and nothing ends what takes long. */
export const holdStill = (sql: PgClient.PgClient) =>
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

/** How many rows a table has and the sum of 64 bits of the SHA-256 of each: the same in whatever order they lie. */
export const sumOf = Effect.fnUntraced(function* (sql: PgClient.PgClient, shape: TableShape) {
  const [sum] = yield* sql.unsafe<{ rows: string; checksum: string }>(
    `/* max sum */ SELECT count(*)::text AS rows, coalesce(sum(('x' || encode(substr(sha256(convert_to(whole::text, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint), 0)::text AS checksum
     FROM ${qualified(shape)} whole`
  ).unprepared
  return { rows: Number(sum!.rows), checksum: sum!.checksum }
})

/** Runs `use` in one read-only snapshot of a database, with what it contains. */
export const withSnapshot = <A, E, R>(
  sql: PgClient.PgClient,
  use: (contents: Contents, parts: Stream.Stream<Part, OperatorError | Fault>) => Effect.Effect<A, E, R>
) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY").unprepared
      yield* holdStill(sql)
      const inspection = yield* inspect(sql)
      yield* refuseNewer(inspection)
      if (inspection.schemaVersion === 0)
        return yield* new OperatorError({ message: "This database has nothing of Max's in it." })
      if (yield* hidesRows(sql)) {
        return yield* new OperatorError({
          message:
            "Row-level security hides rows from this database's user. Switch it off for as long: max migrate --rls off"
        })
      }
      const contents = Part.cases.Contents.make({
        format: FORMAT,
        schemaVersion: inspection.schemaVersion,
        takenAt: new Date().toISOString(),
        tables: yield* readShapes(sql)
      })
      return yield* use(contents, parts(sql, contents))
    })
  )

type Fault = Effect.Error<ReturnType<typeof sumOf>>

const parts = (sql: PgClient.PgClient, contents: Contents): Stream.Stream<Part, OperatorError | Fault> => {
  let all = 0
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
          // Lets go of the locks on the table and its indexes: a server has room for some thousands.
          yield* sql.unsafe("ROLLBACK TO SAVEPOINT one_table").unprepared
          if (sum.rows !== sent)
            return yield* new OperatorError({
              message: `Of ${nameOf(shape)} ${sent} rows came out where there are ${sum.rows}. Try again.`
            })
          all += sent
          return Part.cases.Sum.make({ table: number, ...sum })
        })
      )
    )
  }
  return Stream.make<[Part]>(contents).pipe(
    Stream.concat(
      Stream.fromIterable(contents.tables.entries()).pipe(Stream.flatMap(([number, shape]) => table(shape, number)))
    ),
    Stream.concat(Stream.suspend(() => Stream.make<[Part]>(Part.cases.End.make({ rows: all }))))
  )
}
