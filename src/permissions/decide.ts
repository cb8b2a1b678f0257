/**
 * Bits → verdict: combines the judgements of one row. A column may change only if one allow covers it and holds both for
 * the row before and for the row after, for every party. Taking "before" from one rule and "after" from another would
 * permit what neither allows.
 */
import type { WriteGranted, WriteRule } from "./WritePlan.ts"

/** The judgements of one row, in the plan's order; a list that is absent or too short refuses. */
export interface Bits {
  readonly before?: ReadonlyArray<boolean | null> | null | undefined
  readonly after?: ReadonlyArray<boolean | null> | null | undefined
}

interface Refusal {
  /** The column's key; absent when the row as a whole is refused. */
  readonly column?: string
  /** `row`: this row can't be changed so, whatever the values. `value`: another value could be allowed. */
  readonly because: "row" | "value"
}

/** Why a change is refused; empty when it is allowed. */
export type Refusals = ReadonlyArray<Refusal>

/** Decides a change of columns of one row, by key. `delete` concerns the whole row, whatever the columns. */
export const decide = (plan: WriteGranted, columns: ReadonlyArray<string>, bits: Bits): Refusals => {
  if (plan.action === "delete") {
    const because = plan.whole ? reasonOf(plan, undefined, bits) : "row"
    return because === undefined ? [] : [{ because }]
  }
  if (columns.length === 0) return [{ because: "row" }]
  return columns.flatMap((column): Refusals => {
    const because = plan.columns.includes(column) ? reasonOf(plan, column, bits) : "row"
    return because === undefined ? [] : [{ column, because }]
  })
}

/** Why the parties refuse a column, or the whole row; undefined if all of them allow it. */
const reasonOf = (plan: WriteGranted, column: string | undefined, bits: Bits): Refusal["because"] | undefined => {
  if (allowed(plan, column, bits)) return undefined
  const anyValue = { before: bits.before, after: plan.after.map(() => true) }
  return allowed(plan, column, anyValue) ? "value" : "row"
}

const allowed = (plan: WriteGranted, column: string | undefined, bits: Bits): boolean =>
  plan.parties.length > 0 &&
  plan.parties.every((rules) => {
    const covering = rules.filter((rule) => covers(rule, column))
    const holds = (rule: WriteRule): boolean => isTrue(rule.before, bits.before) && isTrue(rule.after, bits.after)
    return (
      covering.some((rule) => rule.effect === "allow" && holds(rule)) &&
      covering.every((rule) => rule.effect === "allow" || holds(rule))
    )
  })

const isTrue = (position: number | undefined, bits: Bits["before"]): boolean =>
  position === undefined || bits?.[position] === true

/** Whether a rule is about a column, or about the whole row: there every deny counts, and only an allow of every column. */
const covers = ({ columns, effect }: WriteRule, column: string | undefined): boolean =>
  columns === "*" || (column === undefined ? effect === "deny" : columns.includes(column))
