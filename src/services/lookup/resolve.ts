/**
 * Request + the caller's plans → resolved query. Names resolve first, among the visible ones; only then are values parsed.
 * A hidden name and an unknown name take the same path and give the same error.
 */
import { Result } from "effect"
import { isManagedThroughout } from "../../domain/connected.ts"
import { type Column, DISPLAY_NAME, STATUS } from "../../domain/EntityType.ts"
import type { UnknownName } from "../../domain/errors.ts"
import { type Bound, NEVER } from "../../domain/Predicate.ts"
import {
  type Bounds,
  DEFAULT_LIMIT,
  type Filter,
  type FindQuery,
  MAX_FILTERS,
  MAX_LIMIT,
  MAX_SELECT
} from "../../domain/Query.ts"
import { quoted } from "../../domain/text.ts"
import { isPlain } from "../../domain/valueList.ts"
import { parseId } from "../../domain/values.ts"
import { hasHop } from "../../database/sql/orExpansion.ts"
import type { Condition } from "../../database/sql/Parameter.ts"
import { LITERALS, Parameters, StatementCache, type Values } from "../../database/sql/prepared.ts"
import type { ResolvedQuery, SelectedColumn } from "../../database/sql/ResolvedQuery.ts"
import { isPartialPath, type Path, resolvePath } from "./paths.ts"
import { type Fault, invalid, resolveFilter } from "./resolveFilter.ts"
import { resolveTerms } from "./resolveTerms.ts"
import { singlePath } from "./singlePath.ts"
import { unknownName } from "./unknownName.ts"
import {
  isId,
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

/** The part of a resolved query that depends on the request's names only. */
interface ResolvedNames {
  readonly visibleType: VisibleType
  /** What each filter is about. */
  readonly paths: ReadonlyArray<Path>
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
  for (const { columnId, op, value } of filters)
    text += ` ${op}${isPlain(value) ? "" : "*"} ${columnId.length}:${columnId}`
  if (selectColumns !== undefined) for (const slug of selectColumns) text += ` ${slug.length}:${slug}`
  return text
}

const LOOKUP: Bounds = { rows: MAX_LIMIT, columns: MAX_SELECT }

const resolveNames = (query: FindQuery, visible: Visible, bounds = LOOKUP): Result.Result<ResolvedNames, Fault> =>
  Result.gen(function* () {
    const visibleType = yield* resolveType(query.entityTypeId, visible)
    const { plan, type } = visibleType
    if (query.filters.length > MAX_FILTERS) return yield* invalid(`At most ${MAX_FILTERS} filters.`)
    const requested = query.selectColumns ?? []
    if (requested.length > bounds.columns) return yield* invalid(`At most ${bounds.columns} columns can be selected.`)
    const bySlug = new Map(visibleColumns(visibleType, visible).map((column) => [column.slug, column]))
    const named = (slug: string) => {
      const column = bySlug.get(slug)
      return column === undefined
        ? Result.fail(unknownName(slug, `There is no column ${quoted(slug)} in ${type.slug}.`, [...bySlug.keys()]))
        : Result.succeed(column)
    }
    const paths: Array<Path> = []
    for (const filter of query.filters) paths.push(yield* resolvePath(filter.columnId, visibleType, visible))
    const select: Array<SelectedColumn> = []
    const through: Array<Path> = []
    for (const slug of new Set(requested)) {
      if (!slug.includes(".")) select.push(selected(yield* named(slug), visibleType, visible))
      else {
        const path = yield* resolvePath(slug, visibleType, visible)
        const { at, column, mask, steps, target } = yield* singlePath(path, visible)
        select.push({
          column: { ...column, slug },
          mask,
          through: { steps, at },
          ...(target === undefined ? {} : { target })
        })
        through.push(path)
      }
    }
    const ordering = query.filters.findIndex(
      (filter, index) => (filter.op === "gte" || filter.op === "lt") && ownColumn(paths[index]!) !== undefined
    )
    const ordered = ordering < 0 ? undefined : ownColumn(paths[ordering]!)
    const order =
      ordered === undefined
        ? undefined
        : {
            column: ordered,
            mask: maskOf(plan, ordered),
            descending: query.filters[ordering]!.op === "lt",
            ...(ordered.kind === "text" ? { side: "key" as const } : {})
          }
    const fixed = {
      type,
      plan: plan.where,
      order,
      limited: plan.limited || [...paths, ...through].some((path) => isPartialPath(path, visible)),
      name: plan.cells.get(DISPLAY_NAME) ?? NEVER,
      status: plan.cells.get(STATUS) ?? NEVER,
      select,
      ...accessOf(query.filters, paths, plan.where, visibleType, visible),
      label: [type.slug, ...query.filters.map((filter, index) => `${paths[index]!.written}:${filter.op}`)].join(" ")
    }
    return { visibleType, paths, fixed, statements: new StatementCache() }
  })

/** How the statement reaches its rows: decided by names, operators and the plan, never by the caller's values. */
const accessOf = (
  filters: ReadonlyArray<Filter>,
  paths: ReadonlyArray<Path>,
  plan: ResolvedQuery["plan"],
  { type }: VisibleType,
  visible: Visible
): Pick<ResolvedQuery, "hops" | "pool"> => {
  const equals = (test: (column: Column) => boolean) =>
    filters.some((filter, index) => {
      const column = ownColumn(paths[index]!)
      return filter.op === "eq" && column !== undefined && isPlain(filter.value) && test(column)
    })
  // A mapped relation can be slow or locked by other programs, and the shared connection must never wait for it.
  const isLookup =
    equals(isIdentifier) &&
    filters.every(({ op, value }, index) => op === "eq" && isPlain(value) && ownColumn(paths[index]!) !== undefined) &&
    isManagedThroughout(visible.state.catalog, type)
  if (isLookup) return { hops: "probe", pool: "lookup" }
  // Of a value that many rows have, few rows may match a search and a plan by relations: those are then collected.
  const isNarrow = hasHop(plan) && filters.some(({ op }) => op === "ilike")
  return { hops: equals(isSelective) && !isNarrow ? "subplan" : "array", pool: "search" }
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

/** The pages of a query under one view, resolved: `page` gives the one after a cursor. */
export interface ResolvedPages {
  readonly columns: ReadonlyArray<Column>
  readonly page: (cursorEntityId?: string) => Result.Result<ResolvedQuery, Fault>
}

/** Resolves a query of many pages; without selected columns it selects all that the caller may see, up to the bound. */
export const resolvePages = (query: FindQuery, visible: Visible, bounds: Bounds): Result.Result<ResolvedPages, Fault> =>
  Result.gen(function* () {
    const type = yield* resolveType(query.entityTypeId, visible)
    const all = () => visibleColumns(type, visible).filter((column) => !isId(column))
    const selectColumns =
      query.selectColumns ??
      all()
        .map(({ slug }) => slug)
        .slice(0, bounds.columns)
    const names = yield* resolveNames({ ...query, selectColumns }, visible, bounds)
    const page = (cursorEntityId?: string) =>
      resolveValues({ ...query, limit: bounds.rows, cursorEntityId }, names, visible, new Parameters(), bounds)
    // Rejects invalid values before the first page is read.
    yield* page()
    return { columns: names.fixed.select.map(({ column }) => column), page }
  })

const resolveValues = (
  query: FindQuery,
  { fixed, paths, statements, visibleType }: ResolvedNames,
  visible: Visible,
  values: Values,
  bounds = LOOKUP
): Result.Result<ResolvedQuery, Fault> => {
  const { plan, type } = visibleType
  const filters: Array<Condition> = []
  const compared: Array<Condition> = []
  let reusable = true
  for (let index = 0; index < paths.length; index++) {
    const path = paths[index]!
    const filter = query.filters[index]!
    const column = ownColumn(path)
    const plain = isPlain(filter.value)
    if (column !== undefined && plain && filter.op !== "ne") {
      const condition = resolveFilter(filter, column, visible, values)
      if (Result.isFailure(condition)) return Result.fail(condition.failure)
      compared.push(condition.success)
      filters.push(both(maskOf(plan, column), condition.success))
    } else {
      // A list of values decides the statement's text.
      const condition = resolveTerms(filter, path, visible, plain ? values : LITERALS)
      if (Result.isFailure(condition)) return Result.fail(condition.failure)
      reusable &&= plain
      compared.push(condition.success)
      filters.push(condition.success)
    }
  }
  const limit = query.limit ?? DEFAULT_LIMIT
  if (!Number.isInteger(limit) || limit < 0 || limit > bounds.rows)
    return invalid(`limit must be an integer from 0 to ${bounds.rows}.`)
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
    statements: reusable && values.reusable ? statements : undefined
  })
}

/** A conjunction in this order. */
const both = (mask: Bound, condition: Condition): Condition =>
  mask._tag === "Always" ? condition : { _tag: "All", of: [mask, condition] }

/** The row's own column that a filter is about; undefined when it leads elsewhere. */
const ownColumn = ({ column, steps }: Path): Column | undefined => (steps.length === 0 ? column : undefined)

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
