/**
 * Warnings about rules of changes: columns that the role can't see, conditions on what the role can't see, and columns whose
 * value decides what the role may do. Sound but incomplete, like `lintPolicy`.
 */
import {
  type Catalog,
  type Column,
  type EntityType,
  ID_COLUMN,
  resolveColumn,
  targetOf,
  typeByKey
} from "../domain/EntityType.ts"
import type { Predicate } from "../domain/Predicate.ts"
import { listed } from "./describe.ts"
import { POLICY } from "./limits.ts"
import type { Policy, Problem, Rule } from "./Policy.ts"

/** The condition on the row afterwards. */
export const afterOf = (rule: Rule): Predicate => rule.becomes ?? rule.where

/** What a role's rules show and look at, by `nameOf` a column. */
interface RoleFacts {
  readonly shown: ReadonlySet<string>
  /** The rules whose conditions look at the column, of those that decide something. */
  readonly lookedAt: ReadonlyMap<string, ReadonlyArray<Rule>>
}

const nameOf = (type: EntityType, column: string): string => `${type.key}\u0000${column}`

/** The warnings of one rule, with facts that are collected once per role. */
export const makeChangeWarnings = (policy: Policy, catalog: Catalog) => {
  let steps = POLICY.lintSteps
  const byRole = new Map<string, Array<Rule>>()
  for (const rule of policy.rules) {
    const others = byRole.get(rule.role)
    if (others === undefined) byRole.set(rule.role, [rule])
    else others.push(rule)
  }
  const facts = new Map<string, RoleFacts>()
  const factsOf = (role: string): RoleFacts | undefined => {
    const known = facts.get(role)
    if (known !== undefined) return known
    const shown = new Set<string>()
    const lookedAt = new Map<string, Array<Rule>>()
    const rules = (policy.roles[role] ?? []).flatMap((held) => byRole.get(held) ?? [])
    const open = rules.filter(isUnconditional)
    for (const rule of rules) {
      const type = typeByKey(catalog, rule.type)
      if (type === undefined) continue
      if (rule.action === "read" && rule.effect === "allow") {
        const columns = rule.columns === "*" ? type.columns.map(({ key }) => key) : rule.columns
        steps -= columns.length
        for (const column of columns) shown.add(nameOf(type, column))
      }
      steps -= open.length * rule.columns.length
      if (steps <= 0) return undefined
      if (rule.effect === "allow" && open.some((wide) => wide !== rule && includes(wide, rule))) continue
      for (const { column, of } of lookedAtBy(rule, type, catalog)) {
        steps -= 1
        const name = nameOf(of, column.key)
        const others = lookedAt.get(name)
        if (others === undefined) lookedAt.set(name, [rule])
        else others.push(rule)
      }
      if (steps <= 0) return undefined
    }
    facts.set(role, { shown, lookedAt })
    return facts.get(role)
  }

  return (rule: Rule, type: EntityType, path: string): ReadonlyArray<Problem> => {
    if (rule.action === "read" || rule.action === "invoke") return []
    const role = factsOf(rule.role)
    if (role === undefined) return []
    return [
      ...unseen(rule, type, role, path),
      ...looksAtUnseen(rule, type, catalog, role, path),
      ...raises(rule, type, catalog, role, path)
    ]
  }
}

/** An allow of every row at any time; it makes the conditions of narrower ones irrelevant. */
const isUnconditional = (rule: Rule): boolean =>
  rule.effect === "allow" &&
  rule.where._tag === "Always" &&
  afterOf(rule)._tag === "Always" &&
  rule.notBefore === undefined &&
  rule.notAfter === undefined

const includes = (wide: Rule, narrow: Rule): boolean =>
  wide.type === narrow.type &&
  wide.action === narrow.action &&
  wide.name === narrow.name &&
  (wide.columns === "*" || (narrow.columns !== "*" && narrow.columns.every((column) => wide.columns.includes(column))))

/** Only what is seen can be changed. */
const unseen = (rule: Rule, type: EntityType, { shown }: RoleFacts, path: string): ReadonlyArray<Problem> => {
  if (rule.effect === "deny" || rule.action === "create") return []
  const { columns } = rule
  const hidden = type.columns.filter(
    ({ key }) => (columns === "*" || columns.includes(key)) && !shown.has(nameOf(type, key))
  )
  if (hidden.length === 0) return []
  const slugs = listed(
    hidden.map(({ slug }) => slug),
    "or"
  )
  const message =
    rule.action === "delete"
      ? `No effect: ${rule.role} can't see ${slugs} of ${type.slug}, and only a row that is seen whole can be deleted.`
      : `No effect on ${slugs} of ${type.slug}: ${rule.role} can't see it, and only what is seen can be changed.`
  return [{ path, message, fix: `max policy grant ${rule.role} ${type.slug}.${hidden[0]!.slug}` }]
}

/** A refusal that depends on a hidden value tells something about it. */
const looksAtUnseen = (
  rule: Rule,
  type: EntityType,
  catalog: Catalog,
  { shown }: RoleFacts,
  path: string
): ReadonlyArray<Problem> => {
  const hidden = lookedAtBy(rule, type, catalog).find(({ column, of }) => !shown.has(nameOf(of, column.key)))
  if (hidden === undefined) return []
  const what = `${hidden.column.slug} of ${hidden.of.slug}`
  return [
    {
      path,
      message: `This rule looks at ${what}, which ${rule.role} can't see: each change that it allows or refuses tells something about it.`
    }
  ]
}

/** A column whose value decides what the role may do, and which the role may set to any value. */
const raises = (
  rule: Rule,
  type: EntityType,
  catalog: Catalog,
  { lookedAt }: RoleFacts,
  path: string
): ReadonlyArray<Problem> => {
  if (rule.effect === "deny" || rule.action !== "update") return []
  const { columns } = rule
  const bound = new Set(
    columnsIn(afterOf(rule), type, catalog).flatMap(({ column, of }) => (of === type ? [column.key] : []))
  )
  const lookerOf = (key: string) =>
    lookedAt
      .get(nameOf(type, key))
      ?.find((looker) => looker.effect === "deny" || looker.type !== rule.type || !entails(afterOf(rule), looker.where))
  const free = type.columns.find(
    ({ key }) => (columns === "*" || columns.includes(key)) && !bound.has(key) && lookerOf(key) !== undefined
  )
  if (free === undefined) return []
  return [
    {
      path,
      message: `${rule.role} may set ${free.slug} of ${type.slug} to any value, and the rule ${lookerOf(free.key)!.id} looks at it: with the value changes what ${rule.role} may do.`,
      fix: `"becomes": { "${free.slug}": … }`
    }
  ]
}

/** Whether a condition holds on every row on which another one holds, by its alternatives. */
const entails = (condition: Predicate, other: Predicate): boolean => {
  const [text, wanted] = [JSON.stringify(condition), JSON.stringify(other)]
  return (
    text === wanted ||
    (other._tag === "Any" && other.of.some((part) => entails(condition, part))) ||
    (condition._tag === "All" && condition.of.some((part) => entails(part, other)))
  )
}

interface Looked {
  readonly of: EntityType
  readonly column: Column
}

const lookedAtBy = (rule: Rule, type: EntityType, catalog: Catalog): ReadonlyArray<Looked> => [
  ...columnsIn(rule.where, type, catalog),
  ...(rule.becomes === undefined ? [] : columnsIn(rule.becomes, type, catalog))
]

/** The columns that a condition looks at, ids excepted. */
const columnsIn = (predicate: Predicate, type: EntityType, catalog: Catalog): ReadonlyArray<Looked> => {
  const leaf = (key: string): ReadonlyArray<Looked> => {
    const column = resolveColumn(type, key)
    return column === undefined || key === ID_COLUMN.key ? [] : [{ of: type, column }]
  }
  switch (predicate._tag) {
    case "Compare":
    case "In":
    case "IsNull":
      return leaf(predicate.column)
    case "Not":
      return columnsIn(predicate.of, type, catalog)
    case "All":
    case "Any":
      return predicate.of.flatMap((part) => columnsIn(part, type, catalog))
    case "Related": {
      const column = resolveColumn(type, predicate.relation)
      const target = column && targetOf(catalog, column)
      return [...leaf(predicate.relation), ...(target === undefined ? [] : columnsIn(predicate.where, target, catalog))]
    }
    default:
      return []
  }
}
