/** A filter's value → a condition, for one caller; runs after the names are resolved. */
import { Result } from "effect"
import { type Column, columnByKey, DISPLAY_NAME, idColumn } from "../../domain/EntityType.ts"
import { InvalidInput, type UnknownName } from "../../domain/errors.ts"
import { emailKey, foldText, lowerAscii, phoneDigits, phonePart, phoneSearchKey } from "../../domain/keys.ts"
import { ALWAYS, all, any, type Literal, NEVER, some } from "../../domain/Predicate.ts"
import { type Filter, type FilterOp, MAX_VALUE_LENGTH } from "../../domain/Query.ts"
import { printable } from "../../domain/text.ts"
import { today } from "../../domain/today.ts"
import { bindScalar, dateRange, isoTimestamp, parseId } from "../../domain/values.ts"
import type { Condition, Parameter } from "../../database/sql/Parameter.ts"
import { MIN_CONTAINS } from "../../database/sql/comparisons.ts"
import type { Values } from "../../database/sql/prepared.ts"
import { isId, maskOf, targetIn, type Visible, type VisibleType } from "./visible.ts"

export type Fault = UnknownName | InvalidInput

export const invalid = (message: string) => Result.fail(InvalidInput.of(message))

/** Values of a closed list that an error names. */
const MAX_SHOWN_VALUES = 30

/** A character that every fold keeps: skips the fold of most values, which is slow. */
const FOLDS_TO_SOMETHING = /[a-z0-9]/i

export const resolveFilter = (
  filter: Filter,
  column: Column,
  visible: Visible,
  values: Values
): Result.Result<Condition, Fault> => {
  const fault = unusable(filter.value, column.slug)
  if (fault !== undefined) return invalid(fault)
  return compared(filter.value, filter.op === "ne" ? "eq" : filter.op, column, visible, values)
}

/** What no column accepts as a value. */
export const unusable = (value: string, name: string): string | undefined => {
  if (value.length > MAX_VALUE_LENGTH) return `A value has at most ${MAX_VALUE_LENGTH} characters.`
  if (value.includes("\u0000")) return "A value can't contain a NUL character."
  return !FOLDS_TO_SOMETHING.test(value) && foldText(value) === "" ? `The value for ${name} is empty.` : undefined
}

/** A comparison with one value that stands for itself. */
export const compared = (
  value: string,
  op: Exclude<FilterOp, "ne">,
  column: Column,
  visible: Visible,
  values: Values
): Result.Result<Condition, Fault> => {
  switch (op) {
    case "eq":
      return equal(value, column, visible, values)
    case "ilike":
      return contains(value, column, visible, values)
    case "gte":
    case "lt":
      return ordered(value, op, column, visible, values)
  }
}

const compare = (
  values: Values,
  column: Column,
  op: "eq" | "gte" | "lt" | "lte",
  value: Literal,
  side: "value" | "key" = "value"
  // A literal object: on this hot path a constructor costs as much as the rest.
): Condition => ({ _tag: "Compare", column: column.key, side, op, value: values.comparand(column, value) })

const equal = (value: string, column: Column, visible: Visible, values: Values): Result.Result<Condition, Fault> => {
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
      const key = phoneSearchKey(value, organization.country)
      if (column.storage._tag === "Value" && column.storage.source !== undefined) {
        const digits = phoneDigits(value)
        // A number without its plus that is invalid in the organization's country may be international.
        const international =
          key ?? (digits && phoneSearchKey(`+${digits.replace(/^(\+|00)/, "")}`, organization.country))
        const forms = [...new Set([international, digits])].filter((form) => form !== undefined)
        return Result.succeed(
          forms.length === 0
            ? NEVER
            : { _tag: "In", column: column.key, side: "key", values: values.spellings(forms), negated: false }
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
          : all<Parameter>(compare(values, column, "gte", from), compare(values, column, "lt", to))
      )
    case "reference":
    case "references":
      return Result.succeed(refersTo(value, column, visible, values))
  }
}

/** A reference equals the id of its target and the target's whole name. A name that several entities have means all of them. */
const refersTo = (value: string, column: Column, visible: Visible, values: Values): Condition => {
  const target = targetIn(visible, column)!
  return any<Parameter>(...isNamed(value, target, values).map((part) => someTarget(column, target, ...part)))
}

/**
 * The alternatives in which a value means a row: its id, or its whole name. Text that can't be a name skips the second:
 * managed ids have 13 or 14 letters.
 */
export const isNamed = (
  value: string,
  { plan, type }: VisibleType,
  values: Values
): ReadonlyArray<ReadonlyArray<Condition>> => {
  const ids = type.mapping?.id.type
  const id = parseId(value, ids)
  const name = columnByKey(type, DISPLAY_NAME)
  const byId = id === undefined ? [] : [[compare(values, idColumn(type), "eq", id)]]
  const isId = id !== undefined && (ids === undefined ? value.length >= 13 : ids === "bigint" || ids === "uuid")
  if (isId || name === undefined) return byId
  return [...byId, [compare(values, name, "eq", foldText(value), "key"), maskOf(plan, name)]]
}
/** The reference leads to a visible row on which the conditions hold. */
const someTarget = (column: Column, { plan }: VisibleType, ...conditions: ReadonlyArray<Condition>): Condition =>
  some<Parameter>(column.key, all<Parameter>(plan.where, ...conditions))

const contains = (value: string, column: Column, visible: Visible, values: Values): Result.Result<Condition, Fault> => {
  if (isId(column)) return invalid("id can't be searched with ilike: use eq.")
  switch (column.kind) {
    case "text":
      return containsText(foldText(value), column, values)
    case "email":
      return containsText(lowerAscii(value.trim()), column, values)
    case "phone": {
      const digits = phonePart(value)
      return digits === "" ? Result.succeed(NEVER) : containsText(digits, column, values)
    }
    case "reference":
    case "references": {
      const target = targetIn(visible, column)!
      return Result.map(nameContains(value, target, values), (parts) => someTarget(column, target, ...parts))
    }
    default:
      return invalid(`${column.slug} can't be searched with ilike: use eq.`)
  }
}

/** The conditions, all of which hold on a row whose name contains the value. */
export const nameContains = (
  value: string,
  { plan, type }: VisibleType,
  values: Values
): Result.Result<ReadonlyArray<Condition>, InvalidInput> => {
  const name = columnByKey(type, DISPLAY_NAME)
  return name === undefined
    ? Result.succeed([NEVER])
    : Result.map(containsText(foldText(value), name, values), (part) => [part, maskOf(plan, name)])
}

const containsText = (text: string, column: Column, values: Values): Result.Result<Condition, InvalidInput> =>
  [...text].length >= MIN_CONTAINS || (column.storage._tag === "Value" && column.storage.indexed === true)
    ? Result.succeed({ _tag: "Contains", column: column.key, text: values.contained(text) })
    : invalid(`To search ${column.slug}, give at least ${MIN_CONTAINS} characters.`)

const ordered = (
  value: string,
  op: "gte" | "lt",
  column: Column,
  visible: Visible,
  values: Values
): Result.Result<Condition, Fault> => {
  switch (column.kind) {
    case "integer":
    case "number":
      return Result.map(numeric(value, column, visible), (number) => compare(values, column, op, number))
    case "date":
    case "timestamp":
      return Result.map(period(value, column, visible), ({ from }) => compare(values, column, op, from))
    case "text":
      return Result.succeed(inOrder(op, value, column, values))
    default:
      return invalid(`${column.slug} has no order: use eq or ilike.`)
  }
}

/** Whether a column has an order, in which a range has its place. */
export const isOrdered = ({ kind }: Column): boolean =>
  kind === "integer" || kind === "number" || kind === "date" || kind === "timestamp" || kind === "text"

/** A range with both of its ends in it; periods of time are in it as a whole. */
export const within = (
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  column: Column,
  visible: Visible,
  values: Values
): Result.Result<Condition, Fault> =>
  Result.gen(function* () {
    const start = from === undefined ? ALWAYS : yield* ordered(from, "gte", column, visible, values)
    return all<Parameter>(start, to === undefined ? ALWAYS : yield* upTo(to, column, visible, values))
  })

const upTo = (value: string, column: Column, visible: Visible, values: Values): Result.Result<Condition, Fault> => {
  switch (column.kind) {
    case "integer":
    case "number":
      return Result.map(numeric(value, column, visible), (number) => compare(values, column, "lte", number))
    case "date":
    case "timestamp":
      return Result.map(period(value, column, visible), ({ from, to }) =>
        to === undefined ? compare(values, column, "lte", from) : compare(values, column, "lt", to)
      )
    default:
      return Result.succeed(inOrder("lte", value, column, values))
  }
}

/** In the order of search keys, in which blank text would come first. */
const inOrder = (op: "gte" | "lt" | "lte", value: string, column: Column, values: Values): Condition => {
  const compared = compare(values, column, op, foldText(value), "key")
  return op === "gte" ? compared : { _tag: "All", of: [{ _tag: "HasValue", column: column.key }, compared] }
}

const numeric = (value: string, column: Column, visible: Visible): Result.Result<Literal, InvalidInput> => {
  const read = bindScalar(column, value.trim(), visible.state.catalog.organization)
  return read === undefined
    ? invalid(`${column.slug} is a ${column.kind === "integer" ? "whole number" : "number"}, such as 42.`)
    : Result.succeed(read)
}

/** A period as a half-open range; an instant (timestamps only) has no end. */
const period = (
  value: string,
  column: Column,
  visible: Visible
): Result.Result<{ readonly from: string; readonly to?: string }, InvalidInput> => {
  const range = dateRange(value, () => today(visible.state.catalog.organization.timeZone))
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
