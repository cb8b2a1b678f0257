/** What went wrong in a database, in an operator's words: never the server's own message, which may repeat a row's values. */
import type { SqlError } from "effect/sql"

interface Fault {
  /** A clause, such as `nothing listens there`. */
  readonly reason: string
  /** Whether the server was reached at all. */
  readonly reached: boolean
  /** What Postgres or the system calls it, where they do. */
  readonly code: string | undefined
}

const SQL_STATES: Readonly<Record<string, string>> = {
  "28P01": "it refused this user or password",
  "28000": "it refused this user (pg_hba.conf says who may come from where)",
  "3D000": "it has no database of that name",
  "42501": "this user may not do that there",
  "42P07": "there is a table of that name already",
  "53100": "its disk is full",
  "53200": "it is out of memory or of locks (max doctor says how many it needs)",
  "53300": "it has no connection left",
  "55P03": "somebody else holds what this waits for (another max migrate, restore or move)",
  "57014": "it took longer than the server allows",
  "57P01": "it was shut down",
  "57P02": "it crashed",
  "57P03": "it is starting or stopping",
  "25006": "it can only be read, as a replica can"
}

const SYSTEM: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was lost",
  EPIPE: "the connection was lost",
  ENOTFOUND: "that host doesn't exist",
  EAI_AGAIN: "that host's name can't be looked up right now",
  ENOENT: "its socket isn't there",
  EACCES: "this user may not use its socket",
  EHOSTUNREACH: "that host can't be reached from here",
  ENETUNREACH: "that host can't be reached from here",
  ETIMEDOUT: "it doesn't answer",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by nobody that this machine knows",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by nobody that this machine knows",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by nobody that this machine knows",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is another host's"
}

export const faultOf = ({ reason }: SqlError.SqlError): Fault => {
  const code = codeOf(reason.cause)
  const known = code === undefined ? undefined : (SQL_STATES[code] ?? SYSTEM[code])
  const reached = code !== undefined && /^[0-9A-Z]{5}$/.test(code) && SYSTEM[code] === undefined
  const said =
    reason._tag === "AuthenticationError"
      ? "it refused this user or password"
      : reason._tag === "ConnectionError"
        ? /timed out/i.test(reason.message ?? "")
          ? "it doesn't answer"
          : "the connection was lost"
        : `it refused (${code ?? reason._tag})`
  return { reason: known ?? said, reached: reached || reason._tag === "AuthenticationError", code }
}

/** A cause's code; an attempt at several addresses has one per address. */
const codeOf = (cause: unknown): string | undefined => {
  if (typeof cause !== "object" || cause === null) return undefined
  if ("code" in cause && typeof cause.code === "string") return cause.code
  return cause instanceof AggregateError ? codeOf(cause.errors[0]) : undefined
}
