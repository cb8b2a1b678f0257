/** Checks an installation read-only. Each finding names the command or statement that repairs it. */
import { Effect, Redacted, type Scope } from "effect"
import { SqlError } from "effect/sql"
import { connectOwner } from "../../database/Database.ts"
import type { Location, Source } from "../../database/DatabaseSource.ts"
import { faultOf } from "../../database/fault.ts"
import { inspect } from "../../database/migrate.ts"
import type { ConfigurationError, OperatorError } from "../../domain/errors.ts"
import { type Check, fail, type Finding, ok } from "./doctor/Finding.ts"
import { mappedTables } from "./doctor/mapped.ts"
import { clock, connections, extensions, organizations, postgres, schema } from "./doctor/server.ts"
import { disk } from "./doctor/disk.ts"
import { standbys } from "./doctor/standbys.ts"
import { indexes, statistics, tables } from "./doctor/tables.ts"
import { approvers } from "./doctor/approvers.ts"
import { moves } from "./doctor/moves.ts"
import { pooler } from "./doctor/pool.ts"
import { replicas } from "./doctor/replicas.ts"
import { roles } from "./doctor/roles.ts"
import { secrets } from "./doctor/secrets.ts"

export type { Finding } from "./doctor/Finding.ts"

/** In the order of the report. A new requirement of an installation is a new line here. */
const CHECKS: ReadonlyArray<readonly [name: string, check: Check]> = [
  ["postgres", postgres],
  ["schema", schema],
  ["extensions", extensions],
  ["roles", roles],
  ["pooler", pooler],
  ["organizations", organizations],
  ["moves", moves],
  ["secrets", secrets],
  ["webhooks", approvers],
  ["tables", tables],
  ["indexes", indexes],
  ["mapped tables", mappedTables],
  ["statistics", statistics],
  ["connections", connections],
  ["standbys", standbys],
  ["replicas", replicas],
  ["disk", disk],
  ["clock", clock]
]

const DEADLINE = "20 seconds"

export interface Installation {
  readonly location: Location
  /** Opens the database; undefined when there is none yet. */
  readonly source: Effect.Effect<Source | undefined, ConfigurationError, Scope.Scope>
  /** The key that seals secrets; undefined when there is none yet. */
  readonly sealingKey: Effect.Effect<Uint8Array | undefined, OperatorError>
  readonly searchConnections: number
  readonly poolUrl?: Redacted.Redacted<string> | undefined
  readonly replicaUrls?: ReadonlyArray<Redacted.Redacted<string>> | undefined
}

/** Examines the configured database, from the connection to the clock. Never fails: a failure is a finding. */
export const examine = Effect.fn("Doctor.examine")(
  ({ location, poolUrl, replicaUrls, sealingKey, searchConnections, source }: Installation) =>
    Effect.gen(function* () {
      const from = yield* source
      if (from === undefined)
        return [
          ok(
            "connection",
            "There is no database yet. Max creates its own when a command needs one.",
            "max init",
            "max demo"
          )
        ]
      const { owner } = yield* connectOwner(from)
      const inspection = yield* inspect(owner)
      const database = { from, owner, inspection, sealingKey, searchConnections, poolUrl, replicaUrls }
      const findings = yield* Effect.forEach(CHECKS, ([name, check]) =>
        check(database).pipe(
          Effect.catchTag("SqlError", (error) =>
            Effect.succeed([fail(name, `This couldn't be checked: ${faultOf(error).reason}.`)])
          )
        )
      )
      return [ok("connection", `${placeOf(location)} answers.`), ...findings.flat()]
    }).pipe(
      Effect.scoped,
      Effect.catch((error) => Effect.succeed([unreachable(location, error)])),
      Effect.timeoutOrElse({
        duration: DEADLINE,
        orElse: () => Effect.succeed([fail("connection", `${placeOf(location)} doesn't answer within ${DEADLINE}.`)])
      })
    )
)

const placeOf = ({ dataDir, databaseUrl }: Location): string => {
  if (databaseUrl === undefined) return `The embedded Postgres in ${dataDir}`
  const url = new URL(Redacted.value(databaseUrl))
  const host = url.searchParams.get("host") ?? url.hostname
  return `The database ${decodeURIComponent(url.pathname.slice(1)) || "of that user's name"} at ${host === "" ? "this machine" : host}:${url.searchParams.get("port") ?? (url.port || "5432")}`
}

const unreachable = (location: Location, error: SqlError.SqlError | ConfigurationError): Finding => {
  if (!SqlError.isSqlError(error)) return fail("connection", error.message)
  const { code, reason } = faultOf(error)
  return fail("connection", `${placeOf(location)} can't be used: ${reason}.`, ...(MENDS[code ?? ""] ?? OTHERWISE))
}

const URL_SHAPE = "DATABASE_URL=postgres://USER:PASSWORD@HOST:5432/DATABASE"
const OTHERWISE = [`Is the server running, and is this right? ${URL_SHAPE}`]
const UNKNOWN_SIGNER = ["NODE_EXTRA_CA_CERTS=/path/to/the-server's-ca.pem"]
const MENDS: Readonly<Record<string, ReadonlyArray<string>>> = {
  "28P01": [URL_SHAPE],
  "28000": [URL_SHAPE],
  "3D000": ["CREATE DATABASE max; (or correct the name at the end of DATABASE_URL)"],
  "53300": ["ALTER SYSTEM SET max_connections = 200; (then restart Postgres)", "MAX_SEARCH_CONNECTIONS=2"],
  "08P01": [
    "DATABASE_URL=postgres://… (the server's own address; a pooler refuses startup parameters)",
    "MAX_POOL_URL=postgres://HOST:6432/DATABASE (the pooler's)"
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_SIGNER,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_SIGNER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_SIGNER
}
