/**
 * What is wrong with a query of a program without types. By hand, because every lookup pays for it: a schema costs fifty
 * times as much.
 */
import { isJsonObject } from "../../domain/json.ts"
import { FilterOp, type FindQuery } from "../../domain/Query.ts"

const OPS: ReadonlyArray<unknown> = FilterOp.literals

const isText = (value: unknown): value is string => typeof value === "string"
const isOptionalText = (value: unknown) => value === undefined || isText(value)
const isOptionalList = (value: unknown) => value === undefined || (Array.isArray(value) && value.every(isText))

const isFilter = (value: unknown): boolean =>
  isJsonObject(value) && isText(value["columnId"]) && isText(value["value"]) && OPS.includes(value["op"])

/** The first invalid field of a query; undefined if its form is valid. Lengths and ranges are checked with its names. */
export const queryFault = (query: unknown): string | undefined => {
  if (!isJsonObject(query)) return "A query must be an object: { organizationId, entityTypeId, filters }."
  const { cursorEntityId, entityTypeId, filters, limit, selectColumns } = query as Partial<
    Record<keyof FindQuery, unknown>
  >
  if (!isText(entityTypeId)) return "entityTypeId must be the id of a type."
  if (!Array.isArray(filters) || !filters.every(isFilter))
    return `filters must be a list of { columnId, op, value }, with texts, and an op of ${OPS.join(", ")}.`
  if (limit !== undefined && !Number.isInteger(limit)) return "limit must be a whole number."
  if (!isOptionalText(cursorEntityId)) return "cursorEntityId must be the id of an entity."
  return isOptionalList(selectColumns) ? undefined : "selectColumns must be a list of columns' ids."
}

/** The same for a query of columns. */
export const columnsFault = (query: unknown): string | undefined => {
  if (!isJsonObject(query) || !isText(query["entityTypeId"])) return "entityTypeId must be the id of a type."
  const { filter } = query
  return filter === undefined || (isJsonObject(filter) && isOptionalList(filter["nameContains"]))
    ? undefined
    : "filter must be { nameContains, max }, with a list of texts and a number."
}

/** The same for a query of types. */
export const typesFault = (query: unknown): string | undefined =>
  isJsonObject(query) && isOptionalText(query["nameContains"]) ? undefined : "nameContains must be a text."
