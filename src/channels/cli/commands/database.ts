/** Migrates a database and switches its row-level security. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { orUnavailableInTheEnd } from "../../../database/execute.ts"
import { rowSecurityStatements } from "../../../database/rowSecurity.ts"
import { switchRowSecurity } from "../../../database/switchRowSecurity.ts"
import {
  inspect,
  migrate as applyMigrations,
  pendingStatements,
  roleStatements,
  rolesOf
} from "../../../database/migrate.ts"
import { configuredOwner } from "../../../layers.ts"
import { grantAll } from "../../../services/mapping/writeGrants.ts"
import { toggle } from "../flags.ts"
import { note, result } from "../output.ts"

export const migrate = Command.make(
  "migrate",
  {
    print: toggle("print", "Only print the statements, without passwords"),
    rls: Flag.Literals("rls", ["on", "off"]).pipe(
      Flag.withDescription(
        "Switch row-level security on the tables that organizations share on or off; unchanged by default"
      ),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    const { owner, password } = yield* configuredOwner
    if (input.print) {
      const inspection = yield* orUnavailableInTheEnd(inspect(owner))
      const statements = [
        ...pendingStatements(inspection.schemaVersion),
        ...roleStatements(inspection.database, rolesOf(inspection.database), () => undefined),
        ...Option.match(input.rls, { onNone: () => [], onSome: (rls) => rowSecurityStatements(rls === "on") })
      ]
      return yield* result(
        statements,
        statements.map((statement) => `${statement};`)
      )
    }
    const done = yield* orUnavailableInTheEnd(applyMigrations(owner, password))
    const unreadable = yield* orUnavailableInTheEnd(grantAll(owner))
    yield* result(done, [
      done.from === done.to
        ? `The schema is up to date (version ${done.to}).`
        : `The schema was migrated from version ${done.from} to ${done.to}.`
    ])
    if (done.withoutRoles !== undefined) yield* note(done.withoutRoles)
    if (unreadable.length > 0)
      yield* note(`This user may not grant Max to read ${unreadable.join(", ")}: max doctor shows the statements.`)
    if (Option.isSome(input.rls)) {
      const on = input.rls.value === "on"
      const switched = yield* orUnavailableInTheEnd(switchRowSecurity(owner, on))
      yield* note(
        `Row-level security is ${on ? "on" : "off"}${switched ? "" : ", unchanged"}. Running processes apply it from their next statement.`
      )
    }
  }, Effect.scoped)
).pipe(Command.withDescription("Migrate the database of DATABASE_URL to this version's schema"))
