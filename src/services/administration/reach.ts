/** The reach of roles: how much of a type they show, by column, derived from their rules without reading rows. */
import type { EntityType } from "../../domain/EntityType.ts"
import type { Policy, Rule } from "../../permissions/Policy.ts"
import type { Extent, Role } from "../../wire/admin/policy.ts"
import { isInForce, rulesFor } from "../../permissions/PermissionEngine.ts"

export type Reach = Role["reach"][number]

export const reachOf = (policy: Policy, roles: ReadonlyArray<string>, type: EntityType, now: number): Reach => {
  const rules = rulesFor(policy, roles, type, "read").filter((rule) => isInForce(rule, now))
  const allows = rules.filter(({ effect }) => effect === "allow")
  const hidden = rules.filter(({ columns, effect }) => effect === "deny" && columns === "*")
  const rows = extent(allows, hidden)
  return {
    type: type.slug,
    typeName: type.pluralName,
    rows,
    columns: type.columns.map(({ key, name, slug }) => {
      const about = (rule: Rule) => rule.columns === "*" || rule.columns.includes(key)
      const shown = extent(
        allows.filter(about),
        rules.filter((rule) => rule.effect === "deny" && about(rule))
      )
      return { column: slug, name, extent: shown }
    })
  }
}

/** Whether roles show every row and column of a type, so that nothing about its rows can be a secret. */
export const seesWhole = (policy: Policy, roles: ReadonlyArray<string>, type: EntityType): boolean => {
  const { columns, rows } = reachOf(policy, roles, type, Date.now())
  return rows === "all" && columns.every(({ extent }) => extent === "all")
}

/** Allow rules minus deny rules; every condition counts as "some", because rules alone can't tell more. */
const extent = (allows: ReadonlyArray<Rule>, denies: ReadonlyArray<Rule>): Extent => {
  const always = ({ where }: Rule) => where._tag === "Always"
  const possible = allows.filter(({ where }) => where._tag !== "Never")
  if (possible.length === 0 || denies.some(always)) return "none"
  return possible.some(always) && denies.every(({ where }) => where._tag === "Never") ? "all" : "some"
}
