/**
 * A search through a relation: of rows whose related rows match. How many match is known only when the statement runs.
 * Therefore the statement collects the first of them, and the rows that lead to those: `s.few` is whether that is all.
 */
import { type Catalog, type Column, columnByKey, type EntityType, targetOf } from "../../domain/EntityType.ts"
import type { Condition } from "./Parameter.ts"
import type { FragmentContext } from "./fragmentContext.ts"
import { fragment, linkBelongs, targetIds } from "./predicate.ts"
import { belongs, linkOf, relationOf } from "./rows.ts"
import { identifier } from "./SqlWriter.ts"

/** In rows. Tests set smaller bounds, so that few rows exceed them. */
export const BOUNDS = {
  /** The first related rows that are checked: if more than `often` of them match, many do. */
  sampled: 1000,
  often: 20,
  /** Related rows that are collected: each costs a search of an index. */
  related: 1000,
  /** Rows that are collected because they lead to those. */
  leading: 20_000,
  /** Rows that are read in the order of the page before all that match are, and those whose related rows are looked up. */
  read: 300_000,
  probed: 30_000
}

/** A condition that related rows match. */
export interface RelatedSearch {
  readonly relation: Column
  readonly target: EntityType
  readonly condition: Extract<Condition, { readonly _tag: "Some" }>
  /** Each of these holds on each row, too. */
  readonly others: ReadonlyArray<Condition>
}

/** The last condition about related rows, which is the caller's if the caller has one; undefined for mapped relations. */
export const relatedSearch = (
  parts: ReadonlyArray<Condition>,
  type: EntityType,
  catalog: Catalog
): RelatedSearch | undefined => {
  for (const part of parts.toReversed()) {
    const condition = asSome(part)
    const relation = condition && columnByKey(type, condition.relation)
    const target = relation && targetOf(catalog, relation)
    if (condition === undefined || relation === undefined || target === undefined) continue
    if (target.mapping !== undefined || (relation.storage._tag === "Many" && relation.storage.mapped === true)) continue
    return { relation, target, condition, others: parts.filter((other) => other !== part) }
  }
  return undefined
}

/** Alternatives about one relation are one condition on what it leads to. */
const asSome = (part: Condition): RelatedSearch["condition"] | undefined => {
  if (part._tag === "Some") return part
  if (part._tag !== "Any") return undefined
  const hops = part.of.filter((one) => one._tag === "Some")
  const [first] = hops
  if (first === undefined || hops.length < part.of.length) return undefined
  if (hops.some(({ relation }) => relation !== first.relation)) return undefined
  return { _tag: "Some", relation: first.relation, where: { _tag: "Any", of: hops.map(({ where }) => where) } }
}

/**
 * The CTEs: `o`, whether many related rows match; `f`, those that match, read no further than needed; `few`, the first of
 * them; `near`, the rows that lead to those; `s`.
 */
export const relatedCtes = (
  { condition: { where }, relation: { storage }, target }: RelatedSearch,
  type: EntityType,
  context: FragmentContext
): string => {
  if (storage._tag === "Value") throw new Error("Not a relation")
  const { often, sampled, related, leading } = BOUNDS
  const r = context.writer.alias()
  const sample = `SELECT ${r}.* FROM ${relationOf(target, context.writer)} ${r} WHERE ${belongs(target, r, context)} ORDER BY ${r}.id LIMIT ${sampled}`
  const matches = fragment(where, target, r, { ...context, hops: "probe" })
  const found = targetIds(where, target, { ...context, hops: "array" })
  const [id, to, from, own] =
    storage._tag === "One"
      ? ["w.id", `w.${identifier(storage.column)}`, relationOf(type, context.writer), belongs(type, "w", context)]
      : [
          `w.${identifier(storage.from)}`,
          `w.${identifier(storage.to)}`,
          linkOf(storage, context.writer),
          linkBelongs(storage, "w", context)
        ]
  return (
    `o AS MATERIALIZED (SELECT count(*) > ${often} AS many FROM (SELECT FROM (${sample}) ${r} WHERE ${matches} LIMIT ${often + 1}) x), ` +
    `f AS MATERIALIZED (${found}), ` +
    `few AS MATERIALIZED (SELECT CASE WHEN (SELECT g.fresh FROM g) AND NOT o.many THEN ARRAY(SELECT f.id FROM f LIMIT ${related + 1}) END AS ids FROM o), ` +
    `near AS MATERIALIZED (SELECT CASE WHEN cardinality(few.ids) <= ${related} THEN ` +
    `ARRAY(SELECT ${id} FROM ${from} w WHERE ${own} AND ${to} = ANY(few.ids) LIMIT ${leading + 1}) END AS ids FROM few), ` +
    `s AS MATERIALIZED (SELECT (cardinality(near.ids) <= ${leading}) IS TRUE AS few FROM near)`
  )
}
