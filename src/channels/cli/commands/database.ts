/** The database itself. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { forMigration } from "../../../database/Database.ts"
import { orUnavailable } from "../../../database/read.ts"
import {
  inspect,
  migrate as applyMigrations,
  pendingStatements,
  roleStatements,
  rolesOf
} from "../../../database/migrate.ts"
import { wantsJson } from "../context.ts"
import { note, result } from "../output.ts"

export const migrate = Command.make(
  "migrate",
  {
    print: Flag.Boolean("print").pipe(
      Flag.withDescription("Only show the statements, with passwords left out"),
      Flag.withDefault(false)
    )
  },
  (input) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { owner, password } = yield* forMigration
        if (input.print) {
          const inspection = yield* orUnavailable(inspect(owner))
          const statements = [
            ...pendingStatements(inspection.schemaVersion),
            ...roleStatements(inspection.database, rolesOf(inspection.database), () => undefined)
          ]
          return yield* result(
            yield* wantsJson,
            statements,
            statements.map((statement) => `${statement};`)
          )
        }
        const done = yield* orUnavailable(applyMigrations(owner, password))
        yield* result(yield* wantsJson, done, [
          done.from === done.to
            ? `The schema is up to date (version ${done.to}).`
            : `The schema went from version ${done.from} to ${done.to}.`
        ])
        if (done.withoutRoles !== undefined) yield* note(done.withoutRoles)
      })
    )
).pipe(Command.withDescription("Prepare a database that you point Max at with DATABASE_URL, or bring it up to date"))
