/** Statements that need no plan: ids by identifier, and names and values for operators. */
import { type Catalog, type Column, columnByKey, DISPLAY_NAME, type EntityType } from "../../domain/EntityType.ts"
import { Bound } from "../../domain/Predicate.ts"
import { statementOf } from "./held.ts"
import { fragmentContext } from "./fragmentContext.ts"
import { fragment } from "./predicate.ts"
import type { Statement } from "./ResolvedQuery.ts"
import { belongs, columnReference, idCast, idReference, relationOf } from "./rows.ts"
import { SqlWriter } from "./SqlWriter.ts"

const contextFor = (catalog: Catalog) => fragmentContext(catalog, new SqlWriter(), "subplan")

/** The ids of the rows, at most `limit`, whose phone or e-mail has this normal form. */
export const compileIdentify = (
  type: EntityType,
  column: Column,
  key: string,
  catalog: Catalog,
  limit: number
): Statement => {
  const context = contextFor(catalog)
  const id = idReference(type, "p")
  const matches = fragment(Bound.Compare({ column: column.key, side: "key", op: "eq", value: key }), type, "p", context)
  return statementOf(
    "identify",
    `SELECT ${type.mapping === undefined ? id : `${id}::text AS id`} FROM ${relationOf(type, context.writer)} p`,
    `${belongs(type, "p", context)} AND ${matches} ORDER BY ${id} LIMIT ${limit}`,
    context
  )
}

/** The ids and display names of rows by id, for operators. */
export const compileNames = (type: EntityType, ids: ReadonlyArray<string>, catalog: Catalog): Statement => {
  const context = contextFor(catalog)
  const id = idReference(type, "p")
  const name = columnByKey(type, DISPLAY_NAME)
  return statementOf(
    "names",
    `SELECT ${id}::text AS id, ${name === undefined ? "NULL" : columnReference(name, "p", "value", context)} AS name ` +
      `FROM ${relationOf(type, context.writer)} p`,
    `${belongs(type, "p", context)} AND ${id} = ANY(${context.writer.bind(ids, "text[]")}::${idCast(type.mapping?.id.type)}[])`,
    context
  )
}

/** Values of some columns as `c0`…, of the rows in which the first is not NULL; for operators. */
export const compileValues = (
  type: EntityType,
  columns: ReadonlyArray<Column | undefined>,
  catalog: Catalog
): Statement => {
  const context = contextFor(catalog)
  const values = columns.map((column) =>
    column === undefined ? "NULL" : columnReference(column, "p", "value", context)
  )
  return statementOf(
    "values",
    `SELECT ${values.map((value, index) => `${value} AS c${index}`).join(", ")} FROM ${relationOf(type, context.writer)} p`,
    `${belongs(type, "p", context)} AND ${values[0]} IS NOT NULL ORDER BY ${idReference(type, "p")}`,
    context
  )
}

/** The id of the row with this external id, which only managed tables have. */
export const compileExternal = (type: EntityType, externalId: string, catalog: Catalog): Statement => {
  const context = contextFor(catalog)
  return statementOf(
    "external id",
    `SELECT ${idReference(type, "p")}::text AS id FROM ${relationOf(type, context.writer)} p`,
    `${belongs(type, "p", context)} AND p.external_id = ${context.writer.bind(externalId, "text")}`,
    context
  )
}
