/** Switches row-level security for operators. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { ConfigurationError } from "../domain/errors.ts"
import { OPERATOR } from "./audit.ts"
import { raiseEpoch } from "./epoch.ts"
import { inspect, rolesOf } from "./migrate.ts"
import { isClosed } from "./moves.ts"
import { ROW_SECURITY, rowSecurityStatements } from "./rowSecurity.ts"

/** Switches it and raises every organization's epoch; returns whether the state changed. */
export const switchRowSecurity = (
  owner: PgClient.PgClient,
  on: boolean
): Effect.Effect<boolean, ConfigurationError | SqlError.SqlError> =>
  Effect.gen(function* () {
    const { database, rolesExist } = yield* inspect(owner)
    const reader = rolesExist ? rolesOf(database).read : null
    const [before] = yield* owner<{ on: boolean; exempt: boolean }>`
        SELECT ${owner.literal(ROW_SECURITY)} AS on, r.rolsuper OR r.rolbypassrls AS exempt
        FROM pg_roles r WHERE r.rolname = coalesce(${reader}, current_user)`
    if (on && before!.exempt) {
      return yield* ConfigurationError.of(
        "Row-level security has no effect here: reads run as a user that bypasses it. Let max migrate create its roles."
      )
    }
    if (before!.on === on) return false
    for (const statement of rowSecurityStatements(on)) yield* owner.unsafe(statement).unprepared
    const organizations = yield* owner<{ id: bigint }>`
        SELECT organization_id AS id FROM max.organizations o WHERE NOT ${owner.literal(isClosed("o.organization_id"))}
        ORDER BY 1 FOR UPDATE`
    for (const { id } of organizations) {
      yield* raiseEpoch(owner, id, [
        { actor: OPERATOR, action: on ? "row_security.on" : "row_security.off", subject: "database" }
      ])
    }
    return true
  }).pipe(owner.withTransaction)
