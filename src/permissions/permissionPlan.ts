/** Plans: the decision for many rows at once. A plan is ANDed into the one statement; nobody can build one around it. */
import { all, type Bound, parameterCount } from "../domain/Predicate.ts"

export interface Granted {
  readonly _tag: "Granted"
  /** The rows. The organization is added by the store, always. */
  readonly where: Bound
  /** For each column key that is visible at all, the rows on which its cell is; given `where`. */
  readonly cells: ReadonlyMap<string, Bound>
  readonly ruleIds: ReadonlyArray<string>
  /** Whether only a part of the type is shown. */
  readonly limited: boolean
  /** When the next time-bound rule begins or ends, in milliseconds since 1970. */
  readonly expiresAt: number
}

export interface Denied {
  readonly _tag: "Denied"
  readonly reason: "no-rule" | "nothing-visible" | "out-of-scope" | "too-large" | "not-bindable"
  readonly expiresAt: number
}

export type Plan = Granted | Denied

/** A plan that binds more values than this is refused. */
export const MAX_PLAN_PARAMETERS = 2000

export const denied = (reason: Denied["reason"], expiresAt = Infinity): Denied => ({
  _tag: "Denied",
  reason,
  expiresAt
})

/** What both plans show: a person's and that of whoever acts for it. */
export const intersect = (a: Plan, b: Plan): Plan => {
  const expiresAt = Math.min(a.expiresAt, b.expiresAt)
  if (a._tag === "Denied") return { ...a, expiresAt }
  if (b._tag === "Denied") return { ...b, expiresAt }
  const cells = new Map<string, Bound>()
  for (const [column, mask] of a.cells) {
    const other = b.cells.get(column)
    if (other !== undefined) cells.set(column, all(mask, other))
  }
  return bounded({
    _tag: "Granted",
    where: all(a.where, b.where),
    cells,
    ruleIds: [...a.ruleIds, ...b.ruleIds],
    limited: a.limited || b.limited,
    expiresAt
  })
}

/** The plan, or a refusal when it shows nothing or is too large to be compiled. */
export const bounded = (plan: Granted): Plan => {
  const cells = new Map([...plan.cells].filter(([, mask]) => mask._tag !== "Never"))
  if (plan.where._tag === "Never") return denied("nothing-visible", plan.expiresAt)
  let size = parameterCount(plan.where)
  for (const mask of cells.values()) size += parameterCount(mask)
  return size > MAX_PLAN_PARAMETERS ? denied("too-large", plan.expiresAt) : { ...plan, cells }
}
