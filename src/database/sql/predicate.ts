/** Predicate → SQL fragment: one fold, one case per line. It throws on what it can't resolve, and the plan is then refused. */
import {
  type Catalog,
  type Column,
  columnByKey,
  type EntityType,
  ID_COLUMN,
  resolveColumn,
  targetOf,
  typeByKey
} from "../../domain/EntityType.ts"
import { foldText, phoneForms } from "../../domain/keys.ts"
import type { CompareOp, Literal, Side } from "../../domain/Predicate.ts"
import { type Condition, Parameter, type Value } from "./Parameter.ts"
import {
  belongs,
  columnReference,
  idCast,
  idReference,
  linkOf,
  type RowContext,
  targetRows,
  wholeNumber
} from "./rows.ts"
import { SQL_TYPE } from "./sqlType.ts"
import { identifier, type SqlWriter } from "./SqlWriter.ts"

/**
 * The SQL of a hop to related rows. `subplan`: EXISTS, for statements that an equality narrows. `probe`: EXISTS that looks
 * up each of a few rows by id; without it Postgres collects all related rows first when a value looks common. `array`:
 * collects the related ids once, so that indexes can be combined over many rows. `set`: IN, which hashes the related ids
 * once, for statements that read all rows.
 */
export type Hops = "subplan" | "probe" | "array" | "set"

export interface FragmentContext extends RowContext {
  readonly hops: Hops
  /** Placeholder of the organization's time zone, bound on first use. */
  readonly timeZone: () => string
  /** The links of a row that isn't written yet, as a FROM item without an alias; not with the hops `array`. */
  readonly links?: (relation: Column, alias: string) => string | undefined
}

/** The context of a statement over one organization's rows; the organization's id is its first parameter. */
export const fragmentContext = (catalog: Catalog, writer: SqlWriter, hops: Hops): FragmentContext => {
  let timeZone: string | undefined
  return {
    catalog,
    writer,
    organization: writer.bind(catalog.organization.id, "bigint"),
    hops,
    timeZone: () => (timeZone ??= writer.bind(catalog.organization.timeZone, "text"))
  }
}

const SQL_OP: Readonly<Record<CompareOp, string>> = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" }

/**
 * The SQL of a condition on the row `alias`. With `may`, inside a negated EXISTS, a comparison that NULL makes unknown
 * counts as satisfied, because EXISTS would turn unknown into false and the negation into true.
 */
export const fragment = (
  bound: Condition,
  type: EntityType,
  alias: string,
  context: FragmentContext,
  may = false
): string => {
  const leaf = (column: Column, side: Side, sql: (reference: string) => string) => {
    const reference = referenceTo(column, side)
    return may ? `(${sql(reference)} OR ${reference} IS NULL)` : sql(reference)
  }
  const referenceTo = (column: Column, side: Side) =>
    column.key === ID_COLUMN.key && type.mapping !== undefined
      ? idReference(type, alias)
      : columnReference(column, alias, side, context)
  const find = (key: string): Column => {
    const column = resolveColumn(type, key)
    if (column === undefined) throw new Error("A predicate names a column that the type doesn't have")
    return column
  }
  switch (bound._tag) {
    case "Always":
      return "TRUE"
    case "Never":
      return "FALSE"
    case "All":
      return `(${bound.of.map((part) => fragment(part, type, alias, context, may)).join(" AND ")})`
    case "Any":
      return `(${bound.of.map((part) => fragment(part, type, alias, context, may)).join(" OR ")})`
    case "IsNull":
      return `${referenceTo(find(bound.column), "value")} IS ${bound.negated ? "NOT " : ""}NULL`
    case "Compare": {
      const column = find(bound.column)
      const whole = bound.op === "eq" ? wholeNumber(column, alias) : undefined
      const key = bound.op === "eq" && !may ? keyOf(bound, column, [bound.value], alias, context) : undefined
      return leaf(column, bound.side, (reference) =>
        whole === undefined
          ? both(key, comparison(column, reference, bound.op, bound.value, context))
          : equalsNumber(whole, bound.value, context.writer)
      )
    }
    case "In": {
      const column = find(bound.column)
      const key = bound.negated || may ? undefined : keyOf(bound, column, bound.values, alias, context)
      return leaf(column, bound.side, (reference) =>
        both(key, membership(column, reference, bound.values, bound.negated, context))
      )
    }
    case "HasValue": {
      const column = find(bound.column)
      return hasValue(column, referenceTo(column, "value"))
    }
    case "Contains":
      return leaf(find(bound.column), "key", (reference) => contains(reference, bound.text, context.writer))
    case "Some":
      return some(find(bound.relation), bound.where, type, alias, context, may)
    case "None":
      return `NOT ${exists(find(bound.relation), bound.where, type, alias, notArray(context), !may)}`
    case "Referrer":
      return referrer(bound, type, alias, context, may)
    case "NotTrue": {
      // What the caller's filter negates is what the caller sees: `may` belongs to policies.
      if (may) throw new Error("A caller's negation inside a policy's")
      const inner = fragment(bound.of, type, alias, notArray(context))
      // Without IS NOT TRUE, which EXISTS doesn't need, Postgres can plan an anti join.
      return isHop(bound.of) ? `NOT ${inner}` : `(${inner}) IS NOT TRUE`
    }
  }
}

const isHop = ({ _tag }: Condition): boolean => _tag === "Some" || _tag === "Referrer"

/** Whether a cell shows a value. */
export const hasValue = ({ kind }: Column, reference: string): string => {
  switch (kind) {
    case "text":
    case "phone":
    case "email":
      return `btrim(${reference}) <> ''`
    case "list":
      return `cardinality(${reference}) > 0`
    case "date":
    case "timestamp":
      return `isfinite(${reference})`
    default:
      return `${reference} IS NOT NULL`
  }
}

/** CASE hides the comparison's selectivity from Postgres, which would otherwise multiply it with the key's. */
const both = (key: string | undefined, comparison: string): string =>
  key === undefined ? comparison : `(${key} AND CASE WHEN ${comparison} THEN TRUE END)`

/**
 * An extra condition on the search key of a text that equals one of these values, because the indexes are on search keys.
 * Not inside a negation, where the coarser key would show more rows.
 */
const keyOf = (
  { side }: { readonly side: Side },
  { kind, storage }: Column,
  values: ReadonlyArray<Value>,
  alias: string,
  { hops, writer }: FragmentContext
): string | undefined => {
  const column = storage._tag === "Value" ? storage.keyColumn : undefined
  if (hops === "probe" || side !== "value" || kind !== "text" || column === undefined) return undefined
  const keys = [...new Set(values.map((value) => (typeof value === "string" ? foldText(value) : "")))]
  if (keys.includes("")) return undefined
  const reference = `${alias}.${identifier(column)}`
  return keys.length === 1
    ? `${reference} = ${writer.bind(keys[0], "text")}`
    : `${reference} = ANY(${writer.bind(keys, "text[]")})`
}

const comparison = (
  column: Column,
  reference: string,
  op: CompareOp,
  value: Value,
  context: FragmentContext
): string => {
  if (column.kind === "list") {
    const holds = `${reference} @> ARRAY[${context.writer.bind(value, "text")}]`
    return op === "ne" ? `NOT (${holds})` : holds
  }
  if (isWrittenPhone(column)) return membership(column, reference, [literal(value)], op === "ne", context)
  return `${reference} ${SQL_OP[op]} ${operand(column, value, context)}`
}

/** A number that is shown as text: only its canonical spelling equals it, and the comparison uses the number's index. */
const equalsNumber = (reference: string, value: Value, writer: SqlWriter): string => {
  const text = literal(value)
  return typeof text === "string" && /^(0|-?[1-9]\d{0,17})$/.test(text)
    ? `${reference} = ${writer.bind(text, "bigint")}`
    : "FALSE"
}

/** The value where it decides the SQL text: a parameter's later value could need another text. */
const literal = (value: Value): Literal => {
  if (value instanceof Parameter) throw new Error("The text depends on the value, which is supplied later")
  return value
}

/** Whether a phone column has free spelling and no stored normal form. */
const isWrittenPhone = ({ kind, storage }: Column): boolean =>
  kind === "phone" && storage._tag === "Value" && storage.source !== undefined

const operand = (column: Column, value: Value, context: FragmentContext): string => {
  if (column.kind !== "timestamp") return context.writer.bind(value, sqlType(column))
  return hasOffset(value)
    ? context.writer.bind(value, "timestamptz")
    : `timezone(${context.timeZone()}, ${context.writer.bind(value, "timestamp")})`
}

/** Whether a time states its offset from UTC; without one it is local to the organization. */
export const hasOffset = (value: Value): boolean =>
  value instanceof Parameter ? value.offset : typeof value === "string" && /(Z|[+-]\d{2}:?\d{2})$/.test(value.slice(11))

const sqlType = (column: Column): string => (column.ids === undefined ? SQL_TYPE[column.kind] : idCast(column.ids))

const membership = (
  column: Column,
  reference: string,
  values: ReadonlyArray<Literal>,
  negated: boolean,
  context: FragmentContext
): string => {
  if (column.kind === "list") {
    const overlaps = `${reference} && ${context.writer.bind(values, "text[]")}`
    return negated ? `NOT (${overlaps})` : overlaps
  }
  if (column.kind === "timestamp") {
    const parts = values.map((value) => `${reference} ${negated ? "<>" : "="} ${operand(column, value, context)}`)
    return `(${parts.join(negated ? " AND " : " OR ")})`
  }
  const { country } = context.catalog.organization
  const compared = isWrittenPhone(column)
    ? values.flatMap((value): ReadonlyArray<Literal> =>
        typeof value === "string" && value.startsWith("+") ? phoneForms(value, country) : [value]
      )
    : values
  const sql = sqlType(column)
  const list =
    sql === "boolean" || sql === "text"
      ? context.writer.bind(compared, `${sql}[]`)
      : `${context.writer.bind(compared, "text[]")}::${sql}[]`
  return negated ? `${reference} <> ALL(${list})` : `${reference} = ANY(${list})`
}

/** In code points. A shorter text has no trigram to look up, and matches the start of the key instead. */
export const MIN_CONTAINS = 3

/** The LIKE pattern of keys that contain the text; undefined when the text is shorter than a trigram. */
export const patternOf = (text: string): string | undefined =>
  [...text].length >= MIN_CONTAINS ? `%${text.replace(/[\\%_]/g, "\\$&")}%` : undefined

const contains = (reference: string, text: string | Parameter, writer: SqlWriter): string => {
  const pattern = text instanceof Parameter ? text : patternOf(text)
  if (pattern !== undefined) return `${reference} LIKE ${writer.bind(pattern, "text")}`
  if (text instanceof Parameter) throw new Error("A parameter holds a pattern")
  const end = successor(text)
  const from = `${reference} >= ${writer.bind(text, "text")}`
  return end === undefined ? from : `(${from} AND ${reference} < ${writer.bind(end, "text")})`
}

/** The least text, by code points, above every text that begins with `prefix`. */
const successor = (prefix: string): string | undefined => {
  const points = [...prefix].map((character) => character.codePointAt(0)!)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last < 0x10ffff) return String.fromCodePoint(...points, last + 1 === 0xd800 ? 0xe000 : last + 1)
  }
  return undefined
}

const some = (
  relation: Column,
  where: Condition,
  type: EntityType,
  alias: string,
  context: FragmentContext,
  may: boolean
): string => {
  const { storage } = relation
  if (context.hops === "set" && !may && storage._tag === "One") return inSet(relation, where, alias, context)
  if (context.hops !== "array") return exists(relation, where, type, alias, notArray(context), may)
  if (storage._tag === "Value") throw new Error("Not a relation")
  const other = context.writer.alias()
  const target = targetRelation(relation, context)
  // Before its condition, so that parameters are numbered in the order of the text.
  const from = `FROM ${targetRows(target, other, context)} WHERE ${belongs(target, other, context)}`
  const related = `ANY(ARRAY(SELECT ${idReference(target, other)} ${from} AND ${fragment(where, target, other, context, may)}))`
  if (storage._tag === "One") return `${alias}.${identifier(storage.column)} = ${related}`
  // A join would scan the links of all organizations where one organization has most of them.
  const link = context.writer.alias()
  return (
    `${idReference(type, alias)} = ANY(ARRAY(SELECT ${link}.${identifier(storage.from)} FROM ${linkOf(storage, context.writer)} ${link} ` +
    `WHERE ${linkBelongs(storage, link, context)} AND ${link}.${identifier(storage.to)} = ${related}))`
  )
}

/** With NULL as the reference it is unknown, where EXISTS is false: neither lets the row in. */
const inSet = (relation: Column, where: Condition, alias: string, context: FragmentContext): string => {
  const { storage } = relation
  if (storage._tag !== "One") throw new Error("Not a reference")
  const other = context.writer.alias()
  const target = targetRelation(relation, context)
  const from = `FROM ${targetRows(target, other, context)} WHERE ${belongs(target, other, context)}`
  return `${alias}.${identifier(storage.column)} IN (SELECT ${idReference(target, other)} ${from} AND ${fragment(where, target, other, context)})`
}

/** EXISTS over the rows that lead here through a reference or a link table. */
const referrer = (
  { relation, type: key, where }: { readonly type: string; readonly relation: string; readonly where: Condition },
  type: EntityType,
  alias: string,
  outer: FragmentContext,
  may: boolean
): string => {
  const context = notArray(outer)
  const source = typeByKey(context.catalog, key)
  const column = source && columnByKey(source, relation)
  if (source === undefined || column === undefined) throw new Error("A predicate names a relation that doesn't exist")
  const { storage } = column
  const other = context.writer.alias()
  const rows = targetRows(source, other, context)
  const own = belongs(source, other, context)
  const end = context.hops === "probe" ? " OFFSET 0)" : ")"
  if (storage._tag === "One") {
    const condition = fragment(where, source, other, context, may)
    return `EXISTS (SELECT 1 FROM ${rows} WHERE ${own} AND ${other}.${identifier(storage.column)} = ${idReference(type, alias)} AND ${condition}${end}`
  }
  if (storage._tag === "Value") throw new Error("Not a relation")
  const link = context.writer.alias()
  const links = linkOf(storage, context.writer)
  const ours = linkBelongs(storage, link, context)
  return (
    `EXISTS (SELECT 1 FROM ${links} ${link} JOIN ${rows} ON ${own} AND ${idReference(source, other)} = ${link}.${identifier(storage.from)} ` +
    `WHERE ${ours} AND ${link}.${identifier(storage.to)} = ${idReference(type, alias)} AND ${fragment(where, source, other, context, may)}${end}`
  )
}

const notArray = (context: FragmentContext): FragmentContext =>
  context.hops === "array" || context.hops === "set" ? { ...context, hops: "subplan" } : context

const exists = (
  relation: Column,
  where: Condition,
  type: EntityType,
  alias: string,
  context: FragmentContext,
  may: boolean
): string => {
  const { storage } = relation
  const other = context.writer.alias()
  const target = targetRelation(relation, context)
  const condition = fragment(where, target, other, context, may)
  // OFFSET keeps Postgres from turning the subquery into a join or a hashed set.
  const end = context.hops === "probe" ? " OFFSET 0)" : ")"
  if (storage._tag === "One") {
    return (
      `EXISTS (SELECT 1 FROM ${targetRows(target, other, context)} WHERE ${belongs(target, other, context)} ` +
      `AND ${idReference(target, other)} = ${alias}.${identifier(storage.column)} AND ${condition}${end}`
    )
  }
  if (storage._tag === "Value") throw new Error("Not a relation")
  const link = context.writer.alias()
  return `EXISTS (SELECT ${linkJoin(relation, alias, link, other, target, context)} AND ${link}.${identifier(storage.from)} = ${idReference(type, alias)} AND ${condition}${end}`
}

const linkJoin = (
  relation: Column,
  alias: string,
  link: string,
  other: string,
  target: EntityType,
  context: FragmentContext
): string => {
  const { storage } = relation
  if (storage._tag !== "Many") throw new Error("Not a link")
  return (
    `${link}.${identifier(storage.from)} FROM ${context.links?.(relation, alias) ?? linkOf(storage, context.writer)} ${link} JOIN ${targetRows(target, other, context)} ` +
    `ON ${belongs(target, other, context)} AND ${idReference(target, other)} = ${link}.${identifier(storage.to)} ` +
    `WHERE ${linkBelongs(storage, link, context)}`
  )
}

/** A row of a mapped link table belongs to the organization through the rows at both of its ends. */
export const linkBelongs = (storage: { readonly mapped?: boolean }, link: string, context: RowContext): string =>
  storage.mapped === true ? "TRUE" : `${link}.organization_id = ${context.organization}`

const targetRelation = (relation: Column, context: FragmentContext): EntityType => {
  const target = targetOf(context.catalog, relation)
  if (target === undefined) throw new Error("A relation leads to a type that doesn't exist")
  return target
}
