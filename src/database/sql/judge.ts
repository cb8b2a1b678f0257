/**
 * An operator's question about a policy: on which rows of a type are these predicates true? As numbers, or row by row.
 * The same fragments as a lookup's are judged by the same database, so that what is explained is what happens.
 */
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { columnByKey, DISPLAY_NAME } from "../../domain/EntityType.ts"
import type { Bound } from "../../domain/Predicate.ts"
import type { Statement } from "./find.ts"
import { fragment, type FragmentContext } from "./predicate.ts"
import { belongs, columnReference, idCast, idReference, relationOf } from "./rows.ts"
import { SqlWriter } from "./SqlWriter.ts"

/** True on the rows that `of` is true on and `without`, if given, isn't. */
export interface Judgement {
  readonly of: Bound
  readonly without?: Bound
}

/** `total`, all rows of the type in the organization, and `counts`, a number for each judgement in their order. */
export const compileCounts = (type: EntityType, catalog: Catalog, judgements: ReadonlyArray<Judgement>): Statement => {
  const { context, from, writer } = begin(type, catalog, "array")
  const counts = judgements.map((one) => `count(*) FILTER (WHERE ${condition(one, type, context)})::int`)
  return {
    text: `/* max policy counts */ SELECT count(*)::int AS total, ${array(counts, "int")} AS counts ${from}`,
    parameters: writer.parameters
  }
}

export interface JudgedRows {
  /** The row or rows meant: by entity id as it is bound, or by external id. */
  readonly ids?: ReadonlyArray<string>
  readonly externalIds?: ReadonlyArray<string>
  readonly notExternalIds?: ReadonlyArray<string>
  /** Only rows for which this judgement is true. */
  readonly where?: Judgement
  readonly limit: number
}

/** Per row `id`, `external_id` (of a mapped row its id again), `name` and `truths`, one for each judgement in their order; in order of id. */
export const compileRows = (
  type: EntityType,
  catalog: Catalog,
  judgements: ReadonlyArray<Judgement>,
  { externalIds, ids, limit, notExternalIds, where }: JudgedRows
): Statement => {
  const { context, from, writer } = begin(type, catalog, "subplan")
  const name = columnByKey(type, DISPLAY_NAME)
  const truths = judgements.map((one) => condition(one, type, context))
  const id = idReference(type, "p")
  const external = type.mapping === undefined ? "p.external_id" : `${id}::text`
  const wanted = [
    ...(ids === undefined ? [] : [`${id} = ANY(${writer.bind(ids, "text[]")}::${idCast(type.mapping?.id.type)}[])`]),
    ...(externalIds === undefined ? [] : [`${external} = ANY(${writer.bind(externalIds, "text[]")})`]),
    ...(notExternalIds === undefined
      ? []
      : [`(${external} IS NULL OR ${external} <> ALL(${writer.bind(notExternalIds, "text[]")}))`]),
    ...(where === undefined ? [] : [condition(where, type, context)])
  ]
  return {
    text:
      `/* max policy rows */ SELECT ${id}::text AS id, ${external} AS external_id, ` +
      `${name === undefined ? "NULL" : columnReference(name, "p", "value", context)} AS name, ` +
      `${array(truths, "boolean")} AS truths ${from}${wanted.map((part) => ` AND ${part}`).join("")} ORDER BY ${id} LIMIT ${writer.bind(limit, "int")}`,
    parameters: writer.parameters
  }
}

const begin = (type: EntityType, catalog: Catalog, shape: FragmentContext["shape"]) => {
  const writer = new SqlWriter()
  const organization = writer.bind(catalog.organization.id, "bigint")
  let timeZone: string | undefined
  const context: FragmentContext = {
    catalog,
    writer,
    organization,
    shape,
    timeZone: () => (timeZone ??= writer.bind(catalog.organization.timeZone, "text"))
  }
  return { writer, context, from: `FROM ${relationOf(type)} p WHERE ${belongs(type, "p", context)}` }
}

const condition = ({ of, without }: Judgement, type: EntityType, context: FragmentContext): string => {
  const holds = `(${fragment(of, type, "p", context)}) IS TRUE`
  return without === undefined ? holds : `(${holds} AND (${fragment(without, type, "p", context)}) IS NOT TRUE)`
}

const array = (parts: ReadonlyArray<string>, of: string): string => `ARRAY[${parts.join(", ")}]::${of}[]`
