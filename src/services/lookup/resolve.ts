/**
 * Request + plans → resolved query. Names are looked up first, among what the caller may see; only then is any value
 * looked at. A hidden name and one that doesn't exist take the same path and give the same error.
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
import {
  DEFAULT_LIMIT,
  type Filter,
  type FindQuery,
  MAX_FILTERS,
  MAX_LIMIT,
  MAX_SELECT,
  type ResolvedQuery,
  type SelectedColumn
} from "../../domain/Query.ts"
import { closest, quoted } from "../../domain/text.ts"
import { parseId } from "../../domain/values.ts"
import { type Fault, invalid, resolveFilter } from "./resolveFilter.ts"
import { LITERALS, namesIn, Slots, Statements, type Values } from "./shapes.ts"
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
      "There is nothing called",
      visibleTypes(visible).map((known) => known.slug)
    )
  )
}

const unknownName = (name: string, lead: string, known: ReadonlyArray<string>): UnknownName => {
  const near = closest(name, known)
  const hint =
    near !== undefined
      ? ` Did you mean ${near}?`
      : known.length > 0
        ? ` There is: ${known.slice(0, 12).join(", ")}${known.length > 12 ? ", …" : ""}.`
        : ""
  return new UnknownName({ message: `${lead} ${quoted(name)}.${hint}` })
}

/** What the names of a request come to, whatever is asked for. */
interface Named {
  readonly found: VisibleType
  readonly columns: ReadonlyArray<Column>
  readonly fixed: Omit<ResolvedQuery, "filters" | "limit" | "cursor" | "given">
  readonly statements: Statements
}

/** Sets of names of one caller. */
const MAX_NAMES = 200

const known = new WeakMap<Visible, Map<string, Named>>()

/** The names of a request, found out once for as long as what is visible stays the same. */
const namedIn = (query: FindQuery, visible: Visible): Result.Result<Named, Fault> => {
  const names = namesIn(query)
  const before = known.get(visible)?.get(names)
  if (before !== undefined && !before.statements.over) return Result.succeed(before)
  return Result.map(resolveNames(query, visible), (named) => {
    const all = known.get(visible) ?? new Map<string, Named>()
    if (all.size >= MAX_NAMES) all.clear()
    known.set(visible, all.set(names, named))
    return named
  })
}

const resolveNames = (query: FindQuery, visible: Visible): Result.Result<Named, Fault> =>
  Result.gen(function* () {
    const found = yield* resolveType(query.entityTypeId, visible)
    if (query.filters.length > MAX_FILTERS) return yield* invalid(`At most ${MAX_FILTERS} filters.`)
    const requested = query.selectColumns ?? []
    if (requested.length > MAX_SELECT) return yield* invalid(`At most ${MAX_SELECT} columns can be selected.`)
    const bySlug = new Map(visibleColumns(found, visible).map((column) => [column.slug, column]))
    const named = (slug: string) => {
      const column = bySlug.get(slug)
      return column === undefined
        ? Result.fail(unknownName(slug, `${found.type.pluralName} have nothing called`, [...bySlug.keys()]))
        : Result.succeed(column)
    }
    const columns: Array<Column> = []
    for (const filter of query.filters) {
      columns.push(filter.columnId === ID_COLUMN.slug ? idColumn(found.type) : yield* named(filter.columnId))
    }
    const select: Array<SelectedColumn> = []
    for (const slug of new Set(requested)) select.push(selected(yield* named(slug), found, visible))
    const ordering = query.filters.findIndex((filter) => filter.op === "gte" || filter.op === "lt")
    const order =
      ordering < 0
        ? undefined
        : {
            column: columns[ordering]!,
            mask: maskOf(found.plan, columns[ordering]!),
            descending: query.filters[ordering]!.op === "lt"
          }
    const identifying = query.filters.some((filter, index) => filter.op === "eq" && isIdentifier(columns[index]!))
    // What isn't ours can be slow, or be locked by somebody else: it never stands in the way of lookups.
    const lookup =
      identifying &&
      query.filters.every((filter) => filter.op === "eq") &&
      isManagedThroughout(visible.state.catalog, found.type)
    const fixed = {
      type: found.type,
      plan: found.plan.where,
      order,
      limited:
        found.plan.limited || query.filters.some((filter, index) => isPartial(filter, columns[index]!, found, visible)),
      name: found.plan.cells.get(DISPLAY_NAME) ?? NEVER,
      status: found.plan.cells.get(STATUS) ?? NEVER,
      select,
      shape: lookup
        ? ("probe" as const)
        : query.filters.some((filter, index) => filter.op === "eq" && isSelective(columns[index]!))
          ? ("subplan" as const)
          : ("array" as const),
      pool: lookup ? ("lookup" as const) : ("search" as const),
      label: [found.type.slug, ...query.filters.map((filter, index) => `${columns[index]!.slug}:${filter.op}`)].join(
        " "
      )
    }
    return { found, columns, fixed, statements: new Statements() }
  })

/** Resolves a request for a caller, or says what is wrong with it. Its values are put aside: `given` has them. */
export const resolveShaped = (query: FindQuery, visible: Visible): Result.Result<ResolvedQuery, Fault> => {
  const named = namedIn(query, visible)
  if (Result.isFailure(named)) return Result.fail(named.failure)
  return resolveValues(query, named.success, visible, new Slots())
}

/** The same with its values where they are compared. */
export const resolveQuery = (query: FindQuery, visible: Visible): Result.Result<ResolvedQuery, Fault> =>
  Result.flatMap(resolveNames(query, visible), (named) => resolveValues(query, named, visible, LITERALS))

const resolveValues = (
  query: FindQuery,
  { columns, fixed, found, statements }: Named,
  visible: Visible,
  values: Values
): Result.Result<ResolvedQuery, Fault> => {
  const filters: Array<Bound> = []
  const asked: Array<Bound> = []
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index]!
    const bound = resolveFilter(query.filters[index]!, column, visible, values)
    if (Result.isFailure(bound)) return Result.fail(bound.failure)
    asked.push(bound.success)
    filters.push(both(maskOf(found.plan, column), bound.success))
  }
  const limit = query.limit ?? DEFAULT_LIMIT
  if (!Number.isInteger(limit) || limit < 0 || limit > MAX_LIMIT) return invalid(`limit is 0 to ${MAX_LIMIT}.`)
  const after =
    query.cursorEntityId === undefined ? undefined : parseId(query.cursorEntityId, found.type.mapping?.id.type)
  if (query.cursorEntityId !== undefined && after === undefined) {
    return invalid("cursorEntityId is not a nextCursorEntityId of an earlier page.")
  }
  const cursor = after === undefined ? undefined : values.id(after)
  // Written out because it is made for every question, and spreading it costs more than the rest of this.
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
    shape: fixed.shape,
    pool: fixed.pool,
    label: fixed.label,
    given: values.given(statements, limit, cursor, asked)
  })
}

/** A conjunction in this order. */
const both = (mask: Bound, bound: Bound): Bound => (mask._tag === "Always" ? bound : { _tag: "All", of: [mask, bound] })

/** Whether a filter can miss visible rows because its cell, or what it leads to, is hidden on some of them. */
const isPartial = (filter: Filter, column: Column, found: VisibleType, visible: Visible): boolean => {
  if (maskOf(found.plan, column)._tag !== "Always") return true
  const target = targetIn(visible, column)
  if (target === undefined) return false
  const name = columnByKey(target.type, DISPLAY_NAME)
  return (
    target.plan.limited || (filter.op === "ilike" && name !== undefined && maskOf(target.plan, name)._tag !== "Always")
  )
}

const selected = (column: Column, found: VisibleType, visible: Visible): SelectedColumn => {
  const target = targetIn(visible, column)
  return {
    column,
    mask: maskOf(found.plan, column),
    ...(target === undefined
      ? {}
      : {
          target: { type: target.type, where: target.plan.where, name: target.plan.cells.get(DISPLAY_NAME) ?? NEVER }
        })
  }
}

const isSelective = (column: Column): boolean => column.kind !== "boolean"
