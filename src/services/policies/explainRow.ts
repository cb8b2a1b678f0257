/** Why a person sees one row and its cells, or doesn't: each rule with each of its conditions, as true, false or unknown. */
import { Effect } from "effect"
import {
  type Column,
  columnByKey,
  DISPLAY_NAME,
  type EntityType,
  ID_COLUMN,
  STATUS,
  targetOf,
  typeByKey
} from "../../domain/EntityType.ts"
import { OperatorError, Unavailable } from "../../domain/errors.ts"
import { Bound, NEVER, type Predicate } from "../../domain/Predicate.ts"
import { bindPredicate } from "../../permissions/bindPredicate.ts"
import type { Policy, Rule } from "../../permissions/Policy.ts"
import {
  type DescribedPrincipal,
  describeColumns,
  listed,
  describeRule,
  describeCondition
} from "../../permissions/describe.ts"
import { printable, quoted } from "../../domain/text.ts"
import { parseId } from "../../domain/values.ts"
import type { OrgEntityStore } from "../OrgEntityStore.ts"
import { describedPrincipal, bindingOf, isInForce, isOutOfScope, rulesForReading } from "./explainType.ts"
import { type RowEvaluator, plannedAccess } from "./rowEvaluator.ts"
import { type Visibility, visibleCatalog } from "./visibility.ts"
import { DENIAL_REASONS } from "./runPolicyTests.ts"
import type { ReviewSubject } from "./reviewSubject.ts"

export type Truth = "yes" | "no" | "unknown"

/** A condition of a rule, or what joins those that are a step deeper. */
interface JudgedCondition {
  readonly depth: number
  readonly words: string
  readonly truth: Truth
  /** The column that it looks at, to be shown beside it. */
  readonly column?: string
}

export interface EvaluatedRule {
  readonly id: string
  readonly role: string
  readonly effect: "allow" | "deny"
  readonly words: string
  readonly truth: Truth
  /** For a deny that hides cells and not the row: which. */
  readonly hides?: string
  readonly conditions: ReadonlyArray<JudgedCondition>
}

export interface RowExplanation {
  readonly who: string
  readonly roles: ReadonlyArray<string>
  readonly type: string
  readonly entityId: string
  readonly externalId?: string
  readonly name: string
  readonly visible: boolean
  readonly because: string
  readonly rules: ReadonlyArray<EvaluatedRule>
  readonly columns: ReadonlyArray<{
    readonly column: string
    readonly value: unknown
    readonly visible: boolean
    readonly because: string
  }>
}

/** Conditions that are judged one by one; rules beyond them as a whole. */
const MAX_CONDITIONS = 200

export const explainRow = (
  judge: RowEvaluator,
  store: OrgEntityStore["Service"],
  subject: ReviewSubject,
  policy: Policy,
  type: EntityType,
  id: string,
  lens: Visibility,
  now: number
): Effect.Effect<RowExplanation, OperatorError | Unavailable> =>
  Effect.gen(function* () {
    const { principal, state } = subject
    const { catalog } = state
    const sight = plannedAccess(policy, catalog, principal, type, now)
    const rules = rulesForReading(policy, principal.roles, type).filter((rule) => isInForce(rule, now))
    const binding = bindingOf(subject)
    const asking = describedPrincipal(subject, lens)
    const names = visibleCatalog(lens, catalog)
    let left = MAX_CONDITIONS
    const trees = rules.map((rule) => {
      const found = flatten(rule.where, true, 0)
      left -= found.length
      return left < 0 || found.length < 2 ? found.slice(0, 1) : found
    })
    const bothWays = (predicate: Predicate) => [
      { of: bindPredicate(predicate, type, binding, true, true) },
      { of: bindPredicate(predicate, type, binding, false, true) }
    ]
    const entity = parseId(id, type.mapping?.id.type)
    const open = lens.open(type)
    const where = { of: open?.rows ?? NEVER }
    const columns = type.columns.filter(({ key }) => open?.cell(key)._tag !== "Never")
    const judgements = [
      { of: sight.rows },
      { of: open?.cell(DISPLAY_NAME) ?? NEVER },
      ...columns.map(({ key }) => ({ of: sight.cell(key) })),
      ...rules.flatMap((rule) => bothWays(rule.where)),
      ...trees.flat().flatMap(({ predicate }) => bothWays(predicate))
    ]
    const byExternalId = lens.isOperator
      ? yield* judge.rows(type, catalog, judgements, { externalIds: [id], limit: 1 })
      : []
    const [row] =
      byExternalId.length > 0 || entity === undefined
        ? byExternalId
        : yield* judge.rows(type, catalog, judgements, { ids: [entity], where, limit: 1 })
    if (row === undefined) {
      return yield* new OperatorError({
        message: `No row of ${type.slug} has the id ${quoted(id)}, neither as it was imported nor as max find shows it. To everybody it looks like one that is hidden.`
      })
    }
    const truthAt = (index: number): Truth => (row.truths[index] ? "yes" : row.truths[index + 1] ? "no" : "unknown")
    const firstRule = 2 + columns.length
    let at = firstRule + 2 * rules.length
    const judged = rules.map((rule, index): EvaluatedRule => {
      const conditions = trees[index]!.map(({ depth, joins, predicate }): JudgedCondition => {
        const truth = truthAt(at)
        at += 2
        const column = joins === undefined ? columnOf(predicate, type) : undefined
        return {
          depth,
          truth,
          words: joins ?? (describeCondition(predicate, type, catalog, asking) || "every row"),
          ...(column === undefined ? {} : { column: column.slug })
        }
      })
      return {
        id: rule.id,
        role: rule.role,
        effect: rule.effect,
        words: describeRule(rule, names, asking),
        truth: truthAt(firstRule + 2 * index),
        ...(rule.effect === "deny" && rule.columns !== "*"
          ? { hides: describeColumns(rule, typeByKey(names, type.key) ?? type) }
          : {}),
        conditions
      }
    })
    const visible = row.truths[0] === true
    const values = yield* valuesOf(store, subject, type, lens, row.id)
    return {
      who: subject.name,
      roles: principal.roles,
      type: type.slug,
      entityId: row.id,
      ...(row.externalId === undefined || !lens.isOperator ? {} : { externalId: printable(row.externalId) }),
      name: row.truths[1] ? row.name : "",
      visible,
      because: whyRow(visible, sight.plan, judged, rules),
      rules: judged,
      columns: columns.map((column, index) => ({
        column: column.slug,
        value: values[column.slug],
        visible: row.truths[index + 2] === true,
        because: whyCell(column, row.truths[index + 2] === true, visible, judged, rules, subject, asking)
      }))
    }
  })

/** A predicate as lines: what joins several conditions, and those a step deeper; negation goes to the leaves. */
const flatten = (
  predicate: Predicate,
  positive: boolean,
  depth: number
): ReadonlyArray<{ readonly depth: number; readonly predicate: Predicate; readonly joins?: string }> => {
  const self: Predicate = positive ? predicate : { _tag: "Not", of: predicate }
  if (predicate._tag === "Not") return flatten(predicate.of, !positive, depth)
  if ((predicate._tag === "All" || predicate._tag === "Any") && predicate.of.length > 1) {
    const joins = (predicate._tag === "All") === positive ? "all of these have to hold" : "one of these has to hold"
    return [{ depth, predicate: self, joins }, ...predicate.of.flatMap((part) => flatten(part, positive, depth + 1))]
  }
  return [{ depth, predicate: self }]
}

const columnOf = (predicate: Predicate, type: EntityType): Column | undefined => {
  switch (predicate._tag) {
    case "Not":
      return columnOf(predicate.of, type)
    case "Compare":
    case "In":
    case "IsNull":
      return columnByKey(type, predicate.column)
    case "Related":
      return columnByKey(type, predicate.relation)
    default:
      return undefined
  }
}

/** The row's cells, as far as they are open to whoever asks. */
const valuesOf = Effect.fnUntraced(function* (
  store: OrgEntityStore["Service"],
  { state: { catalog } }: ReviewSubject,
  type: EntityType,
  lens: Visibility,
  id: string
) {
  const { cell, rows } = lens.open(type)!
  const found = yield* store.find(
    {
      type,
      plan: rows,
      filters: [
        Bound.Compare({
          column: ID_COLUMN.key,
          side: "value",
          op: "eq",
          value: parseId(id, type.mapping?.id.type) ?? ""
        })
      ],
      limit: 1,
      name: cell(DISPLAY_NAME),
      status: cell(STATUS),
      select: type.columns.flatMap((column) => {
        const mask = cell(column.key)
        const target = targetOf(catalog, column)
        if (target === undefined) return column.storage._tag === "Value" ? [{ column, mask }] : []
        const open = lens.open(target)
        return open === undefined
          ? []
          : [{ column, mask, target: { type: target, where: open.rows, name: open.cell(DISPLAY_NAME) } }]
      }),
      hops: "subplan",
      pool: "search",
      label: `explain ${type.slug}`
    },
    catalog
  )
  return found._tag === "Page" ? (found.page.entities[0]?.columns ?? {}) : yield* Unavailable.error
})

const ids = (rules: ReadonlyArray<{ readonly id: string }>, last: "and" | "or" = "and") =>
  listed(
    rules.map(({ id }) => id),
    last
  )

const whyRow = (
  visible: boolean,
  plan: { readonly _tag: "Granted" } | { readonly _tag: "Denied"; readonly reason: keyof typeof DENIAL_REASONS },
  judged: ReadonlyArray<EvaluatedRule>,
  rules: ReadonlyArray<Rule>
): string => {
  if (plan._tag === "Denied") return DENIAL_REASONS[plan.reason]
  const allowing = judged.filter(({ effect, truth }) => effect === "allow" && truth === "yes")
  const barring = judged.filter(
    ({ effect, truth }, index) => effect === "deny" && truth !== "no" && rules[index]!.columns === "*"
  )
  if (visible) return `${ids(allowing)} ${allowing.length === 1 ? "allows" : "allow"} it`
  const [bar] = barring
  if (bar !== undefined)
    return bar.truth === "yes"
      ? `${bar.id} hides the whole row`
      : `${bar.id} hides the whole row: whether its condition holds can't be told, and what can't be told denies`
  const unsure = judged.filter(({ effect, truth }) => effect === "allow" && truth === "unknown")
  return `none of the rules that allow holds for it${unsure.length === 0 ? "" : ` (of ${ids(unsure)} it can't be told, because something is empty or missing)`}`
}

const whyCell = (
  column: Column,
  shown: boolean,
  rowVisible: boolean,
  judged: ReadonlyArray<EvaluatedRule>,
  rules: ReadonlyArray<Rule>,
  subject: ReviewSubject,
  asking: DescribedPrincipal
): string => {
  if (!rowVisible) return "the row is hidden"
  const about = judged.filter((_, index) => {
    const { columns } = rules[index]!
    return columns === "*" || columns.includes(column.key)
  })
  const allowing = about.filter(({ effect, truth }) => effect === "allow" && truth === "yes")
  if (shown) return ids(allowing)
  const denying = about.filter(({ effect, truth }) => effect === "deny" && truth !== "no")
  const [first] = denying
  if (first !== undefined) {
    const { where } = rules.find(({ id }) => id === first.id)!
    const type = subject.state.catalog.types.find(({ columns }) => columns.includes(column))!
    const words = describeCondition(where, type, subject.state.catalog, asking)
    return `${first.id} hides it${words === "" ? "" : first.truth === "yes" ? `: ${words}` : `: it can't be told whether ${words}`}`
  }
  if (isOutOfScope(subject, column.key)) return "the tool scope doesn't have it"
  if (allowing.length > 0) return `nothing of what it leads to may be seen`
  const others = about.filter(({ effect }) => effect === "allow")
  return others.length === 0
    ? `no rule of ${listed(subject.principal.roles, "or")} shows it`
    : `only ${ids(others, "or")} would show it, and ${others.length === 1 ? "that doesn't" : "they don't"} hold here`
}
