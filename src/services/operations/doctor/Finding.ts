/** The findings of doctor, worded for operators without a database administrator. */
import type { PgClient } from "@effect/sql-pg"
import type { Effect, Redacted } from "effect"
import type { SqlError } from "effect/sql"
import type { Source } from "../../../database/DatabaseSource.ts"
import type { Inspection } from "../../../database/migrate.ts"
import type { OperatorError } from "../../../domain/errors.ts"

export interface Finding {
  readonly check: string
  /** `warn`: works, but slower or less safely than it should. `fail`: doesn't work. */
  readonly status: "ok" | "warn" | "fail"
  readonly message: string
  /** The repair: commands, and SQL statements ending with a semicolon. */
  readonly mend?: ReadonlyArray<string>
}

/** The connected database that the checks examine. */
export interface Examined {
  readonly from: Source
  readonly owner: PgClient.PgClient
  readonly inspection: Inspection
  readonly sealingKey?: Effect.Effect<Uint8Array | undefined, OperatorError>
  readonly searchConnections: number
  readonly poolUrl?: Redacted.Redacted<string> | undefined
  readonly replicaUrls?: ReadonlyArray<Redacted.Redacted<string>> | undefined
}

/** Checks one requirement read-only. */
export type Check = (database: Examined) => Effect.Effect<ReadonlyArray<Finding>, SqlError.SqlError>

const finding =
  (status: Finding["status"]) =>
  (check: string, message: string, ...mend: ReadonlyArray<string>): Finding => ({
    check,
    status,
    message,
    ...(mend.length === 0 ? {} : { mend })
  })

export const ok = finding("ok")
export const warn = finding("warn")
export const fail = finding("fail")

/** Up to five names, and the number of the others. */
export const some = (names: ReadonlyArray<string>): string =>
  names.length <= 5 ? names.join(", ") : `${names.slice(0, 5).join(", ")} and ${names.length - 5} more`
