/**
 * Backup, restore, and moving to another database: one stream of parts, into a file or directly into the other database.
 * They accept databases that lookups refuse: unmigrated ones, and those of an older schema.
 */
import { Effect, Stream } from "effect"
import type { PgClient } from "@effect/sql-pg"
import { SqlError } from "effect/sql"
import { faultOf } from "../../database/fault.ts"
import { OperatorError } from "../../domain/errors.ts"
import { readBackupFile, writeBackupFile } from "./backup/backupFile.ts"
import { identityOf, withSnapshot } from "./backup/snapshot.ts"
import { type Restored, restoreInto, type Target } from "./backup/restore.ts"

export type { Restored, Target } from "./backup/restore.ts"

export interface BackedUp {
  readonly tables: number
  readonly rows: number
  /** The size of the file. */
  readonly bytes: number
}

/** Writes all of Max's data in a database to a new file. */
export const backup = Effect.fn("Backup.backup")(
  (owner: PgClient.PgClient, path: string, options: { readonly force: boolean }) =>
    withSnapshot(owner, ({ tables }, parts) => {
      let rows = 0
      return Effect.map(
        writeBackupFile(
          path,
          options,
          Stream.tap(parts, (part) =>
            Effect.sync(() => {
              if (part._tag === "End") rows = part.rows
            })
          )
        ),
        (bytes): BackedUp => ({ tables: tables.length, rows, bytes })
      )
    }).pipe(explaining("The backup wasn't made"))
)

/** Restores a file into an empty database. */
export const restore = Effect.fn("Backup.restoreFile")((target: Target, path: string) =>
  restoreInto(target, readBackupFile(path)).pipe(explaining("Nothing was restored"))
)

/** Copies all of Max's data into another, empty database; the source stays unchanged. */
export const move = Effect.fn("Backup.move")((from: PgClient.PgClient, target: Target) =>
  Effect.gen(function* () {
    if ((yield* identityOf(from)) === (yield* identityOf(target.owner)))
      return yield* OperatorError.of("This is the database that Max already uses: there is nothing to move.")
    return yield* withSnapshot(from, (_, parts): Effect.Effect<Restored, unknown> => restoreInto(target, parts))
  }).pipe(explaining("Nothing was moved"))
)

/** Converts database failures into errors worded for operators. */
const explaining =
  (what: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, SqlError.SqlError> | OperatorError, R> =>
    self.pipe(
      // When the connection is lost before a rollback, the failed rollback is a defect.
      Effect.catchDefect((defect) => (SqlError.isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect))),
      Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | OperatorError> =>
        SqlError.isSqlError(error)
          ? Effect.fail(OperatorError.of(`${what}: the database failed, ${faultOf(error).reason}.`))
          : Effect.fail(error as Exclude<E, SqlError.SqlError>)
      )
    )
