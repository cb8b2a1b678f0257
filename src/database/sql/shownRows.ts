/** The innermost rows of a statement of groups: keys, values and currencies as the caller sees them, before anything is added up. */
import { currencyColumn } from "../../domain/derived.ts"
import type { Column, EntityType } from "../../domain/EntityType.ts"
import type { Bound } from "../../domain/Predicate.ts"
import { hasValue } from "./comparisons.ts"
import type { FragmentContext } from "./fragmentContext.ts"
import { fragment } from "./predicate.ts"
import { isOrdinary, localTime } from "./moments.ts"
import type { GroupPath, ResolvedGroups } from "./ResolvedGroups.ts"
import { belongs, columnReference, idReference, relationOf, targetRows } from "./rows.ts"
import { identifier } from "./SqlWriter.ts"

export const each = <A>(of: ReadonlyArray<A>, sql: (one: A, index: number) => string): string => of.map(sql).join("")

/** The permitted and matching rows: their keys, values and currency, as the caller sees them. */
export const shownRows = (groups: ResolvedGroups, context: FragmentContext): string => {
  const { by, figures, filters, money, plan, type } = groups
  const joins = new Joins(type, context)
  // Targets are counted among the shown ones, and a sum of two such counts would count one twice.
  const distinct = figures.some(({ figure }) => figure === "distinct")
  const keys = each(by, ({ bucket, path }, index) => {
    if (bucket !== undefined)
      return `${shownValue(path, joins, (value) => bucketOf(value, bucket, path.column, context))} AS k${index}, `
    const value = path.target !== undefined && !distinct ? storedReference(path, joins) : shownValue(path, joins)
    return `${keyValue(value, path.column)} AS k${index}, `
  })
  const values = each(figures, ({ path }, index) => `${shownValue(path, joins)} AS v${index}, `)
  const [first] = money
  const currency = first === undefined ? "" : `${currencyOf(figures[first]!.path, joins)} AS u, `
  const rows = `${relationOf(type, context.writer)} p`
  const from = `${rows}${joins.text()}`
  const where = [
    belongs(type, "p", context),
    "(SELECT g.fresh FROM g)",
    ...[plan, ...filters].filter((part) => part._tag !== "Always").map((part) => fragment(part, type, "p", context))
  ].join(" AND ")
  return `SELECT ${keys}${values}${currency}1 AS one FROM ${from} WHERE ${where}`
}

/** The references that paths lead through: one join for each, however many paths use it. */
class Joins {
  readonly context: FragmentContext
  private readonly type: EntityType
  private readonly aliases = new Map<string, string>()
  private joined = ""

  constructor(type: EntityType, context: FragmentContext) {
    this.type = type
    this.context = context
  }

  /** The alias and the type of the row at the end of these steps. */
  end(steps: GroupPath["steps"]): { readonly alias: string; readonly type: EntityType } {
    let [alias, type, names] = ["p", this.type, ""]
    for (const { mask, relation, to, where } of steps) {
      names += `.${relation.key}`
      let next = this.aliases.get(names)
      if (next === undefined) {
        next = this.context.writer.alias()
        this.aliases.set(names, next)
        if (relation.storage._tag !== "One") throw new Error("A path leads to several rows")
        const shown = [...condition(mask, type, alias, this.context), ...condition(where, to, next, this.context)]
        const on = [
          belongs(to, next, this.context),
          `${idReference(to, next)} = ${alias}.${identifier(relation.storage.column)}`,
          // IS TRUE keeps these equalities out of the planner's equivalence classes. PostgreSQL 18 would derive the next join's
          // id from them and drop that join's condition, so that a path that ends in nothing shows a value.
          ...(shown.length === 0 ? [] : [`(${shown.join(" AND ")}) IS TRUE`])
        ].join(" AND ")
        this.joined += ` LEFT JOIN ${targetRows(to, next, this.context)} ON ${on}`
      }
      alias = next
      type = to
    }
    return { alias, type }
  }

  text(): string {
    return this.joined
  }
}

export const condition = (
  bound: Bound,
  type: EntityType,
  alias: string,
  context: FragmentContext
): ReadonlyArray<string> => (bound._tag === "Always" ? [] : [fragment(bound, type, alias, context)])

/**
 * The value of a cell, in the form that is asked for; NULL where it is hidden or empty. Of a reference, the id of what the caller may
 * follow it to.
 */
const shownValue = (path: GroupPath, joins: Joins, form = (value: string): string => value): string => {
  const { column, mask, steps, target } = path
  const { context } = joins
  if (target !== undefined) {
    const through = { relation: column, mask, to: target.type, where: target.where }
    const { alias, type } = joins.end([...steps, through])
    return idReference(type, alias)
  }
  const { alias, type } = joins.end(steps)
  const reference = columnReference(column, alias, "value", context)
  const shown = [...condition(mask, type, alias, context), hasValue(column, reference)].join(" AND ")
  return `CASE WHEN ${shown} THEN ${form(reference)} END`
}

/** A stored reference, which `r` replaces by what the caller may follow it to. */
const storedReference = ({ column, mask, steps }: GroupPath, joins: Joins): string => {
  const { alias, type } = joins.end(steps)
  if (column.storage._tag !== "One") throw new Error("Groups are by one reference")
  const reference = `${alias}.${identifier(column.storage.column)}`
  return mask._tag === "Always"
    ? reference
    : `CASE WHEN ${fragment(mask, type, alias, joins.context)} THEN ${reference} END`
}

/** An amount includes its currency: it is shown where the amount is. */
const currencyOf = (path: GroupPath, joins: Joins): string => {
  const column = currencyColumn(path.column)
  const { alias } = joins.end(path.steps)
  if (column === undefined) throw new Error("An amount has no currency")
  const currency = `nullif(btrim(${alias}.${identifier(column)}::text), '')`
  return `CASE WHEN (${shownValue(path, joins)}) IS NOT NULL THEN ${currency} END COLLATE "C"`
}

/** Equal values have one form. */
const keyValue = (value: string, { kind }: Column): string => {
  switch (kind) {
    case "text":
    case "phone":
    case "email":
      return `(${value}) COLLATE "C"`
    case "number":
      return `trim_scale((${value})::numeric)`
    default:
      return value
  }
}

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
