/** Predicate → fragment: one fold, one case per line. What it can't resolve throws, and the plan is then refused. */
import { type Column, type EntityType, ID_COLUMN, resolveColumn, targetOf } from "../../domain/EntityType.ts"
import { foldText, phoneForms } from "../../domain/keys.ts"
import { type Bound, type BoundValue, type CompareOp, type Literal, type Side, Slot } from "../../domain/Predicate.ts"
import type { ResolvedQuery } from "../../domain/Query.ts"
import { belongs, columnReference, idCast, idReference, type RowContext, targetRows, wholeNumber } from "./rows.ts"
import { identifier, qualified, type SqlWriter } from "./SqlWriter.ts"

/**
 * How a hop to related rows is written. `subplan`: EXISTS, for statements that an equality makes smaller. `probe`: the
 * same for a few rows, each looked up by id; left to itself, Postgres collects all related rows first when a value looks
 * common. `array`: the related ids are collected once, so that indexes can be combined when many rows are looked at.
 */
type Shape = ResolvedQuery["shape"]

export interface FragmentContext extends RowContext {
  readonly shape: Shape
  /** Placeholder of the organization's time zone. */
  readonly timeZone: () => string
}

const SQL_OP: Readonly<Record<CompareOp, string>> = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" }

/**
 * The fragment of a predicate over the row `alias`. With `may`, inside a negated EXISTS, a comparison that NULL makes
 * unknown counts as satisfied, because EXISTS would turn unknown into false and the negation into true.
 */
export const fragment = (
  bound: Bound,
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
    case "Contains":
      return leaf(find(bound.column), "key", (reference) => contains(reference, bound.text, context.writer))
    case "Some":
      return some(find(bound.relation), bound.where, type, alias, context, may)
    case "None":
      return `NOT ${exists(find(bound.relation), bound.where, type, alias, notArray(context), !may)}`
  }
}

/** The comparison halves what the key has found; counted a second time, it would seem to leave next to nothing. */
const both = (key: string | undefined, comparison: string): string =>
  key === undefined ? comparison : `(${key} AND CASE WHEN ${comparison} THEN TRUE END)`

/**
 * The condition on the key of a text that equals one of these values: indexes are of keys, and where rows are searched
 * for nothing else leads to them. Not inside a negation, where a key that says less would show more.
 */
const keyOf = (
  { side }: { readonly side: Side },
  { kind, storage }: Column,
  values: ReadonlyArray<BoundValue>,
  alias: string,
  { shape, writer }: FragmentContext
): string | undefined => {
  const column = storage._tag === "Value" ? storage.keyColumn : undefined
  if (shape === "probe" || side !== "value" || kind !== "text" || column === undefined) return undefined
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
  value: BoundValue,
  context: FragmentContext
): string => {
  if (column.kind === "list") {
    const holds = `${reference} @> ARRAY[${context.writer.bind(value, "text")}]`
    return op === "ne" ? `NOT (${holds})` : holds
  }
  if (isWrittenPhone(column)) return membership(column, reference, [literal(value)], op === "ne", context)
  return `${reference} ${SQL_OP[op]} ${operand(column, value, context)}`
}

/** A whole number that is read as text equals the one text that it is shown as, and its index says so. */
const equalsNumber = (reference: string, value: BoundValue, writer: SqlWriter): string => {
  const text = literal(value)
  return typeof text === "string" && /^(0|-?[1-9]\d{0,17})$/.test(text)
    ? `${reference} = ${writer.bind(text, "bigint")}`
    : "FALSE"
}

/** For what is written differently for different values: there a slot would be filled with a value that it isn't for. */
const literal = (value: BoundValue): Literal => {
  if (value instanceof Slot) throw new Error("The text depends on the value, which isn't there yet")
  return value
}

/** Whether a phone is compared as somebody once wrote it, because nobody keeps its normal form beside it. */
const isWrittenPhone = ({ kind, storage }: Column): boolean =>
  kind === "phone" && storage._tag === "Value" && storage.source !== undefined

const operand = (column: Column, value: BoundValue, context: FragmentContext): string => {
  if (column.kind !== "timestamp") return context.writer.bind(value, sqlType(column))
  return hasOffset(value)
    ? context.writer.bind(value, "timestamptz")
    : `timezone(${context.timeZone()}, ${context.writer.bind(value, "timestamp")})`
}

/** Whether a time says its offset from UTC; without one it is local to the organization. */
export const hasOffset = (value: BoundValue): boolean =>
  value instanceof Slot ? value.offset : typeof value === "string" && /(Z|[+-]\d{2}:?\d{2})$/.test(value.slice(11))

const SQL_TYPE: Readonly<Record<Column["kind"], string>> = {
  text: "text",
  phone: "text",
  email: "text",
  integer: "bigint",
  number: "numeric",
  boolean: "boolean",
  date: "date",
  timestamp: "timestamptz",
  list: "text",
  reference: "bigint",
  references: "bigint"
}

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

/** Below this length a pattern has no trigram to look up, and matches the key's beginning instead. */
export const MIN_CONTAINS = 3

/** What a key that contains the text is like; undefined when the text is too short to be looked up that way. */
export const patternOf = (text: string): string | undefined =>
  [...text].length >= MIN_CONTAINS ? `%${text.replace(/[\\%_]/g, "\\$&")}%` : undefined

const contains = (reference: string, text: string | Slot, writer: SqlWriter): string => {
  const pattern = text instanceof Slot ? text : patternOf(text)
  if (pattern !== undefined) return `${reference} LIKE ${writer.bind(pattern, "text")}`
  if (text instanceof Slot) throw new Error("A slot is given a pattern")
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
  where: Bound,
  type: EntityType,
  alias: string,
  context: FragmentContext,
  may: boolean
): string => {
  if (context.shape !== "array") return exists(relation, where, type, alias, context, may)
  const { storage } = relation
  if (storage._tag === "Value") throw new Error("Not a relation")
  const other = context.writer.alias()
  const target = targetRelation(relation, context)
  // Written before its condition, so that parameters are numbered as they stand.
  const from = `FROM ${targetRows(target, other, context)} WHERE ${belongs(target, other, context)}`
  const related = `ANY(ARRAY(SELECT ${idReference(target, other)} ${from} AND ${fragment(where, target, other, context, may)}))`
  if (storage._tag === "One") return `${alias}.${identifier(storage.column)} = ${related}`
  // Not a join, which reads the links of all organizations from end to end where one has many of them.
  const link = context.writer.alias()
  return (
    `${idReference(type, alias)} = ANY(ARRAY(SELECT ${link}.${identifier(storage.from)} FROM ${qualified(storage.link)} ${link} ` +
    `WHERE ${linkBelongs(storage, link, context)} AND ${link}.${identifier(storage.to)} = ${related}))`
  )
}

const notArray = (context: FragmentContext): FragmentContext =>
  context.shape === "array" ? { ...context, shape: "subplan" } : context

const exists = (
  relation: Column,
  where: Bound,
  type: EntityType,
  alias: string,
  context: FragmentContext,
  may: boolean
): string => {
  const { storage } = relation
  const other = context.writer.alias()
  const target = targetRelation(relation, context)
  const condition = fragment(where, target, other, context, may)
  // What has an OFFSET is neither joined nor collected.
  const end = context.shape === "probe" ? " OFFSET 0)" : ")"
  if (storage._tag === "One") {
    return (
      `EXISTS (SELECT 1 FROM ${targetRows(target, other, context)} WHERE ${belongs(target, other, context)} ` +
      `AND ${idReference(target, other)} = ${alias}.${identifier(storage.column)} AND ${condition}${end}`
    )
  }
  if (storage._tag === "Value") throw new Error("Not a relation")
  const link = context.writer.alias()
  return `EXISTS (SELECT ${linkJoin(relation, link, other, target, context)} AND ${link}.${identifier(storage.from)} = ${idReference(type, alias)} AND ${condition}${end}`
}

const linkJoin = (
  relation: Column,
  link: string,
  other: string,
  target: EntityType,
  context: FragmentContext
): string => {
  const { storage } = relation
  if (storage._tag !== "Many") throw new Error("Not a link")
  return (
    `${link}.${identifier(storage.from)} FROM ${qualified(storage.link)} ${link} JOIN ${targetRows(target, other, context)} ` +
    `ON ${belongs(target, other, context)} AND ${idReference(target, other)} = ${link}.${identifier(storage.to)} ` +
    `WHERE ${linkBelongs(storage, link, context)}`
  )
}

/** A link that isn't Max's belongs to the organization by the rows at both of its ends. */
export const linkBelongs = (storage: { readonly mapped?: boolean }, link: string, context: RowContext): string =>
  storage.mapped === true ? "TRUE" : `${link}.organization_id = ${context.organization}`

const targetRelation = (relation: Column, context: FragmentContext): EntityType => {
  const target = targetOf(context.catalog, relation)
  if (target === undefined) throw new Error("A relation leads to a type that doesn't exist")
  return target
}
