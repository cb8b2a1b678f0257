/**
 * Connection pools, each with the least-privileged role for its statements. Reads run as a read-only role: equality on
 * indexed keys shares pipelined connections, other reads use a pool whose statements can be cancelled. Writes run as
 * another role; migrations and table definitions as the owner.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Redacted, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import { ConfigurationError, Unavailable } from "../domain/errors.ts"
import { Env } from "../env.ts"
import { type Connection, DatabaseSource, type Source } from "./DatabaseSource.ts"
import { classOf } from "./fault.ts"
import { through } from "./pooled.ts"
import { RelationLocks } from "./RelationLocks.ts"
import {
  atReplica,
  makeReadPools,
  makeReplicas,
  reading,
  type ReadPools,
  SEARCH_LOCK_TIMEOUT,
  SESSION
} from "./readPools.ts"
import { inspect, type Inspection, migrate, requireCurrent, rolePassword, rolesOf } from "./migrate.ts"
import { SCHEMA_VERSION } from "./migrations/index.ts"
import { KEEP_ALIVE, watchedSocket } from "./watchedSocket.ts"

/** Milliseconds. Every request waits for its admission. */
const ADMISSION_TIMEOUT = 2000
/** A second for the error of a timeout to arrive. */
const ERROR_GRACE = 1000
const TRACES_TIMEOUT = 10_000
const PROBE_LOCK_TIMEOUT = "20ms"
const CHANGES_TIMEOUT = 10_000
const DOCTOR_TIMEOUT = 5000
const FIGURES_TIMEOUT = 5000

const ownerClient = (source: Source) =>
  PgClient.make({
    ...source.connect,
    keepAlive: KEEP_ALIVE,
    applicationName: "max owner",
    maxConnections: 2,
    // A backup reads whole rows.
    maxMessageSize: 256 * 1024 * 1024,
    startupParameters: { ...SESSION, client_min_messages: "warning" }
  })

/** The owner's connection alone, to a database that may be unmigrated or older: for migrate, backup, move and doctor. */
export const connectOwner = (source: Source) =>
  Effect.map(ownerClient(source), (owner) => ({ ...source, owner })).pipe(Effect.provide(Reactivity.layer))

const credentials = (source: Source, role: string) => {
  const password = rolePassword(source.password, role)
  return { ...source.connect, username: role, ...(password === undefined ? {} : { password }) }
}

/** One connection as the role that lookups or writes run as, through PgBouncer if there is one. */
export const connectAs = (source: Source, role: string, poolUrl?: Redacted.Redacted<string>) => {
  const { client, source: reached } = through(source, poolUrl)
  return PgClient.make(
    client({
      ...credentials(reached, role),
      applicationName: "max doctor",
      maxConnections: 1,
      startupParameters: SESSION
    })
  ).pipe(
    Effect.tap((connected) => connected`SELECT 1`),
    Effect.provide(Reactivity.layer)
  )
}

/** One connection to a standby as the role that lookups run as, or as the owner where there are no roles. */
export const connectReplica = (source: Source, role: string | undefined, url: Redacted.Redacted<string>) =>
  PgClient.make({
    ...atReplica(role === undefined ? source.connect : credentials(source, role), url),
    applicationName: "max doctor",
    connectTimeout: "3 seconds",
    maxConnections: 1,
    startupParameters: reading(DOCTOR_TIMEOUT, SEARCH_LOCK_TIMEOUT)
  }).pipe(Effect.provide(Reactivity.layer))

/** A rejected password is the operator's to correct; any other failure is an unavailable database. */
export const connectionFailure = (
  error: SqlError.SqlError | ConfigurationError | Unavailable
): ConfigurationError | Unavailable => {
  if (error._tag !== "SqlError") return error
  return error.reason._tag === "AuthenticationError"
    ? new ConfigurationError({ message: "DATABASE_URL: the database refused this user or password." })
    : Unavailable.because(classOf(error))
}

export class Database extends Context.Service<
  Database,
  ReadPools & {
    /** Standbys, whose rows count only while they are the primary's (`replicaReads.ts`). */
    readonly replicas: ReadonlyArray<ReadPools>
    /** Groups and figures, which read many rows: on connections of their own, so that no lookup waits for a sum. */
    readonly figures: PgClient.PgClient | undefined
    /** The relations that reads wait for. */
    readonly locks: RelationLocks
    /** The size of the search pool. */
    readonly searchConnections: number
    /** Writes of organization data. */
    readonly app: PgClient.PgClient
    /**
     * Changes, which lock rows: connections of their own, so that nothing else waits for them, with short timeouts.
     */
    readonly changes: PgClient.PgClient
    /** The role that a change writes rows as, within its transaction; undefined where the roles don't exist. */
    readonly changeRole: string | undefined
    /** Trace storage, on a separate connection, so that it never delays a request. */
    readonly traces: PgClient.PgClient
    /** One pipelined connection for the first statement of every request: credentials and call counts. */
    readonly admission: PgClient.PgClient
    /** Table definitions. */
    readonly owner: PgClient.PgClient
    /** See `Source`. */
    readonly notice?: string
  }
>()("max/database/Database") {
  static readonly layer: Layer.Layer<Database, ConfigurationError | Unavailable, Env | DatabaseSource> = Layer.effect(
    Database,
    Effect.suspend(() => connections)
  )

  /** Connects to a running server with the owner's connection settings. */
  static readonly layerFrom = (connect: Connection): Layer.Layer<Database, ConfigurationError | Unavailable, Env> =>
    Layer.provide(Database.layer, DatabaseSource.layerOf(connect))
}

const connections: Effect.Effect<
  Database["Service"],
  ConfigurationError | Unavailable,
  Env | DatabaseSource | Scope.Scope
> = Effect.gen(function* () {
  const env = yield* Env
  const source = yield* DatabaseSource
  const owner = yield* ownerClient(source)
  const inspection = yield* migratedInspection(owner, source)
  const roles = inspection.rolesExist ? rolesOf(inspection.database) : undefined
  if (roles === undefined)
    yield* Effect.logWarning("Lookups run as the database's owner, because the read-only role doesn't exist.")
  const { client, source: reached } = through(source, roles === undefined ? undefined : env.poolUrl)
  const as = (role: string | undefined) => (role === undefined ? source.connect : credentials(reached, role))
  const watched = (timeout: number) => ({ stream: () => watchedSocket(reached.connect, timeout + ERROR_GRACE) })
  const pools = yield* makeReadPools({
    connect: as(roles?.read),
    client,
    lookupTimeout: env.lookupTimeout,
    searchTimeout: env.searchTimeout,
    searchConnections: env.searchConnections,
    grace: ERROR_GRACE
  })
  const { search } = pools
  const figures =
    env.figures === "off" || env.figureConnections === 0
      ? undefined
      : yield* PgClient.make(
          client({
            ...as(roles?.read),
            ...watched(FIGURES_TIMEOUT),
            applicationName: "max figures",
            spanAttributes: { "max.pool": "figures" },
            startupParameters: {
              ...reading(FIGURES_TIMEOUT, SEARCH_LOCK_TIMEOUT),
              plan_cache_mode: "force_custom_plan",
              random_page_cost: "1.1",
              work_mem: "64MB"
            },
            maxConnections: env.figureConnections,
            preparedStatementCacheSize: 100
          })
        )
  // PREPARE takes the locks of a statement without planning it, which could run functions of a mapped relation (ADR 14).
  const probe = (relation: string) =>
    Effect.gen(function* () {
      yield* search`SELECT set_config('lock_timeout', ${PROBE_LOCK_TIMEOUT}, true)`
      yield* search.unsafe(`PREPARE max_lock_probe AS /* max lock probe */ SELECT FROM ${relation}`).unprepared
      yield* search.unsafe("DEALLOCATE max_lock_probe").unprepared
    }).pipe(search.withTransaction)
  return Database.of({
    owner,
    searchConnections: env.searchConnections,
    ...pools,
    replicas: yield* makeReplicas(env, roles === undefined ? source.connect : credentials(source, roles.read)),
    figures,
    locks: new RelationLocks(probe, { lookup: env.lookupTimeout, search: env.searchTimeout }),
    app: yield* PgClient.make(
      client({
        ...as(roles?.app),
        keepAlive: KEEP_ALIVE,
        applicationName: "max app",
        spanAttributes: { "max.pool": "app" },
        startupParameters: SESSION,
        maxConnections: 2
      })
    ),
    changeRole: inspection.changeRoleExists ? rolesOf(inspection.database).change : undefined,
    changes: yield* PgClient.make(
      client({
        ...as(roles?.app),
        ...watched(CHANGES_TIMEOUT),
        applicationName: "max changes",
        spanAttributes: { "max.pool": "changes" },
        startupParameters: {
          ...SESSION,
          lock_timeout: "2s",
          statement_timeout: String(CHANGES_TIMEOUT),
          idle_in_transaction_session_timeout: String(CHANGES_TIMEOUT)
        },
        maxConnections: 4
      })
    ),
    traces: yield* PgClient.make(
      client({
        ...as(roles?.app),
        ...watched(TRACES_TIMEOUT),
        applicationName: "max traces",
        // Aggregates over all stored traces hash every span name in memory.
        startupParameters: {
          ...SESSION,
          statement_timeout: String(TRACES_TIMEOUT),
          synchronous_commit: "off",
          work_mem: "16MB"
        },
        maxConnections: 1
      })
    ),
    admission: yield* PgClient.make(
      client({
        ...as(roles?.app),
        ...watched(ADMISSION_TIMEOUT),
        applicationName: "max admission",
        // Call counts may be lost in a crash, so commits don't wait for the disk. Each statement has one sensible plan;
        // with arrays of ids as parameters Postgres would otherwise keep replanning.
        startupParameters: {
          ...SESSION,
          statement_timeout: String(ADMISSION_TIMEOUT),
          synchronous_commit: "off",
          plan_cache_mode: "force_generic_plan"
        },
        multiplex: true,
        maxConnections: 1
      })
    ),
    ...(source.notice === undefined ? {} : { notice: source.notice })
  })
}).pipe(Effect.provide(Reactivity.layer), Effect.mapError(connectionFailure))

const migratedInspection = Effect.fnUntraced(function* (owner: PgClient.PgClient, source: Source) {
  const inspection = yield* inspect(owner)
  if (source.embedded && inspection.schemaVersion < SCHEMA_VERSION) {
    yield* migrate(owner, source.password)
    return { ...inspection, rolesExist: true, changeRoleExists: true } satisfies Inspection
  }
  if (inspection.inRecovery) {
    yield* Effect.logWarning("The database is a standby. Set DATABASE_URL to its primary.")
    return yield* Unavailable.error
  }
  yield* requireCurrent(inspection)
  return inspection
})
