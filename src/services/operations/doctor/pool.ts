/** Checks the way to the server: that a pooler, where there is one, keeps what reads rely on. */
import { Effect } from "effect"
import { connectAs } from "../../../database/Database.ts"
import { faultOf } from "../../../database/fault.ts"
import { rolesOf } from "../../../database/migrate.ts"
import { type Check, fail, ok } from "./Finding.ts"

const NAME = "pooler"

/** What the reading role sets for connections that can't send startup parameters. */
const REQUIRED = `SELECT current_setting('search_path') = 'pg_catalog, pg_temp' AND current_setting('default_transaction_read_only') = 'on'
  AND current_setting('statement_timeout') <> '0' AND current_setting('default_transaction_isolation') = 'read committed' AS kept`

export const pooler: Check = Effect.fnUntraced(function* ({ from, inspection, owner, poolUrl }) {
  // Every connection of Max sends this setting when it starts.
  const [own] = yield* owner<{ kept: boolean }>`SELECT current_setting('lock_timeout') = '10s' AS kept`
  if (!own!.kept)
    return [
      fail(
        NAME,
        "DATABASE_URL leads to a pooler that drops startup parameters, which migrations and reads rely on.",
        "DATABASE_URL=postgres://… (the server's own address)",
        "MAX_POOL_URL=postgres://HOST:6432/DATABASE (the pooler's)"
      )
    ]
  if (poolUrl === undefined) return []
  if (!inspection.rolesExist)
    return [fail(NAME, "MAX_POOL_URL has no effect without the roles of reads and writes.", "max migrate")]
  return yield* Effect.scoped(
    connectAs(from, rolesOf(inspection.database).read, poolUrl).pipe(
      Effect.flatMap((reader) => reader.unsafe<{ kept: boolean }>(REQUIRED)),
      Effect.map(([row]) =>
        row?.kept === true
          ? [ok(NAME, "Reads and writes go through MAX_POOL_URL, with the settings of their roles.")]
          : [fail(NAME, "Through MAX_POOL_URL, reads lack the settings of their role.", "max migrate")]
      ),
      Effect.catchTag("SqlError", (error) =>
        Effect.succeed([
          fail(
            NAME,
            `MAX_POOL_URL can't be used: ${faultOf(error).reason}.`,
            "auth_type = scram-sha-256, auth_user = OWNER (in pgbouncer.ini; auth_query finds the other roles)"
          )
        ])
      )
    )
  )
})
