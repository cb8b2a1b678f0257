/** Predicate → SQL fragment: one fold, one case per line. It throws on what it can't resolve, and the plan is then refused. */
import {
  type Column,
  columnByKey,
  type EntityType,
  ID_COLUMN,
  readableColumn,
  targetOf,
  typeByKey
} from "../../domain/EntityType.ts"
import type { Side } from "../../domain/Predicate.ts"
import { both, comparison, contains, equalsNumber, hasValue, keyOf, membership } from "./comparisons.ts"
import type { FragmentContext } from "./fragmentContext.ts"
import { expandOr, isIndexed } from "./orExpansion.ts"
import type { Condition } from "./Parameter.ts"
import { belongs, columnReference, idReference, linkOf, type RowContext, targetRows, wholeNumber } from "./rows.ts"
import { identifier } from "./SqlWriter.ts"

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
    const column = readableColumn(type, key)
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
    case "Any": {
      // Postgres combines indexes of all alternatives or of none; then it would compare each row with each collected id.
      const indexed = type.mapping !== undefined || bound.of.every((part) => isIndexed(part, type))
      const inner = indexed ? context : notArray(context)
      return `(${bound.of.map((part) => fragment(part, type, alias, inner, may)).join(" OR ")})`
    }
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
  const related = `ANY(ARRAY(${targetIds(where, targetRelation(relation, context), context)}))`
  if (storage._tag === "One") return `${alias}.${identifier(storage.column)} = ${related}`
  // A join would scan the links of all organizations where one organization has most of them.
  const link = context.writer.alias()
  return (
    `${idReference(type, alias)} = ANY(ARRAY(SELECT ${link}.${identifier(storage.from)} FROM ${linkOf(storage, context.writer)} ${link} ` +
    `WHERE ${linkBelongs(storage, link, context)} AND ${link}.${identifier(storage.to)} = ${related}))`
  )
}

/** The ids of a type's rows on which a condition holds. A disjunction is expanded here, too. */
export const targetIds = (where: Condition, target: EntityType, context: FragmentContext): string => {
  const other = context.writer.alias()
  // Before its conditions, so that parameters are numbered in the order of the text.
  const ids = `SELECT ${idReference(target, other)} FROM ${targetRows(target, other, context)} WHERE ${belongs(target, other, context)}`
  const { alternatives, rest } =
    target.mapping === undefined ? expandOr([where], target) : { alternatives: [], rest: [where] }
  const common = [ids, ...rest.map((part) => fragment(part, target, other, context))].join(" AND ")
  if (alternatives.length === 0) return common
  return alternatives.map((part) => `${common} AND ${fragment(part, target, other, notArray(context))}`).join(" UNION ")
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
