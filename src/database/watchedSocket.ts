/**
 * The socket of a Postgres connection, destroyed when the server stays silent for longer than a statement may take. A dead
 * machine, a hung server or a firewall that drops packets closes nothing, and a shared connection would fail every later
 * statement.
 */
import { Redacted } from "effect"
import { connect, type Socket } from "node:net"
import type { PgClient } from "@effect/sql-pg"

type Address = Pick<PgClient.PgClientConfig, "host" | "port" | "path" | "url">

/** TCP probes for connections whose statements may take any time. */
export const KEEP_ALIVE = "10 seconds"

/** `patience`: milliseconds from the first unanswered write to the socket's end. A reply that stalls half-way counts as an answer. */
export const watchedSocket = (address: Address, patience: number): Socket => {
  const socket = open(address)
  let unansweredSince: number | undefined
  let timer: NodeJS.Timeout | undefined
  const check = () => {
    timer = undefined
    if (unansweredSince === undefined || socket.destroyed) return
    const left = patience - (performance.now() - unansweredSince)
    if (left <= 0) socket.destroy(new Error("The database doesn't respond"))
    else timer = setTimeout(check, left + 1).unref()
  }
  const write = socket.write.bind(socket) as (...args: Array<unknown>) => boolean
  socket.write = ((...args: Array<unknown>) => {
    if (unansweredSince === undefined) {
      unansweredSince = performance.now()
      // One timer per patience, not per write: it checks what is unanswered when it fires.
      timer ??= setTimeout(check, patience).unref()
    }
    return write(...args)
  }) as Socket["write"]
  socket.on("data", () => {
    unansweredSince = undefined
  })
  return socket
}

/** Connects as the driver does without a `stream`. */
const open = ({ host, path, port, url }: Address): Socket => {
  const parsed = url === undefined ? undefined : new URL(Redacted.value(url))
  const parameters = parsed?.searchParams
  const inUrl = decodeURIComponent(parsed?.hostname.replace(/^\[|\]$/g, "") ?? "")
  const server = host ?? parameters?.get("host") ?? (inUrl === "" ? "localhost" : inUrl)
  const number = port ?? Number(parameters?.get("port") ?? (parsed?.port || 5432))
  const socketPath = path ?? (server.startsWith("/") ? `${server}/.s.PGSQL.${number}` : undefined)
  return socketPath === undefined
    ? connect({ host: server, port: number, noDelay: true })
    : connect({ path: socketPath })
}
