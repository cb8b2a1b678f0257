/** Describes the differences between two policies: roles, rules by id, and columns that a re-published "*" adds. */
import { type Catalog, slugOf, typeByKey } from "../domain/EntityType.ts"
import { administers, type Policy, powersOf, type Rule } from "./Policy.ts"
import { describeConfirm, describeRule, listed } from "./describe.ts"

/** One change, marked like a line of a diff. */
export interface PolicyChange {
  readonly mark: "+" | "-" | "~"
  readonly what: string
}

export const diffPolicies = (from: Policy, to: Policy, catalog: Catalog): ReadonlyArray<PolicyChange> => {
  const sentence = (rule: Rule) => `${rule.id}: ${rule.role} ${describeRule(rule, catalog)}`
  const before = new Map(from.rules.map((rule) => [rule.id, rule]))
  const after = new Map(to.rules.map((rule) => [rule.id, rule]))
  return [
    ...roleChanges(from, to),
    ...from.rules.filter(({ id }) => !after.has(id)).map((rule): PolicyChange => ({ mark: "-", what: sentence(rule) })),
    ...to.rules.flatMap((rule): ReadonlyArray<PolicyChange> => {
      const old = before.get(rule.id)
      if (old === undefined) return [{ mark: "+", what: sentence(rule) }]
      if (same(normalized(old), normalized(rule))) return []
      if (same({ ...old, columns: [] }, { ...rule, columns: [] }) && old.columns !== "*" && rule.columns !== "*")
        return [
          { mark: "~", what: `${rule.id}: ${rule.role} ${columnChange(old.columns, rule.columns, rule, catalog)}` }
        ]
      const [oldSentence, newSentence] = [sentence(old), sentence(rule)]
      return oldSentence === newSentence
        ? [{ mark: "~", what: newSentence }]
        : [
            { mark: "-", what: oldSentence },
            { mark: "+", what: newSentence }
          ]
    }),
    ...confirmChanges(from, to, catalog)
  ]
}

const confirmChanges = (from: Policy, to: Policy, catalog: Catalog): ReadonlyArray<PolicyChange> => {
  const [before, after] = [describeConfirm(from, catalog), describeConfirm(to, catalog)]
  return [
    ...before.filter((words) => !after.includes(words)).map((what): PolicyChange => ({ mark: "-", what })),
    ...after.filter((words) => !before.includes(words)).map((what): PolicyChange => ({ mark: "+", what }))
  ]
}

const same = (a: Rule, b: Rule): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Describes a change of only the columns of a rule. */
const columnChange = (
  before: ReadonlyArray<string>,
  after: ReadonlyArray<string>,
  rule: Rule,
  catalog: Catalog
): string => {
  const type = typeByKey(catalog, rule.type)
  const slugs = (keys: ReadonlyArray<string>) => listed(keys.map((key) => (type && slugOf(type, key)) ?? key))
  const added = after.filter((key) => !before.includes(key))
  const removed = before.filter((key) => !after.includes(key))
  const verb = { read: "see", create: "set", update: "update", delete: "delete", invoke: "use" }[rule.action]
  const may = rule.effect === "allow" ? ["may also", "may no longer"] : ["may also not", "is no longer denied to"]
  return (
    [
      ...(added.length === 0 ? [] : [`${may[0]} ${verb} ${slugs(added)}`]),
      ...(removed.length === 0 ? [] : [`${may[1]} ${verb} ${slugs(removed)}`])
    ].join(", and ") +
    ` of ${rule.action === "create" ? "new " : ""}${type?.slug ?? "a type that no longer exists"}${rule.where._tag === "Always" ? "" : " on the rows that the rule matches"}`
  )
}

const normalized = (rule: Rule): Rule => ({ ...rule, columns: rule.columns === "*" ? "*" : [...rule.columns].sort() })

const roleChanges = (from: Policy, to: Policy): ReadonlyArray<PolicyChange> => {
  const inherits = (policy: Policy, role: string) =>
    (policy.roles[role] ?? []).filter((parent) => parent !== role).sort()
  const describeRole = (policy: Policy, role: string) => {
    const parents = inherits(policy, role)
    const also = parents.length === 0 ? "" : `, who also has what ${listed(parents)} has`
    const powers = powersOf(policy, [role])
    const administering = administers(policy, [role])
      ? `, who may administer${powers.length === 0 ? "" : ` and change ${listed(powers)}`}`
      : ""
    return `role ${role}${also}${administering}`
  }
  return [
    ...Object.keys(from.roles)
      .filter((role) => !Object.hasOwn(to.roles, role))
      .map((role): PolicyChange => ({ mark: "-", what: describeRole(from, role) })),
    ...Object.keys(to.roles).flatMap((role): ReadonlyArray<PolicyChange> => {
      if (!Object.hasOwn(from.roles, role)) return [{ mark: "+", what: describeRole(to, role) }]
      if (describeRole(from, role) === describeRole(to, role)) return []
      return [
        { mark: "-", what: describeRole(from, role) },
        { mark: "+", what: describeRole(to, role) }
      ]
    })
  ]
}
