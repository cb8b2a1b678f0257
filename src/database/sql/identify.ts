/** The reads that need no plan: ids of the people with an identifier, and what operators call people by. */
import { type Catalog, type Column, columnByKey, DISPLAY_NAME, type EntityType } from "../../domain/EntityType.ts"
import { Bound } from "../../domain/Predicate.ts"
import type { Statement } from "./find.ts"
import { fragment, type FragmentContext } from "./predicate.ts"
import { belongs, columnReference, idCast, idReference, relationOf } from "./rows.ts"
import { SqlWriter } from "./SqlWriter.ts"

const contextFor = (catalog: Catalog): FragmentContext => {
  const writer = new SqlWriter()
  return {
    catalog,
    writer,
    organization: writer.bind(catalog.organization.id, "bigint"),
    shape: "subplan",
    timeZone: () => writer.bind(catalog.organization.timeZone, "text")
  }
}

/** The ids of the rows whose phone or e-mail is this one, in its normal form; at most so many. */
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
  return {
    text:
      `/* max identify */ SELECT ${type.mapping === undefined ? id : `${id}::text AS id`} FROM ${relationOf(type)} p ` +
      `WHERE ${belongs(type, "p", context)} AND ${matches} ORDER BY ${id} LIMIT ${limit}`,
    parameters: context.writer.parameters
  }
}

/** The ids and display names of rows by id, for operators. */
export const compileNames = (type: EntityType, ids: ReadonlyArray<string>, catalog: Catalog): Statement => {
  const context = contextFor(catalog)
  const id = idReference(type, "p")
  const name = columnByKey(type, DISPLAY_NAME)
  return {
    text:
      `/* max names */ SELECT ${id}::text AS id, ${name === undefined ? "NULL" : columnReference(name, "p", "value", context)} AS name ` +
      `FROM ${relationOf(type)} p WHERE ${belongs(type, "p", context)} ` +
      `AND ${id} = ANY(${context.writer.bind(ids, "text[]")}::${idCast(type.mapping?.id.type)}[])`,
    parameters: context.writer.parameters
  }
}

/** Values of some columns as `c0`…, of the rows in which the first has one; for operators. */
export const compileValues = (
  type: EntityType,
  columns: ReadonlyArray<Column | undefined>,
  catalog: Catalog
): Statement => {
  const context = contextFor(catalog)
  const values = columns.map((column) =>
    column === undefined ? "NULL" : columnReference(column, "p", "value", context)
  )
  return {
    text:
      `/* max values */ SELECT ${values.map((value, index) => `${value} AS c${index}`).join(", ")} FROM ${relationOf(type)} p ` +
      `WHERE ${belongs(type, "p", context)} AND ${values[0]} IS NOT NULL ORDER BY ${idReference(type, "p")}`,
    parameters: context.writer.parameters
  }
}

/** The id of the row that imports know by this id; a table of somebody else's has none but its own. */
export const compileExternal = (type: EntityType, externalId: string, catalog: Catalog): Statement => {
  const context = contextFor(catalog)
  return {
    text:
      `/* max external id */ SELECT ${idReference(type, "p")}::text AS id FROM ${relationOf(type)} p ` +
      `WHERE ${belongs(type, "p", context)} AND p.external_id = ${context.writer.bind(externalId, "text")}`,
    parameters: context.writer.parameters
  }
}
