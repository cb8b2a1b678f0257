/** What changes between two policies, in words: roles and rules by name, and columns of a "*" that came later. */
import { type Catalog, columnByKey, typeByKey } from "../domain/EntityType.ts"
import { administers, type Policy, type Rule } from "./Policy.ts"
import { listed, describeRule } from "./describe.ts"

/** One change, marked as lines of a diff are. */
export interface PolicyChange {
  readonly mark: "+" | "-" | "~"
  readonly what: string
}

export const diffPolicies = (from: Policy, to: Policy, catalog: Catalog): ReadonlyArray<PolicyChange> => {
  const sentence = (rule: Rule) => `${rule.id}: ${rule.role} ${describeRule(rule, catalog)}`
  const before = new Map(from.rules.map((rule) => [rule.id, rule]))
  const after = new Map(to.rules.map((rule) => [rule.id, rule]))
  const changes = [
    ...roles(from, to),
    ...from.rules.filter(({ id }) => !after.has(id)).map((rule): PolicyChange => ({ mark: "-", what: sentence(rule) })),
    ...to.rules.flatMap((rule): ReadonlyArray<PolicyChange> => {
      const old = before.get(rule.id)
      if (old === undefined) return [{ mark: "+", what: sentence(rule) }]
      if (JSON.stringify(normal(old)) === JSON.stringify(normal(rule))) return []
      if (same({ ...old, columns: [] }, { ...rule, columns: [] }) && old.columns !== "*" && rule.columns !== "*")
        return [
          { mark: "~", what: `${rule.id}: ${rule.role} ${columnChange(old.columns, rule.columns, rule, catalog)}` }
        ]
      const [was, is] = [sentence(old), sentence(rule)]
      return was === is
        ? [{ mark: "~", what: is }]
        : [
            { mark: "-", what: was },
            { mark: "+", what: is }
          ]
    })
  ]
  return changes
}

const same = (a: Rule, b: Rule): boolean => JSON.stringify(a) === JSON.stringify(b)

/** What a rule shows or hides besides, or no longer, when only its columns differ. */
const columnChange = (was: ReadonlyArray<string>, is: ReadonlyArray<string>, rule: Rule, catalog: Catalog): string => {
  const type = typeByKey(catalog, rule.type)
  const slugs = (keys: ReadonlyArray<string>) =>
    listed(keys.map((key) => (type && columnByKey(type, key)?.slug) ?? key))
  const [more, less] = [is.filter((key) => !was.includes(key)), was.filter((key) => !is.includes(key))]
  const verb = rule.action === "read" ? "see" : rule.action
  const may = rule.effect === "allow" ? ["may also", "may no longer"] : ["may also not", "is no longer denied to"]
  return (
    [
      ...(more.length === 0 ? [] : [`${may[0]} ${verb} ${slugs(more)}`]),
      ...(less.length === 0 ? [] : [`${may[1]} ${verb} ${slugs(less)}`])
    ].join(", and ") +
    ` of ${type?.slug ?? "a type that is gone"}${rule.where._tag === "Always" ? "" : " on the rows that it is about"}`
  )
}

const normal = (rule: Rule): Rule => ({ ...rule, columns: rule.columns === "*" ? "*" : [...rule.columns].sort() })

const roles = (from: Policy, to: Policy): ReadonlyArray<PolicyChange> => {
  const inherits = (policy: Policy, role: string) =>
    (policy.roles[role] ?? []).filter((parent) => parent !== role).sort()
  const said = (policy: Policy, role: string) => {
    const parents = inherits(policy, role)
    const also = parents.length === 0 ? "" : `, who also has what ${listed(parents)} has`
    return `role ${role}${also}${administers(policy, [role]) ? ", who may administer" : ""}`
  }
  return [
    ...Object.keys(from.roles)
      .filter((role) => !Object.hasOwn(to.roles, role))
      .map((role): PolicyChange => ({ mark: "-", what: said(from, role) })),
    ...Object.keys(to.roles).flatMap((role): ReadonlyArray<PolicyChange> => {
      if (!Object.hasOwn(from.roles, role)) return [{ mark: "+", what: said(to, role) }]
      if (said(from, role) === said(to, role)) return []
      return [
        { mark: "-", what: said(from, role) },
        { mark: "+", what: said(to, role) }
      ]
    })
  ]
}
