/**
 * Lints a publishable policy: rules that can't match, rules shadowed by others, duplicates, unassigned roles and
 * conditions that don't mean what they seem to. Sound but incomplete: every warning is certain.
 */
import { type Catalog, columnByKey, type EntityType, targetOf, typeByKey } from "../domain/EntityType.ts"
import type { Predicate } from "../domain/Predicate.ts"
import { contradiction } from "./contradiction.ts"
import { POLICY } from "./limits.ts"
import { afterOf, makeChangeWarnings } from "./lintChanges.ts"
import type { Policy, Problem, Rule } from "./Policy.ts"
import { describeColumns, formatInstant } from "./describe.ts"

/** The roles and attribute names that active members have. */
export interface Assignments {
  readonly roles: ReadonlySet<string>
  readonly attributes: ReadonlySet<string>
}

/** The lint warnings of a policy at a time, in the order of its rules. Without assignments, checks of members are skipped. */
export const lintPolicy = (
  policy: Policy,
  catalog: Catalog,
  now: number,
  assignments?: Assignments
): ReadonlyArray<Problem> => {
  const duplicates = new Map<string, number>()
  const shadowed = makeShadowed(policy)
  const changeWarnings = makeChangeWarnings(policy, catalog)
  const assignedRoles = assignments && new Set([...assignments.roles].flatMap((role) => policy.roles[role] ?? []))
  const ruleWarnings = policy.rules.flatMap((rule, index): ReadonlyArray<Problem> => {
    const path = `rules[${index}] (${rule.id})`
    const type = typeByKey(catalog, rule.type)
    if (type === undefined) return []
    const meaning = JSON.stringify({ ...rule, id: "", columns: rule.columns === "*" ? "*" : [...rule.columns].sort() })
    const first = duplicates.get(meaning)
    if (first !== undefined) {
      return [{ path, message: `This rule duplicates rules[${first}] (${policy.rules[first]!.id}). Remove it.` }]
    }
    duplicates.set(meaning, index)
    const warning =
      timeWarning(rule, now, path) ??
      unsatisfiable(rule, type, catalog, path) ??
      shadowed(rule, index, type, path) ??
      missingAttribute(rule, assignedRoles, assignments, path)
    return [
      ...(warning === undefined ? [] : [warning]),
      ...negationInsideMany(rule, type, catalog, path),
      ...changeWarnings(rule, type, path)
    ]
  })
  return [...ruleWarnings, ...unassignedRoles(policy, assignedRoles)]
}

/** One warning for each role that has rules and no member, directly or by inheritance. */
const unassignedRoles = (policy: Policy, assignedRoles: ReadonlySet<string> | undefined): ReadonlyArray<Problem> =>
  assignedRoles === undefined
    ? []
    : Object.keys(policy.roles).flatMap((role) => {
        const rules = policy.rules.filter((rule) => rule.role === role).length
        if (assignedRoles.has(role) || rules === 0) return []
        const message = `No member has the role ${role} yet, so its ${rules === 1 ? "rule has" : `${rules} rules have`} no effect.`
        return [{ path: `roles.${role}`, message, fix: `max member add EMAIL --role ${role}` }]
      })

const timeWarning = (rule: Rule, now: number, path: string): Problem | undefined => {
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
        message: `This rule ended on ${formatInstant(notAfter)}. Remove it, or extend it.`
      }
}

const unsatisfiable = (rule: Rule, type: EntityType, catalog: Catalog, path: string): Problem | undefined => {
  const why = contradiction(rule.where, true, type, catalog)
  const never = rule.becomes && contradiction(rule.becomes, true, type, catalog)
  if (why === undefined && never !== undefined)
    return { path: `${path}.becomes`, message: `No row can match this condition: ${never}.`, fix: `"becomes": {}` }
  return why === undefined
    ? undefined
    : {
        path: `${path}.where`,
        message: `No row can match this condition: ${why}.${rule.effect === "deny" ? " An unknown result still denies." : ""}`,
        fix: `"any": [ … ] if one of the conditions is enough`
      }
}

/** Rules of one type and action, and the roles that an allow among them reaches. */
interface Group {
  readonly rules: Array<readonly [index: number, rule: Rule]>
  readonly allowed: Set<string>
}

const makeShadowed = (policy: Policy) => {
  const covers = makeCovers()
  const closures = new Map(Object.entries(policy.roles).map(([role, all]) => [role, new Set(all)]))
  /** By role: the roles that inherit it, itself included. */
  const holders = new Map<string, Array<string>>()
  for (const [holder, all] of closures)
    for (const role of all) holders.set(role, (holders.get(role)?.push(holder), holders.get(role)) ?? [holder])
  const groups = new Map<string, Group>()
  const groupOf = (rule: Rule): Group => {
    const key = JSON.stringify([rule.type, rule.action, rule.name])
    const group = groups.get(key) ?? { rules: [], allowed: new Set() }
    groups.set(key, group)
    return group
  }
  const allowing = new Set<string>()
  for (const [index, rule] of policy.rules.entries()) {
    const group = groupOf(rule)
    group.rules.push([index, rule])
    const key = JSON.stringify([rule.type, rule.action, rule.name, rule.role])
    if (rule.effect !== "allow" || allowing.has(key)) continue
    allowing.add(key)
    for (const holder of holders.get(rule.role) ?? []) group.allowed.add(holder)
  }
  return (rule: Rule, index: number, type: EntityType, path: string): Problem | undefined => {
    const { allowed, rules } = groupOf(rule)
    const inherited = closures.get(rule.role)
    const find = (effect: Rule["effect"], matches: (other: Rule, at: number) => boolean): Rule | undefined =>
      rules.find(
        ([at, other]) =>
          at !== index && other.effect === effect && inherited?.has(other.role) === true && matches(other, at)
      )?.[1]
    if (rule.effect === "deny") {
      const broader = find("deny", (other) => covers(other, rule))
      if (broader !== undefined) return shadow(path, rule, broader, type, "already denies all of this")
      return (holders.get(rule.role) ?? []).some((role) => allowed.has(role))
        ? undefined
        : {
            path,
            message: `Nothing allows ${rule.role} to ${rule.action} ${type.slug}, so this rule has nothing to deny. Remove it, or make it an allow.`
          }
    }
    const barrier = find("deny", (other) => other.where._tag === "Always" && covers(other, rule, true))
    if (barrier !== undefined) return shadow(path, rule, barrier, type, "denies everything that this rule allows")
    const broader = find("allow", (other, at) => covers(other, rule) && !(at > index && covers(rule, other)))
    return broader === undefined ? undefined : shadow(path, rule, broader, type, "already allows all of this")
  }
}

const shadow = (path: string, rule: Rule, by: Rule, type: EntityType, how: string): Problem => ({
  path,
  message: `No effect: the rule ${by.id} of ${by.role} ${how} (${describeColumns(rule, type)} of ${type.slug}). Remove it.`
})

/** Compares rules in a bounded number of steps for a whole policy, after which it finds nothing any more. */
const makeCovers = () => {
  let steps = POLICY.lintSteps
  const texts = new WeakMap<Predicate, string>()
  const textOf = (predicate: Predicate): string => {
    const text = texts.get(predicate) ?? JSON.stringify(predicate)
    texts.set(predicate, text)
    return text
  }

  /** Whether `a` implies `b` syntactically. The number of ways to take both apart is exponential in their depth. */
  const implies = (a: Predicate, b: Predicate): boolean =>
    steps-- > 0 &&
    (b._tag === "Always" ||
      a._tag === "Never" ||
      textOf(a) === textOf(b) ||
      (a._tag === "Any" && a.of.length > 0 && a.of.every((part) => implies(part, b))) ||
      (b._tag === "All" && b.of.every((part) => implies(a, part))) ||
      (a._tag === "All" && a.of.some((part) => implies(part, b))) ||
      (b._tag === "Any" && b.of.some((part) => implies(a, part))))

  const columns = new WeakMap<Rule, ReadonlySet<string>>()
  const columnsOf = (rule: Rule): ReadonlySet<string> => {
    const set = columns.get(rule) ?? new Set(rule.columns)
    columns.set(rule, set)
    return set
  }
  const includesColumns = (wide: Rule, narrow: Rule): boolean => {
    if (wide.columns === "*") return true
    if (narrow.columns === "*" || columnsOf(wide).size < columnsOf(narrow).size) return false
    const all = columnsOf(wide)
    return narrow.columns.every((column) => steps-- > 0 && all.has(column))
  }

  /** Whether one rule subsumes another in columns, rows and time. */
  return (wide: Rule, narrow: Rule, anyRow = false): boolean =>
    steps-- > 0 &&
    includesColumns(wide, narrow) &&
    (wide.notBefore ?? -Infinity) <= (narrow.notBefore ?? -Infinity) &&
    (wide.notAfter ?? Infinity) >= (narrow.notAfter ?? Infinity) &&
    (anyRow || (implies(narrow.where, wide.where) && implies(afterOf(narrow), afterOf(wide))))
}

const missingAttribute = (
  rule: Rule,
  assignedRoles: ReadonlySet<string> | undefined,
  assignments: Assignments | undefined,
  path: string
): Problem | undefined => {
  if (assignments === undefined || assignedRoles?.has(rule.role) !== true) return undefined
  const missing = [rule.where, ...(rule.becomes === undefined ? [] : [rule.becomes])]
    .flatMap(attributesOf)
    .find((name) => !assignments.attributes.has(name))
  return missing === undefined
    ? undefined
    : {
        path: `${path}.where`,
        message: `No member has the attribute ${missing}, and a missing attribute denies.`,
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

/** Warns of `attendees: { not: … }` (at least one isn't), which is easily confused with `not: { attendees: … }` (none is). */
const negationInsideMany = (rule: Rule, type: EntityType, catalog: Catalog, path: string): ReadonlyArray<Problem> => {
  const visit = (predicate: Predicate, of: EntityType, side = "where"): ReadonlyArray<Problem> => {
    switch (predicate._tag) {
      case "Not":
        return visit(predicate.of, of, side)
      case "All":
      case "Any":
        return predicate.of.flatMap((part) => visit(part, of, side))
      case "Related": {
        const column = columnByKey(of, predicate.relation)
        const target = column && targetOf(catalog, column)
        if (column === undefined || target === undefined) return []
        if (column.storage._tag !== "Many" || predicate.where._tag !== "Not")
          return visit(predicate.where, target, side)
        return [
          {
            path: `${path}.${side}.${column.slug}`,
            message: `This condition is true if at least one of ${column.slug} doesn't match. To require that none matches, move "not" outside.`,
            fix: `"not": { "${column.slug}": { … } }`
          }
        ]
      }
      default:
        return []
    }
  }
  return [...visit(rule.where, type), ...(rule.becomes === undefined ? [] : visit(rule.becomes, type, "becomes"))]
}
