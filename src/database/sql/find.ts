/**
 * Resolved query → the one statement. It first materializes the permitted and matching ids, bounded so that a total costs
 * the same for ten matches and ten million; then it reads the page by id, each cell under its mask. Of a mapped relation
 * it materializes whole rows and reads none again: an id that names two rows would show the row that the plan excluded.
 * The functions below are the clauses, in the order in which their parameters are numbered.
 */
import { type Catalog, columnByKey, DISPLAY_NAME, STATUS } from "../../domain/EntityType.ts"
import { all } from "../../domain/Predicate.ts"
import { MAX_TOTAL } from "../../domain/Query.ts"
import { type Cell, cell, masked } from "./cells.ts"
import { heldCondition } from "./held.ts"
import { type FragmentContext, fragmentContext } from "./fragmentContext.ts"
import { firstRows, materializedOrder, type MatchingRows, matchingRows } from "./matching.ts"
import { fragment } from "./predicate.ts"
import type { BatchForm, ResolvedQuery, Statement } from "./ResolvedQuery.ts"
import { belongs, idCast, organizationOf } from "./rows.ts"
import { isList, SqlWriter } from "./SqlWriter.ts"

/** In characters. Plans have a smaller bound (`compilable.ts`): a plan within it fits several times, with filters and targets. */
export const MAX_STATEMENT_LENGTH = 2 * 1024 * 1024

const TOTAL = "(SELECT count(*)::int AS total FROM m) t"
const HEAD = "SELECT (SELECT g.fresh FROM g) AS fresh, t.total"
/** A standby's rows come with what tells whether it lags behind its primary. */
const STANDBY_HEAD = `${HEAD}, (SELECT g.version FROM g) AS version`

/** Which server a statement is for. */
export type Server = "primary" | "standby"

/**
 * Compiles a query. Result columns: `fresh` (whether the epoch still holds), `total` (up to one above its bound) and, per
 * row, `organization_id`, `id`, `name`, `status` and `c0`… in the order of `select`; a page that is one row longer than
 * the limit has a next page. A standby's statement also has `version`, the organization's data version. Throws when the
 * catalog doesn't fit the query.
 */
export const compileFind = (
  query: ResolvedQuery,
  catalog: Catalog,
  writer = new SqlWriter(),
  server: Server = "primary"
): Statement => {
  const context = fragmentContext(catalog, writer, query.hops)
  const epoch = writer.bind(catalog.epoch, "bigint")
  const rows = matchingRows(query, context)
  const ctes = rows.through === undefined ? "" : `${rows.through.ctes}, `
  const matches = `${ctes}m AS MATERIALIZED (${firstRows(rows, String(MAX_TOTAL + 1))})`
  const head = server === "primary" ? HEAD : STANDBY_HEAD
  const rest = query.limit === 0 ? ` ${head} FROM ${TOTAL}` : page(rows, head, context)
  // Last: it holds every relation that the other clauses read.
  const guard = (server === "primary" ? guardCte : standbyGuardCte)(epoch, context)
  const text = `/* max ${query.label} */ WITH ${guard}, ${matches}${rest}`
  if (text.length > MAX_STATEMENT_LENGTH) throw new Error("The statement is too large")
  return {
    text,
    parameters: writer.parameters,
    relations: [...writer.relations],
    ...(writer.mapped.size === 0 ? {} : { mapped: true })
  }
}

/** Compiles the batch form of a query. Throws when the catalog doesn't fit the query. */
export const compileBatch = (query: ResolvedQuery, catalog: Catalog, server: Server = "primary"): BatchForm => {
  const writer = new SqlWriter("b")
  const { text } = compileFind(query, catalog, writer, server)
  const scalars = writer.casts.flatMap((cast, index) => (isList(cast) ? [] : [{ cast, number: index + 1 }]))
  const arrays = scalars.map(({ cast, number }) => `$${number}::${cast}[]`).join(", ")
  const names = scalars.map(({ number }) => `a${number}`).join(", ")
  return {
    // Its column references are shorter than placeholders: a statement that fits alone fits here.
    text:
      `/* max ${query.label}, several */ SELECT b.n::int AS n, r.* FROM unnest(${arrays}) WITH ORDINALITY b(${names}, n), ` +
      `LATERAL (${text}) r ORDER BY b.n${query.limit === 0 ? "" : ", r.id"}`,
    shared: new Set(writer.casts.flatMap((cast, index) => (isList(cast) ? [index] : [])))
  }
}

/**
 * Whether the epoch of the plan is still in force, in the snapshot that reads the rows. The mapped relations are compared
 * with the mapping earlier, when Postgres plans the statement.
 */
export const guardCte = (epoch: string, context: FragmentContext): string => {
  const held = heldCondition(context)
  return `g AS MATERIALIZED (SELECT ${held === undefined ? "" : `${held} AND `}o.epoch = ${epoch} AND NOT pg_is_in_recovery() AS fresh FROM max.organizations o WHERE o.organization_id = ${context.organization})`
}

/** The epoch and data version that a standby has, in the snapshot that reads the rows: its caller compares them with the primary's. */
const standbyGuardCte = (epoch: string, { organization }: FragmentContext): string =>
  `g AS MATERIALIZED (SELECT o.epoch = ${epoch} AS fresh, (SELECT d.version FROM max.data_versions d WHERE d.organization_id = ${organization}) AS version ` +
  `FROM max.organizations o WHERE o.organization_id = ${organization})`

/** The rest of a statement that returns rows, from the cursor's CTE on. */
const page = (rows: MatchingRows, head: string, context: FragmentContext): string => {
  const { mapped, query, table } = rows
  const { type } = query
  const size = context.writer.bind(query.limit + 1, "int")
  const keys = query.cursor === undefined ? firstPage(rows, size) : nextPage(rows, size, context)
  const cursor = query.cursor === undefined || rows.key === undefined ? "" : `, ${cursorCte(rows, context)}`
  const cells = query.select.map((selected, index) => cell(selected, type, `j${index}`, context))
  return (
    `${cursor} ${head}, ${resultColumns(rows, cells, context)} FROM ${TOTAL} LEFT JOIN ${keys} ON true` +
    (mapped ? "" : ` LEFT JOIN ${table} p ON ${belongs(type, "p", context)} AND p.id = k.id`) +
    cells.map(({ join }) => join).join("") +
    ` ORDER BY ${mapped ? rows.orderBy : materializedOrder(rows, "k.")}`
  )
}

const firstPage = (rows: MatchingRows, size: string): string => {
  const { columns, key, orderBy } = rows
  const first = rows.mapped
    ? `SELECT ${columns} FROM m p ORDER BY ${orderBy}`
    : `SELECT m.id${key === undefined ? "" : ", m.v"} FROM m ORDER BY ${materializedOrder(rows, "m.")}`
  return `(${first} LIMIT ${size}) ${rows.mapped ? "p" : "k"}`
}

const nextPage = (rows: MatchingRows, size: string, { writer }: FragmentContext): string => {
  const { direction, id, key, mapped, query, table } = rows
  const cursor = writer.bind(query.cursor, idCast(query.type.mapping?.id.type))
  const after =
    key === undefined ? `${id} > ${cursor}` : `(${key}, ${id}) ${direction === "" ? ">" : "<"} (c.v, ${cursor})`
  const from = `${table} p${key === undefined ? "" : ", c"}`
  return `LATERAL (${firstRows(rows, size, from, ` AND ${after}`)}) ${mapped ? "p" : "k"}`
}

/** The caller must see the cursor's row and the cell that orders it; otherwise the page's position would reveal its value. */
const cursorCte = ({ id, key, query, table }: MatchingRows, context: FragmentContext): string => {
  const { cursor, order, plan, type } = query
  const probes = { ...context, hops: "probe" as const }
  return (
    `c AS MATERIALIZED (SELECT ${key} AS v FROM ${table} p WHERE ${belongs(type, "p", context)} ` +
    `AND ${id} = ${context.writer.bind(cursor, idCast(type.mapping?.id.type))} AND ` +
    `${fragment(all(plan, order!.mask), type, "p", probes)}` +
    `${type.mapping?.unique === false ? ` ORDER BY v LIMIT 1` : ""})`
  )
}

const resultColumns = (
  { id, mapped, query }: MatchingRows,
  cells: ReadonlyArray<Cell>,
  context: FragmentContext
): string => {
  const { name, status, type } = query
  return [
    ...(mapped
      ? [`${organizationOf(type, "p", context)} AS organization_id`, `${id}::text AS id`]
      : ["p.organization_id", "p.id"]),
    `${masked(columnByKey(type, DISPLAY_NAME), name, type, context)} AS name`,
    `${masked(columnByKey(type, STATUS), status, type, context)} AS status`,
    ...cells.map(({ value }, index) => `${value} AS c${index}`)
  ].join(", ")
}
