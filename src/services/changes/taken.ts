/** The refusal of a write by the database that a mapped table belongs to: a constraint, a trigger or a right. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { faultOf } from "../../database/fault.ts"
import { NotAllowed } from "../../domain/errors.ts"

/** One sentence for all of a deed: which constraint it is tells of rows that the person may not see. */
export const NOT_TAKEN = "The database doesn't take this value: nothing was changed."
const NOT_DELETED = "The database doesn't let this be deleted: nothing was changed."

/** The SQLSTATE classes of connections, transactions, locks and the server, which say nothing of what was written. */
const BY_SERVER = /^(08|25|40|5[34578]|F0|MX|XX)/

/** Fails with the one sentence where the database refuses a write; its log names the constraint, never a value. */
export const taken = <A, R>(
  write: Effect.Effect<A, SqlError.SqlError, R>,
  onlyDeletes: boolean
): Effect.Effect<A, SqlError.SqlError | NotAllowed, R> =>
  Effect.catchTag(write, "SqlError", (error): Effect.Effect<never, SqlError.SqlError | NotAllowed> => {
    const { code } = faultOf(error)
    if (code === undefined || !/^[0-9A-Z]{5}$/.test(code) || BY_SERVER.test(code)) return Effect.fail(error)
    return Effect.andThen(
      Effect.logWarning("A mapped table refused a change").pipe(Effect.annotateLogs({ code, ...namesOf(error) })),
      Effect.fail(NotAllowed.of(onlyDeletes ? NOT_DELETED : NOT_TAKEN))
    )
  })

/** What the server says of the constraint: names of the schema. */
const namesOf = ({ reason: { cause } }: SqlError.SqlError): Readonly<Record<string, string>> => {
  if (typeof cause !== "object" || cause === null) return {}
  const fields = cause as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    ["schema", "table", "constraint"].flatMap((name) =>
      typeof fields[name] === "string" ? [[name, fields[name]]] : []
    )
  )
}
