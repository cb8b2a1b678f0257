/**
 * Resolved groups → the one statement, over the table as the caller sees it: a hidden cell is an empty cell, a hidden target
 * no target. `x` shows the rows, `s` adds them up per stored value, `r` replaces values and references that aren't shown by
 * the empty group and adds up again, `w` and `o` finish the figures and put the groups in order, of which a page is named.
 * Where a figure or a list of references needs what is shown from the start, `r` adds up the rows of `x` itself. By a list, a
 * row is in the group of each of its references, and `d` counts the rows themselves. The functions below are the clauses, in
 * the order in which their parameters are numbered.
 */
import { type Catalog, type Column, columnByKey, DISPLAY_NAME } from "../../domain/EntityType.ts"
import type { Figure } from "../../domain/Query.ts"
import { guardCte, MAX_STATEMENT_LENGTH } from "./find.ts"
import { type FragmentContext, fragmentContext } from "./fragmentContext.ts"
import { fragment } from "./predicate.ts"
import type { GroupPath, ResolvedGroups } from "./ResolvedGroups.ts"
import type { Statement } from "./ResolvedQuery.ts"
import { columnReference } from "./rows.ts"
import { localTime } from "./moments.ts"
import { each, hopsOf, inSeveral, isByStored, Joins, keyAgain, matchingRows, shownRows } from "./shownRows.ts"
import { SqlWriter } from "./SqlWriter.ts"

/** Decimal places of an average. */
const AVERAGE_PLACES = 4

/**
 * Compiles a request for groups. Result columns: `fresh`, `total` (rows), `groups`, `several` (currencies) and, per group and
 * currency: `own` (the group's cursor), `n`, `u` (the currency), `share` (of a sum), per key its text `t0`… and, of a
 * reference, its `name0`…, per figure its text `f0`… and number of values `c0`…. Throws when the catalog doesn't fit the
 * request.
 */
export const compileGroups = (groups: ResolvedGroups, catalog: Catalog): Statement => {
  const writer = new SqlWriter()
  const context = fragmentContext(catalog, writer, "set")
  const epoch = writer.bind(catalog.epoch, "bigint")
  const shown = shownRows(groups, context)
  const ctes = [
    ...(inSeveral(groups) ? [`d AS MATERIALIZED (SELECT count(*) AS n ${matchingRows(groups, context)})`] : []),
    ...(isByStored(groups)
      ? [`s AS MATERIALIZED (${perValue(groups, shown)})`, `r AS MATERIALIZED (${perGroup(groups, context)})`]
      : [`r AS MATERIALIZED (${perValue(groups, shown)})`]),
    `w AS MATERIALIZED (${finished(groups)})`
  ].join(", ")
  const met = conditions(groups, context)
  const rest = `${ctes}, o AS (${inOrder(groups, met)}) ${page(groups, met, context)}`
  const text = `/* max ${groups.label} */ WITH ${guardCte(epoch, context)}, ${rest}`
  if (text.length > MAX_STATEMENT_LENGTH) throw new Error("The statement is too large")
  return {
    text,
    parameters: writer.parameters,
    relations: [...writer.relations],
    ...(writer.mapped.size === 0 ? {} : { mapped: true })
  }
}

/** The columns that name a group, and with the currency those of a row of `s` and `r`. */
const keysOf = ({ by }: ResolvedGroups, prefix: string): ReadonlyArray<string> =>
  by.map((_, index) => `${prefix}k${index}`)
const partsOf = (groups: ResolvedGroups, prefix: string): ReadonlyArray<string> => [
  ...keysOf(groups, prefix),
  ...(groups.money.size === 0 ? [] : [`${prefix}u`])
]
const groupBy = (columns: ReadonlyArray<string>): string =>
  columns.length === 0 ? "" : ` GROUP BY ${columns.join(", ")}`

/** Adds up a group's rows of `r` or `w`, one for each currency; without currencies it has one. */
const overGroup = (groups: ResolvedGroups, from: "r" | "w", aggregate: string | undefined, value: string): string => {
  if (groups.money.size === 0) return value
  if (aggregate === undefined) throw new Error("The figure can't be added up over currencies")
  return `${aggregate}(${value}) OVER ${groups.by.length === 0 ? "()" : `(PARTITION BY ${keysOf(groups, `${from}.`).join(", ")})`}`
}

/** Adds up the rows per key and currency. */
const perValue = (groups: ResolvedGroups, shown: string): string => {
  const { figures } = groups
  const sums = each(
    figures,
    ({ figure }, index) => `, count(x.v${index}) AS c${index}, ${ADD_UP[figure](`x.v${index}`)} AS a${index}`
  )
  const parts = partsOf(groups, "x.")
  return `SELECT ${each(parts, (part) => `${part}, `)}count(*) AS n${sums} FROM (${shown}) x${groupBy(parts)}`
}

const ADD_UP = {
  sum: (value: string) => `sum(${value}::numeric)`,
  // From sums and counts, which can be added up again: an average of averages would be wrong.
  avg: (value: string) => `sum(${value}::numeric)`,
  min: (value: string) => `min(${value})`,
  max: (value: string) => `max(${value})`,
  distinct: (value: string) => `count(DISTINCT ${value})`
} as const

/** Adding up partial figures, which numbers of distinct values aren't. */
const ADD_AGAIN: Partial<Record<Figure, string>> = { sum: "sum", avg: "sum", min: "min", max: "max" }

/**
 * Adds up again, by what cells show of stored values and by what the caller may follow references to. What isn't shown is in the
 * empty group.
 */
const perGroup = (groups: ResolvedGroups, context: FragmentContext): string => {
  const { by, figures, money, type } = groups
  const joins = new Joins(type, context)
  const keys = by.map((_, index) => keyAgain(groups, index, joins))
  const parts = [...keys, ...(money.size === 0 ? [] : ["s.u"])]
  const columns = each(keys, (key, index) => `${key} AS k${index}, `)
  const currency = money.size === 0 ? "" : "s.u, "
  const sums = each(
    figures,
    ({ figure }, index) => `, sum(s.c${index})::bigint AS c${index}, ${ADD_AGAIN[figure]}(s.a${index}) AS a${index}`
  )
  return `SELECT ${columns}${currency}sum(s.n)::bigint AS n${sums} FROM s${joins.text()} WHERE s.n > 0${groupBy(parts)}`
}

const nameOf = (target: NonNullable<GroupPath["target"]>, alias: string, context: FragmentContext): string => {
  const column = columnByKey(target.type, DISPLAY_NAME)
  if (column === undefined || target.name._tag === "Never") return "NULL::text"
  const name = columnReference(column, alias, "value", context)
  return target.name._tag === "Always"
    ? name
    : `CASE WHEN ${fragment(target.name, target.type, alias, context)} THEN ${name} END`
}

/** Per group and currency: a figure without a currency is added up over all of them, amounts never are. */
const finished = (groups: ResolvedGroups): string => {
  const { figures, money } = groups
  const all = each(figures, ({ figure }, index) => {
    const merged = !money.has(index)
    const count = merged ? overGroup(groups, "r", "sum", `r.c${index}`) : `r.c${index}`
    const sum = merged ? overGroup(groups, "r", ADD_AGAIN[figure], `r.a${index}`) : `r.a${index}`
    const value = figure === "avg" ? `round(${sum} / nullif(${count}, 0), ${AVERAGE_PLACES})` : sum
    return `, ${count} AS m${index}, ${figure === "avg" ? `trim_scale(${value})` : value} AS f${index}`
  })
  const [first] = money
  const several =
    first === undefined ? "FALSE" : `(SELECT count(DISTINCT coalesce(q.u, '')) > 1 FROM r q WHERE q.c${first} > 0)`
  // Where a row is in several groups, they add up to more than all of it.
  const total = inSeveral(groups) ? "(SELECT d.n FROM d)" : "sum(r.n) OVER ()"
  const whole =
    figures[0]?.figure === "sum" && !inSeveral(groups)
      ? "CASE WHEN min(r.a0) OVER () >= 0 THEN sum(r.a0) OVER () END"
      : "NULL::numeric"
  return (
    `SELECT ${each(partsOf(groups, "r."), (part) => `${part}, `)}` +
    `${total}::bigint AS total, ${overGroup(groups, "r", "sum", "r.n")} AS gn, ${several} AS several, ${whole} AS whole${all} FROM r WHERE r.n > 0`
  )
}

/**
 * Numbers the groups that meet the conditions: periods from the last one, others by their first figure; the empty ones last. Not
 * materialized, so that Postgres numbers them only to the end of the page, where it reads them once: on the first page, without currencies.
 */
const inOrder = (groups: ResolvedGroups, met: string): string => {
  const { by, figures, money, upwards } = groups
  const lead =
    figures[0] === undefined
      ? ""
      : `, ${money.has(0) ? `CASE WHEN NOT w.several THEN ${overGroup(groups, "w", "max", "CASE WHEN w.m0 > 0 THEN w.f0 END")} END` : "w.f0"} AS lead`
  const direction = upwards ? "ASC" : "DESC"
  const periods = by.flatMap(({ bucket }, index) =>
    bucket === undefined ? [] : [`y.k${index} IS NULL`, `y.k${index} DESC`]
  )
  const order = [
    ...periods,
    ...by.flatMap(({ bucket }, index) => (bucket === undefined ? [`y.k${index} IS NULL`] : [])),
    ...(lead === "" ? [] : [`y.lead ${direction} NULLS LAST`]),
    `y.gn ${direction}`,
    ...by.flatMap(({ bucket }, index) => (bucket === undefined ? [`y.k${index}`] : []))
  ].join(", ")
  return `SELECT y.*, dense_rank() OVER (ORDER BY ${order}) AS place FROM (SELECT w.*, ${met} AS met${lead} FROM w) y WHERE y.met`
}

const COMPARE = { eq: "=", gte: ">=", lt: "<" } as const

/** What groups must meet: an amount in several currencies does if it does in one of them. */
const conditions = (groups: ResolvedGroups, { writer }: FragmentContext): string =>
  groups.having
    .map(({ of, op, value }) => {
      const against = `${COMPARE[op]} ${writer.bind(value, "numeric")}`
      return of === "count"
        ? `w.gn ${against}`
        : `coalesce(${overGroup(groups, "w", "bool_or", `w.m${of} > 0 AND w.f${of} ${against}`)}, FALSE)`
    })
    .join(" AND ") || "TRUE"

/** One page of groups. After a cursor without a group comes nothing: a guessed value has no place to start from. */
const page = (groups: ResolvedGroups, met: string, context: FragmentContext): string => {
  const { by, cursor, figures, limit, money, type } = groups
  const { writer } = context
  const size = writer.bind(limit + 1, "int")
  const after =
    cursor === undefined
      ? "0"
      : `(SELECT min(c.place) FROM o c WHERE ${ownKey(groups, "c")} = ${writer.bind(cursor, "text")})`
  const joins = new Joins(type, context)
  const keys = each(by, ({ bucket, path }, index) => {
    const key = `o.k${index}`
    const text = `, ${keyText(key, bucket === undefined ? path.column.kind : undefined, context)} AS t${index}`
    const { target } = path
    return target === undefined
      ? text
      : `${text}, ${nameOf(target, joins.end(hopsOf(path).slice(-1), key).alias, context)} AS name${index}`
  })
  const values = each(
    figures,
    ({ figure, path }, index) =>
      `, ${figureText(`o.f${index}`, figure === "min" || figure === "max" ? path.column.kind : "number", context)} AS f${index}, o.m${index}::bigint AS c${index}`
  )
  const share = "CASE WHEN o.whole > 0 AND NOT o.several THEN round(100 * o.f0 / o.whole)::int END"
  return (
    `SELECT (SELECT g.fresh FROM g) AS fresh, (SELECT max(w.total) FROM w) AS total, ${money.size === 0 ? `(SELECT count(*)::int FROM w WHERE ${met})` : "(SELECT max(z.place)::int FROM o z)"} AS groups, ` +
    `(SELECT bool_or(w.several) FROM w) AS several, ${ownKey(groups, "o")} AS own, o.place::int AS place, o.gn::bigint AS n` +
    `${money.size === 0 ? "" : ", o.u"}${figures[0]?.figure === "sum" ? `, ${share} AS share` : ""}${keys}${values} ` +
    `FROM (SELECT 1) one LEFT JOIN o ON o.place > ${after} AND o.place <= ${after} + ${size}${joins.text()} ORDER BY o.place` +
    (money.size === 0 ? "" : `, o.m${[...money][0]} DESC, o.u`)
  )
}

/** The cursor of a group: a digest of its keys, which are shown. */
const ownKey = ({ by }: ResolvedGroups, alias: string): string =>
  `md5(concat(${["'groups'", ...by.map((_, index) => `'|', coalesce('=' || length(${alias}.k${index}::text)::text || ':' || ${alias}.k${index}::text, '')`)].join(", ")}))`

const keyText = (reference: string, kind: Column["kind"] | undefined, context: FragmentContext): string =>
  kind === "timestamp" ? `to_char(${localTime(reference, context)}, 'YYYY-MM-DD HH24:MI:SS')` : `${reference}::text`

const figureText = (reference: string, kind: Column["kind"], context: FragmentContext): string =>
  keyText(reference, kind, context)
