/**
 * Explains a person's access to a type, rule by rule and column by column. The database evaluates the same fragments as
 * in a lookup.
 */
import { Effect } from "effect"
import type { EntityType } from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { TypeExplanation } from "../../wire/admin/policy.ts"
import { all, type Bound, NEVER } from "../../domain/Predicate.ts"
import { bindPredicate, type Binding } from "../../permissions/bindPredicate.ts"
import { isInForce, rulesFor } from "../../permissions/PermissionEngine.ts"
import type { Policy, Rule } from "../../permissions/Policy.ts"
import {
  type DescribedPrincipal,
  formatInstant,
  listed,
  describeRule,
  DENIAL_REASONS
} from "../../permissions/describe.ts"
import { type RowEvaluator, type PlannedAccess, plannedAccess } from "./rowEvaluator.ts"
import { onVisibleTargets, type Visibility, visibleCatalog } from "./visibility.ts"
import type { ReviewSubject } from "./reviewSubject.ts"

export const bindingOf = ({ principal, state }: ReviewSubject): Binding => ({
  catalog: state.catalog,
  me: principal.anchorEntityId,
  attributes: principal.attributes
})

/** Only operators see attribute values. */
export const describedPrincipal = (
  { name, principal: { attributes } }: ReviewSubject,
  { isOperator }: Visibility
): DescribedPrincipal => (isOperator ? { name, attributes } : { name })

export const explainType = (
  evaluator: RowEvaluator,
  subject: ReviewSubject,
  policy: Policy,
  type: EntityType,
  visibility: Visibility,
  now: number
): Effect.Effect<TypeExplanation, Unavailable> =>
  Effect.gen(function* () {
    const { principal, state } = subject
    const { catalog } = state
    const seen = (bound: Bound) => onVisibleTargets(visibility, bound, type, catalog)
    const access = plannedAccess(policy, catalog, principal, type, now)
    const allRules = rulesFor(policy, principal.roles, type, "read")
    const rules = allRules.filter((rule) => isInForce(rule, now))
    const binding = bindingOf(subject)
    const visiblePart = visibility.of(type)
    const rows = visiblePart?.rows ?? NEVER
    const columns = type.columns.filter(({ key }) => visiblePart?.cell(key)._tag !== "Never")
    const { counts: results } = yield* evaluator.counts(type, catalog, [
      { of: rows },
      { of: all(rows, seen(access.rows)) },
      ...rules.map((rule) =>
        rule.effect === "allow"
          ? { of: all(rows, seen(bindPredicate(rule.where, type, binding, true, true))) }
          : { of: rows, without: seen(bindPredicate(rule.where, type, binding, false, true)) }
      ),
      ...columns.map(({ key }) => ({ of: all(rows, visiblePart?.cell(key) ?? NEVER, seen(access.cell(key))) }))
    ])
    const names = visibleCatalog(visibility, catalog)
    const [total = 0, visible = 0, ...counts] = results
    return {
      who: subject.name,
      roles: principal.roles,
      type: type.slug,
      total,
      visible,
      ...(access.plan._tag === "Denied" ? { denied: DENIAL_REASONS[access.plan.reason] } : {}),
      rules: rules.map((rule, index) => ({
        id: rule.id,
        role: rule.role,
        effect: rule.effect,
        words: describeRule(rule, names, describedPrincipal(subject, visibility), visibility.isOperator),
        rows: counts[index]!
      })),
      notInForce: allRules
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
          because: whyColumn(column.key, cells, visible, access, rules, subject)
        }
      })
    }
  })

/** The ids of rules as an English list. */
export const ruleIds = (rules: ReadonlyArray<{ readonly id: string }>, last: "and" | "or" = "and"): string =>
  listed(
    rules.map(({ id }) => id),
    last
  )

const has = (rule: Rule, column: string): boolean => rule.columns === "*" || rule.columns.includes(column)

const whyColumn = (
  column: string,
  rows: number,
  visible: number,
  access: PlannedAccess,
  rules: ReadonlyArray<Rule>,
  subject: ReviewSubject
): string => {
  const shows = rules.filter((rule) => rule.effect === "allow" && has(rule, column))
  const hides = rules.filter((rule) => rule.effect === "deny" && rule.columns !== "*" && has(rule, column))
  const roles = listed(subject.principal.roles, "or")
  if (shows.length === 0) return `no rule of ${roles} shows it`
  if (access.plan._tag === "Denied") return DENIAL_REASONS[access.plan.reason]
  if (isOutOfScope(subject, column)) return "it is outside the tool scope"
  if (access.plan.cells.has(column) && access.cell(column)._tag === "Never")
    return `${roles} has no access to its target type`
  if (rows === visible && visible > 0) return `shown by ${ruleIds(shows)}`
  const denied = hides.length === 0 ? "" : `; ${ruleIds(hides)} ${hides.length === 1 ? "hides" : "hide"} it`
  return rows === 0 && visible > 0 && hides.length === 0
    ? `only ${ruleIds(shows, "or")} would show it, and ${shows.length === 1 ? "it matches" : "they match"} no row`
    : `shown by ${ruleIds(shows)} only on the rows that ${shows.length === 1 ? "it matches" : "they match"}${denied}`
}

/** Whether the tool scope excludes a column. */
export const isOutOfScope = ({ principal: { scope } }: ReviewSubject, column: string): boolean =>
  scope !== undefined && !scope.some(({ columns }) => columns === "*" || columns.includes(column))
