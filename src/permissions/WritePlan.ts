/**
 * Plans of changes: the rules of one action on one type, bound for one caller, as predicates to judge on the row before
 * the change and on the row after it. A statement evaluates them to bits, and `decide` combines the bits. The two sides
 * stay separate here because one rule must hold on both of them.
 */
import type { Catalog, EntityType } from "../domain/EntityType.ts"
import { type Bound, canonical, parameterCount } from "../domain/Predicate.ts"
import type { Principal } from "../domain/Principal.ts"
import { type Binding, bindPredicate } from "./bindPredicate.ts"
import { POLICY } from "./limits.ts"
import { isInForce, nextBoundary, rulesFor } from "./PermissionEngine.ts"
import { denied, type Denied, MAX_PLAN_PARAMETERS } from "./permissionPlan.ts"
import type { Policy, Rule } from "./Policy.ts"
import { scopePlan } from "./ToolScope.ts"

export type WriteAction = "create" | "update" | "delete"

/** A rule, with the positions of its predicates among the plan's judgements. */
export interface WriteRule {
  readonly id: string
  readonly effect: "allow" | "deny"
  /** Column keys. */
  readonly columns: "*" | ReadonlyArray<string>
  /** A position in `before`; absent for `create`, which has no row before. */
  readonly before?: number
  /** A position in `after`; absent for `delete`, which leaves no row. */
  readonly after?: number
}

export interface WriteGranted {
  readonly _tag: "Granted"
  readonly action: WriteAction
  /**
   * Judged on the row before the change. Of an allow, the bit is true where its condition is TRUE; of a deny, where its
   * condition is FALSE. So a bit that is missing or unknown refuses.
   */
  readonly before: ReadonlyArray<Bound>
  /** The same on the row after the change. */
  readonly after: ReadonlyArray<Bound>
  /** The rules of each party, the principal's and the actor's: each of them must allow the change. */
  readonly parties: ReadonlyArray<ReadonlyArray<WriteRule>>
  /** Keys of the columns that the tool scope includes, in the type's order. */
  readonly columns: ReadonlyArray<string>
  /** Whether the tool scope includes every column of the type, as `delete` needs. */
  readonly whole: boolean
  readonly expiresAt: number
}

export type WritePlan = WriteGranted | Denied

/** Plans a change of a type's rows by a principal at a time (milliseconds since 1970). Like `plan`, it never fails. */
export const planWrite = (
  policy: Policy,
  catalog: Catalog,
  principal: Principal,
  type: EntityType,
  action: WriteAction,
  now: number
): WritePlan => {
  try {
    const { actor, anchorEntityId, attributes, roles, scope } = principal
    const before = makeJudgements()
    const after = makeJudgements()
    const parties: Array<ReadonlyArray<WriteRule>> = []
    let expiresAt = Infinity
    const bindings: ReadonlyArray<readonly [ReadonlyArray<string>, Binding]> = [
      [roles, { catalog, me: anchorEntityId, attributes }],
      ...(actor === undefined ? [] : [[actor.roles, { catalog, me: undefined, attributes: actor.attributes }] as const])
    ]
    for (const [held, binding] of bindings) {
      const candidates = rulesFor(policy, held, type, action)
      expiresAt = Math.min(expiresAt, nextBoundary(candidates, now))
      const rules = candidates.filter((rule) => isInForce(rule, now))
      if (rules.length > POLICY.changeRules) return denied("too-large", expiresAt)
      const bound = rules.flatMap((rule) => bindRule(rule, type, binding, before, after) ?? [])
      if (!bound.some(({ effect }) => effect === "allow")) return denied("no-rule", expiresAt)
      parties.push(bound)
    }
    const scoped = scope === undefined ? undefined : scopePlan(scope, type, action)
    if (scoped?._tag === "Denied") return denied(scoped.reason, expiresAt)
    const columns = type.columns.flatMap(({ key }) => (scoped === undefined || scoped.cells.has(key) ? [key] : []))
    const size = [...before.list, ...after.list].reduce((sum, bound) => sum + parameterCount(bound), 0)
    if (size > MAX_PLAN_PARAMETERS) return denied("too-large", expiresAt)
    return {
      _tag: "Granted",
      action,
      before: before.list,
      after: after.list,
      parties,
      columns,
      whole: columns.length === type.columns.length,
      expiresAt
    }
  } catch {
    return denied("not-bindable")
  }
}

/** A rule with its judgements; undefined for an allow that can't hold. */
const bindRule = (
  rule: Rule,
  type: EntityType,
  binding: Binding,
  before: Judgements,
  after: Judgements
): WriteRule | undefined => {
  const { action, columns, effect, id } = rule
  const allows = effect === "allow"
  const where = bindPredicate(rule.where, type, binding, allows, true)
  // A deny looks at both rows with its one condition.
  const becomes =
    allows && action === "update" && rule.becomes !== undefined
      ? bindPredicate(rule.becomes, type, binding, true, true)
      : where
  if (allows && (where._tag === "Never" || becomes._tag === "Never")) return undefined
  return {
    id,
    effect,
    columns,
    ...(action === "create" ? {} : { before: before.add(where) }),
    ...(action === "delete" ? {} : { after: after.add(becomes) })
  }
}

interface Judgements {
  readonly list: ReadonlyArray<Bound>
  /** The position of a predicate; equal predicates share one. */
  readonly add: (bound: Bound) => number
}

const makeJudgements = (): Judgements => {
  const list: Array<Bound> = []
  const positions = new Map<string, number>()
  return {
    list,
    add: (bound) => {
      const text = canonical(bound)
      const known = positions.get(text)
      if (known !== undefined) return known
      positions.set(text, list.length)
      return list.push(bound) - 1
    }
  }
}

/** The columns that the plan lets the caller set on some row, in the type's order. */
export const settableColumns = (plan: WriteGranted): ReadonlyArray<string> =>
  plan.columns.filter((column) => plan.parties.every((rules) => rules.some((rule) => allowsColumn(rule, column))))

const allowsColumn = ({ columns, effect }: WriteRule, column: string): boolean =>
  effect === "allow" && (columns === "*" || columns.includes(column))
