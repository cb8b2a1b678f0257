/**
 * Backups that an administrator asks for: of an installation with one organization, because a backup has the data of all, and
 * into the folder that the operator has named. The file stays there: no request returns it, or its place.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { join } from "node:path"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import { OperatorError, type Unavailable } from "../../domain/errors.ts"
import { backup } from "./Backup.ts"
import { BACKED_UP, recordBackup } from "./backupRecord.ts"

/** Minutes between two backups, which bounds what administrators can fill a disk with. */
const PAUSE = 10

export interface Made {
  readonly rows: number
  readonly bytes: number
}

export class Backups extends Context.Service<
  Backups,
  {
    /** Whether a backup can be asked for here. */
    readonly isPossible: Effect.Effect<boolean, Unavailable>
    /** Makes one, and records it with this actor. */
    readonly make: (actor: string) => Effect.Effect<Made, OperatorError | Unavailable>
  }
>()("max/services/Backups") {
  static readonly layer = (directory: string | undefined) =>
    Layer.effect(
      Backups,
      Effect.gen(function* () {
        const { app, owner } = yield* Database
        const one = yield* Semaphore.make(1)

        const standing = orUnavailable(app<{ alone: boolean; recent: boolean }>`
          SELECT (SELECT count(*) FROM max.organizations) = 1 AS alone,
            EXISTS (SELECT FROM max.audit_log a JOIN max.organizations o ON o.organization_id = a.organization_id
              WHERE a.chain = 'changes' AND a.action = ${BACKED_UP}::text
                AND a.at > now() - make_interval(mins => ${PAUSE}::int)) AS recent`)

        const make = Effect.fn("Backups.make")(function* (actor: string) {
          const [row] = yield* standing
          if (directory === undefined)
            return yield* OperatorError.of("The operator has named no folder for backups (MAX_BACKUP_DIR).")
          if (!row!.alone)
            return yield* OperatorError.of(
              "A backup has the data of every organization of this installation, so only an operator makes one."
            )
          if (row!.recent)
            return yield* OperatorError.of(`The last backup is less than ${PAUSE} minutes old. Try again later.`)
          const name = `max-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}Z.backup`
          const { bytes, rows } = yield* backup(owner, join(directory, name), { force: false }).pipe(
            Effect.tapError((error) => Effect.logWarning(`A backup failed: ${error.message}`)),
            Effect.mapError(() => OperatorError.of("The backup wasn't made. The server's log has the reason."))
          )
          yield* orUnavailable(recordBackup(owner, { rows, bytes }, actor))
          return { rows, bytes }
        })

        return Backups.of({
          isPossible: Effect.map(standing, ([row]) => directory !== undefined && row!.alone),
          make: (actor) =>
            Effect.flatMap(
              one.withPermitsIfAvailable(1)(make(actor)),
              Effect.fnUntraced(function* (made) {
                return made._tag === "Some"
                  ? made.value
                  : yield* OperatorError.of("A backup is being made just now. Try again later.")
              })
            )
        })
      })
    )
}
