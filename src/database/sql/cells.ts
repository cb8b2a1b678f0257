/** The cells of a row: each value under its mask, and related entities under the caller's plan of their type. */
import { currencyColumn } from "../../domain/derived.ts"
import { type Column, columnByKey, DISPLAY_NAME, type EntityType, targetKey } from "../../domain/EntityType.ts"
import type { Bound } from "../../domain/Predicate.ts"
import type { FragmentContext } from "./fragmentContext.ts"
import { dateText, localTime } from "./moments.ts"
import { fragment, linkBelongs } from "./predicate.ts"
import type { SelectedColumn } from "./ResolvedQuery.ts"
import { belongs, columnReference, idReference, linkOf, targetRows } from "./rows.ts"
import { identifier } from "./SqlWriter.ts"

/** Related entities in one cell. */
export const MAX_RELATED = 10

/** The value of a column of row `p`; NULL where the mask hides it. */
export const masked = (column: Column | undefined, mask: Bound, type: EntityType, context: FragmentContext): string =>
  column === undefined ? "NULL" : underMask(formatted(column, context), mask, type, context)

const underMask = (value: string, mask: Bound, type: EntityType, context: FragmentContext, alias = "p"): string => {
  switch (mask._tag) {
    case "Always":
      return value
    case "Never":
      return "NULL"
    default:
      return `CASE WHEN ${fragment(mask, type, alias, { ...context, hops: "probe" })} THEN ${value} END`
  }
}

const formatted = (column: Column, context: FragmentContext, alias = "p"): string => {
  const reference = columnReference(column, alias, "value", context)
  switch (column.kind) {
    case "timestamp":
      return `to_char(${isMapped(column) ? localTime(reference, context) : `timezone(${context.timeZone()}, ${reference})`}, 'YYYY-MM-DD HH24:MI:SS')`
    case "date":
      return isMapped(column) ? dateText(reference) : `to_char(${reference}, 'YYYY-MM-DD')`
    case "integer":
    case "number":
      return `${reference.startsWith("CASE") ? `(${reference})` : reference}::text${currencyOf(column, alias)}`
    default:
      return reference
  }
}

/** Dates and times of managed types have years of four digits. */
const isMapped = ({ storage }: Column): boolean => storage._tag === "Value" && storage.source !== undefined

/** An amount includes its currency, under the amount's mask. */
const currencyOf = (column: Column, alias: string): string => {
  const currency = currencyColumn(column)
  return currency === undefined
    ? ""
    : ` || coalesce(' ' || nullif(btrim(${alias}.${identifier(currency)}::text), ''), '')`
}

export interface Cell {
  readonly value: string
  readonly join: string
}

export const cell = (selected: SelectedColumn, type: EntityType, alias: string, context: FragmentContext): Cell => {
  const { column, mask, target, through } = selected
  if (through !== undefined) return { value: valueThrough(through.steps, selected, type, "p", context), join: "" }
  const { storage } = column
  // Without the caller's plan of the target, the cell would show every entity that the relation leads to.
  if (targetKey(column) !== undefined && target === undefined)
    throw new Error("A relation is shown without a plan of its target")
  if (storage._tag === "Value" || target === undefined) {
    return { value: masked(column, mask, type, context), join: "" }
  }
  const other = context.writer.alias()
  const inner = { ...context, hops: "probe" as const }
  const nameColumn = columnByKey(target.type, DISPLAY_NAME)
  const name =
    nameColumn === undefined || target.name._tag === "Never"
      ? "NULL::text"
      : target.name._tag === "Always"
        ? columnReference(nameColumn, other, "value", context)
        : `CASE WHEN ${fragment(target.name, target.type, other, inner)} THEN ${columnReference(nameColumn, other, "value", context)} END`
  const permitted = fragment(target.where, target.type, other, inner)
  const own = belongs(target.type, other, context)
  const table = targetRows(target.type, other, context)
  const targetId = idReference(target.type, other)
  const shownId = target.type.mapping === undefined ? targetId : `${targetId} AS id`
  const onRow = mask._tag === "Always" ? "" : ` AND ${fragment(mask, type, "p", inner)}`
  if (storage._tag === "One") {
    return {
      value: `CASE WHEN ${alias}.id IS NOT NULL THEN ARRAY[${alias}.id::text, ${alias}.name] END`,
      join:
        ` LEFT JOIN LATERAL (SELECT ${shownId}, ${name} AS name FROM ${table} WHERE ${own} ` +
        `AND ${targetId} = p.${identifier(storage.column)} AND ${permitted}${onRow}) ${alias} ON true`
    }
  }
  const link = context.writer.alias()
  return {
    value: `${alias}.related`,
    join:
      ` LEFT JOIN LATERAL (SELECT array_agg(x.part ORDER BY x.id, x.n) AS related FROM (SELECT y.id, z.n, z.part FROM (` +
      `SELECT ${shownId}, ${name} AS name FROM ${linkOf(storage, context.writer)} ${link} JOIN ${table} ON ${own} ` +
      `AND ${targetId} = ${link}.${identifier(storage.to)} WHERE ${linkBelongs(storage, link, context)} ` +
      `AND ${link}.${identifier(storage.from)} = ${idReference(type, "p")} AND ${permitted}${onRow} ORDER BY ${targetId} LIMIT ${MAX_RELATED + 1}) y, ` +
      `LATERAL (VALUES (1, y.id::text), (2, y.name)) z(n, part)) x) ${alias} ON true`
  }
}

/** A cell of what references lead to: each hop under the mask of its column and the caller's plan of its target. */
const valueThrough = (
  [step, ...rest]: NonNullable<SelectedColumn["through"]>["steps"],
  selected: SelectedColumn,
  type: EntityType,
  alias: string,
  context: FragmentContext
): string => {
  const { column, mask, target } = selected
  if (step === undefined && target === undefined)
    return underMask(formatted(column, context, alias), mask, type, context, alias)
  const hop = step ?? { relation: column, mask, to: target!.type, where: target!.where }
  if (hop.relation.storage._tag !== "One") throw new Error("A path leads to several rows")
  const other = context.writer.alias()
  const inner = { ...context, hops: "probe" as const }
  const value =
    step === undefined ? namedTarget(target!, other, inner) : valueThrough(rest, selected, hop.to, other, context)
  const conditions = [
    belongs(hop.to, other, context),
    `${idReference(hop.to, other)} = ${alias}.${identifier(hop.relation.storage.column)}`,
    ...(hop.mask._tag === "Always" ? [] : [fragment(hop.mask, type, alias, inner)]),
    fragment(hop.where, hop.to, other, inner)
  ].join(" AND ")
  return `(SELECT ${value} FROM ${targetRows(hop.to, other, context)} WHERE ${conditions})`
}

const namedTarget = (
  target: NonNullable<SelectedColumn["target"]>,
  alias: string,
  context: FragmentContext
): string => {
  const column = columnByKey(target.type, DISPLAY_NAME)
  const name =
    column === undefined
      ? "NULL::text"
      : underMask(columnReference(column, alias, "value", context), target.name, target.type, context, alias)
  return `ARRAY[${idReference(target.type, alias)}::text, ${name}]`
}
