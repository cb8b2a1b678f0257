/**
 * Connections through PgBouncer, in session or transaction mode: a transaction's server connection isn't the next one's, so
 * statements are sent unnamed, and settings come from the roles instead of startup parameters, which PgBouncer refuses.
 */
import { type PgClient } from "@effect/sql-pg"
import { Redacted } from "effect"
import type { Source } from "./DatabaseSource.ts"

type Config = PgClient.PgClientConfig

/** What PgBouncer restores on a server connection for each client. */
const TRACKED = { timezone: "UTC" }

/** The same database at another address: PgBouncer's or a standby's. */
export const at = (connect: Config, poolUrl: Redacted.Redacted<string>, defaultPort: string): Config => {
  const pool = new URL(Redacted.value(poolUrl))
  const address = new URL(connect.url === undefined ? "postgres://localhost/" : Redacted.value(connect.url))
  for (const name of ["host", "hostaddr", "port"]) address.searchParams.delete(name)
  address.hostname = pool.hostname
  address.port = pool.port === "" ? defaultPort : pool.port
  if (pool.pathname.length > 1) address.pathname = pool.pathname
  for (const [name, value] of pool.searchParams) address.searchParams.set(name, value)
  return { ...connect, host: undefined, port: undefined, path: undefined, url: Redacted.make(address.href) }
}

export interface Through {
  readonly source: Source
  /** The configuration of a client, as it is sent this way. */
  readonly client: <A extends Config>(config: A) => A
}

/** How the roles of reads and writes connect: to the server, or through PgBouncer. */
export const through = (source: Source, poolUrl: Redacted.Redacted<string> | undefined): Through =>
  poolUrl === undefined
    ? { source, client: (config) => config }
    : {
        source: { ...source, connect: at(source.connect, poolUrl, "6432") },
        client: (config) => ({ ...config, prepare: false, startupParameters: TRACKED })
      }
