/** Words the reasons why a row and its cells are visible or hidden, from the evaluated rules. */
import type { Column } from "../../domain/EntityType.ts"
import { DENIAL_REASONS, type DescribedPrincipal, describeCondition, listed } from "../../permissions/describe.ts"
import type { Plan } from "../../permissions/permissionPlan.ts"
import type { Rule } from "../../permissions/Policy.ts"
import type { RowExplanation } from "../../wire/admin/policy.ts"
import { isOutOfScope, ruleIds } from "./explainType.ts"
import type { ReviewSubject } from "./reviewSubject.ts"
import type { Visibility } from "./visibility.ts"

export type EvaluatedRule = RowExplanation["rules"][number]

/** The reason why a row is visible or hidden. */
export const whyRow = (
  visible: boolean,
  plan: Plan,
  evaluated: ReadonlyArray<EvaluatedRule>,
  rules: ReadonlyArray<Rule>,
  { isOperator }: Visibility
): string => {
  if (plan._tag === "Denied") return DENIAL_REASONS[plan.reason]
  const allowing = evaluated.filter(({ effect, truth }) => effect === "allow" && truth === "yes")
  const denying = evaluated.filter(
    ({ effect, truth }, index) => effect === "deny" && truth !== "no" && rules[index]!.columns === "*"
  )
  if (visible) return `${ruleIds(allowing)} ${allowing.length === 1 ? "allows" : "allow"} it`
  const [deny] = denying
  if (deny !== undefined)
    return deny.truth === "yes"
      ? `${deny.id} hides the whole row`
      : `${deny.id} hides the whole row: its condition is unknown, and an unknown condition denies`
  const unknown = evaluated.filter(({ effect, truth }) => effect === "allow" && truth === "unknown")
  const why = isOperator ? "empty or missing" : "empty, missing or hidden from you"
  return `no allow matches it${unknown.length === 0 ? "" : ` (${ruleIds(unknown)} is unknown, because a value is ${why})`}`
}

/** The reason why a cell is visible or hidden. */
export const whyCell = (
  column: Column,
  shown: boolean,
  rowVisible: boolean,
  evaluated: ReadonlyArray<EvaluatedRule>,
  rules: ReadonlyArray<Rule>,
  subject: ReviewSubject,
  person: DescribedPrincipal
): string => {
  if (!rowVisible) return "the row is hidden"
  const relevant = evaluated.filter((_, index) => {
    const { columns } = rules[index]!
    return columns === "*" || columns.includes(column.key)
  })
  const allowing = relevant.filter(({ effect, truth }) => effect === "allow" && truth === "yes")
  if (shown) return ruleIds(allowing)
  const denying = relevant.filter(({ effect, truth }) => effect === "deny" && truth !== "no")
  const [first] = denying
  if (first !== undefined) {
    const { where } = rules.find(({ id }) => id === first.id)!
    const type = subject.state.catalog.types.find(({ columns }) => columns.includes(column))!
    const words = describeCondition(where, type, subject.state.catalog, person)
    return `${first.id} hides it${words === "" ? "" : first.truth === "yes" ? `: ${words}` : `: unknown whether ${words}`}`
  }
  if (isOutOfScope(subject, column.key)) return "it is outside the tool scope"
  if (allowing.length > 0) return "its target type is denied"
  const others = relevant.filter(({ effect }) => effect === "allow")
  return others.length === 0
    ? `no rule of ${listed(subject.principal.roles, "or")} shows it`
    : `only ${ruleIds(others, "or")} would show it, and ${others.length === 1 ? "it doesn't" : "they don't"} match this row`
}
