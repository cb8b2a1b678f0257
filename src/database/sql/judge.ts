/**
 * Statements that evaluate predicates on the rows of a type, as counts or row by row, for operators who review a policy.
 * They share their fragments with lookups, so that the explanation agrees with the enforcement.
 */
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { columnByKey, DISPLAY_NAME } from "../../domain/EntityType.ts"
import type { Bound } from "../../domain/Predicate.ts"
import { statementOf } from "./held.ts"
import { type FragmentContext, fragmentContext, type Hops } from "./fragmentContext.ts"
import { fragment } from "./predicate.ts"
import type { Statement } from "./ResolvedQuery.ts"
import { belongs, columnReference, idCast, idReference, relationOf } from "./rows.ts"
import { SqlWriter } from "./SqlWriter.ts"

/** True on the rows on which `of` is true and `without`, if present, is not. */
export interface Judgement {
  readonly of: Bound
  readonly without?: Bound
}

/** Columns: `total`, all rows of the type in the organization, and `counts`, one per judgement in their order. */
export const compileCounts = (type: EntityType, catalog: Catalog, judgements: ReadonlyArray<Judgement>): Statement => {
  const { context, from, where } = begin(type, catalog, "array")
  const counts = judgements.map((one) => `count(*) FILTER (WHERE ${condition(one, type, context)})::int`)
  return statementOf(
    "policy counts",
    `SELECT count(*)::int AS total, ${array(counts, "int")} AS counts ${from}`,
    where,
    context
  )
}

export interface JudgedRows {
  /** Restricts the rows by entity id in its bound form, or by external id. */
  readonly ids?: ReadonlyArray<string>
  readonly externalIds?: ReadonlyArray<string>
  readonly notExternalIds?: ReadonlyArray<string>
  /** Only rows on which this judgement is true. */
  readonly where?: Judgement
  readonly limit: number
}

/** Columns: `id`, `external_id` (the id again, of a mapped row), `name` and `truths`, one per judgement; ordered by id. */
export const compileRows = (
  type: EntityType,
  catalog: Catalog,
  judgements: ReadonlyArray<Judgement>,
  { externalIds, ids, limit, notExternalIds, where }: JudgedRows
): Statement => {
  const { context, from, where: belonging, writer } = begin(type, catalog, "subplan")
  const name = columnByKey(type, DISPLAY_NAME)
  const truths = judgements.map((one) => condition(one, type, context))
  const id = idReference(type, "p")
  const external = type.mapping === undefined ? "p.external_id" : `${id}::text`
  const conditions = [
    ...(ids === undefined ? [] : [`${id} = ANY(${writer.bind(ids, "text[]")}::${idCast(type.mapping?.id.type)}[])`]),
    ...(externalIds === undefined ? [] : [`${external} = ANY(${writer.bind(externalIds, "text[]")})`]),
    ...(notExternalIds === undefined
      ? []
      : [`(${external} IS NULL OR ${external} <> ALL(${writer.bind(notExternalIds, "text[]")}))`]),
    ...(where === undefined ? [] : [condition(where, type, context)])
  ]
  return statementOf(
    "policy rows",
    `SELECT ${id}::text AS id, ${external} AS external_id, ` +
      `${name === undefined ? "NULL" : columnReference(name, "p", "value", context)} AS name, ` +
      `${array(truths, "boolean")} AS truths ${from}`,
    `${[belonging, ...conditions].join(" AND ")} ORDER BY ${id} LIMIT ${writer.bind(limit, "int")}`,
    context
  )
}

const begin = (type: EntityType, catalog: Catalog, hops: Hops) => {
  const writer = new SqlWriter()
  const context = fragmentContext(catalog, writer, hops)
  return { writer, context, from: `FROM ${relationOf(type, writer)} p`, where: belongs(type, "p", context) }
}

const condition = ({ of, without }: Judgement, type: EntityType, context: FragmentContext): string => {
  const holds = `(${fragment(of, type, "p", context)}) IS TRUE`
  return without === undefined ? holds : `(${holds} AND (${fragment(without, type, "p", context)}) IS NOT TRUE)`
}

const array = (parts: ReadonlyArray<string>, of: string): string => `ARRAY[${parts.join(", ")}]::${of}[]`
