/** One organization's move between two databases: both sides, and the rows of `max.moves` that say how far it is. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { identifier } from "../../../database/sql/SqlWriter.ts"
import { encodeId } from "../../../domain/ids.ts"
import { printable } from "../../../domain/text.ts"
import type { TableShape } from "../backup/TableShape.ts"

export interface Side {
  readonly owner: PgClient.PgClient
  /** `host:port/database`, without user and password, or an embedded server's folder in words. */
  readonly place: string
}

export interface Moving {
  readonly id: bigint
  readonly slug: string
  readonly source: Side
  readonly target: Side
  /** The number of this run. A run goes on only while both rows have its number, so that of two commands one ends. */
  readonly run: bigint
  /** The tables that move, each after those that it references. */
  readonly tables: ReadonlyArray<TableShape>
  /** Reports a step to the person at the terminal. */
  readonly say: (line: string) => Effect.Effect<void>
}

/** The name of an organization's publication, slot, subscription and triggers. */
export const nameFor = (id: bigint): string => `max_move_${encodeId(id)}`

export const quotedName = (id: bigint): string => identifier(nameFor(id))

export interface MoveRow {
  readonly slug: string
  readonly incoming: boolean
  readonly place: string
  readonly closed: boolean
  readonly moved: boolean
  readonly cleaned: boolean
}

export const readMove = (sql: PgClient.PgClient, id: bigint) =>
  Effect.map(
    sql<MoveRow>`SELECT slug, incoming, place, closed, moved_at IS NOT NULL AS moved, cleaned_at IS NOT NULL AS cleaned
      FROM max.moves WHERE organization_id = ${id}`,
    ([row]) => row
  )

const EMBEDDED = "the embedded Postgres in "

/** The place of an embedded server, whose address is a socket that differs from machine to machine. */
export const embeddedPlace = (folder: string): string => `${EMBEDDED}${folder}`

/** The folder of an embedded server's place; undefined for a server's address. */
export const folderOf = (place: string): string | undefined =>
  place.startsWith(EMBEDDED) ? place.slice(EMBEDDED.length) : undefined

/** How a command is led to a place, after "with". */
export const settingsFor = (place: string): string => {
  const folder = folderOf(place)
  return folder === undefined ? "DATABASE_URL set to it" : `MAX_DATA_DIR=${printable(folder)}, without DATABASE_URL`
}

/** The address of a server for people: without a user, a password and parameters. */
export const placeOf = (connect: PgClient.PgClientConfig): string => {
  const { host, port, database } = addressOf(connect)
  return `${host}:${port}/${database}`
}

/** The parts of an address, from a URL or from separate settings. */
const addressOf = (connect: PgClient.PgClientConfig) => {
  const url = connect.url === undefined ? undefined : new URL(Redacted.value(connect.url))
  const text = (part: string | undefined) => (part === undefined || part === "" ? undefined : decodeURIComponent(part))
  const user = connect.username ?? text(url?.username)
  return {
    host: url?.searchParams.get("host") ?? text(url?.hostname) ?? connect.host ?? "localhost",
    port: url?.searchParams.get("port") ?? text(url?.port) ?? String(connect.port ?? 5432),
    user,
    database: text(url?.pathname.slice(1)) ?? connect.database ?? user ?? "postgres",
    password:
      connect.password === undefined
        ? text(url?.password)
        : Redacted.value(connect.password as Redacted.Redacted<string>),
    parameters: url?.searchParams ?? new URLSearchParams()
  }
}

const PASSED_ON = ["sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "channel_binding", "connect_timeout"]

/** The connection string of the subscription: the source as the target's server reaches it. It contains the password. */
export const connectionString = (
  connect: PgClient.PgClientConfig,
  user: string,
  name: string
): Redacted.Redacted<string> => {
  const { database, host, parameters, password, port, user: named } = addressOf(connect)
  const parts: ReadonlyArray<readonly [string, string | null | undefined]> = [
    ["host", host],
    ["port", port],
    ["dbname", database],
    ["user", named ?? user],
    ["password", password],
    ["application_name", name],
    ...PASSED_ON.map((key) => [key, parameters.get(key)] as const)
  ]
  return Redacted.make(
    parts
      .flatMap(([key, value]) =>
        value === undefined || value === null ? [] : [`${key}='${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`]
      )
      .join(" ")
  )
}
