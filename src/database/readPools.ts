/** The connections of lookups and searches: to the primary, and to each of its standbys. */
import { PgClient } from "@effect/sql-pg"
import { type Duration, Effect, type Redacted } from "effect"
import type { Env } from "../env.ts"
import { at } from "./pooled.ts"
import { makeStatementPool, type StatementPool } from "./StatementPool.ts"
import { watchedSocket } from "./watchedSocket.ts"

/** Settings of every connection. */
export const SESSION = {
  search_path: "pg_catalog, pg_temp",
  timezone: "UTC",
  jit: "off",
  lock_timeout: "10s",
  // Every statement sees what was committed before it took its locks.
  default_transaction_isolation: "read committed"
}

export interface ReadPools {
  /** One pipelined connection for equality on indexed keys; statements time out after `MAX_LOOKUP_TIMEOUT`. */
  readonly lookup: StatementPool
  /** A second one, for organizations with many or slow lookups (`LookupQueue.ts`). */
  readonly busyLookup: StatementPool
  /** Every other read. */
  readonly search: PgClient.PgClient
}

/** Most statements of a connection follow each other: they all wait for the same lock. */
const LOOKUP_LOCK_TIMEOUT = 50
export const SEARCH_LOCK_TIMEOUT = 250

/** A statement that waits for a lock keeps its connection from the others: see `RelationLocks`. */
export const reading = (timeout: number, lockTimeout: number) => ({
  ...SESSION,
  lock_timeout: String(Math.min(lockTimeout, Math.floor(timeout / 2))),
  default_transaction_read_only: "on",
  statement_timeout: String(timeout)
})

type Config = PgClient.PgClientConfig

interface Server {
  /** The address, with the credentials of the reading role. */
  readonly connect: Config
  /** Milliseconds. */
  readonly lookupTimeout: number
  readonly searchTimeout: number
  readonly searchConnections: number
  /** Milliseconds that an error may take to arrive after a timeout, before the connection counts as silent. */
  readonly grace: number
  /** Begins the name of its pools in traces. */
  readonly prefix?: string
  readonly connectTimeout?: Duration.Input
  /** How a configuration is sent there (`pooled.ts`). */
  readonly client?: <A extends Config>(config: A) => A
}

export const makeReadPools = Effect.fnUntraced(function* ({
  client = (config) => config,
  connect,
  connectTimeout,
  grace,
  lookupTimeout,
  prefix = "",
  searchConnections,
  searchTimeout
}: Server) {
  const common = (timeout: number) => ({
    ...connect,
    ...(connectTimeout === undefined ? {} : { connectTimeout }),
    stream: () => watchedSocket(connect, timeout + grace)
  })
  const lookups = () =>
    makeStatementPool(
      client({
        ...common(lookupTimeout),
        applicationName: "max lookup",
        spanAttributes: { "max.pool": `${prefix}lookup` },
        // Otherwise the planner scans small tables, such as max.organizations, on every lookup.
        startupParameters: {
          ...reading(lookupTimeout, LOOKUP_LOCK_TIMEOUT),
          enable_seqscan: "off",
          // The role's setting is for searches through PgBouncer.
          plan_cache_mode: "auto"
        },
        multiplex: true,
        maxConnections: 1,
        preparedStatementCacheSize: 500
      })
    )
  const search = yield* PgClient.make(
    client({
      // Patterns and bounds decide which index is right; planning each time costs less than the wrong one.
      ...common(searchTimeout),
      applicationName: "max search",
      spanAttributes: { "max.pool": `${prefix}search` },
      startupParameters: {
        ...reading(searchTimeout, SEARCH_LOCK_TIMEOUT),
        plan_cache_mode: "force_custom_plan",
        // Postgres's default is for spinning disks: Postgres 15 then scans whole tables for patterns that match most rows.
        random_page_cost: "1.1"
      },
      maxConnections: searchConnections,
      preparedStatementCacheSize: 500
    })
  )
  return { lookup: yield* lookups(), busyLookup: yield* lookups(), search } satisfies ReadPools
})

/** The longest search on a standby, in milliseconds: the primary then still has time to answer within the deadline. */
const STANDBY_SEARCH_TIMEOUT = 2500
/** Milliseconds. The primary answers for a standby that is silent, so it need not be waited for. */
const STANDBY_GRACE = 250

/** The same database at a standby's address, with the reading role's credentials. */
export const atReplica = (reader: Config, url: Redacted.Redacted<string>): Config => at(reader, url, "5432")

/** The connections to each standby of `MAX_REPLICA_URLS`. They open when they are needed, so a standby may be down. */
export const makeReplicas = (
  { lookupTimeout, replicaUrls, searchConnections, searchTimeout }: Env["Service"],
  reader: Config
) =>
  Effect.forEach(replicaUrls, (url) =>
    makeReadPools({
      connect: atReplica(reader, url),
      lookupTimeout,
      searchTimeout: Math.min(searchTimeout, STANDBY_SEARCH_TIMEOUT),
      searchConnections,
      grace: STANDBY_GRACE,
      prefix: "replica ",
      connectTimeout: "2 seconds"
    })
  )
