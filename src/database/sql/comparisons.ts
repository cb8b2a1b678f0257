/** The SQL of one comparison of a cell: with a value, a list of values or a contained text. It reads no other row. */
import type { Column } from "../../domain/EntityType.ts"
import { foldText, phoneForms } from "../../domain/keys.ts"
import type { CompareOp, Literal, Side } from "../../domain/Predicate.ts"
import type { FragmentContext } from "./fragmentContext.ts"
import { Parameter, type Value } from "./Parameter.ts"
import { idCast } from "./rows.ts"
import { SQL_TYPE } from "./sqlType.ts"
import { identifier, type SqlWriter } from "./SqlWriter.ts"

const SQL_OP: Readonly<Record<CompareOp, string>> = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" }

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
export const both = (key: string | undefined, comparison: string): string =>
  key === undefined ? comparison : `(${key} AND CASE WHEN ${comparison} THEN TRUE END)`

/**
 * An extra condition on the search key of a text that equals one of these values, because the indexes are on search keys.
 * Not inside a negation, where the coarser key would show more rows.
 */
export const keyOf = (
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

export const comparison = (
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
export const equalsNumber = (reference: string, value: Value, writer: SqlWriter): string => {
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

export const membership = (
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

export const contains = (reference: string, text: string | Parameter, writer: SqlWriter): string => {
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
