/** The Postgres type that holds the values of a kind of column. */
import type { ColumnKind } from "../../domain/EntityType.ts"

export const SQL_TYPE: Readonly<Record<ColumnKind, string>> = {
  text: "text",
  phone: "text",
  email: "text",
  integer: "bigint",
  number: "numeric",
  boolean: "boolean",
  date: "date",
  timestamp: "timestamptz",
  list: "text[]",
  reference: "bigint",
  references: "bigint"
}
