/** Words a database failure for operators. Never includes the server's message, which may quote values of a row. */
import type { SqlError } from "effect/sql"

interface Fault {
  /** A clause, such as `nothing listens at this address`. */
  readonly reason: string
  /** Whether the server answered. */
  readonly reached: boolean
  /** The SQLSTATE or the system's error code, if there is one. */
  readonly code: string | undefined
}

const SQL_STATES: Readonly<Record<string, string>> = {
  "08P01": "it refuses a startup parameter, as a pooler does",
  "28P01": "it refused this user or password",
  "28000": "it refused this user (pg_hba.conf controls access by user and address)",
  "3D000": "it has no database of that name",
  "42501": "this user lacks the privilege",
  "42703": "a column that it reads doesn't exist",
  "42883": "a function that it calls doesn't exist",
  "42P01": "a table or view that it reads doesn't exist",
  "42P07": "a table of that name exists already",
  "53100": "its disk is full",
  "53200": "it is out of memory or of locks (max doctor shows how many it needs)",
  "53300": "it has no connection left",
  "55P03": "another client holds a lock (such as another max migrate, restore or move)",
  "57014": "it took longer than the server allows",
  "57P01": "it was shut down",
  "57P02": "it crashed",
  "57P03": "it is starting or stopping",
  "25006": "it is read-only, such as a replica",
  MX001: "a mapped table isn't the one that was mapped (max map diff)",
  MX002: "the organization is being moved to another database (max doctor)"
}

const SYSTEM: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at this address",
  ECONNRESET: "the connection was lost",
  EPIPE: "the connection was lost",
  ENOTFOUND: "that host doesn't exist",
  EAI_AGAIN: "that host's name can't be looked up right now",
  ENOENT: "its socket doesn't exist",
  EACCES: "this user may not use its socket",
  EHOSTUNREACH: "that host can't be reached from here",
  ENETUNREACH: "that host can't be reached from here",
  ETIMEDOUT: "it doesn't answer",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate has an unknown issuer",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate has an unknown issuer",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate has an unknown issuer",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host"
}

/**
 * Words a cause of `Unavailable` that is a state of the whole server: no resources (class 53), or that it starts or stops (57P).
 * Other causes may be about one table.
 */
export const serverFault = (cause: unknown): string | undefined =>
  typeof cause === "string" && /^(53|57P)/.test(cause) ? SQL_STATES[cause] : undefined

/** Whether Postgres refused to plan a statement because a mapped relation isn't what was mapped (`max.held`). */
export const isReplaced = (error: SqlError.SqlError): boolean => codeOf(error.reason.cause) === "MX001"

/** Besides that: a relation, a column or a schema is gone, has another name, or isn't granted. */
const DRIFT: ReadonlyArray<unknown> = ["MX001", "42P01", "42703", "3F000", "42501"]

/** Whether a statement over mapped relations failed because they are no longer as they were mapped. */
export const isDrift = (error: SqlError.SqlError): boolean => DRIFT.includes(codeOf(error.reason.cause))

export const faultOf = ({ reason }: SqlError.SqlError): Fault => {
  const code = codeOf(reason.cause)
  const worded = code === undefined ? undefined : (SQL_STATES[code] ?? SYSTEM[code])
  const reached = code !== undefined && /^[0-9A-Z]{5}$/.test(code) && SYSTEM[code] === undefined
  const fallback =
    reason._tag === "AuthenticationError"
      ? "it refused this user or password"
      : reason._tag === "ConnectionError"
        ? /timed out/i.test(reason.message ?? "")
          ? "it doesn't answer"
          : "the connection was lost"
        : `it refused (${code ?? reason._tag})`
  return { reason: worded ?? fallback, reached: reached || reason._tag === "AuthenticationError", code }
}

/** The class of a failure: its SQLSTATE or system code, or else its tag. */
export const classOf = ({ reason }: SqlError.SqlError): string => {
  const code = codeOf(reason.cause)
  return code !== undefined && /^([0-9A-Z]{5}|[A-Z_]{4,40})$/.test(code) ? code : reason._tag
}

/** The cause's code; for a connection attempt to several addresses, that of the first. */
const codeOf = (cause: unknown): string | undefined => {
  if (typeof cause !== "object" || cause === null) return undefined
  if ("code" in cause && typeof cause.code === "string") return cause.code
  return cause instanceof AggregateError ? codeOf(cause.errors[0]) : undefined
}
