/** Connects other programs to Max's database, as the reading role. */
import type { PgClient } from "@effect/sql-pg"
import { Redacted } from "effect"

export interface Outside {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string
}

/** A client's connection settings. */
export const outside = ({ config }: Pick<PgClient.PgClient, "config">): Outside => {
  const url = config.url === undefined ? undefined : new URL(Redacted.value(config.url))
  const password = Redacted.isRedacted(config.password) ? String(Redacted.value(config.password)) : undefined
  return {
    host: config.host ?? url?.searchParams.get("host") ?? url?.hostname ?? "localhost",
    port: config.port ?? Number(url?.searchParams.get("port") ?? (url?.port || 5432)),
    database: config.database ?? url?.pathname.slice(1) ?? "postgres",
    user: config.username ?? decodeURIComponent(url?.username ?? ""),
    password: password ?? decodeURIComponent(url?.password ?? "")
  }
}

export const urlOf = ({ database, host, password, port, user }: Outside): string =>
  `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host.startsWith("/") ? "localhost" : host}:${port}/${database}` +
  (host.startsWith("/") ? `?host=${encodeURIComponent(host)}&port=${port}` : "")
