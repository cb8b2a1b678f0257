/** The innermost rows of a statement of groups: keys, values and currencies as the caller sees them, before anything is added up. */
import { currencyColumn } from "../../domain/derived.ts"
import type { Column, EntityType, Storage } from "../../domain/EntityType.ts"
import type { Bound } from "../../domain/Predicate.ts"
import { hasValue } from "./comparisons.ts"
import type { FragmentContext } from "./fragmentContext.ts"
import { fragment, linkBelongs } from "./predicate.ts"
import { isOrdinary, localTime } from "./moments.ts"
import type { GroupPath, ResolvedGroups } from "./ResolvedGroups.ts"
import { belongs, columnReference, idReference, linkOf, relationOf, targetRows } from "./rows.ts"
import { identifier } from "./SqlWriter.ts"

export const each = <A>(of: ReadonlyArray<A>, sql: (one: A, index: number) => string): string => of.map(sql).join("")

/** The permitted and matching rows: their keys, values and currency, as the caller sees them. */
export const shownRows = (groups: ResolvedGroups, context: FragmentContext): string => {
  const { by, figures, money, type } = groups
  const joins = new Joins(type, context)
  const stored = isByStored(groups)
  const keys = each(
    by,
    (one, index) => `${stored ? storedKey(one, type, context) : shownKey(one, joins)} AS k${index}, `
  )
  const values = each(figures, ({ path }, index) => `${shownValue(path, joins)} AS v${index}, `)
  const [first] = money
  const currency = first === undefined ? "" : `${currencyOf(figures[first]!.path, joins)} AS u, `
  return `SELECT ${keys}${values}${currency}1 AS one ${matchingRows(groups, context, joins.text())}`
}

/** The permitted and matching rows `p`, with what is joined to them. */
export const matchingRows = ({ filters, plan, type }: ResolvedGroups, context: FragmentContext, joins = ""): string => {
  const from = `${relationOf(type, context.writer)} p${joins}`
  const where = [
    belongs(type, "p", context),
    "(SELECT g.fresh FROM g)",
    ...[plan, ...filters].filter((part) => part._tag !== "Always").map((part) => fragment(part, type, "p", context))
  ].join(" AND ")
  return `FROM ${from} WHERE ${where}`
}

const isMany = ({ path }: By): boolean => path.column.storage._tag === "Many"

/** Whether a row can be in several groups: one for each row that a list of references leads to. */
export const inSeveral = ({ by }: ResolvedGroups): boolean => by.some(isMany)

const referenceOf = ({ storage }: Column, alias: string): string => {
  if (storage._tag !== "One") throw new Error("Groups and paths are by one reference")
  return `${alias}.${identifier(storage.column)}`
}

/** The references that paths lead through from the rows `p` of a type: one join for each, however many paths use it. */
export class Joins {
  readonly context: FragmentContext
  private readonly type: EntityType
  private readonly aliases = new Map<string, string>()
  private joined = ""

  constructor(type: EntityType, context: FragmentContext) {
    this.type = type
    this.context = context
  }

  /**
   * The alias and the type of the row at the end of these steps. `stored` is the id behind the first reference, where it was
   * read before, under its mask.
   */
  end(steps: GroupPath["steps"], stored?: string): { readonly alias: string; readonly type: EntityType } {
    let [alias, type, names, reference] = ["p", this.type, stored ?? "", stored]
    for (const { mask, relation, to, where } of steps) {
      names += `.${relation.key}`
      let next = this.aliases.get(names)
      if (next === undefined) {
        next = this.context.writer.alias()
        this.aliases.set(names, next)
        const masked = reference === undefined ? condition(mask, type, alias, this.context) : []
        const shown = [...masked, ...condition(where, to, next, this.context)].join(" AND ")
        const on = [
          belongs(to, next, this.context),
          `${idReference(to, next)} = ${reference ?? referenceOf(relation, alias)}`,
          // IS TRUE keeps these equalities out of the planner's equivalence classes. PostgreSQL 18 would derive the next join's
          // id from them and drop that join's condition, so that a path that ends in nothing shows a value. Without a next join
          // an index may serve them.
          ...(shown === "" ? [] : [stored !== undefined && steps.length === 1 ? shown : `(${shown}) IS TRUE`])
        ].join(" AND ")
        this.joined += ` LEFT JOIN ${targetRows(to, next, this.context)} ON ${on}`
      }
      alias = next
      type = to
      reference = undefined
    }
    return { alias, type }
  }

  /** The id of what a row's list of references leads to, each once: a mapped link table may state a pair twice. */
  list(storage: Extract<Storage, { _tag: "Many" }>, { mask, target }: GroupPath): string {
    if (target === undefined) throw new Error("A list of references leads nowhere")
    const { context, type } = this
    const [link, other] = [context.writer.alias(), context.writer.alias()]
    const [from, to] = [identifier(storage.from), identifier(storage.to)]
    const table = linkOf(storage, context.writer)
    const links = storage.mapped === true ? `(SELECT DISTINCT w.${from}, w.${to} FROM ${table} w)` : table
    const id = idReference(target.type, other)
    const seen = condition(target.where, target.type, other, context)
    const inner = [linkBelongs(storage, link, context), belongs(target.type, other, context), `${id} = ${link}.${to}`]
    const outer = [`${link}.${from} = ${idReference(type, "p")}`, ...condition(mask, type, "p", context)]
    this.joined +=
      ` LEFT JOIN (${links} ${link} JOIN ${targetRows(target.type, other, context)} ON ${[...inner, ...seen].join(" AND ")}) ` +
      `ON ${outer.join(" AND ")}`
    return id
  }

  text(): string {
    return this.joined
  }
}

const condition = (bound: Bound, type: EntityType, alias: string, context: FragmentContext): ReadonlyArray<string> =>
  bound._tag === "Always" ? [] : [fragment(bound, type, alias, context)]

type By = ResolvedGroups["by"][number]

/** All references of a path; the last one leads to the target. */
export const hopsOf = ({ column, mask, steps, target }: GroupPath): GroupPath["steps"] =>
  target === undefined ? steps : [...steps, { relation: column, mask, to: target.type, where: target.where }]

/**
 * The value of a cell, in the form that is asked for; NULL where it is hidden or empty. Of a reference, the id of what the caller may
 * follow it to.
 */
const shownValue = (
  path: GroupPath,
  joins: Joins,
  form = (value: string): string => value,
  stored?: string
): string => {
  const { column, mask, target } = path
  const { context } = joins
  const { alias, type } = joins.end(hopsOf(path), stored)
  if (target !== undefined) return idReference(type, alias)
  const reference = columnReference(column, alias, "value", context)
  const shown = [...condition(mask, type, alias, context), hasValue(column, reference)].join(" AND ")
  return `CASE WHEN ${shown} THEN ${form(reference)} END`
}

/** What a group is named by: a shown value, or the period of one. */
const shownKey = ({ bucket, path }: By, joins: Joins, stored?: string): string =>
  path.column.storage._tag === "Many"
    ? joins.list(path.column.storage, path)
    : bucket === undefined
      ? keyValue(shownValue(path, joins, undefined, stored), path.column)
      : shownValue(path, joins, (value) => bucketOf(value, bucket, path.column, joins.context), stored)

/**
 * Whether rows are added up by what is stored, and the sums again by what is shown, so that forms are computed and references
 * followed once per stored value instead of once per row. Not where different values are counted: a sum of two such counts would
 * count one twice. A list of references has no stored value to add up by.
 */
export const isByStored = ({ by, figures }: ResolvedGroups): boolean =>
  figures.every(({ figure }) => figure !== "distinct") && !by.some(isMany)

/** What rows are added up by first: the path's first reference or the value itself, where its cell is visible; the period of a value. */
const storedKey = ({ bucket, path }: By, type: EntityType, context: FragmentContext): string => {
  const [hop] = hopsOf(path)
  const { column, mask } = path
  if (hop === undefined && bucket !== undefined) return shownKey({ bucket, path }, new Joins(type, context))
  const reference = hop === undefined ? columnReference(column, "p", "value", context) : referenceOf(hop.relation, "p")
  const [shown] = condition(hop?.mask ?? mask, type, "p", context)
  const value = shown === undefined ? reference : `CASE WHEN ${shown} THEN ${reference} END`
  return hop === undefined ? collated(value, column) : value
}

/** A group's key by the stored value that its rows were added up by; the joins that it needs are added to `joins`. */
export const keyAgain = ({ by }: ResolvedGroups, index: number, joins: Joins): string => {
  const { bucket, path } = by[index]!
  const key = `s.k${index}`
  if (hopsOf(path).length > 0) return shownKey({ bucket, path }, joins, key)
  if (bucket !== undefined) return key
  return keyValue(`CASE WHEN ${hasValue(path.column, key)} THEN ${key} END`, path.column)
}

/** An amount includes its currency: it is shown where the amount is. */
const currencyOf = (path: GroupPath, joins: Joins): string => {
  const column = currencyColumn(path.column)
  const { alias } = joins.end(path.steps)
  if (column === undefined) throw new Error("An amount has no currency")
  const currency = `nullif(btrim(${alias}.${identifier(column)}::text), '')`
  return `CASE WHEN (${shownValue(path, joins)}) IS NOT NULL THEN ${currency} END COLLATE "C"`
}

/** Texts are the same if their bytes are. */
const collated = (value: string, { kind }: Column): string =>
  kind === "text" || kind === "phone" || kind === "email" ? `(${value}) COLLATE "C"` : value

/** Equal values have one form. */
const keyValue = (value: string, column: Column): string =>
  column.kind === "number" ? `trim_scale((${value})::numeric)` : collated(value, column)

/** The first day of a period, or the number of a weekday or an hour, in the organization's zone. Weeks begin on Monday. */
const bucketOf = (
  value: string,
  bucket: NonNullable<ResolvedGroups["by"][number]["bucket"]>,
  { kind }: Column,
  context: FragmentContext
): string => {
  if (bucket === "hour" || bucket === "weekday") {
    const local = kind === "timestamp" ? localTime(value, context) : value
    return `extract(${bucket === "hour" ? "hour" : "isodow"} FROM ${local})::int`
  }
  const [local, day] =
    kind === "timestamp"
      ? [`timezone(${context.timeZone()}, ${value})`, `timezone('UTC', ${value})::date`]
      : [`(${value})::timestamp`, value]
  return `CASE WHEN ${isOrdinary(value)} THEN date_trunc('${bucket}', ${local})::date ELSE ${day} END`
}
