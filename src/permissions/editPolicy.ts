/**
 * Minimal edits that grant or revoke a role's access to types and columns. An allow's "*" is expanded first when the
 * type has gained columns since publication; re-publishing it unexpanded would expose them.
 */
import { type Catalog, columnByKey, columnBySlug, type EntityType, typeBySlug } from "../domain/EntityType.ts"
import { quoted } from "../domain/text.ts"
import type { PolicyDocument, RuleDocument } from "./policyDocument.ts"
import type { Action, Policy, Problem } from "./Policy.ts"
import { PolicyProblems } from "./PolicyProblems.ts"

export interface PolicyEdit {
  readonly role: string
  /** `TYPE` or `TYPE.COLUMN`, each with an optional `:ACTION` (default: read). */
  readonly what: ReadonlyArray<string>
  /** Restricts the grant to matching rows; written as in a rule. */
  readonly where?: unknown
}

export type EditResult = { readonly document: PolicyDocument } | { readonly problems: ReadonlyArray<Problem> }

type EditedAction = Exclude<Action, "invoke">
const EDITED_ACTIONS: ReadonlyArray<EditedAction> = ["read", "create", "update", "delete"]

interface Target {
  readonly type: EntityType
  readonly action: EditedAction
  /** Column slugs; undefined for the whole type. */
  readonly columns: ReadonlyArray<string> | undefined
}

export const grantAccess = (stored: PolicyDocument, policy: Policy, catalog: Catalog, edit: PolicyEdit): EditResult => {
  const document = withExpandedStars(stored, policy, catalog)
  const parsed = parseTargets(document, catalog, edit)
  if ("problems" in parsed) return parsed
  const rules = parsed.targets.reduce<ReadonlyArray<RuleDocument>>(
    (rules, target) => withGrant(rules, edit, target),
    document.rules
  )
  return { document: { ...document, rules } }
}

const withGrant = (
  rules: ReadonlyArray<RuleDocument>,
  { role, where }: PolicyEdit,
  { action, columns, type }: Target
): ReadonlyArray<RuleDocument> => {
  const own = rules.filter((rule) => isAllow(rule, role, action, type) && isPlain(rule))
  const added = (among: ReadonlyArray<RuleDocument>) => [
    ...rules,
    {
      id: freeId(`${role}-${action === "read" ? "" : `${action}-`}${type.slug}`, among),
      effect: "allow" as const,
      role,
      action,
      type: type.slug,
      columns: columns ?? ("*" as const),
      ...(where === undefined ? {} : { where })
    }
  ]
  if (where !== undefined) return added(rules)
  const whole = own.find((rule) => rule.where === undefined)
  const changed = whole !== undefined ? [whole] : columns === undefined ? [] : own
  if (changed.length === 0) return added(rules)
  return rules.map((rule) => (changed.includes(rule) ? { ...rule, columns: union(rule.columns, columns, type) } : rule))
}

export const revokeAccess = (
  stored: PolicyDocument,
  policy: Policy,
  catalog: Catalog,
  edit: PolicyEdit
): EditResult => {
  const document = withExpandedStars(stored, policy, catalog)
  const parsed = parseTargets(document, catalog, edit)
  if ("problems" in parsed) return parsed
  const problems: Array<Problem> = []
  let rules = document.rules
  for (const { action, columns, type } of parsed.targets) {
    const shows = (rule: RuleDocument) =>
      columns === undefined || rule.columns === "*" || columns.some((column) => rule.columns.includes(column))
    const own = rules.filter((rule) => isAllow(rule, edit.role, action, type) && shows(rule))
    if (own.length === 0) problems.push(nothingToRevoke(rules, policy, edit.role, action, type, shows))
    rules = rules.flatMap((rule) => {
      if (!own.includes(rule)) return [rule]
      const left = without(rule.columns, columns, type)
      return left.length === 0 ? [] : [{ ...rule, columns: left }]
    })
  }
  return problems.length > 0 ? { problems } : { document: { ...document, rules } }
}

const nothingToRevoke = (
  rules: ReadonlyArray<RuleDocument>,
  policy: Policy,
  role: string,
  action: EditedAction,
  type: EntityType,
  shows: (rule: RuleDocument) => boolean
): Problem => {
  const parents = (policy.roles[role] ?? []).filter((parent) => parent !== role)
  const inherited = rules.find((rule) => parents.some((parent) => isAllow(rule, parent, action, type)) && shows(rule))
  return inherited === undefined
    ? { path: type.slug, message: `No rule of ${role} grants this access, so there is nothing to revoke.` }
    : {
        path: type.slug,
        message: `${role} inherits this access from ${inherited.role} (rule ${inherited.id}).`,
        fix: `max policy revoke ${inherited.role} …, or a rule with "effect": "deny", "role": "${role}"`
      }
}

const isAllow = (rule: RuleDocument, role: string, action: EditedAction, type: EntityType): boolean =>
  rule.effect === "allow" && rule.action === action && rule.role === role && rule.type === type.slug

const isPlain = (rule: RuleDocument): boolean => rule.notBefore === undefined && rule.notAfter === undefined

export const union = (
  columns: "*" | ReadonlyArray<string>,
  more: ReadonlyArray<string> | undefined,
  type: EntityType
) =>
  more === undefined || columns === "*"
    ? ("*" as const)
    : type.columns.map(({ slug }) => slug).filter((slug) => columns.includes(slug) || more.includes(slug))

export const without = (
  columns: "*" | ReadonlyArray<string>,
  less: ReadonlyArray<string> | undefined,
  type: EntityType
) =>
  less === undefined
    ? []
    : (columns === "*" ? type.columns.map(({ slug }) => slug) : columns).filter((slug) => !less.includes(slug))

export const freeId = (wanted: string, rules: ReadonlyArray<RuleDocument>): string => {
  const taken = new Set(rules.map(({ id }) => id))
  for (let number = 1; ; number++) {
    const id = number === 1 ? wanted : `${wanted}-${number}`
    if (!taken.has(id)) return id
  }
}

/** Replaces each allow's "*" by the columns it was published with, where the type has gained columns since. */
export const withExpandedStars = (document: PolicyDocument, policy: Policy, catalog: Catalog): PolicyDocument => ({
  ...document,
  rules: document.rules.map((rule) => {
    const type = typeBySlug(catalog, rule.type)
    const stored = policy.rules.find(({ id }) => id === rule.id)
    if (rule.effect !== "allow" || rule.columns !== "*" || type === undefined || stored === undefined) return rule
    const { columns } = stored
    if (columns === "*" || type.columns.every(({ key }) => columns.includes(key))) return rule
    return { ...rule, columns: columns.flatMap((key) => columnByKey(type, key)?.slug ?? []) }
  })
})

const parseTargets = (
  document: PolicyDocument,
  catalog: Catalog,
  { role, what }: PolicyEdit
): { readonly targets: ReadonlyArray<Target> } | { readonly problems: ReadonlyArray<Problem> } => {
  const problems = new PolicyProblems()
  const roles = Object.keys(document.roles)
  if (!roles.includes(role)) problems.unknownName("role", "role", role, roles)
  const targets = new Map<
    string,
    { readonly type: EntityType; readonly action: EditedAction; columns?: Array<string> }
  >()
  for (const text of what) {
    const path = quoted(text).slice(1, -1)
    const [, slug = "", columnSlug, actionName = "read"] = /^([^.:]*)(?:\.([^:]*))?(?::(.*))?$/s.exec(text) ?? []
    const type = typeBySlug(catalog, slug)
    const action = EDITED_ACTIONS.find((known) => known === actionName)
    if (type === undefined) {
      problems.unknownName(
        path,
        "type",
        slug,
        catalog.types.map((type) => type.slug)
      )
      continue
    }
    if (action === undefined) {
      problems.unknownName(path, "action", actionName, EDITED_ACTIONS)
      continue
    }
    if (columnSlug !== undefined && action === "delete") {
      problems.report(path, "A row is deleted as a whole.", `${type.slug}:delete`)
      continue
    }
    if (columnSlug !== undefined && columnBySlug(type, columnSlug) === undefined) {
      problems.unknownName(
        path,
        `column of ${type.slug}`,
        columnSlug,
        type.columns.map((column) => column.slug)
      )
      continue
    }
    const key = `${type.slug}:${action}`
    const target = targets.get(key)
    if (columnSlug === undefined) targets.set(key, { type, action })
    else if (target === undefined) targets.set(key, { type, action, columns: [columnSlug] })
    else target.columns?.push(columnSlug)
  }
  return problems.count > 0
    ? { problems: problems.list }
    : { targets: [...targets.values()].map(({ action, columns, type }) => ({ type, action, columns })) }
}
