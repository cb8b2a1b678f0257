/** An organization with cases whose derived columns are declared. */
import { Effect } from "effect"
import type { Organization } from "../../src/domain/EntityType.ts"
import { DerivedColumns } from "../../src/services/catalog/DerivedColumns.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { makeOrganization } from "./atlas.ts"
import { importFile } from "./imports.ts"

const CASES = [
  "id,name,created,closed,opened on,price,quantity",
  "1,Alpha,2026-03-02T09:00:00Z,2026-03-03T11:30:00Z,2026-03-01,12.50,4",
  "2,Beta,2026-03-02T09:00:00Z,2026-03-02T08:00:00Z,2026-03-02,0.10,3",
  "3,Gamma,2026-03-02T09:00:00Z,,2026-03-02,7,",
  "4,Delta,2026-03-07T12:00:00-05:00,2026-03-09T12:00:00-04:00,2026-03-07,3,2"
]

export const derive = (organization: Organization, name: string, form: string) =>
  Effect.flatMap(DerivedColumns, (columns) => columns.declare(organization, name, form))

export interface Rule {
  readonly effect?: "deny"
  readonly role?: string
  readonly type?: string
  readonly columns?: "*" | ReadonlyArray<string>
  readonly where?: object
}

export const policy = (rules: ReadonlyArray<Rule>) =>
  JSON.stringify({
    version: 1,
    roles: { admin: { inherits: [] }, clerk: { inherits: [] } },
    rules: rules.map((rule, index) => ({
      id: `r${index}`,
      effect: "allow",
      role: "admin",
      action: "read",
      type: "cases",
      columns: "*",
      ...rule
    }))
  })

export const publish = (organization: Organization, ...rules: ReadonlyArray<Rule>) =>
  Effect.flatMap(Policies, (policies) => policies.publish(organization, policy(rules), "test"))

/** An organization with cases and their derived columns, which the role admin sees. */
export const withCases = Effect.fnUntraced(function* (slug: string) {
  const organization = yield* makeOrganization(slug)
  yield* importFile(organization, CASES, { type: "cases", create: true })
  yield* publish(organization, {})
  yield* derive(organization, "cases.handle_time", "hours between created and closed")
  yield* derive(organization, "cases.waiting", "days between opened_on and created")
  yield* derive(organization, "cases.total", "price times quantity")
  return organization
})
