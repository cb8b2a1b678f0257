/** Plans: the decision for many rows. The store ANDs the plan into the one statement, so no read bypasses it. */
import { computedColumns, type EntityType } from "../domain/EntityType.ts"
import { all, type Bound, NEVER, parameterCount } from "../domain/Predicate.ts"

export interface Granted {
  readonly _tag: "Granted"
  /** The visible rows. The store always adds the organization. */
  readonly where: Bound
  /** Masks by column key: the rows, among those of `where`, on which the cell is visible. Hidden columns are absent. */
  readonly cells: ReadonlyMap<string, Bound>
  readonly ruleIds: ReadonlyArray<string>
  /** Whether the plan can hide rows of the type. */
  readonly limited: boolean
  /** When the next time-bound rule begins or ends (milliseconds since 1970); the plan is stale from then on. */
  readonly expiresAt: number
}

export interface Denied {
  readonly _tag: "Denied"
  readonly reason: "no-rule" | "nothing-visible" | "out-of-scope" | "too-large" | "not-bindable"
  readonly expiresAt: number
}

export type Plan = Granted | Denied

/** Plans that bind more parameters than this are denied. */
export const MAX_PLAN_PARAMETERS = 2000

export const denied = (reason: Denied["reason"], expiresAt = Infinity): Denied => ({
  _tag: "Denied",
  reason,
  expiresAt
})

/**
 * Adds the masks of derived columns: where all of their sources are visible, because each value says something about all of
 * them. `unless` narrows it by the denials that name the column itself.
 */
export const withDerived = (
  type: EntityType,
  cells: ReadonlyMap<string, Bound>,
  unless: (key: string) => ReadonlyArray<Bound> = () => []
): ReadonlyMap<string, Bound> => {
  const computed = computedColumns(type)
  if (computed.length === 0) return cells
  const masks = computed.map(({ derived, key }): [string, Bound] => [
    key,
    all(...derived!.of.map((source) => cells.get(source) ?? NEVER), ...unless(key))
  ])
  return new Map([...cells, ...masks])
}

/** Intersects two plans, such as those of a principal and its actor: only what both show remains visible. */
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

/** Denies a plan that shows nothing or is too large to compile. */
export const bounded = (plan: Granted): Plan => {
  const cells = new Map([...plan.cells].filter(([, mask]) => mask._tag !== "Never"))
  if (plan.where._tag === "Never") return denied("nothing-visible", plan.expiresAt)
  let size = parameterCount(plan.where)
  for (const mask of cells.values()) size += parameterCount(mask)
  return size > MAX_PLAN_PARAMETERS ? denied("too-large", plan.expiresAt) : { ...plan, cells }
}
