/**
 * Why a person sees what it sees of a type or of one row: rule by rule and column by column, judged by the database
 * with the same fragments that a lookup runs.
 */
import { Effect } from "effect"
import type { EntityType } from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { all, NEVER } from "../../domain/Predicate.ts"
import { bindPredicate, type Binding } from "../../permissions/bindPredicate.ts"
import type { Policy, Rule } from "../../permissions/Policy.ts"
import { type DescribedPrincipal, formatInstant, listed, describeRule } from "../../permissions/describe.ts"
import { type RowEvaluator, type PlannedAccess, plannedAccess } from "./rowEvaluator.ts"
import { type Visibility, visibleCatalog } from "./visibility.ts"
import { DENIAL_REASONS } from "./runPolicyTests.ts"
import type { ReviewSubject } from "./reviewSubject.ts"

interface ExplainedRule {
  readonly id: string
  readonly role: string
  readonly effect: "allow" | "deny"
  readonly words: string
  /** On how many rows it holds; for a deny those, too, on which that can't be told. */
  readonly rows: number
}

interface ExplainedColumn {
  readonly column: string
  /** On how many of the visible rows its cell is visible. */
  readonly rows: number
  readonly because: string
}

export interface Explanation {
  readonly who: string
  readonly roles: ReadonlyArray<string>
  readonly type: string
  /** All rows of the type that are open to whoever asks, and those of them that the person sees. */
  readonly total: number
  readonly visible: number
  /** Why the type as a whole is denied. */
  readonly denied?: string
  readonly rules: ReadonlyArray<ExplainedRule>
  /** Rules of the person's roles that aren't in force at the moment, in words. */
  readonly notInForce: ReadonlyArray<string>
  readonly columns: ReadonlyArray<ExplainedColumn>
}

/** The rules that a principal has for reading a type, in force or not. */
export const rulesForReading = (
  policy: Policy,
  roles: ReadonlyArray<string>,
  type: EntityType
): ReadonlyArray<Rule> => {
  const held = new Set(roles.flatMap((role) => (Object.hasOwn(policy.roles, role) ? policy.roles[role]! : [])))
  return policy.rules.filter((rule) => rule.type === type.key && rule.action === "read" && held.has(rule.role))
}

export const isInForce = (rule: Rule, now: number): boolean =>
  (rule.notBefore === undefined || rule.notBefore <= now) && (rule.notAfter === undefined || now < rule.notAfter)

export const bindingOf = ({ principal, state }: ReviewSubject): Binding => ({
  catalog: state.catalog,
  me: principal.anchorEntityId,
  attributes: principal.attributes
})

/** Whose attributes have which values is for operators. */
export const describedPrincipal = (
  { name, principal: { attributes } }: ReviewSubject,
  { isOperator }: Visibility
): DescribedPrincipal => (isOperator ? { name, attributes } : { name })

export const explainType = (
  judge: RowEvaluator,
  subject: ReviewSubject,
  policy: Policy,
  type: EntityType,
  lens: Visibility,
  now: number
): Effect.Effect<Explanation, Unavailable> =>
  Effect.gen(function* () {
    const { principal, state } = subject
    const { catalog } = state
    const sight = plannedAccess(policy, catalog, principal, type, now)
    const known = rulesForReading(policy, principal.roles, type)
    const rules = known.filter((rule) => isInForce(rule, now))
    const binding = bindingOf(subject)
    const open = lens.open(type)
    const rows = open?.rows ?? NEVER
    const columns = type.columns.filter(({ key }) => open?.cell(key)._tag !== "Never")
    const { counts: judged } = yield* judge.counts(type, catalog, [
      { of: rows },
      { of: all(rows, sight.rows) },
      ...rules.map((rule) =>
        rule.effect === "allow"
          ? { of: all(rows, bindPredicate(rule.where, type, binding, true, true)) }
          : { of: rows, without: bindPredicate(rule.where, type, binding, false, true) }
      ),
      ...columns.map(({ key }) => ({ of: all(rows, open?.cell(key) ?? NEVER, sight.cell(key)) }))
    ])
    const names = visibleCatalog(lens, catalog)
    const [total = 0, visible = 0, ...counts] = judged
    return {
      who: subject.name,
      roles: principal.roles,
      type: type.slug,
      total,
      visible,
      ...(sight.plan._tag === "Denied" ? { denied: DENIAL_REASONS[sight.plan.reason] } : {}),
      rules: rules.map((rule, index) => ({
        id: rule.id,
        role: rule.role,
        effect: rule.effect,
        words: describeRule(rule, names, describedPrincipal(subject, lens)),
        rows: counts[index]!
      })),
      notInForce: known
        .filter((rule) => !rules.includes(rule))
        .map((rule) =>
          rule.notBefore !== undefined && rule.notBefore > now
            ? `${rule.id} begins on ${formatInstant(rule.notBefore)}`
            : `${rule.id} ended on ${formatInstant(rule.notAfter!)}`
        ),
      columns: columns.map((column, index) => {
        const cells = counts[rules.length + index]!
        return {
          column: column.slug,
          rows: cells,
          because: whyColumn(column.key, cells, visible, sight, rules, subject)
        }
      })
    }
  })

const has = (rule: Rule, column: string): boolean => rule.columns === "*" || rule.columns.includes(column)

const whyColumn = (
  column: string,
  rows: number,
  visible: number,
  sight: PlannedAccess,
  rules: ReadonlyArray<Rule>,
  subject: ReviewSubject
): string => {
  const ids = (found: ReadonlyArray<Rule>, last: "and" | "or" = "and") =>
    listed(
      found.map(({ id }) => id),
      last
    )
  const shows = rules.filter((rule) => rule.effect === "allow" && has(rule, column))
  const hides = rules.filter((rule) => rule.effect === "deny" && rule.columns !== "*" && has(rule, column))
  const roles = listed(subject.principal.roles, "or")
  if (shows.length === 0) return `no rule of ${roles} shows it`
  if (sight.plan._tag === "Denied") return DENIAL_REASONS[sight.plan.reason]
  if (isOutOfScope(subject, column)) return "the tool scope doesn't have it"
  if (sight.plan.cells.has(column) && sight.cell(column)._tag === "Never")
    return `${roles} may see nothing of what it leads to`
  if (rows === visible && visible > 0) return `shown by ${ids(shows)}`
  const denied = hides.length === 0 ? "" : `; ${ids(hides)} ${hides.length === 1 ? "hides" : "hide"} it`
  return rows === 0 && visible > 0 && hides.length === 0
    ? `only ${ids(shows, "or")} would show it, and ${shows.length === 1 ? "holds" : "they hold"} on no row`
    : `shown by ${ids(shows)} only where that holds${denied}`
}

/** Whether the scope of the call, and not the policy, leaves a column out. */
export const isOutOfScope = ({ principal: { scope } }: ReviewSubject, column: string): boolean =>
  scope !== undefined && !scope.some(({ columns }) => columns === "*" || columns.includes(column))
