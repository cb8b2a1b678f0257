/** Checks the server: its version, schema, extensions, connections and clock, and the organizations in it. */
import { Effect } from "effect"
import { NEWEST_SERVER, OLDEST_SERVER } from "../../../database/migrate.ts"
import { SCHEMA_VERSION } from "../../../database/migrations/index.ts"
import { isClosed } from "../../../database/moves.ts"
import { type Check, fail, ok, some, warn } from "./Finding.ts"

export const postgres: Check = ({ inspection: { inRecovery, serverVersion } }) =>
  Effect.succeed([
    ...(inRecovery
      ? [
          fail(
            "postgres",
            "The server is a standby: Max reads and writes on the primary only.",
            "Set DATABASE_URL to the address of the primary, or of a proxy that follows it."
          )
        ]
      : []),
    serverVersion < OLDEST_SERVER
      ? fail("postgres", `This is Postgres ${serverVersion}.`, `Use Postgres ${OLDEST_SERVER} to ${NEWEST_SERVER}.`)
      : serverVersion > NEWEST_SERVER
        ? warn(
            "postgres",
            `This is Postgres ${serverVersion}; Max is tested with ${OLDEST_SERVER} to ${NEWEST_SERVER}.`
          )
        : ok("postgres", `Postgres ${serverVersion}.`)
  ])

export const schema: Check = ({ from, inspection: { schemaVersion } }) =>
  Effect.succeed([
    schemaVersion === SCHEMA_VERSION
      ? ok("schema", `Version ${schemaVersion}, as required.`)
      : schemaVersion > SCHEMA_VERSION
        ? fail(
            "schema",
            `Version ${schemaVersion}, from a newer Max; this one supports ${SCHEMA_VERSION}. Update its checkout or package:`,
            "git pull && npm ci"
          )
        : from.embedded
          ? ok("schema", "The next command migrates this database, because it is embedded.")
          : schemaVersion === 0
            ? fail("schema", "The database isn't migrated.", "max migrate --print", "max migrate")
            : fail(
                "schema",
                `Version ${schemaVersion}; this Max needs ${SCHEMA_VERSION}.`,
                "max backup before-upgrade.backup",
                "max migrate"
              )
  ])

const EXTENSIONS = ["pg_trgm", "btree_gin"]

export const extensions: Check = ({ inspection: { schemaVersion }, owner }) =>
  Effect.map(
    owner<{ name: string; installed: boolean }>`
      SELECT name::text, installed_version IS NOT NULL AS installed FROM pg_available_extensions
      WHERE name = ANY(${EXTENSIONS}::text[])`,
    (rows) => {
      const absent = EXTENSIONS.filter((name) => !rows.some((row) => row.name === name))
      const missing = rows.filter(({ installed }) => !installed).map(({ name }) => name)
      if (absent.length > 0)
        return [
          fail(
            "extensions",
            `The server doesn't have ${absent.join(" and ")}, which searches need.`,
            "Install Postgres' contrib package on the server, such as: apt-get install postgresql-contrib"
          )
        ]
      if (missing.length > 0 && schemaVersion > 0)
        return [
          fail(
            "extensions",
            `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing: searches fail.`,
            ...missing.map((name) => `CREATE EXTENSION ${name} WITH SCHEMA max;`)
          )
        ]
      return [ok("extensions", `${EXTENSIONS.join(" and ")} are installed.`)]
    }
  )

/** A process's connections besides searches: four for changes, two each for lookups, figures, writes and the owner, one each for admission and traces. */
const OTHER_CONNECTIONS = 14

export const connections: Check = ({ owner, searchConnections }) =>
  Effect.map(
    owner<{ most: number; used: number }>`
      SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
        (SELECT coalesce(sum(numbackends), 0)::int FROM pg_stat_database) AS used`,
    ([row]) => {
      const { most, used } = row!
      const needed = searchConnections + OTHER_CONNECTIONS
      return [
        most - used >= needed
          ? ok("connections", `${used} of ${most} are in use; each Max process takes up to ${needed}.`)
          : warn(
              "connections",
              `${used} of ${most} are in use, and a Max process takes up to ${needed}: some lookups may get none.`,
              `MAX_SEARCH_CONNECTIONS=${Math.max(1, most - used - OTHER_CONNECTIONS)}`,
              "ALTER SYSTEM SET max_connections = 200; (then restart Postgres)"
            )
      ]
    }
  )

/** Above the first, times in answers and records look wrong; above the second, rules with dates decide wrongly. */
const [NOTICEABLE_MS, WRONG_MS] = [5_000, 60_000]

export const clock: Check = Effect.fnUntraced(function* ({ owner }) {
  let best = { took: Infinity, off: 0 }
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = Date.now()
    const [row] = yield* owner<{
      now: string
    }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS now`
    const took = Date.now() - before
    if (took < best.took) best = { took, off: Number(row!.now) - (before + took / 2) }
  }
  const off = Math.max(0, Math.abs(best.off) - best.took / 2)
  const difference = `The server's clock is ${Math.round(off / 1000)} s ${best.off > 0 ? "ahead of" : "behind"} this machine's`
  const remedy = "timedatectl set-ntp true (on the machine whose clock is wrong)"
  return [
    off > WRONG_MS
      ? fail("clock", `${difference}: rules with dates and time-based ids are wrong.`, remedy)
      : off > NOTICEABLE_MS
        ? warn("clock", `${difference}.`, remedy)
        : ok("clock", "The server's clock and this machine's agree.")
  ]
})

export const organizations: Check = ({ inspection, owner }) =>
  inspection.schemaVersion === 0
    ? Effect.succeed([])
    : Effect.map(
        owner<{ slug: string; policy: boolean; member: boolean }>`
          SELECT o.slug, o.policy_version IS NOT NULL AS policy, EXISTS (SELECT FROM max.memberships m
            WHERE m.organization_id = o.organization_id AND m.suspended_at IS NULL) AS member
          FROM max.organizations o
          WHERE ${owner.literal(inspection.schemaVersion < SCHEMA_VERSION ? "true" : `NOT ${isClosed("o.organization_id")}`)} ORDER BY o.slug`,
        (rows) => {
          const without = (what: "policy" | "member") => rows.filter((row) => !row[what]).map(({ slug }) => slug)
          const [noPolicy, noMember] = [without("policy"), without("member")]
          if (rows.length === 0)
            return [
              warn(
                "organizations",
                "There is none yet.",
                "max init --org SLUG --country US --time-zone America/New_York"
              )
            ]
          return [
            ...(noPolicy.length > 0
              ? [
                  warn(
                    "organizations",
                    `No member sees anything in ${some(noPolicy)}: there is no policy.`,
                    `max policy publish policy.json --org ${noPolicy[0]}`
                  )
                ]
              : []),
            ...(noMember.length > 0
              ? [
                  warn(
                    "organizations",
                    `No person is admitted to ${some(noMember)}: there is no member.`,
                    `max member add EMAIL --role admin --org ${noMember[0]}`
                  )
                ]
              : []),
            ...(noPolicy.length + noMember.length === 0
              ? [ok("organizations", `${rows.length}, each with a policy and members.`)]
              : [])
          ]
        }
      )
