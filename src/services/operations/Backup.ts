/**
 * Backups, and moving from one database to another: the same parts, into a file or straight into the other database.
 * They work on databases that no lookup would: not prepared yet, or prepared for an older Max.
 */
import { Effect, Stream } from "effect"
import type { PgClient } from "@effect/sql-pg"
import { SqlError } from "effect/sql"
import { faultOf } from "../../database/fault.ts"
import { OperatorError } from "../../domain/errors.ts"
import { readBackupFile, writeBackupFile } from "./backup/backupFile.ts"
import { withSnapshot } from "./backup/snapshot.ts"
import { type Restored, restoreInto, type Target } from "./backup/restore.ts"

export type { Restored, Target } from "./backup/restore.ts"

export interface BackedUp {
  readonly tables: number
  readonly rows: number
  /** The file's size. */
  readonly bytes: number
}

/** Writes everything of Max's in a database into a new file. */
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
    }).pipe(saying("The backup wasn't made"))
)

/** Restores a file into an empty database. */
export const restore = Effect.fn("Backup.restoreFile")((target: Target, path: string) =>
  restoreInto(target, readBackupFile(path)).pipe(saying("Nothing was restored"))
)

/** Copies everything of Max's from one database into another, empty one; the first stays as it is. */
export const move = Effect.fn("Backup.move")((from: PgClient.PgClient, target: Target) =>
  Effect.gen(function* () {
    if ((yield* identityOf(from)) === (yield* identityOf(target.owner)))
      return yield* new OperatorError({
        message: "This is the database that Max uses already: there is nothing to move."
      })
    return yield* withSnapshot(from, (_, parts): Effect.Effect<Restored, unknown> => restoreInto(target, parts))
  }).pipe(saying("Nothing was moved"))
)

/** What two databases can't have in common: a server's start, to the microsecond, and a database's number in it. */
const identityOf = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ identity: string }>`
      SELECT extract(epoch FROM pg_postmaster_start_time())::text || ' ' || oid::text AS identity
      FROM pg_database WHERE datname = current_database()`,
    ([row]) => row!.identity
  )

/** A failure of a database, said in an operator's words. */
const saying =
  (what: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, SqlError.SqlError> | OperatorError, R> =>
    self.pipe(
      // A connection that is gone before a rollback makes the failure of the rollback a defect.
      Effect.catchDefect((defect) => (SqlError.isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect))),
      Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | OperatorError> =>
        SqlError.isSqlError(error)
          ? Effect.fail(new OperatorError({ message: `${what}: the database failed, ${faultOf(error).reason}.` }))
          : Effect.fail(error as Exclude<E, SqlError.SqlError>)
      )
    )
