/** Explains a person's access to one row and its cells: every rule and condition evaluates to yes, no or unknown. */
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
import type { Policy } from "../../permissions/Policy.ts"
import { describeColumns, describeRule, describeCondition } from "../../permissions/describe.ts"
import { isInForce, rulesFor } from "../../permissions/PermissionEngine.ts"
import { printable, quoted } from "../../domain/text.ts"
import { parseId } from "../../domain/values.ts"
import type * as Wire from "../../wire/admin/policy.ts"
import type { OrgEntityStore } from "../OrgEntityStore.ts"
import { describedPrincipal, bindingOf } from "./explainType.ts"
import { type RowEvaluator, plannedAccess } from "./rowEvaluator.ts"
import { onVisibleTargets, type Visibility, visibleCatalog } from "./visibility.ts"
import type { ReviewSubject } from "./reviewSubject.ts"
import { type EvaluatedRule, whyCell, whyRow } from "./rowReasons.ts"

type Columns = Wire.RowExplanation["columns"]

/** The explanation of a row with its cells' values, which a channel renders; only operators get an external id. */
export interface RowExplanation extends Omit<Wire.RowExplanation, "columns"> {
  readonly externalId?: string
  readonly columns: ReadonlyArray<Omit<Columns[number], "value"> & { readonly value: unknown }>
}

/** The most conditions that are evaluated individually; further rules are evaluated as a whole. */
const MAX_CONDITIONS = 200

export const explainRow = (
  evaluator: RowEvaluator,
  store: OrgEntityStore["Service"],
  subject: ReviewSubject,
  policy: Policy,
  type: EntityType,
  id: string,
  visibility: Visibility,
  now: number
): Effect.Effect<RowExplanation, OperatorError | Unavailable> =>
  Effect.gen(function* () {
    const { principal, state } = subject
    const { catalog } = state
    const access = plannedAccess(policy, catalog, principal, type, now)
    const rules = rulesFor(policy, principal.roles, type, "read").filter((rule) => isInForce(rule, now))
    const binding = bindingOf(subject)
    const person = describedPrincipal(subject, visibility)
    const names = visibleCatalog(visibility, catalog)
    let remaining = MAX_CONDITIONS
    const trees = rules.map((rule) => {
      const conditions = flatten(rule.where, true, 0)
      remaining -= conditions.length
      return remaining < 0 || conditions.length < 2 ? conditions.slice(0, 1) : conditions
    })
    const seen = (bound: Bound) => onVisibleTargets(visibility, bound, type, catalog)
    const trueAndFalse = (predicate: Predicate) => [
      { of: seen(bindPredicate(predicate, type, binding, true, true)) },
      { of: seen(bindPredicate(predicate, type, binding, false, true)) }
    ]
    const entity = parseId(id, type.mapping?.id.type)
    const visiblePart = visibility.of(type)
    const where = { of: visiblePart?.rows ?? NEVER }
    const columns = type.columns.filter(({ key }) => visiblePart?.cell(key)._tag !== "Never")
    const judgements = [
      { of: seen(access.rows) },
      { of: visiblePart?.cell(DISPLAY_NAME) ?? NEVER },
      ...columns.map(({ key }) => ({ of: seen(access.cell(key)) })),
      ...rules.flatMap((rule) => trueAndFalse(rule.where)),
      ...trees.flat().flatMap(({ predicate }) => trueAndFalse(predicate))
    ]
    const byExternalId = visibility.isOperator
      ? yield* evaluator.rows(type, catalog, judgements, { externalIds: [id], limit: 1 })
      : []
    const [row] =
      byExternalId.length > 0 || entity === undefined
        ? byExternalId
        : yield* evaluator.rows(type, catalog, judgements, { ids: [entity], where, limit: 1 })
    if (row === undefined) {
      return yield* OperatorError.of(
        `No row of ${type.slug} has the external or entity id ${quoted(id)}. Callers can't tell a missing row from a hidden one.`
      )
    }
    const truthAt = (index: number): Wire.Truth =>
      row.truths[index] ? "yes" : row.truths[index + 1] ? "no" : "unknown"
    const firstRule = 2 + columns.length
    let next = firstRule + 2 * rules.length
    const evaluated = rules.map((rule, index): EvaluatedRule => {
      const conditions = trees[index]!.map(({ connective, depth, predicate }) => {
        const truth = truthAt(next)
        next += 2
        const column = connective === undefined ? columnOf(predicate, type) : undefined
        return {
          depth,
          truth,
          words: connective ?? (describeCondition(predicate, type, catalog, person) || "every row"),
          ...(column === undefined ? {} : { column: column.slug })
        }
      })
      return {
        id: rule.id,
        role: rule.role,
        effect: rule.effect,
        words: describeRule(rule, names, person, visibility.isOperator),
        truth: truthAt(firstRule + 2 * index),
        ...(rule.effect === "deny" && rule.columns !== "*"
          ? { hides: describeColumns(rule, typeByKey(names, type.key) ?? type, visibility.isOperator) }
          : {}),
        conditions
      }
    })
    const visible = row.truths[0] === true
    const values = yield* valuesOf(store, subject, type, visibility, row.id)
    return {
      who: subject.name,
      roles: principal.roles,
      type: type.slug,
      entityId: row.id,
      ...(row.externalId === undefined || !visibility.isOperator ? {} : { externalId: printable(row.externalId) }),
      name: row.truths[1] ? row.name : "",
      visible,
      because: whyRow(visible, access.plan, evaluated, rules, visibility),
      rules: evaluated,
      columns: columns.map((column, index) => ({
        column: column.slug,
        value: values[column.slug],
        visible: row.truths[index + 2] === true,
        because: whyCell(column, row.truths[index + 2] === true, visible, evaluated, rules, subject, person)
      }))
    }
  })

/** Flattens a predicate into lines with depths, with negation pushed to the leaves. */
const flatten = (
  predicate: Predicate,
  positive: boolean,
  depth: number
): ReadonlyArray<{ readonly depth: number; readonly predicate: Predicate; readonly connective?: string }> => {
  const self: Predicate = positive ? predicate : { _tag: "Not", of: predicate }
  if (predicate._tag === "Not") return flatten(predicate.of, !positive, depth)
  if ((predicate._tag === "All" || predicate._tag === "Any") && predicate.of.length > 1) {
    const connective =
      (predicate._tag === "All") === positive ? "all of these must hold" : "at least one of these must hold"
    return [
      { depth, predicate: self, connective },
      ...predicate.of.flatMap((part) => flatten(part, positive, depth + 1))
    ]
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

/** The row's cells that are visible to the asker. */
const valuesOf = Effect.fnUntraced(function* (
  store: OrgEntityStore["Service"],
  { state: { catalog } }: ReviewSubject,
  type: EntityType,
  visibility: Visibility,
  id: string
) {
  const { cell, rows } = visibility.of(type)!
  const result = yield* store.find(
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
        const targetPart = visibility.of(target)
        return targetPart === undefined
          ? []
          : [{ column, mask, target: { type: target, where: targetPart.rows, name: targetPart.cell(DISPLAY_NAME) } }]
      }),
      hops: "subplan",
      pool: "search",
      label: `explain ${type.slug}`
    },
    catalog
  )
  return result._tag === "Page" ? (result.page.entities[0]?.columns ?? {}) : yield* Unavailable.error
})
