/** Reads a row of every mapped relation, as lookups do: the only proof that they can. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { faultOf } from "../../database/fault.ts"
import { statementOf } from "../../database/sql/held.ts"
import { linkOf, relationOf } from "../../database/sql/rows.ts"
import { identifier, SqlWriter } from "../../database/sql/SqlWriter.ts"
import type { EntityType } from "../../domain/EntityType.ts"
import { readBy } from "./grants.ts"

export interface Unreadable {
  /** schema.table */
  readonly name: string
  readonly type: string
  /** The SQLSTATE or the system's code. */
  readonly code: string | undefined
  readonly reason: string
}

/** The relations of these types that `reader`, connected as the role of lookups, can't read. */
export const tryReading = (reader: PgClient.PgClient, types: ReadonlyArray<EntityType>) =>
  Effect.map(
    Effect.forEach(types, (type) =>
      Effect.forEach(readBy(type), ({ columns, relation }, index) => {
        const writer = new SqlWriter()
        const from = index === 0 ? relationOf(type, writer) : linkOf({ link: relation, mapped: true }, writer)
        const cells = columns.map((column) => `r.${identifier(column)}`).join(", ")
        const { parameters, text } = statementOf("doctor", `SELECT ${cells} FROM ${from} r`, "TRUE LIMIT 1", {
          catalog: { organization: UNKNOWN, epoch: 0n, types: [type] },
          writer
        })
        return Effect.match(reader.unsafe(text, parameters), {
          onSuccess: (): ReadonlyArray<Unreadable> => [],
          onFailure: (error) => {
            const { code, reason } = faultOf(error)
            return [{ name: `${relation.schema}.${relation.table}`, type: type.slug, code, reason }]
          }
        })
      })
    ),
    (found) => found.flat(2)
  )

/** What an operator is told who asks for the changes of the database. */
export const unreadableText = ({ name, reason, type }: Unreadable): string =>
  `${type}: lookups of ${name} fail: ${reason}. Mend it in the database, or remove the type: max map remove ${type}`

/** The statement has no condition on the organization: it returns nothing to anyone. */
const UNKNOWN = { id: 0n, slug: "", name: "", country: "US", timeZone: "UTC" }
