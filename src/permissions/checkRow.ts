/**
 * The oracle: decides access to one row by evaluating the rules directly in Kleene logic, without partial evaluation,
 * negation normal form or SQL. It shares only value parsing with the planner, so tests compare plans against it.
 */
import {
  type Catalog,
  type Column,
  type EntityType,
  readableColumns,
  resolveColumn,
  targetOf
} from "../domain/EntityType.ts"
import type { CompareOp, Operand, Predicate } from "../domain/Predicate.ts"
import type { Principal } from "../domain/Principal.ts"
import { bindScalar, compareDecimals, microseconds } from "../domain/values.ts"
import type { Action, Policy, Rule } from "./Policy.ts"

/** TRUE, FALSE or unknown. */
export type Kleene = boolean | null

/** A row by column key, as policies compare it: search keys for phones and e-mail, decimal text for ids and numbers. */
export interface CheckedRow {
  readonly values: Readonly<Record<string, string | boolean | ReadonlyArray<string> | null>>
  /** The existing target rows of a relation. */
  readonly related: (relation: string) => ReadonlyArray<CheckedRow>
}

const and = (parts: ReadonlyArray<Kleene>): Kleene =>
  parts.includes(false) ? false : parts.includes(null) ? null : true
const or = (parts: ReadonlyArray<Kleene>): Kleene => (parts.includes(true) ? true : parts.includes(null) ? null : false)
const not = (value: Kleene): Kleene => (value === null ? null : !value)

export interface Verdict {
  readonly visible: boolean
  /** Keys of the columns whose cells are visible. */
  readonly cells: ReadonlySet<string>
  readonly allowedBy: ReadonlyArray<string>
  readonly deniedBy: ReadonlyArray<string>
}

/** Checks one row of the principal's organization; with an actor, both must be allowed. */
export const checkRow = (
  policy: Policy,
  catalog: Catalog,
  principal: Principal,
  type: EntityType,
  action: Action,
  row: CheckedRow,
  now: number
): Verdict => {
  const { actor, anchorEntityId, attributes, roles, scope } = principal
  const own = scoped(
    scope,
    type,
    action,
    checkParty(policy, catalog, { me: anchorEntityId, roles, attributes }, type, action, row, now)
  )
  if (actor === undefined) return own
  const other = checkParty(
    policy,
    catalog,
    { me: undefined, roles: actor.roles, attributes: actor.attributes },
    type,
    action,
    row,
    now
  )
  const visible = own.visible && other.visible
  return {
    visible,
    cells: new Set(visible ? [...own.cells].filter((cell) => other.cells.has(cell)) : []),
    allowedBy: [...own.allowedBy, ...other.allowedBy],
    deniedBy: [...own.deniedBy, ...other.deniedBy]
  }
}

/** The stored columns that a cell says something about: the column itself, or those that it is computed from. */
const sourcesOf = (type: EntityType, key: string): ReadonlyArray<string> =>
  type.derived?.find((column) => column.key === key)?.derived?.of ?? [key]

/** Narrows a verdict to a tool scope. */
const scoped = (scope: Principal["scope"], type: EntityType, action: Action, verdict: Verdict): Verdict => {
  const open = scope?.filter((grant) => grant.type === type.key && grant.action === action)
  if (open === undefined) return verdict
  const isOpen = (cell: string) => open.some(({ columns }) => columns === "*" || columns.includes(cell))
  const inScope = (cell: string) => sourcesOf(type, cell).every(isOpen)
  return {
    ...verdict,
    visible: verdict.visible && open.length > 0,
    cells: new Set([...verdict.cells].filter(inScope))
  }
}

/** The principal or its actor, which has no anchor. */
export interface Party {
  readonly me: string | undefined
  readonly roles: ReadonlyArray<string>
  readonly attributes: Principal["attributes"]
}

const checkParty = (
  policy: Policy,
  catalog: Catalog,
  party: Party,
  type: EntityType,
  action: Action,
  row: CheckedRow,
  now: number
): Verdict => {
  const rules = rulesOf(policy, party, type, action, now)
  const truth = new Map(rules.map((rule) => [rule.id, evaluate(rule.where, row, type, catalog, party)]))
  const allows = (rule: Rule) => rule.effect === "allow" && truth.get(rule.id) === true
  const denies = (rule: Rule) => rule.effect === "deny" && truth.get(rule.id) !== false
  const visible = rules.some(allows) && !rules.some((rule) => denies(rule) && rule.columns === "*")
  const covers = (rule: Rule, column: string) => rule.columns === "*" || rule.columns.includes(column)
  const isDenied = (column: string) => rules.some((rule) => denies(rule) && covers(rule, column))
  const cells = readableColumns(type)
    .map((column) => column.key)
    .filter(
      (column) =>
        visible &&
        !isDenied(column) &&
        sourcesOf(type, column).every(
          (source) => rules.some((rule) => allows(rule) && covers(rule, source)) && !isDenied(source)
        )
    )
  return {
    visible,
    cells: new Set(cells),
    allowedBy: rules.filter(allows).map((rule) => rule.id),
    deniedBy: rules.filter(denies).map((rule) => rule.id)
  }
}

/** The rules in force for a party. */
export const rulesOf = (
  policy: Policy,
  party: Party,
  type: EntityType,
  action: Action,
  now: number
): ReadonlyArray<Rule> => {
  const effectiveRoles = party.roles.flatMap((role) => (Object.hasOwn(policy.roles, role) ? policy.roles[role]! : []))
  return policy.rules.filter(
    (rule) =>
      rule.type === type.key &&
      rule.action === action &&
      effectiveRoles.includes(rule.role) &&
      !(rule.notBefore !== undefined && now < rule.notBefore) &&
      !(rule.notAfter !== undefined && now >= rule.notAfter)
  )
}

export const evaluate = (
  predicate: Predicate,
  row: CheckedRow,
  type: EntityType,
  catalog: Catalog,
  party: Party
): Kleene => {
  switch (predicate._tag) {
    case "Always":
      return true
    case "Never":
      return false
    case "Not":
      return not(evaluate(predicate.of, row, type, catalog, party))
    case "All":
      return and(predicate.of.map((part) => evaluate(part, row, type, catalog, party)))
    case "Any":
      return or(predicate.of.map((part) => evaluate(part, row, type, catalog, party)))
    case "IsNull": {
      const column = resolveColumn(type, predicate.column)
      return column === undefined ? null : (row.values[`${column.key}:null`] ?? row.values[column.key] ?? null) === null
    }
    case "Compare":
      return compare(predicate.column, predicate.op, predicate.operand, row, type, catalog, party)
    case "In":
      return or(
        predicate.operands.map((operand) => compare(predicate.column, "eq", operand, row, type, catalog, party))
      )
    case "Related": {
      const column = resolveColumn(type, predicate.relation)
      const target = column && targetOf(catalog, column)
      if (column === undefined || target === undefined) return null
      const verdicts = row.related(column.key).map((other) => evaluate(predicate.where, other, target, catalog, party))
      return column.storage._tag === "One" ? (verdicts[0] ?? null) : or(verdicts)
    }
  }
}

const compare = (
  key: string,
  op: CompareOp,
  operand: Operand,
  row: CheckedRow,
  type: EntityType,
  catalog: Catalog,
  party: Party
): Kleene => {
  const column = resolveColumn(type, key)
  const left = column && row.values[column.key]
  const right = column && operandOf(operand, column, catalog, party)
  if (column === undefined || left === undefined || left === null || right === undefined) return null
  if (Array.isArray(left)) return left.includes(right as string) === (op === "eq")
  const order = orderOf(column, left as string | boolean, right, catalog.organization.timeZone)
  switch (op) {
    case "eq":
      return order === 0
    case "ne":
      return order !== 0
    case "lt":
      return order < 0
    case "lte":
      return order <= 0
    case "gt":
      return order > 0
    case "gte":
      return order >= 0
  }
}

const orderOf = (column: Column, left: string | boolean, right: string | boolean, timeZone: string): number => {
  switch (column.kind) {
    case "integer":
    case "number":
      return compareDecimals(String(left), String(right))
    case "timestamp":
      return microseconds(String(left), timeZone) - microseconds(String(right), timeZone)
    default:
      return left === right ? 0 : left < right ? -1 : 1
  }
}

const operandOf = (operand: Operand, column: Column, catalog: Catalog, party: Party): string | boolean | undefined => {
  switch (operand._tag) {
    case "Literal":
      return bindScalar(column, operand.value, catalog.organization)
    case "Me":
      return column.kind === "reference" && party.me !== undefined
        ? bindScalar(column, party.me, catalog.organization)
        : undefined
    case "Attribute": {
      const value = Object.hasOwn(party.attributes, operand.name) ? party.attributes[operand.name] : undefined
      return value === undefined || value === "" ? undefined : bindScalar(column, value, catalog.organization)
    }
  }
}
