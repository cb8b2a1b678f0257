/**
 * Request + the caller's plans → resolved query. Names resolve first, among the visible ones; only then are values parsed.
 * A hidden name and an unknown name take the same path and give the same error.
 */
import { Result } from "effect"
import {
  type Column,
  columnByKey,
  DISPLAY_NAME,
  ID_COLUMN,
  idColumn,
  isManagedThroughout,
  STATUS
} from "../../domain/EntityType.ts"
import { UnknownName } from "../../domain/errors.ts"
import { type Bound, NEVER } from "../../domain/Predicate.ts"
import { DEFAULT_LIMIT, type Filter, type FindQuery, MAX_FILTERS, MAX_LIMIT, MAX_SELECT } from "../../domain/Query.ts"
import { closest, quoted } from "../../domain/text.ts"
import { parseId } from "../../domain/values.ts"
import type { Condition } from "../../database/sql/Parameter.ts"
import { LITERALS, Parameters, StatementCache, type Values } from "../../database/sql/prepared.ts"
import type { ResolvedQuery, SelectedColumn } from "../../database/sql/ResolvedQuery.ts"
import { type Fault, invalid, resolveFilter } from "./resolveFilter.ts"
import {
  isIdentifier,
  maskOf,
  targetIn,
  type Visible,
  visibleColumns,
  type VisibleType,
  visibleTypes
} from "./visible.ts"

export const resolveType = (slug: string, visible: Visible): Result.Result<VisibleType, UnknownName> => {
  const type = visible.state.catalog.types.find((candidate) => candidate.slug === slug)
  const plan = type && visible.planOf(type)
  if (type !== undefined && plan !== undefined) return Result.succeed({ type, plan })
  return Result.fail(
    unknownName(
      slug,
      `There is no type ${quoted(slug)}.`,
      visibleTypes(visible).map((other) => other.slug)
    )
  )
}

export const unknownName = (name: string, message: string, visibleNames: ReadonlyArray<string>): UnknownName => {
  const near = closest(name, visibleNames)
  const hint =
    near !== undefined
      ? ` Did you mean ${near}?`
      : visibleNames.length > 0
        ? ` Known: ${visibleNames.slice(0, 12).join(", ")}${visibleNames.length > 12 ? ", …" : ""}.`
        : ""
  return new UnknownName({ message: `${message}${hint}` })
}

/** The part of a resolved query that depends on the request's names only. */
interface ResolvedNames {
  readonly visibleType: VisibleType
  /** The column of each filter. */
  readonly columns: ReadonlyArray<Column>
  readonly fixed: Omit<ResolvedQuery, "filters" | "limit" | "cursor" | "values" | "compared" | "statements">
  readonly statements: StatementCache
}

/** Entries per view. */
const MAX_NAMES = 200

const cache = new WeakMap<Visible, Map<string, ResolvedNames>>()

/** The resolved names of a request, cached for as long as the caller's view lasts. */
const cachedNames = (query: FindQuery, visible: Visible): Result.Result<ResolvedNames, Fault> => {
  const key = namesKey(query)
  const cached = cache.get(visible)?.get(key)
  if (cached !== undefined && !cached.statements.expired) return Result.succeed(cached)
  return Result.map(resolveNames(query, visible), (names) => {
    const entries = cache.get(visible) ?? new Map<string, ResolvedNames>()
    if (entries.size >= MAX_NAMES) entries.clear()
    cache.set(visible, entries.set(key, names))
    return names
  })
}

/** An injective text of a request's names: each is preceded by its length. */
const namesKey = ({ entityTypeId, filters, selectColumns }: FindQuery): string => {
  let text = `${entityTypeId.length}:${entityTypeId}${filters.length}`
  for (const { columnId, op } of filters) text += ` ${op} ${columnId.length}:${columnId}`
  if (selectColumns !== undefined) for (const slug of selectColumns) text += ` ${slug.length}:${slug}`
  return text
}

const resolveNames = (query: FindQuery, visible: Visible): Result.Result<ResolvedNames, Fault> =>
  Result.gen(function* () {
    const visibleType = yield* resolveType(query.entityTypeId, visible)
    const { plan, type } = visibleType
    if (query.filters.length > MAX_FILTERS) return yield* invalid(`At most ${MAX_FILTERS} filters.`)
    const requested = query.selectColumns ?? []
    if (requested.length > MAX_SELECT) return yield* invalid(`At most ${MAX_SELECT} columns can be selected.`)
    const bySlug = new Map(visibleColumns(visibleType, visible).map((column) => [column.slug, column]))
    const named = (slug: string) => {
      const column = bySlug.get(slug)
      return column === undefined
        ? Result.fail(unknownName(slug, `There is no column ${quoted(slug)} in ${type.slug}.`, [...bySlug.keys()]))
        : Result.succeed(column)
    }
    const columns: Array<Column> = []
    for (const filter of query.filters) {
      columns.push(filter.columnId === ID_COLUMN.slug ? idColumn(type) : yield* named(filter.columnId))
    }
    const select: Array<SelectedColumn> = []
    for (const slug of new Set(requested)) select.push(selected(yield* named(slug), visibleType, visible))
    const ordering = query.filters.findIndex((filter) => filter.op === "gte" || filter.op === "lt")
    const order =
      ordering < 0
        ? undefined
        : {
            column: columns[ordering]!,
            mask: maskOf(plan, columns[ordering]!),
            descending: query.filters[ordering]!.op === "lt"
          }
    const fixed = {
      type,
      plan: plan.where,
      order,
      limited:
        plan.limited ||
        columns.slice(0, query.filters.length).some((column) => isPartial(column, visibleType, visible)),
      name: plan.cells.get(DISPLAY_NAME) ?? NEVER,
      status: plan.cells.get(STATUS) ?? NEVER,
      select,
      ...accessOf(query.filters, columns, visibleType, visible),
      label: [type.slug, ...query.filters.map((filter, index) => `${columns[index]!.slug}:${filter.op}`)].join(" ")
    }
    return { visibleType, columns, fixed, statements: new StatementCache() }
  })

/** How the statement reaches its rows: decided by names and operators, never by the caller. */
const accessOf = (
  filters: ReadonlyArray<Filter>,
  columns: ReadonlyArray<Column>,
  { type }: VisibleType,
  visible: Visible
): Pick<ResolvedQuery, "hops" | "pool"> => {
  const equals = (test: (column: Column) => boolean) =>
    filters.some((filter, index) => filter.op === "eq" && test(columns[index]!))
  // A mapped relation can be slow or locked by other programs, and the shared connection must never wait for it.
  const isLookup =
    equals(isIdentifier) &&
    filters.every((filter) => filter.op === "eq") &&
    isManagedThroughout(visible.state.catalog, type)
  if (isLookup) return { hops: "probe", pool: "lookup" }
  return { hops: equals(isSelective) ? "subplan" : "array", pool: "search" }
}

/** Resolves a request for a caller, with a parameter in place of each value, so that the statement can be reused. */
export const resolve = (query: FindQuery, visible: Visible): Result.Result<ResolvedQuery, Fault> => {
  const names = cachedNames(query, visible)
  if (Result.isFailure(names)) return Result.fail(names.failure)
  return resolveValues(query, names.success, visible, new Parameters())
}

/** Resolves a request for a caller, with its values as literals and without a cache. */
export const resolveLiterals = (query: FindQuery, visible: Visible): Result.Result<ResolvedQuery, Fault> =>
  Result.flatMap(resolveNames(query, visible), (names) => resolveValues(query, names, visible, LITERALS))

const resolveValues = (
  query: FindQuery,
  { columns, fixed, statements, visibleType }: ResolvedNames,
  visible: Visible,
  values: Values
): Result.Result<ResolvedQuery, Fault> => {
  const { plan, type } = visibleType
  const filters: Array<Condition> = []
  const compared: Array<Condition> = []
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index]!
    const condition = resolveFilter(query.filters[index]!, column, visible, values)
    if (Result.isFailure(condition)) return Result.fail(condition.failure)
    compared.push(condition.success)
    filters.push(both(maskOf(plan, column), condition.success))
  }
  const limit = query.limit ?? DEFAULT_LIMIT
  if (!Number.isInteger(limit) || limit < 0 || limit > MAX_LIMIT)
    return invalid(`limit must be an integer from 0 to ${MAX_LIMIT}.`)
  const after = query.cursorEntityId === undefined ? undefined : parseId(query.cursorEntityId, type.mapping?.id.type)
  if (query.cursorEntityId !== undefined && after === undefined) {
    return invalid("cursorEntityId is not a nextCursorEntityId of an earlier page.")
  }
  const cursor = after === undefined ? undefined : values.id(after)
  // Field by field: spreading `fixed` costs more than the rest of this function.
  return Result.succeed({
    type: fixed.type,
    plan: fixed.plan,
    filters,
    order: fixed.order,
    limited: fixed.limited,
    limit,
    cursor,
    name: fixed.name,
    status: fixed.status,
    select: fixed.select,
    hops: fixed.hops,
    pool: fixed.pool,
    label: fixed.label,
    values: values.values,
    compared,
    statements: values.reusable ? statements : undefined
  })
}

/** A conjunction in this order. */
const both = (mask: Bound, condition: Condition): Condition =>
  mask._tag === "Always" ? condition : { _tag: "All", of: [mask, condition] }

/** Whether a filter can miss visible rows because its cell, or the cell of a related row that it reads, is hidden on some. */
const isPartial = (column: Column, { plan }: VisibleType, visible: Visible): boolean => {
  if (maskOf(plan, column)._tag !== "Always") return true
  const target = targetIn(visible, column)
  if (target === undefined) return false
  const name = columnByKey(target.type, DISPLAY_NAME)
  return target.plan.limited || (name !== undefined && maskOf(target.plan, name)._tag !== "Always")
}

const selected = (column: Column, { plan }: VisibleType, visible: Visible): SelectedColumn => {
  const target = targetIn(visible, column)
  return {
    column,
    mask: maskOf(plan, column),
    ...(target === undefined
      ? {}
      : {
          target: { type: target.type, where: target.plan.where, name: target.plan.cells.get(DISPLAY_NAME) ?? NEVER }
        })
  }
}

const isSelective = (column: Column): boolean => column.kind !== "boolean"
