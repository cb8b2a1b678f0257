/**
 * The connections. Lookups run as a role that can only read, on two pools: equality on indexed keys shares one
 * pipelined connection, everything else has a pool whose statements can be cancelled. Writes run as another role,
 * migrations and table definitions as the owner.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import { ConfigurationError, Unavailable } from "../domain/errors.ts"
import { Env } from "../env.ts"
import { type EmbeddedServerError, start } from "./embedded/EmbeddedServer.ts"
import { type StatementPool, makeStatementPool } from "./StatementPool.ts"
import { inspect, type Inspection, migrate, requireCurrent, rolePassword, rolesOf } from "./migrate.ts"
import { SCHEMA_VERSION } from "./migrations/index.ts"

/** A database, and how to get into it. */
export interface Source {
  /** Whether Max made this database, and may therefore migrate it by itself. */
  readonly own: boolean
  readonly connect: PgClient.PgClientConfig
  readonly password: Redacted.Redacted<string> | undefined
  readonly notice?: string
}

const SESSION = { search_path: "pg_catalog, pg_temp", timezone: "UTC", jit: "off", lock_timeout: "10s" }

/** Where a database is: at a URL, or in the data folder of Max's own Postgres. */
export type Whereabouts = Pick<Env["Service"], "databaseUrl" | "dataDir" | "stateDir">

/** How to connect as the owner; the passwords of the other roles are made from the owner's, which therefore is a text. */
export interface Connection extends Omit<PgClient.PgClientConfig, "password"> {
  readonly password?: Redacted.Redacted<string> | undefined
}

const given = (connect: Connection): Source => {
  const inUrl = connect.url === undefined ? "" : new URL(Redacted.value(connect.url)).password
  const password = connect.password ?? (inUrl === "" ? undefined : Redacted.make(decodeURIComponent(inUrl)))
  return { own: false, connect, password }
}

const source = Effect.fnUntraced(function* (
  env: Whereabouts
): Effect.fn.Return<Source, EmbeddedServerError, Scope.Scope> {
  if (env.databaseUrl !== undefined) return given({ url: env.databaseUrl })
  const server = yield* start({ dataDir: env.dataDir, stateDir: env.stateDir })
  return {
    own: true,
    connect: {
      host: server.socketDir,
      port: server.port,
      database: server.database,
      username: server.username,
      password: server.password
    },
    password: server.password,
    ...(server.notice === undefined ? {} : { notice: server.notice })
  }
})

const ownerClient = (from: Source) =>
  PgClient.make({
    ...from.connect,
    applicationName: "max owner",
    maxConnections: 2,
    // A backup reads whole rows.
    maxMessageSize: 256 * 1024 * 1024,
    startupParameters: { ...SESSION, client_min_messages: "warning" }
  })

/** The owner's connection to a database that may not be migrated yet: for migrating, moving and looking after it. */
export const connectOwner = (where: Whereabouts) =>
  Effect.gen(function* () {
    const from = yield* source(where)
    return { ...from, owner: yield* ownerClient(from) }
  }).pipe(Effect.provide(Reactivity.layer))

const credentials = (from: Source, role: string) => {
  const password = rolePassword(from.password, role)
  return { ...from.connect, username: role, ...(password === undefined ? {} : { password }) }
}

/** One connection as one of the roles that lookups and writes run as. */
export const connectAs = (from: Source, role: string) =>
  PgClient.make({
    ...credentials(from, role),
    applicationName: "max doctor",
    maxConnections: 1,
    startupParameters: SESSION
  }).pipe(
    Effect.tap((client) => client`SELECT 1`),
    Effect.provide(Reactivity.layer)
  )

/** The owner's connection to the configured database. */
export const forMigration = Env.pipe(Effect.flatMap(connectOwner), Effect.mapError(startFailure))

function startFailure(
  error: EmbeddedServerError | SqlError.SqlError | ConfigurationError
): ConfigurationError | Unavailable {
  if (error._tag === "EmbeddedServerError") return new ConfigurationError({ message: error.message })
  if (error._tag === "ConfigurationError") return error
  return error.reason._tag === "AuthenticationError"
    ? new ConfigurationError({ message: "DATABASE_URL: the database refused this user or password." })
    : Unavailable.error
}

export class Database extends Context.Service<
  Database,
  {
    /** One pipelined connection for equality on indexed keys; its statements end after the lookup timeout. */
    readonly lookup: StatementPool
    /** A pool for every other read. */
    readonly search: PgClient.PgClient
    /** How many connections searches have. */
    readonly searchConnections: number
    /** Writes of organization data. */
    readonly app: PgClient.PgClient
    /** Traces, which never stand in the way of anything else. */
    readonly traces: PgClient.PgClient
    /** One pipelined connection for what every request from outside asks first: who it is and how often it called. */
    readonly admission: PgClient.PgClient
    /** Table definitions. */
    readonly owner: PgClient.PgClient
    /** One line that a person should see, such as where the data is when it isn't where they asked. */
    readonly notice?: string
  }
>()("max/database/Database") {
  /** The configured database. */
  static readonly layer: Layer.Layer<Database, ConfigurationError | Unavailable, Env> = Layer.effect(
    Database,
    Env.pipe(Effect.flatMap(source), Effect.mapError(startFailure), Effect.flatMap(connections))
  )

  /** A database that is connected to as the owner says: what else the connections need is added. */
  static readonly layerFrom = (connect: Connection): Layer.Layer<Database, ConfigurationError | Unavailable, Env> =>
    Layer.effect(Database, connections(given(connect)))
}

function connections(
  from: Source
): Effect.Effect<Database["Service"], ConfigurationError | Unavailable, Env | Scope.Scope> {
  return Effect.gen(function* () {
    const env = yield* Env
    const owner = yield* ownerClient(from)
    const inspection = yield* prepared(owner, from)
    const roles = inspection.rolesExist ? rolesOf(inspection.database) : undefined
    if (roles === undefined)
      yield* Effect.logWarning("Lookups run as the database's owner, because the reading role doesn't exist.")
    const as = (role: string | undefined) => (role === undefined ? from.connect : credentials(from, role))
    const reading = (timeout: number) => ({
      ...SESSION,
      default_transaction_read_only: "on",
      statement_timeout: String(timeout)
    })
    return Database.of({
      owner,
      searchConnections: env.searchConnections,
      lookup: yield* makeStatementPool({
        ...as(roles?.read),
        applicationName: "max lookup",
        spanAttributes: { "max.pool": "lookup" },
        // A small table, such as the organizations', is read from end to end otherwise: cheap once, dear each time.
        startupParameters: { ...reading(env.lookupTimeout), enable_seqscan: "off" },
        multiplex: true,
        maxConnections: 1,
        preparedStatementCacheSize: 500
      }),
      search: yield* PgClient.make({
        // A generic plan can't know a pattern or a bound; planning again costs less than the wrong index.
        ...as(roles?.read),
        applicationName: "max search",
        spanAttributes: { "max.pool": "search" },
        startupParameters: { ...reading(env.searchTimeout), plan_cache_mode: "force_custom_plan" },
        maxConnections: env.searchConnections,
        preparedStatementCacheSize: 500
      }),
      app: yield* PgClient.make({
        ...as(roles?.app),
        applicationName: "max app",
        spanAttributes: { "max.pool": "app" },
        startupParameters: SESSION,
        maxConnections: 2
      }),
      traces: yield* PgClient.make({
        ...as(roles?.app),
        applicationName: "max traces",
        // Summing up twenty thousand traces counts all of their spans in memory.
        startupParameters: { ...SESSION, statement_timeout: "10000", synchronous_commit: "off", work_mem: "16MB" },
        maxConnections: 1
      }),
      admission: yield* PgClient.make({
        ...as(roles?.app),
        applicationName: "max admission",
        // A count that a crash loses is no loss; waiting for the disk on every request would be one. What is asked here
        // has one sensible plan, and lists of ids make Postgres look for another one each time.
        startupParameters: {
          ...SESSION,
          statement_timeout: "5000",
          synchronous_commit: "off",
          plan_cache_mode: "force_generic_plan"
        },
        multiplex: true,
        maxConnections: 1
      }),
      ...(from.notice === undefined ? {} : { notice: from.notice })
    })
  }).pipe(Effect.provide(Reactivity.layer), Effect.mapError(startFailure))
}

const prepared = Effect.fnUntraced(function* (owner: PgClient.PgClient, from: Source) {
  const inspection = yield* inspect(owner)
  if (from.own && inspection.schemaVersion < SCHEMA_VERSION) {
    yield* migrate(owner, from.password)
    return { ...inspection, rolesExist: true } satisfies Inspection
  }
  yield* requireCurrent(inspection)
  return inspection
})
