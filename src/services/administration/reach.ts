/** What a role reaches of a type, column by column: told from its rules alone, without looking at a row. */
import type { EntityType } from "../../domain/EntityType.ts"
import type { Policy, Rule } from "../../permissions/Policy.ts"
import { isInForce, rulesForReading } from "../policies/explainType.ts"

/** Whether a column's cells are seen on every row, on some that conditions name, or on none. */
type Extent = "all" | "some" | "none"

export interface Reach {
  readonly type: string
  readonly typeName: string
  readonly rows: Extent
  readonly columns: ReadonlyArray<{ readonly column: string; readonly name: string; readonly extent: Extent }>
}

export const reachOf = (policy: Policy, role: string, type: EntityType, now: number): Reach => {
  const rules = rulesForReading(policy, [role], type).filter((rule) => isInForce(rule, now))
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

/** Rules that allow, less those that deny; a condition holds on some rows as far as a rule can tell. */
const extent = (allows: ReadonlyArray<Rule>, denies: ReadonlyArray<Rule>): Extent => {
  const always = ({ where }: Rule) => where._tag === "Always"
  const possible = allows.filter(({ where }) => where._tag !== "Never")
  if (possible.length === 0 || denies.some(always)) return "none"
  return possible.some(always) && denies.every(({ where }) => where._tag === "Never") ? "all" : "some"
}
