/** Plan and filters → the rows that the caller may see and that match, as clauses of a statement. */
import type { Condition } from "./Parameter.ts"
import { conjuncts, expandOr } from "./orExpansion.ts"
import type { FragmentContext, Hops } from "./fragmentContext.ts"
import { fragment } from "./predicate.ts"
import type { ResolvedQuery } from "./ResolvedQuery.ts"
import { belongs, columnReference, idReference, physicalColumns, relationOf } from "./rows.ts"
import { identifier } from "./SqlWriter.ts"
import { BOUNDS, relatedCtes, type RelatedSearch, relatedSearch } from "./throughRelation.ts"

export interface MatchingRows {
  readonly query: ResolvedQuery
  readonly mapped: boolean
  readonly table: string
  /** The columns that are materialized. */
  readonly columns: string
  /** That a row is the organization's, and the plan's epoch still in force. */
  readonly own: string
  /** All conditions that aren't among the alternatives. */
  readonly where: string
  /** One of these holds on each row; empty without OR expansion. */
  readonly alternatives: ReadonlyArray<string>
  readonly through: ThroughRelation | undefined
  readonly id: string
  /** The expression that orders the rows; undefined when the id does. */
  readonly key: string | undefined
  readonly direction: "" | " DESC"
  readonly orderBy: string
}

/** The clauses of a search through a relation. Its conditions look related rows up one by one. */
interface ThroughRelation {
  readonly ctes: string
  /** All conditions besides the one on related rows. */
  readonly others: string
  /** Of the first rows: the conditions on the column that orders them, and the one on related rows. */
  readonly first: { readonly inOrder: string; readonly related: string } | undefined
}

export const matchingRows = (query: ResolvedQuery, context: FragmentContext): MatchingRows => {
  const { order, type } = query
  const mapped = type.mapping !== undefined
  const id = idReference(type, "p")
  // Not in canonical order, which depends on values: queries that differ in values only have one text.
  const conditions = [query.plan, ...query.filters].filter((part) => part._tag !== "Always")
  const collected = query.hops === "array" && !mapped
  const search = collected ? relatedSearch(conjuncts(conditions), type, context.catalog) : undefined
  const { alternatives, rest } = collected
    ? expandOr(search?.others ?? conditions, type)
    : { alternatives: [], rest: conditions }
  const own = [belongs(type, "p", context), "(SELECT g.fresh FROM g)"]
  const sql = (parts: ReadonlyArray<Condition>, hops: Hops) =>
    parts.map((part) => fragment(part, type, "p", { ...context, hops }))
  const expanded = sql(alternatives, "subplan")
  const through = search === undefined ? undefined : throughRelation(search, query, context, expanded.length > 0)
  const matching = search === undefined ? sql(rest, query.hops) : sql([...rest, search.condition], "subplan")
  const key = order === undefined ? undefined : columnReference(order.column, "p", order.side ?? "value", context)
  const direction = order?.descending === true ? " DESC" : ""
  const columns = mapped
    ? physicalColumns(type)
        .map((column) => `p.${identifier(column)}`)
        .join(", ")
    : `p.id${key === undefined ? "" : `, ${key} AS v`}`
  const orderBy = key === undefined ? id : `${key}${direction}, ${id}${direction}`
  return {
    query,
    mapped,
    table: relationOf(type, context.writer),
    columns,
    own: own.join(" AND "),
    where: [...own, ...matching].join(" AND "),
    alternatives: expanded,
    through,
    id,
    key,
    direction,
    orderBy
  }
}

const throughRelation = (
  search: RelatedSearch,
  { order, type }: ResolvedQuery,
  context: FragmentContext,
  expanded: boolean
): ThroughRelation => {
  const probes = (parts: ReadonlyArray<Condition>) =>
    parts.map((part) => ` AND ${fragment(part, type, "p", { ...context, hops: "probe" })}`).join("")
  const isInOrder = (part: Condition) =>
    part._tag === "Compare" && part.op !== "eq" && part.op !== "ne" && part.column === order?.column.key
  return {
    ctes: relatedCtes(search, type, context),
    others: probes(search.others),
    first: expanded
      ? undefined
      : { inOrder: probes(search.others.filter(isInOrder)), related: probes([search.condition]) }
  }
}

/** The first matching rows, at most `limit`. */
export const firstRows = (rows: MatchingRows, limit: string, from = `${rows.table} p`, after = ""): string =>
  rows.through === undefined
    ? eachAlternative(
        rows,
        limit,
        (alternative) => `SELECT ${rows.columns} FROM ${from} WHERE ${rows.where}${alternative}${after}`
      )
    : rowsThrough(rows, rows.through, limit, from, after)

/** One ordered and limited branch per alternative. */
const eachAlternative = (rows: MatchingRows, limit: string, branch: (alternative: string) => string): string => {
  const limited = (alternative: string) => `${branch(alternative)} ORDER BY ${rows.orderBy} LIMIT ${limit}`
  if (rows.alternatives.length === 0) return limited("")
  const branches = rows.alternatives.map((alternative) => `(${limited(` AND ${alternative}`)})`).join(" UNION ")
  return `${branches} ORDER BY ${materializedOrder(rows, "")} LIMIT ${limit}`
}

/**
 * The same of a search through a relation, in one of three ways, of which the others end before they read a row:
 *
 * - Few related rows match and few rows lead to them: the other conditions are checked on those.
 * - Related rows often match: the first rows in the order of the page are read, and what they lead to looked up one by one.
 *   Not if alternatives have indexes, because those rows can be few.
 * - Otherwise, and if that wasn't enough, all rows that match are read.
 */
const rowsThrough = (
  rows: MatchingRows,
  { first, others }: ThroughRelation,
  limit: string,
  from: string,
  after: string
): string => {
  const { columns, id, orderBy, own, where } = rows
  const order = `ORDER BY ${orderBy} LIMIT ${limit}`
  const ordered = `ORDER BY ${materializedOrder(rows, "")} LIMIT ${limit}`
  const few = `SELECT ${columns} FROM ${from} WHERE (SELECT s.few FROM s) AND ${own} AND ${id} = ANY((SELECT near.ids FROM near)::bigint[])${others}${after} ${order}`
  // OFFSET keeps Postgres from reading in the order of the page until it has found enough.
  const all = (condition: string) =>
    eachAlternative(
      rows,
      limit,
      (alternative) =>
        `SELECT ${columns} FROM (SELECT p.* FROM ${from} WHERE ${where}${alternative}${after} AND ${condition} OFFSET 0) p`
    )
  if (first === undefined) return `(${few}) UNION ALL (${all("(SELECT NOT s.few FROM s)")}) ${ordered}`
  const { inOrder, related } = first
  return (
    `WITH read AS MATERIALIZED (SELECT ${columns} FROM (SELECT p.* FROM (SELECT p.* FROM ${from} WHERE ${own}${inOrder}${after} AND (SELECT o.many FROM o) ` +
    `ORDER BY ${orderBy} LIMIT ${BOUNDS.read}) p WHERE TRUE${others} ORDER BY ${orderBy} LIMIT ${BOUNDS.probed}) p WHERE TRUE${related} ${order}), ` +
    `enough AS MATERIALIZED (SELECT count(*) >= ${limit} AS yes FROM read) ` +
    `(${few}) UNION ALL SELECT * FROM read WHERE (SELECT enough.yes FROM enough) ` +
    `UNION ALL (${all("(SELECT NOT s.few FROM s) AND (SELECT NOT enough.yes FROM enough)")}) ${ordered}`
  )
}

/** The order of rows that are materialized as `id` and `v`. */
export const materializedOrder = ({ direction, key }: MatchingRows, prefix: string): string =>
  key === undefined ? `${prefix}id` : `${prefix}v${direction}, ${prefix}id${direction}`
