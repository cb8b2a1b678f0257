/** Checks the standbys of `MAX_REPLICA_URLS`: that each follows this server and answers the reading role. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { connectReplica } from "../../../database/Database.ts"
import { faultOf } from "../../../database/fault.ts"
import { rolesOf } from "../../../database/migrate.ts"
import { type Check, fail, ok, warn } from "./Finding.ts"

const NAME = "replicas"

/** What lookups compare, and what keeps them from being canceled. */
const STATE = `SELECT pg_is_in_recovery() AS standby, current_setting('hot_standby_feedback') = 'on' AS feedback,
  coalesce((SELECT array_agg(o.organization_id || ' ' || o.epoch || ' ' || coalesce(d.version::text, '') ORDER BY o.organization_id)
    FROM max.organizations o LEFT JOIN max.data_versions d ON d.organization_id = o.organization_id), '{}') AS positions`

const stateOf = (sql: PgClient.PgClient) =>
  Effect.map(
    sql.unsafe<{ standby: boolean; feedback: boolean; positions: ReadonlyArray<string> }>(STATE),
    ([row]) => row!
  )

const hostOf = (url: Redacted.Redacted<string>): string => {
  const { hostname, port, searchParams } = new URL(Redacted.value(url))
  return `${searchParams.get("host") ?? hostname}:${searchParams.get("port") ?? (port || "5432")}`
}

const checkOne =
  (url: Redacted.Redacted<string>): Check =>
  ({ from, inspection, owner }) => {
    const host = hostOf(url)
    const role = inspection.rolesExist ? rolesOf(inspection.database).read : undefined
    return Effect.scoped(
      Effect.gen(function* () {
        // The standby first: what it lacks then, it lacked.
        const there = yield* Effect.flatMap(connectReplica(from, role, url), stateOf)
        const here = yield* stateOf(owner)
        const behind = here.positions.filter((position) => !there.positions.includes(position)).length
        if (!there.standby) return [warn(NAME, `${host} isn't a standby, so it will not be current for long.`)]
        if (!there.feedback)
          return [
            warn(
              NAME,
              `${host} cancels lookups that its replay conflicts with; the primary then repeats them.`,
              "ALTER SYSTEM SET hot_standby_feedback = on; (at the standby, then SELECT pg_reload_conf();)"
            )
          ]
        return behind === 0
          ? [ok(NAME, `${host} answers lookups, and is current.`)]
          : [
              warn(
                NAME,
                `${host} is behind for ${behind} of ${here.positions.length} organizations: the primary answers them.`
              )
            ]
      })
    ).pipe(
      Effect.catchTag("SqlError", (error) =>
        Effect.succeed([
          fail(
            NAME,
            `${host} can't be used: ${faultOf(error).reason}. The primary answers all lookups.`,
            "MAX_REPLICA_URLS=postgres://HOST:5432 (a streaming standby; hot_standby = on)"
          )
        ])
      )
    )
  }

export const replicas: Check = (examined) =>
  examined.inspection.schemaVersion < DATA_VERSIONS
    ? Effect.succeed([])
    : Effect.map(
        Effect.forEach(examined.replicaUrls ?? [], (url) => checkOne(url)(examined)),
        (findings) => findings.flat()
      )

/** The migration that has data versions. */
const DATA_VERSIONS = 35
