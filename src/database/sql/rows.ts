/**
 * The SQL of a row: the organization's condition, the id and the columns, for managed tables and mapped relations. A mapped
 * value is an expression over physical columns, and its search key is the fold of that expression.
 */
import type { Catalog, Column, EntityType, IdType, Relation, Source } from "../../domain/EntityType.ts"
import type { Side } from "../../domain/Predicate.ts"
import { parseId } from "../../domain/values.ts"
import { derivation } from "./derived.ts"
import { inZone } from "./moments.ts"
import { identifier, type SqlWriter } from "./SqlWriter.ts"

export interface RowContext {
  readonly catalog: Catalog
  readonly writer: SqlWriter
  /** Placeholder of the organization's id, which every hop repeats. */
  readonly organization: string
}

/** What the SQL of a value needs. */
export interface ValueContext extends Pick<RowContext, "writer"> {
  /** Placeholder of the organization's time zone, bound on first use. */
  readonly timeZone: () => string
}

const physical = (alias: string, column: string): string => `${alias}.${identifier(column)}`

/** The relation that holds a type's rows. */
export const relationOf = (type: EntityType, writer: SqlWriter): string => {
  const name = writer.relation(type.relation)
  if (type.mapping !== undefined) writer.mapped.add(name)
  return name
}

/** The link table of references to many entities. */
export const linkOf = (
  { link, mapped }: { readonly link: Relation; readonly mapped?: boolean },
  writer: SqlWriter
): string => {
  const name = writer.relation(link)
  if (mapped === true) writer.mapped.add(name)
  return name
}

/** The condition that a row belongs to the organization. */
export const belongs = (type: EntityType, alias: string, context: RowContext): string => {
  const { mapping } = type
  if (mapping === undefined) return `${alias}.organization_id = ${context.organization}`
  const { organization, where } = mapping
  const conditions = where.map(({ column, is }) => {
    const reference = physical(alias, column)
    return is === null
      ? `${reference} IS NULL`
      : typeof is === "boolean"
        ? `${reference} = ${context.writer.bind(is, "boolean")}`
        : `${reference}::text = ${context.writer.bind(is, "text")}`
  })
  if (organization !== undefined) {
    const key = parseId(context.catalog.organization.externalKey ?? "", organization.type)
    conditions.unshift(
      key === undefined
        ? "FALSE"
        : `${physical(alias, organization.column)} = ${context.writer.bind(key, organization.type)}`
    )
  }
  return conditions.length === 0 ? "TRUE" : conditions.join(" AND ")
}

/** The organization that a row states. */
export const organizationOf = (type: EntityType, alias: string, context: RowContext): string =>
  type.mapping === undefined
    ? `${alias}.organization_id`
    : type.mapping.organization === undefined
      ? context.organization
      : `CASE WHEN ${belongs({ ...type, mapping: { ...type.mapping, where: [] } }, alias, context)} THEN ${context.organization} END`

/** The id of a row. */
export const idReference = (type: EntityType, alias: string): string =>
  type.mapping === undefined ? `${alias}.id` : physical(alias, type.mapping.id.column)

/** The cast of a bound id. */
export const idCast = (ids: IdType | undefined): string => ids ?? "bigint"

/** Every physical column of a mapped type, in a fixed order. */
export const physicalColumns = ({ columns, mapping }: EntityType): ReadonlyArray<string> => [
  ...new Set([
    ...(mapping === undefined ? [] : [mapping.id.column, ...mapping.where.map(({ column }) => column)]),
    ...(mapping?.organization === undefined ? [] : [mapping.organization.column]),
    ...columns.flatMap(({ storage }) => {
      if (storage._tag === "Many") return []
      if (storage._tag === "One" || storage.source === undefined) return [storage.column]
      return [...storage.source.columns, ...(storage.source.currency === undefined ? [] : [storage.source.currency])]
    })
  ])
]

/**
 * The FROM item of a reference's target. Where the database can't prove ids unique, rows that share an id are excluded,
 * because a condition could be about either of them.
 */
export const targetRows = (type: EntityType, alias: string, context: RowContext): string => {
  const relation = relationOf(type, context.writer)
  if (type.mapping?.unique !== false) return `${relation} ${alias}`
  const columns = physicalColumns(type).map(identifier)
  const id = identifier(type.mapping.id.column)
  return (
    `(SELECT ${columns.join(", ")} FROM (SELECT ${columns.map((column) => `w.${column}`).join(", ")}, ` +
    `count(*) OVER (PARTITION BY w.${id}) AS "max same id" FROM ${relation} w WHERE ${belongs(type, "w", context)}) w ` +
    `WHERE w."max same id" = 1) ${alias}`
  )
}

/** The value or the search key behind a catalog column. */
export const columnReference = (column: Column, alias: string, side: Side, context: ValueContext): string => {
  const { storage } = column
  if (storage._tag === "Many") throw new Error("A link has no column")
  if (column.derived !== undefined) {
    const { as, sources } = column.derived
    if (sources === undefined || side === "key") throw new Error("The column can't be computed")
    const values = sources.map((source) => ({
      kind: source.kind,
      value: columnReference(source, alias, "value", context)
    }))
    return derivation(as, values, context)
  }
  if (storage._tag === "Value" && storage.source !== undefined) {
    const value = sourceValue(storage.source, column, alias, context.writer)
    return side === "value" ? value : folded(column, value)
  }
  const physicalColumn = side === "key" && storage._tag === "Value" ? storage.keyColumn : storage.column
  if (physicalColumn === undefined) throw new Error("The column has no search key")
  return physical(alias, physicalColumn)
}

/** The number column behind a text column that shows whole numbers. */
export const wholeNumber = ({ kind, storage }: Column, alias: string): string | undefined =>
  kind === "text" &&
  storage._tag === "Value" &&
  storage.source?.type === "integer" &&
  storage.source.columns.length === 1
    ? physical(alias, storage.source.columns[0]!)
    : undefined

const sourceValue = (source: Source, { kind }: Column, alias: string, writer: SqlWriter): string => {
  const [first, ...others] = source.columns.map((column) => physical(alias, column))
  if (first === undefined) throw new Error("A mapped value has no column")
  if (others.length > 0) {
    const joined = others.reduce(
      (text, next) => `btrim(${text} || ' ' || coalesce(${next}::text, ''))`,
      `coalesce(${first}::text, '')`
    )
    return `nullif(${joined}, '')`
  }
  switch (kind) {
    case "text":
    case "phone":
    case "email":
      // A cast would add the length of the mask to the address of a host.
      return source.type === "inet" ? `abbrev(${first})` : `${first}::text`
    case "list":
      return `${first}::text[]`
    case "number":
      if (source.type === "integer") return first
      if (source.type === "money") return `${first}::numeric`
      // Finite numbers only: Postgres sorts NaN above all others. A binary fraction is compared as it is displayed.
      return `CASE WHEN ${first} > '-Infinity' AND ${first} < 'Infinity' THEN ${first}${source.type === "float" ? "::numeric" : ""} END`
    case "date":
      return source.type === "date" ? first : `${first}::date`
    case "timestamp":
      if (source.type === "timestamptz") return first
      return source.timeZone === undefined || source.timeZone === "UTC"
        ? `timezone(${writer.bind("UTC", "text")}, ${first})`
        : inZone(writer.bind(source.timeZone, "text"), first)
    default:
      return first
  }
}

const folded = ({ kind }: Column, value: string): string => {
  switch (kind) {
    case "text":
      return `max.fold_text(${value}) COLLATE "C"`
    case "list":
      return `max.fold_texts(${value})`
    case "phone":
      return `max.fold_phone(${value}) COLLATE "C"`
    case "email":
      return `max.fold_email(${value}) COLLATE "C"`
    default:
      throw new Error("The column has no search key")
  }
}
