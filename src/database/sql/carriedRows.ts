/** Counts the rows of other tables that a deletion of mapped rows takes along or changes. */
import {
  type Carried,
  type CarriedHop,
  type Catalog,
  type EntityType,
  nameOfRelation
} from "../../domain/EntityType.ts"
import { hasId } from "./assignments.ts"
import { type FragmentContext, fragmentContext } from "./fragmentContext.ts"
import { statementOf } from "./held.ts"
import type { Statement } from "./ResolvedQuery.ts"
import { belongs, idReference, linkOf, relationOf } from "./rows.ts"
import { identifier, SqlWriter } from "./SqlWriter.ts"

/** Of a row that is to be deleted: how many rows of each table of `carriedOf` go along or change. */
export interface CarriedRow {
  readonly id: string
  readonly counts: ReadonlyArray<number>
}

/** What deleting a row of a type carries on to. */
export const carriedOf = ({ mapping }: EntityType): ReadonlyArray<Carried> => mapping?.write?.carried ?? []

/** Reads the counts of rows that were judged or locked before: `CarriedRow`s. */
export const compileCarried = (type: EntityType, ids: ReadonlyArray<string>, catalog: Catalog): Statement => {
  const context = fragmentContext(catalog, new SqlWriter(), "probe")
  const counts = carriedOf(type).map((carried) => countOf(carried, context))
  const select = `SELECT ${idReference(type, "p")}::text AS id, ARRAY[${counts.join(", ")}]::int[] AS counts FROM ${relationOf(type, context.writer)} p`
  const where = `${belongs(type, "p", context)} AND ${hasId(type, "p", ids, context)}`
  return statementOf("carried", select, where, context)
}

/** A row is counted once, whatever the number of ways that lead to it. */
const countOf = ({ paths, relation }: Carried, context: FragmentContext): string => {
  const row = context.writer.alias()
  const ways = paths.map((hops) => leads(row, hops, context))
  return `(SELECT count(*) FROM ${linkOf({ link: relation, mapped: true }, context.writer)} ${row} WHERE ${ways.join(" OR ")})`
}

/** That the row `alias` of the last hop leads to the deleted row `p`. */
const leads = (alias: string, hops: ReadonlyArray<CarriedHop>, context: FragmentContext): string => {
  const [last, above] = [hops.at(-1)!, hops.slice(0, -1)]
  const parent = above.length === 0 ? "p" : context.writer.alias()
  const pairs = last.columns
    .map(([from, to]) => `${alias}.${identifier(from)} = ${parent}.${identifier(to)}`)
    .join(" AND ")
  return above.length === 0
    ? `(${pairs})`
    : `EXISTS (SELECT 1 FROM ${linkOf({ link: above.at(-1)!.relation, mapped: true }, context.writer)} ${parent} WHERE ${pairs} AND ${leads(parent, above, context)})`
}

/** The counts by schema.table, without those of no rows. */
export const carriedCounts = (type: EntityType, row: CarriedRow | undefined): Readonly<Record<string, number>> =>
  Object.fromEntries(
    carriedOf(type).flatMap(({ relation }, index) => {
      const count = row?.counts[index] ?? 0
      return count === 0 ? [] : [[nameOfRelation(relation), count]]
    })
  )
