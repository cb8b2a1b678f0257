/** What doctor says: one finding a line, in words for people who run no databases. */
import type { PgClient } from "@effect/sql-pg"
import type { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Source } from "../../../database/DatabaseSource.ts"
import type { Inspection } from "../../../database/migrate.ts"

export interface Finding {
  readonly check: string
  /** `warn` works, but not as well or as safely as it could; `fail` doesn't work. */
  readonly status: "ok" | "warn" | "fail"
  readonly message: string
  /** What mends it: commands, and SQL where it ends with a semicolon. */
  readonly mend?: ReadonlyArray<string>
}

/** A database that answers. */
export interface Patient {
  readonly from: Source
  readonly owner: PgClient.PgClient
  readonly inspection: Inspection
  readonly searchConnections: number
}

/** Looks at one thing and changes nothing. */
export type Check = (patient: Patient) => Effect.Effect<ReadonlyArray<Finding>, SqlError.SqlError>

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

/** The first names of many. */
export const some = (names: ReadonlyArray<string>): string =>
  names.length <= 5 ? names.join(", ") : `${names.slice(0, 5).join(", ")} and ${names.length - 5} more`
