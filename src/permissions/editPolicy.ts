/**
 * The smallest change to a policy that shows a role something, or stops showing it. What a "*" in the file stands for
 * is written out on the way where columns have come since: publishing the file again would show them all.
 */
import { type Catalog, columnByKey, columnBySlug, type EntityType, typeBySlug } from "../domain/EntityType.ts"
import { closest, quoted } from "../domain/text.ts"
import type { PolicyDocument, RuleDocument } from "./policyDocument.ts"
import type { Policy, Problem } from "./Policy.ts"

export interface PolicyEdit {
  readonly role: string
  /** `TYPE` or `TYPE.COLUMN`. */
  readonly what: ReadonlyArray<string>
  /** Only on the rows that this describes, as in a rule. */
  readonly where?: unknown
}

export type EditResult = { readonly document: PolicyDocument } | { readonly problems: ReadonlyArray<Problem> }

interface Target {
  readonly type: EntityType
  /** Slugs; nothing for all of the type. */
  readonly columns: ReadonlyArray<string> | undefined
}

export const grantAccess = (stored: PolicyDocument, policy: Policy, catalog: Catalog, edit: PolicyEdit): EditResult => {
  const document = frozen(stored, policy, catalog)
  const found = targets(document, catalog, edit)
  if ("problems" in found) return found
  const rules = found.targets.reduce<ReadonlyArray<RuleDocument>>(
    (known, target) => granted(known, edit, target),
    document.rules
  )
  return { document: { ...document, rules } }
}

const granted = (
  rules: ReadonlyArray<RuleDocument>,
  { role, where }: PolicyEdit,
  { columns, type }: Target
): ReadonlyArray<RuleDocument> => {
  const own = rules.filter((rule) => isAllow(rule, role, type) && isPlain(rule))
  const added = (among: ReadonlyArray<RuleDocument>) => [
    ...rules,
    {
      id: freeId(`${role}-${type.slug}`, among),
      effect: "allow" as const,
      role,
      action: "read" as const,
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
  const document = frozen(stored, policy, catalog)
  const found = targets(document, catalog, edit)
  if ("problems" in found) return found
  const problems: Array<Problem> = []
  let rules = document.rules
  for (const { columns, type } of found.targets) {
    const shows = (rule: RuleDocument) =>
      columns === undefined || rule.columns === "*" || columns.some((column) => rule.columns.includes(column))
    const own = rules.filter((rule) => isAllow(rule, edit.role, type) && shows(rule))
    if (own.length === 0) problems.push(nothingToRevoke(rules, policy, edit.role, type, shows))
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
  type: EntityType,
  shows: (rule: RuleDocument) => boolean
): Problem => {
  const parents = (policy.roles[role] ?? []).filter((parent) => parent !== role)
  const inherited = rules.find((rule) => parents.some((parent) => isAllow(rule, parent, type)) && shows(rule))
  return inherited === undefined
    ? { path: type.slug, message: `No rule of ${role} shows this, so there is nothing to revokeAccess.` }
    : {
        path: type.slug,
        message: `${role} has this from ${inherited.role} (rule ${inherited.id}).`,
        fix: `max policy revokeAccess ${inherited.role} …, or a rule with "effect": "deny", "role": "${role}"`
      }
}

const isAllow = (rule: RuleDocument, role: string, type: EntityType): boolean =>
  rule.effect === "allow" && rule.action === "read" && rule.role === role && rule.type === type.slug

const isPlain = (rule: RuleDocument): boolean => rule.notBefore === undefined && rule.notAfter === undefined

const union = (known: "*" | ReadonlyArray<string>, more: ReadonlyArray<string> | undefined, type: EntityType) =>
  more === undefined || known === "*"
    ? ("*" as const)
    : type.columns.map(({ slug }) => slug).filter((slug) => known.includes(slug) || more.includes(slug))

const without = (known: "*" | ReadonlyArray<string>, less: ReadonlyArray<string> | undefined, type: EntityType) =>
  less === undefined
    ? []
    : (known === "*" ? type.columns.map(({ slug }) => slug) : known).filter((slug) => !less.includes(slug))

const freeId = (wanted: string, rules: ReadonlyArray<RuleDocument>): string => {
  const taken = new Set(rules.map(({ id }) => id))
  for (let number = 1; ; number++) {
    const id = number === 1 ? wanted : `${wanted}-${number}`
    if (!taken.has(id)) return id
  }
}

/** The document with every "*" of an allow that stands for fewer columns than there are today written out. */
const frozen = (document: PolicyDocument, policy: Policy, catalog: Catalog): PolicyDocument => ({
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

const targets = (
  document: PolicyDocument,
  catalog: Catalog,
  { role, what }: PolicyEdit
): { readonly targets: ReadonlyArray<Target> } | { readonly problems: ReadonlyArray<Problem> } => {
  const problems: Array<Problem> = []
  const unknown = (path: string, name: string, known: ReadonlyArray<string>) => {
    const near = closest(name, known)
    problems.push({
      path,
      message: `There is no ${quoted(name)}. Known: ${known.slice(0, 20).join(", ")}.`,
      ...(near === undefined ? {} : { fix: near })
    })
  }
  const roles = Object.keys(document.roles)
  if (!roles.includes(role)) unknown("role", role, roles)
  const found = new Map<EntityType, Array<string> | undefined>()
  for (const text of what) {
    const [slug = "", ...rest] = text.split(".")
    const type = typeBySlug(catalog, slug)
    if (type === undefined) {
      unknown(
        quoted(text).slice(1, -1),
        slug,
        catalog.types.map((known) => known.slug)
      )
      continue
    }
    const columnSlug = rest.length === 0 ? undefined : rest.join(".")
    if (columnSlug === undefined) {
      found.set(type, undefined)
      continue
    }
    if (columnBySlug(type, columnSlug) === undefined) {
      unknown(
        quoted(text).slice(1, -1),
        columnSlug,
        type.columns.map((known) => known.slug)
      )
      continue
    }
    if (!found.has(type)) found.set(type, [])
    found.get(type)?.push(columnSlug)
  }
  return problems.length > 0 ? { problems } : { targets: [...found].map(([type, columns]) => ({ type, columns })) }
}
