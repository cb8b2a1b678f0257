/**
 * Query + plan → the one statement: the permitted and matching ids are materialized first (bounded, so that a total
 * costs the same for ten matches and ten million), then the page is read by id, each cell under its mask. Of a mapped
 * relation whole rows are materialized and none is read again: an id that names two rows would show the one that the
 * plan left out.
 */
import type { Catalog, Column, EntityType } from "../../domain/EntityType.ts"
import { columnByKey, DISPLAY_NAME, STATUS } from "../../domain/EntityType.ts"
import { all, type Bound, type Literal, Slot } from "../../domain/Predicate.ts"
import { MAX_TOTAL, type ResolvedQuery, type SelectedColumn } from "../../domain/Query.ts"
import { fragment, type FragmentContext, linkBelongs } from "./predicate.ts"
import {
  belongs,
  columnReference,
  idCast,
  idReference,
  organizationOf,
  physicalColumns,
  relationOf,
  targetRows
} from "./rows.ts"
import { identifier, isList, qualified, SqlWriter } from "./SqlWriter.ts"
import { type Ways, waysOf } from "./orExpansion.ts"

export interface Statement {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
  /** The same for several callers at once, where that may be. */
  readonly several?: (() => Several) | undefined
}

/**
 * A statement that answers several callers whose statements have one text. Each parameter is the array of their values, in
 * their order, or, for one in `shared`, a list that is the same for all of them. A row says in `n`, counted from 1, whose
 * it is.
 */
export interface Several {
  readonly text: string
  readonly shared: ReadonlySet<number>
}

/**
 * A statement with more text than this is refused. Plans have a bound of their own (`compilable.ts`); what plans within
 * it come to, several times over with filters and targets, fits.
 */
const MAX_STATEMENT_LENGTH = 2 * 1024 * 1024

/** At most this many related entities are shown in one cell. */
export const MAX_RELATED = 10

/**
 * The statement of a query: compiled, or what a query of the same shape was compiled to, with this one's values. Throws
 * when the catalog doesn't fit the query.
 */
export const statementOf = (query: ResolvedQuery, catalog: Catalog): Statement => {
  const { given } = query
  if (given === undefined) return compileFind(query, catalog)
  const { shape, statements, values } = given
  let statement = shape === undefined ? undefined : statements.get(shape)
  if (statement === undefined) {
    statement = { ...compileFind(query, catalog), several: severalOf(query, catalog) }
    if (shape !== undefined) statements.set(shape, statement)
  }
  return {
    text: statement.text,
    parameters: filled(statement.parameters, values),
    several: statement.several
  }
}

/** Of lookups only: they are in order of id, and none of them keeps the others waiting. */
const severalOf = (query: ResolvedQuery, catalog: Catalog): Statement["several"] => {
  if (query.pool !== "lookup") return undefined
  let compiled: Several | undefined
  return () => (compiled ??= compileSeveral(query, catalog))
}

const filled = (parameters: ReadonlyArray<unknown>, values: ReadonlyArray<Literal>): ReadonlyArray<unknown> =>
  parameters.map((parameter) => {
    if (!(parameter instanceof Slot)) return parameter
    const value = values[parameter.index]
    if (value === undefined) throw new Error("A slot has no value")
    return value
  })

/**
 * Compiles a query; a slot becomes a parameter that is still to be filled. Columns of the result: `fresh` (whether the epoch still holds), `total` (up to one above the
 * bound), and per row `organization_id`, `id`, `name`, `status` and `c0`… in order of `select`; a page one row longer
 * than the limit says that more follows. Throws when the catalog doesn't fit the query.
 */
export const compileFind = (query: ResolvedQuery, catalog: Catalog, writer = new SqlWriter()): Statement => {
  const organization = writer.bind(catalog.organization.id, "bigint")
  const epoch = writer.bind(catalog.epoch, "bigint")
  let timeZone: string | undefined
  const context: FragmentContext = {
    catalog,
    writer,
    organization,
    shape: query.shape,
    timeZone: () => (timeZone ??= writer.bind(catalog.organization.timeZone, "text"))
  }
  const { type } = query
  const mapped = type.mapping !== undefined
  const table = relationOf(type)
  const id = idReference(type, "p")
  const conditions = [query.plan, ...query.filters].filter((part) => part._tag !== "Always")
  const { rest, ways }: Ways =
    query.shape === "array" && !mapped ? waysOf(conditions, type) : { ways: [], rest: conditions }
  // Not in canonical order, which depends on values: the same question has the same text, whatever is asked for.
  const reasons = ways.map((way) => fragment(way, type, "p", { ...context, shape: "subplan" }))
  const matches = [
    belongs(type, "p", context),
    "(SELECT g.fresh FROM g)",
    ...rest.map((part) => fragment(part, type, "p", context))
  ].join(" AND ")
  const key = query.order === undefined ? undefined : columnReference(query.order.column, "p", "value", context)
  const direction = query.order?.descending === true ? " DESC" : ""
  const order = (alias: string) =>
    key === undefined ? `${alias}.id` : `${alias}.v${direction}, ${alias}.id${direction}`
  const sorted = key === undefined ? id : `${key}${direction}, ${id}${direction}`
  const read = mapped
    ? physicalColumns(type)
        .map((column) => `p.${identifier(column)}`)
        .join(", ")
    : `p.id${key === undefined ? "" : `, ${key} AS v`}`

  /** The first rows that match, by each of the ways to them. */
  const rows = (from: string, where: string, limit: string) => {
    const by = (reason: string) =>
      `SELECT ${read} FROM ${from} WHERE ${matches}${reason}${where} ORDER BY ${sorted} LIMIT ${limit}`
    if (reasons.length === 0) return by("")
    const found = reasons.map((reason) => `(${by(` AND ${reason}`)})`).join(" UNION ")
    return `${found} ORDER BY ${key === undefined ? "id" : `v${direction}, id${direction}`} LIMIT ${limit}`
  }

  const guard = `g AS MATERIALIZED (SELECT o.epoch = ${epoch} AS fresh FROM max.organizations o WHERE o.organization_id = ${organization})`
  const found = `m AS MATERIALIZED (${rows(`${table} p`, "", String(MAX_TOTAL + 1))})`
  const total = "(SELECT count(*)::int AS total FROM m) t"
  const head = `SELECT (SELECT g.fresh FROM g) AS fresh, t.total`
  const label = `/* max ${query.label} */`
  if (query.limit === 0) return bounded(`${label} WITH ${guard}, ${found} ${head} FROM ${total}`, writer)

  const size = writer.bind(query.limit + 1, "int")
  const page = mapped ? "p" : "k"
  const first = mapped
    ? `SELECT ${read} FROM m p ORDER BY ${sorted}`
    : `SELECT m.id${key === undefined ? "" : ", m.v"} FROM m ORDER BY ${order("m")}`
  const keys =
    query.cursor === undefined
      ? `(${first} LIMIT ${size}) ${page}`
      : `LATERAL (${rows(
          `${table} p${key === undefined ? "" : ", c"}`,
          ` AND ${after(key, id, direction, writer.bind(query.cursor, idCast(type.mapping?.id.type)))}`,
          size
        )}) ${page}`
  const ctes = [
    guard,
    found,
    ...(query.cursor !== undefined && key !== undefined ? [cursorRow(query, key, table, context)] : [])
  ]
  const cells = query.select.map((selected, index) => cell(selected, type, `j${index}`, context))
  const columns = [
    ...(mapped
      ? [`${organizationOf(type, "p", context)} AS organization_id`, `${id}::text AS id`]
      : ["p.organization_id", "p.id"]),
    `${masked(columnByKey(type, DISPLAY_NAME), query.name, type, context)} AS name`,
    `${masked(columnByKey(type, STATUS), query.status, type, context)} AS status`,
    ...cells.map((part, index) => `${part.value} AS c${index}`)
  ]
  return bounded(
    `${label} WITH ${ctes.join(", ")} ${head}, ${columns.join(", ")} FROM ${total} LEFT JOIN ${keys} ON true` +
      (mapped ? "" : ` LEFT JOIN ${table} p ON ${belongs(type, "p", context)} AND p.id = k.id`) +
      cells.map((part) => part.join).join("") +
      ` ORDER BY ${mapped ? sorted : order("k")}`,
    writer
  )
}

/** Compiles a query for several callers. Throws when the catalog doesn't fit the query. */
export const compileSeveral = (query: ResolvedQuery, catalog: Catalog): Several => {
  const writer = new SqlWriter("b")
  const { text } = compileFind(query, catalog, writer)
  const given = writer.casts.flatMap((cast, index) => (isList(cast) ? [] : [{ cast, number: index + 1 }]))
  const values = given.map(({ cast, number }) => `$${number}::${cast}[]`).join(", ")
  const names = given.map(({ number }) => `a${number}`).join(", ")
  return {
    // Its values have shorter names than parameters have: what fits alone fits here.
    text:
      `/* max ${query.label}, several */ SELECT b.n::int AS n, r.* FROM unnest(${values}) WITH ORDINALITY b(${names}, n), ` +
      `LATERAL (${text}) r ORDER BY b.n${query.limit === 0 ? "" : ", r.id"}`,
    shared: new Set(writer.casts.flatMap((cast, index) => (isList(cast) ? [index] : [])))
  }
}

const bounded = (text: string, writer: SqlWriter): Statement => {
  if (text.length > MAX_STATEMENT_LENGTH) throw new Error("The statement is too large")
  return { text, parameters: writer.parameters }
}

const after = (key: string | undefined, id: string, direction: string, cursor: string): string =>
  key === undefined ? `${id} > ${cursor}` : `(${key}, ${id}) ${direction === "" ? ">" : "<"} (c.v, ${cursor})`

/** The row that a page continues after must be visible with the cell that orders, or its value would leak by position. */
const cursorRow = (query: ResolvedQuery, key: string, table: string, context: FragmentContext): string =>
  `c AS MATERIALIZED (SELECT ${key} AS v FROM ${table} p WHERE ${belongs(query.type, "p", context)} ` +
  `AND ${idReference(query.type, "p")} = ${context.writer.bind(query.cursor, idCast(query.type.mapping?.id.type))} AND ` +
  `${fragment(all(query.plan, query.order!.mask), query.type, "p", { ...context, shape: "probe" })}` +
  `${query.type.mapping?.unique === false ? ` ORDER BY v LIMIT 1` : ""})`

const masked = (column: Column | undefined, mask: Bound, type: EntityType, context: FragmentContext): string =>
  column === undefined ? "NULL" : underMask(shown(column, context), mask, type, context)

const underMask = (value: string, mask: Bound, type: EntityType, context: FragmentContext): string => {
  switch (mask._tag) {
    case "Always":
      return value
    case "Never":
      return "NULL"
    default:
      return `CASE WHEN ${fragment(mask, type, "p", { ...context, shape: "probe" })} THEN ${value} END`
  }
}

const shown = (column: Column, context: FragmentContext): string => {
  const reference = columnReference(column, "p", "value", context)
  switch (column.kind) {
    case "timestamp":
      return `to_char(timezone(${context.timeZone()}, ${reference}), 'YYYY-MM-DD HH24:MI:SS')`
    case "date":
      return `to_char(${reference}, 'YYYY-MM-DD')`
    case "integer":
    case "number":
      return `${reference.startsWith("CASE") ? `(${reference})` : reference}::text${currencyOf(column)}`
    default:
      return reference
  }
}

/** An amount is shown with its currency, whoever may see it. */
const currencyOf = ({ storage }: Column): string =>
  storage._tag === "Value" && storage.source?.currency !== undefined
    ? ` || coalesce(' ' || nullif(btrim(p.${identifier(storage.source.currency)}::text), ''), '')`
    : ""

interface Cell {
  readonly value: string
  readonly join: string
}

const cell = (selected: SelectedColumn, type: EntityType, alias: string, context: FragmentContext): Cell => {
  const { column, mask, target } = selected
  const { storage } = column
  // Without the caller's plan of the target, a reference would show what it leads to, whoever asks.
  if (storage._tag !== "Value" && target === undefined)
    throw new Error("A relation is shown without a plan of its target")
  if (storage._tag === "Value" || target === undefined) {
    return { value: masked(column, mask, type, context), join: "" }
  }
  const other = context.writer.alias()
  const inner = { ...context, shape: "probe" as const }
  const nameColumn = columnByKey(target.type, DISPLAY_NAME)
  const name =
    nameColumn === undefined || target.name._tag === "Never"
      ? "NULL::text"
      : target.name._tag === "Always"
        ? columnReference(nameColumn, other, "value", context)
        : `CASE WHEN ${fragment(target.name, target.type, other, inner)} THEN ${columnReference(nameColumn, other, "value", context)} END`
  const permitted = fragment(target.where, target.type, other, inner)
  const own = belongs(target.type, other, context)
  const table = targetRows(target.type, other, context)
  const targetId = idReference(target.type, other)
  const shownId = target.type.mapping === undefined ? targetId : `${targetId} AS id`
  const onRow = mask._tag === "Always" ? "" : ` AND ${fragment(mask, type, "p", inner)}`
  if (storage._tag === "One") {
    return {
      value: `CASE WHEN ${alias}.id IS NOT NULL THEN ARRAY[${alias}.id::text, ${alias}.name] END`,
      join:
        ` LEFT JOIN LATERAL (SELECT ${shownId}, ${name} AS name FROM ${table} WHERE ${own} ` +
        `AND ${targetId} = p.${identifier(storage.column)} AND ${permitted}${onRow}) ${alias} ON true`
    }
  }
  const link = context.writer.alias()
  return {
    value: `${alias}.related`,
    join:
      ` LEFT JOIN LATERAL (SELECT array_agg(x.part ORDER BY x.id, x.n) AS related FROM (SELECT y.id, z.n, z.part FROM (` +
      `SELECT ${shownId}, ${name} AS name FROM ${qualified(storage.link)} ${link} JOIN ${table} ON ${own} ` +
      `AND ${targetId} = ${link}.${identifier(storage.to)} WHERE ${linkBelongs(storage, link, context)} ` +
      `AND ${link}.${identifier(storage.from)} = ${idReference(type, "p")} AND ${permitted}${onRow} ORDER BY ${targetId} LIMIT ${MAX_RELATED + 1}) y, ` +
      `LATERAL (VALUES (1, y.id::text), (2, y.name)) z(n, part)) x) ${alias} ON true`
  }
}
