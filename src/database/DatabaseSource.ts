/** Where the connections lead: the address of one database and its owner's credentials. */
import type { PgClient } from "@effect/sql-pg"
import { Context, Layer, Redacted } from "effect"
import type { Env } from "../env.ts"

/** The settings that locate a database: a URL or, without one, the data folder of the embedded server. */
export type Location = Pick<Env["Service"], "databaseUrl" | "dataDir" | "stateDir">

/** How to connect as the owner. The passwords of the other roles derive from the owner's, so it must be a constant. */
export interface Connection extends Omit<PgClient.PgClientConfig, "password"> {
  readonly password?: Redacted.Redacted<string> | undefined
}

export interface Source {
  /** Max migrates an embedded database without being asked, and its data folder is on this machine. */
  readonly embedded: boolean
  readonly connect: PgClient.PgClientConfig
  readonly password: Redacted.Redacted<string> | undefined
  /** One line for the person at the terminal, such as where the data is when the configured folder can't be used. */
  readonly notice?: string
}

/** A server that is already running. A password in the URL applies when the connection has none. */
export const sourceOf = (connect: Connection): Source => {
  const inUrl = connect.url === undefined ? "" : new URL(Redacted.value(connect.url)).password
  const password = connect.password ?? (inUrl === "" ? undefined : Redacted.make(decodeURIComponent(inUrl)))
  return { embedded: false, connect, password }
}

export class DatabaseSource extends Context.Service<DatabaseSource, Source>()("max/database/DatabaseSource") {
  static readonly layerOf = (connect: Connection) => Layer.sync(DatabaseSource, () => sourceOf(connect))
}
