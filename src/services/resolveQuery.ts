/**
 * Request + plans → resolved query. Names are looked up first, among what the caller may see; only then is any value
 * looked at. A hidden name and one that doesn't exist take the same path and give the same error.
 */
import { Result } from "effect"
import {
  type Column,
  columnByKey,
  DISPLAY_NAME,
  type EntityType,
  ID_COLUMN,
  idColumn,
  isManagedThroughout,
  STATUS
} from "../domain/EntityType.ts"
import { InvalidInput, UnknownName } from "../domain/errors.ts"
import { emailKey, foldText, lowerAscii, phoneDigits, phoneKey } from "../domain/keys.ts"
import { all, ALWAYS, Bound, type Literal, NEVER, some } from "../domain/Predicate.ts"
import {
  DEFAULT_LIMIT,
  type Filter,
  type FindQuery,
  MAX_FILTERS,
  MAX_LIMIT,
  MAX_SELECT,
  MAX_VALUE_LENGTH,
  type ResolvedQuery,
  type SelectedColumn
} from "../domain/Query.ts"
import { closest, printable, quoted } from "../domain/text.ts"
import { bindScalar, dateRange, isoTimestamp, parseId, todayIn } from "../domain/values.ts"
import { MIN_CONTAINS } from "../database/sql/predicate.ts"
import type { Granted } from "../permissions/Plan.ts"
import type { State } from "./OrganizationState.ts"
import { LITERALS, namesIn, Slots, Statements, type Values } from "./shapes.ts"

/** What one caller may see: the plan of each visible type, by the type's key. */
export interface Visible {
  readonly state: State
  readonly planOf: (type: EntityType) => Granted | undefined
}

export type Fault = UnknownName | InvalidInput

/** A type with the caller's plan of it. */
export interface VisibleType {
  readonly type: EntityType
  readonly plan: Granted
}

/** The type's relation target with the caller's plan of it, when the caller may see it. */
const targetIn = (visible: Visible, column: Column): VisibleType | undefined => {
  if (column.storage._tag === "Value") return undefined
  const key = column.storage.target
  const type = visible.state.catalog.types.find((candidate) => candidate.key === key)
  const plan = type && visible.planOf(type)
  return type === undefined || plan === undefined ? undefined : { type, plan }
}

export const visibleTypes = (visible: Visible): ReadonlyArray<EntityType> =>
  visible.state.catalog.types.filter((type) => visible.planOf(type) !== undefined)

/** The columns of a type with a cell that the caller may see somewhere; a relation to a hidden type is none. */
export const visibleColumns = ({ plan, type }: VisibleType, visible: Visible): ReadonlyArray<Column> =>
  type.columns.filter(
    (column) =>
      plan.cells.has(column.key) && (column.storage._tag === "Value" || targetIn(visible, column) !== undefined)
  )

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

const invalid = (message: string) => Result.fail(new InvalidInput({ message }))

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
      lane: lookup ? ("lookup" as const) : ("search" as const),
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
    lane: fixed.lane,
    label: fixed.label,
    given: values.given(statements, limit, cursor, asked)
  })
}

/** A conjunction in this order. */
const both = (mask: Bound, bound: Bound): Bound => (mask._tag === "Always" ? bound : { _tag: "All", of: [mask, bound] })

const isId = (column: Column): boolean => column.key === ID_COLUMN.key

/** Whoever sees a row sees its id. */
const maskOf = (plan: Granted, column: Column): Bound => (isId(column) ? ALWAYS : (plan.cells.get(column.key) ?? NEVER))

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

/** Of a closed list, what an error names. */
const MAX_SHOWN_VALUES = 30

/** Columns whose values name one entity or a few, so that equality on them is a lookup. */
export const isIdentifier = (column: Column): boolean =>
  isId(column) ||
  (column.storage._tag === "Value" &&
    column.storage.indexed === true &&
    (column.kind === "phone" || column.kind === "email" || column.key === DISPLAY_NAME))

const isSelective = (column: Column): boolean => column.kind !== "boolean"

/** What certainly leaves something when it is folded, which isn't cheap. */
const CERTAIN = /[a-z0-9]/i

const resolveFilter = (
  filter: Filter,
  column: Column,
  visible: Visible,
  values: Values
): Result.Result<Bound, Fault> => {
  const { value } = filter
  if (value.length > MAX_VALUE_LENGTH) return invalid(`A value has at most ${MAX_VALUE_LENGTH} characters.`)
  if (value.includes("\u0000")) return invalid("A value can't contain a NUL character.")
  if (!CERTAIN.test(value) && foldText(value) === "") return invalid(`The value for ${column.slug} is empty.`)
  switch (filter.op) {
    case "eq":
      return equal(value, column, visible, values)
    case "ilike":
      return contains(value, column, visible, values)
    case "gte":
    case "lt":
      return bound(value, filter.op, column, visible, values)
  }
}

const compare = (
  values: Values,
  column: Column,
  op: "eq" | "gte" | "lt",
  value: Literal,
  side: "value" | "key" = "value"
  // Written out, here and below: made for every question, and the constructors cost as much as the rest of it.
): Bound => ({ _tag: "Compare", column: column.key, side, op, value: values.give(column, value) })

const equal = (value: string, column: Column, visible: Visible, values: Values): Result.Result<Bound, Fault> => {
  const { organization } = visible.state.catalog
  if (isId(column)) {
    const id = parseId(value, column.ids)
    return Result.succeed(id === undefined ? NEVER : compare(values, column, "eq", id))
  }
  switch (column.kind) {
    case "text":
    case "list": {
      const folded = foldText(value)
      if (column.values !== undefined && !column.values.some((one) => foldText(one) === folded)) {
        return invalid(
          `${column.slug} is one of: ${column.values.slice(0, MAX_SHOWN_VALUES).map(printable).join(", ")}.`
        )
      }
      return Result.succeed(compare(values, column, "eq", folded, "key"))
    }
    case "phone": {
      const key = phoneKey(value, organization.country)
      if (column.storage._tag === "Value" && column.storage.source !== undefined) {
        const digits = phoneDigits(value)
        // What is no number at home may be one abroad, written without its plus.
        const abroad = key ?? (digits && phoneKey(`+${digits.replace(/^(\+|00)/, "")}`, organization.country))
        const forms = [...new Set([abroad, digits])].filter((form) => form !== undefined)
        return Result.succeed(
          forms.length === 0
            ? NEVER
            : Bound.In({ column: column.key, side: "key", values: values.listed(forms), negated: false })
        )
      }
      return Result.succeed(key === undefined ? NEVER : compare(values, column, "eq", key, "key"))
    }
    case "email": {
      const key = emailKey(value)
      return Result.succeed(key === undefined ? NEVER : compare(values, column, "eq", key, "key"))
    }
    case "boolean": {
      const truth = /^(true|yes|1)$/i.test(value) ? true : /^(false|no|0)$/i.test(value) ? false : undefined
      return truth === undefined
        ? invalid(`${column.slug} is true or false.`)
        : Result.succeed(compare(values, column, "eq", truth))
    }
    case "integer":
    case "number":
      return Result.map(numeric(value, column, visible), (number) => compare(values, column, "eq", number))
    case "date":
    case "timestamp":
      return Result.map(period(value, column, visible), ({ from, to }) =>
        to === undefined
          ? compare(values, column, "eq", from)
          : all(compare(values, column, "gte", from), compare(values, column, "lt", to))
      )
    case "reference":
    case "references": {
      const target = targetIn(visible, column)!
      const id = parseId(value, target.type.mapping?.id.type)
      return Result.succeed(
        id === undefined
          ? NEVER
          : some(column.key, all(target.plan.where, compare(values, idColumn(target.type), "eq", id)))
      )
    }
  }
}

const contains = (value: string, column: Column, visible: Visible, values: Values): Result.Result<Bound, Fault> => {
  if (isId(column)) return invalid("id can't be searched with ilike: use eq.")
  switch (column.kind) {
    case "text":
      return containsText(foldText(value), column, values)
    case "email":
      return containsText(lowerAscii(value.trim()), column, values)
    case "phone": {
      const digits = value.replace(/[^\d+]/g, "")
      return digits === "" ? Result.succeed(NEVER) : containsText(digits, column, values)
    }
    case "reference":
    case "references": {
      const target = targetIn(visible, column)!
      const name = columnByKey(target.type, DISPLAY_NAME)
      if (name === undefined) return Result.succeed(NEVER)
      return Result.map(containsText(foldText(value), name, values), (part) =>
        some(column.key, all(target.plan.where, maskOf(target.plan, name), part))
      )
    }
    default:
      return invalid(`${column.slug} can't be searched with ilike: use eq.`)
  }
}

const containsText = (text: string, column: Column, values: Values): Result.Result<Bound, InvalidInput> =>
  [...text].length >= MIN_CONTAINS || (column.storage._tag === "Value" && column.storage.indexed === true)
    ? Result.succeed(Bound.Contains({ column: column.key, text: values.contained(text) }))
    : invalid(`To search ${column.slug}, give at least ${MIN_CONTAINS} characters.`)

const bound = (
  value: string,
  op: "gte" | "lt",
  column: Column,
  visible: Visible,
  values: Values
): Result.Result<Bound, Fault> => {
  switch (column.kind) {
    case "integer":
    case "number":
      return Result.map(numeric(value, column, visible), (number) => compare(values, column, op, number))
    case "date":
    case "timestamp":
      return Result.map(period(value, column, visible), ({ from }) => compare(values, column, op, from))
    default:
      return invalid(`${column.slug} has no order: use eq or ilike.`)
  }
}

const numeric = (value: string, column: Column, visible: Visible): Result.Result<Literal, InvalidInput> => {
  const read = bindScalar(column, value.trim(), visible.state.catalog.organization)
  return read === undefined
    ? invalid(`${column.slug} is a ${column.kind === "integer" ? "whole number" : "number"}, such as 42.`)
    : Result.succeed(read)
}

/** A period as a half-open range; a point in time (timestamps only) has no end. */
const period = (
  value: string,
  column: Column,
  visible: Visible
): Result.Result<{ readonly from: string; readonly to?: string }, InvalidInput> => {
  const range = dateRange(value, () => todayIn(visible.state.catalog.organization.timeZone))
  if (range !== undefined) {
    return Result.succeed(
      column.kind === "date" ? range : { from: `${range.from}T00:00:00`, to: `${range.to}T00:00:00` }
    )
  }
  const point = column.kind === "timestamp" ? isoTimestamp(value.trim()) : undefined
  return point === undefined
    ? invalid(
        `${column.slug} is a ${column.kind === "date" ? "date" : "time"}, such as 2026, 2026-03 or 2026-03-31${column.kind === "date" ? "" : "T14:00"}.`
      )
    : Result.succeed({ from: point })
}
