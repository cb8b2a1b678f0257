/**
 * What is odd about a policy that can be published: rules that can't match, rules that others make pointless, rules
 * twice, rules that nobody has, and conditions that don't say what they seem to. Everything found is certain; not
 * everything that is odd is found.
 */
import {
  type Catalog,
  type Column,
  columnByKey,
  type EntityType,
  resolveColumn,
  targetOf,
  typeByKey
} from "../domain/EntityType.ts"
import type { Operand, Predicate } from "../domain/Predicate.ts"
import { bindScalar, compareDecimals } from "../domain/values.ts"
import type { Policy, Problem, Rule } from "./Policy.ts"
import { describeColumns, formatInstant, listed } from "./describe.ts"

/** What is known of the members, for what only they can tell. */
export interface Assignments {
  readonly roles: ReadonlySet<string>
  readonly attributes: ReadonlySet<string>
}

/** The findings of a policy at a time, in the order of its rules, which are those of its file. */
export const lintPolicy = (
  policy: Policy,
  catalog: Catalog,
  now: number,
  held?: Assignments
): ReadonlyArray<Problem> => {
  const duplicates = new Map<string, number>()
  const heldRoles = held && new Set([...held.roles].flatMap((role) => policy.roles[role] ?? []))
  const ofRules = policy.rules.flatMap((rule, index): ReadonlyArray<Problem> => {
    const path = `rules[${index}] (${rule.id})`
    const type = typeByKey(catalog, rule.type)
    if (type === undefined) return []
    const meaning = JSON.stringify({ ...rule, id: "", columns: rule.columns === "*" ? "*" : [...rule.columns].sort() })
    const first = duplicates.get(meaning)
    if (first !== undefined) {
      return [
        {
          path,
          message: `This says the same as rules[${first}] (${policy.rules[first]!.id}).`,
          fix: "nothing: take it out"
        }
      ]
    }
    duplicates.set(meaning, index)
    const found =
      timeFinding(rule, now, path) ??
      impossible(rule, type, catalog, path) ??
      pointless(rule, index, policy, type, path) ??
      missingAttribute(rule, heldRoles, held, path)
    return [...(found === undefined ? [] : [found]), ...someButNotAll(rule, type, catalog, path)]
  })
  return [...ofRules, ...neverHeld(policy, heldRoles)]
}

/** Roles whose rules nobody has: one finding for each, however many rules it has. */
const neverHeld = (policy: Policy, heldRoles: ReadonlySet<string> | undefined): ReadonlyArray<Problem> =>
  heldRoles === undefined
    ? []
    : Object.keys(policy.roles).flatMap((role) => {
        const rules = policy.rules.filter((rule) => rule.role === role).length
        if (heldRoles.has(role) || rules === 0) return []
        const message = `No member has the role ${role} yet, so its ${rules === 1 ? "rule does" : `${rules} rules do`} nothing for anybody.`
        return [{ path: `roles.${role}`, message, fix: `max member add EMAIL --role ${role}` }]
      })

const timeFinding = (rule: Rule, now: number, path: string): Problem | undefined => {
  const { notAfter, notBefore } = rule
  if (notAfter === undefined) return undefined
  if (notBefore !== undefined && notBefore >= notAfter) {
    return {
      path: `${path}.notAfter`,
      message: "This rule ends before it begins, so it is never in force.",
      fix: `"notBefore": "${new Date(notAfter).toISOString()}", "notAfter": "${new Date(notBefore).toISOString()}"`
    }
  }
  return notAfter > now
    ? undefined
    : {
        path: `${path}.notAfter`,
        message: `This rule ended on ${formatInstant(notAfter)}.`,
        fix: "a later time, or take the rule out"
      }
}

const impossible = (rule: Rule, type: EntityType, catalog: Catalog, path: string): Problem | undefined => {
  const why = contradiction(rule.where, true, type, catalog)
  return why === undefined
    ? undefined
    : {
        path: `${path}.where`,
        message: `No row can match this: ${why}.${rule.effect === "deny" ? " What can't be told still denies." : ""}`,
        fix: `"any": [ … ] where one of several is enough`
      }
}

/** Why no row can satisfy a predicate, when that is certain. */
const contradiction = (
  predicate: Predicate,
  positive: boolean,
  type: EntityType,
  catalog: Catalog
): string | undefined => {
  switch (predicate._tag) {
    case "Always":
      return positive ? undefined : "it is the opposite of always"
    case "Never":
      return positive ? "it says never" : undefined
    case "Not":
      return contradiction(predicate.of, !positive, type, catalog)
    case "In":
      return positive && predicate.operands.length === 0 ? "the list is empty" : undefined
    case "Related": {
      const column = resolveColumn(type, predicate.relation)
      const target = column && targetOf(catalog, column)
      if (column === undefined || target === undefined || (column.storage._tag === "Many" && !positive))
        return undefined
      return contradiction(predicate.where, positive, target, catalog)
    }
    case "All":
    case "Any": {
      if ((predicate._tag === "All") === positive) {
        for (const part of predicate.of) {
          const why = contradiction(part, positive, type, catalog)
          if (why !== undefined) return why
        }
        return positive ? clash(predicate.of, type, catalog) : undefined
      }
      if (predicate.of.length === 0) return "the list is empty"
      const reasons = predicate.of.map((part) => contradiction(part, positive, type, catalog))
      return reasons.every((why) => why !== undefined) ? reasons[0] : undefined
    }
    default:
      return undefined
  }
}

/** Two conditions on one column that can't both be true. */
const clash = (parts: ReadonlyArray<Predicate>, type: EntityType, catalog: Catalog): string | undefined => {
  const flat = (predicate: Predicate): ReadonlyArray<Predicate> =>
    predicate._tag === "All" ? predicate.of.flatMap(flat) : [predicate]
  const leaves = parts.flatMap(flat)
  for (const column of type.columns) {
    if (column.kind === "list" || column.storage._tag === "Many") continue
    const values: Array<ReadonlyArray<string>> = []
    let [lower, upper]: Array<string | undefined> = []
    let [empty, present] = [false, false]
    for (const leaf of leaves) {
      if (leaf._tag === "IsNull" && leaf.column === column.key) empty = true
      if (leaf._tag === "Not" && leaf.of._tag === "IsNull" && leaf.of.column === column.key) present = true
      if (leaf._tag === "Related" && leaf.relation === column.key) present = true
      if (leaf._tag === "In" && leaf.column === column.key) {
        present = true
        const literals = leaf.operands.map((operand) => literalOf(operand, column, catalog))
        if (literals.every((literal) => literal !== undefined)) values.push(literals)
      }
      if (leaf._tag !== "Compare" || leaf.column !== column.key) continue
      present = true
      const literal = literalOf(leaf.operand, column, catalog)
      if (literal === undefined) continue
      if (leaf.op === "eq") values.push([literal])
      else if (column.kind === "integer" || column.kind === "number" || column.kind === "date") {
        const order = (a: string, b: string) =>
          column.kind === "date" ? (a < b ? -1 : a > b ? 1 : 0) : compareDecimals(a, b)
        if ((leaf.op === "gt" || leaf.op === "gte") && (lower === undefined || order(literal, lower) > 0))
          lower = literal
        if ((leaf.op === "lt" || leaf.op === "lte") && (upper === undefined || order(literal, upper) < 0))
          upper = literal
        if (lower !== undefined && upper !== undefined && order(lower, upper) > 0)
          return `${column.slug} can't be above ${lower} and under ${upper} at once`
      }
    }
    if (empty && present) return `${column.slug} can't be empty and have a value at once`
    const [first, ...others] = values
    if (first !== undefined && !first.some((value) => others.every((list) => list.includes(value))))
      return `${column.slug} can't be ${listed(values.map((list) => list.join(" or ")))} at once`
  }
  return undefined
}

const literalOf = (operand: Operand, column: Column, catalog: Catalog): string | undefined => {
  if (operand._tag !== "Literal") return undefined
  const bound = bindScalar(column, operand.value, catalog.organization)
  return bound === undefined ? undefined : String(bound)
}

const pointless = (rule: Rule, index: number, policy: Policy, type: EntityType, path: string): Problem | undefined => {
  const concerned = policy.rules.filter(
    (other, at) => at !== index && other.type === rule.type && other.action === rule.action
  )
  const has = (role: string, other: Rule) => policy.roles[role]?.includes(other.role) === true
  const holders = Object.keys(policy.roles).filter((role) => has(role, rule))
  if (rule.effect === "deny") {
    const broader = concerned.find((other) => other.effect === "deny" && has(rule.role, other) && covers(other, rule))
    if (broader !== undefined) return shadow(path, rule, broader, type, "denies all of this already")
    return holders.some((role) => concerned.some((other) => other.effect === "allow" && has(role, other)))
      ? undefined
      : {
          path,
          message: `Nothing allows ${rule.role} to ${rule.action} ${type.slug}, so this has nothing to deny.`,
          fix: `"effect": "allow", if that was meant; else take it out`
        }
  }
  const barrier = concerned.find(
    (other) =>
      other.effect === "deny" && other.where._tag === "Always" && has(rule.role, other) && covers(other, rule, true)
  )
  if (barrier !== undefined) return shadow(path, rule, barrier, type, "denies all of what this allows")
  const broader = concerned.find(
    (other) =>
      other.effect === "allow" &&
      has(rule.role, other) &&
      covers(other, rule) &&
      !(covers(rule, other) && policy.rules.indexOf(other) > index)
  )
  return broader === undefined ? undefined : shadow(path, rule, broader, type, "allows all of this already")
}

const shadow = (path: string, rule: Rule, by: Rule, type: EntityType, how: string): Problem => ({
  path,
  message: `Without effect: ${by.id}, which ${by.role} has, ${how} (${describeColumns(rule, type)} of ${type.slug}).`,
  fix: "nothing: take it out"
})

/** Whether one rule says all that the other says: wider in columns, rows and time. */
const covers = (wide: Rule, narrow: Rule, anyRow = false): boolean =>
  (wide.columns === "*" ||
    (narrow.columns !== "*" && narrow.columns.every((column) => wide.columns.includes(column)))) &&
  (wide.notBefore ?? -Infinity) <= (narrow.notBefore ?? -Infinity) &&
  (wide.notAfter ?? Infinity) >= (narrow.notAfter ?? Infinity) &&
  (anyRow || implies(narrow.where, wide.where))

/** Whether every row that satisfies `a` satisfies `b`, as far as their form shows it. */
const implies = (a: Predicate, b: Predicate): boolean =>
  b._tag === "Always" ||
  a._tag === "Never" ||
  JSON.stringify(a) === JSON.stringify(b) ||
  (a._tag === "Any" && a.of.length > 0 && a.of.every((part) => implies(part, b))) ||
  (b._tag === "All" && b.of.every((part) => implies(a, part))) ||
  (a._tag === "All" && a.of.some((part) => implies(part, b))) ||
  (b._tag === "Any" && b.of.some((part) => implies(a, part)))

const missingAttribute = (
  rule: Rule,
  heldRoles: ReadonlySet<string> | undefined,
  held: Assignments | undefined,
  path: string
): Problem | undefined => {
  if (held === undefined || heldRoles?.has(rule.role) !== true) return undefined
  const missing = attributesOf(rule.where).find((name) => !held.attributes.has(name))
  return missing === undefined
    ? undefined
    : {
        path: `${path}.where`,
        message: `No member has the attribute ${missing}, and what is missing denies.`,
        fix: `max member add EMAIL --role ${rule.role} --attr ${missing}=…`
      }
}

const attributesOf = (predicate: Predicate): ReadonlyArray<string> => {
  switch (predicate._tag) {
    case "Compare":
      return predicate.operand._tag === "Attribute" ? [predicate.operand.name] : []
    case "In":
      return predicate.operands.flatMap((operand) => (operand._tag === "Attribute" ? [operand.name] : []))
    case "Not":
      return attributesOf(predicate.of)
    case "Related":
      return attributesOf(predicate.where)
    case "All":
    case "Any":
      return predicate.of.flatMap(attributesOf)
    default:
      return []
  }
}

/** `attendees: { not: … }` means that somebody isn't, where `not: { attendees: … }` would mean that nobody is. */
const someButNotAll = (rule: Rule, type: EntityType, catalog: Catalog, path: string): ReadonlyArray<Problem> => {
  const visit = (predicate: Predicate, of: EntityType): ReadonlyArray<Problem> => {
    switch (predicate._tag) {
      case "Not":
        return visit(predicate.of, of)
      case "All":
      case "Any":
        return predicate.of.flatMap((part) => visit(part, of))
      case "Related": {
        const column = columnByKey(of, predicate.relation)
        const target = column && targetOf(catalog, column)
        if (column === undefined || target === undefined) return []
        if (column.storage._tag !== "Many" || predicate.where._tag !== "Not") return visit(predicate.where, target)
        return [
          {
            path: `${path}.where.${column.slug}`,
            message: `This is true as soon as one of ${column.slug} is not so, whatever the others are. If none of them may be so, the "not" goes outside.`,
            fix: `"not": { "${column.slug}": { … } }`
          }
        ]
      }
      default:
        return []
    }
  }
  return visit(rule.where, type)
}
