/** Policies, a catalog and principals for tests without a database. */
import { type Catalog, type Column, type EntityType, Storage, typeBySlug } from "../../src/domain/EntityType.ts"
import type { Principal } from "../../src/domain/Principal.ts"
import { plan } from "../../src/permissions/PermissionEngine.ts"
import type { Plan } from "../../src/permissions/permissionPlan.ts"
import { type Policy, problemText } from "../../src/permissions/Policy.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"

type Kind = Column["kind"]

const value = (slug: string, kind: Kind): Column => ({
  key: `${slug}-key`,
  slug,
  name: slug,
  kind,
  storage: Storage.Value({ column: slug, keyColumn: `${slug}_k`, indexed: true })
})
const one = (slug: string, target: string): Column => ({
  key: `${slug}-key`,
  slug,
  name: slug,
  kind: "reference",
  storage: Storage.One({ column: `${slug}_id`, target })
})
const named: ReadonlyArray<Column> = ["name", "status"].map((slug) => ({ ...value(slug, "text"), key: slug }))

/** Keys differ from slugs, except those of people, so that a test detects a mix-up. */
const type = (slug: string, columns: ReadonlyArray<Column>): EntityType => ({
  key: slug === "people" ? slug : `${slug}-type`,
  slug,
  name: slug,
  pluralName: slug,
  system: true,
  version: 1,
  relation: { schema: "data", table: slug },
  columns: [...named, ...columns]
})

export const people = type("people", [
  one("owner", "people"),
  one("company", "companies-type"),
  value("phone", "phone"),
  value("email", "email"),
  value("level", "integer"),
  value("secret", "boolean"),
  value("joined", "date"),
  value("tags", "list"),
  value("score", "number")
])
const companies = type("companies", [one("owner", "people")])
const meetings = type("meetings", [
  value("start", "timestamp"),
  {
    key: "attendees-key",
    slug: "attendees",
    name: "attendees",
    kind: "references",
    storage: Storage.Many({
      link: { schema: "data", table: "links" },
      from: "meeting_id",
      to: "person_id",
      target: "people"
    })
  }
])

export const catalog: Catalog = {
  organization: { id: 7n, slug: "atlas", name: "Atlas", country: "US", timeZone: "America/New_York" },
  epoch: 1n,
  types: [people, companies, meetings]
}

export interface RuleInput {
  readonly effect?: string
  readonly role?: string
  readonly action?: string
  readonly type?: string
  readonly columns?: unknown
  readonly where?: unknown
  readonly [key: string]: unknown
}

/** A policy file. The defaults of a rule are: allow, member, read, people, all columns. */
export const file = (rules: ReadonlyArray<RuleInput>, more: object = {}): string =>
  JSON.stringify({
    version: 1,
    roles: { member: { inherits: [] }, manager: { inherits: ["member"] }, agent: {} },
    rules: rules.map((rule, index) => ({
      id: `r${index}`,
      effect: "allow",
      role: "member",
      action: "read",
      type: "people",
      columns: "*",
      ...rule
    })),
    ...more
  })

export const policyOf = (rules: ReadonlyArray<RuleInput>, more: object = {}): Policy => {
  const reading = readPolicy(file(rules, more), catalog)
  if ("problems" in reading) throw new Error(reading.problems.map(problemText).join("\n"))
  return reading.policy
}

/** The problems of a policy file, one line each. */
export const problemsOf = (text: string, of: Catalog = catalog): ReadonlyArray<string> => {
  const reading = readPolicy(text, of)
  return "problems" in reading ? reading.problems.map(problemText) : []
}

export const lena: Principal = {
  organizationId: 7n,
  anchorEntityId: "bcd",
  roles: ["member"],
  attributes: {},
  epoch: 1n
}

export const NOW = Date.UTC(2026, 5, 1)

export const planOf = (
  rules: ReadonlyArray<RuleInput> | Policy,
  principal: Partial<Principal> = {},
  {
    as = "people",
    now = NOW,
    of = catalog
  }: { readonly as?: string; readonly now?: number; readonly of?: Catalog } = {}
): Plan =>
  plan("roles" in rules ? rules : policyOf(rules), of, { ...lena, ...principal }, typeBySlug(of, as)!, "read", now)

/** A plan without its rule ids. */
export const meaningOf = (made: Plan) =>
  made._tag === "Denied"
    ? made
    : { where: made.where, cells: Object.fromEntries(made.cells), limited: made.limited, expiresAt: made.expiresAt }

/** The granted plan; throws if the plan is denied. */
export const granted = (made: Plan) => {
  if (made._tag === "Denied") throw new Error(`Denied: ${made.reason}`)
  return made
}
