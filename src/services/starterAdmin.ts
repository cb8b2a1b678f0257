/**
 * The admin of the policy that every organization begins with sees what an import makes. That holds for as long as the
 * rule that says so is there as it was: all columns of the type, on every row. Whoever changed it decides alone.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { OPERATOR } from "../database/audit.ts"
import type { Column, EntityType } from "../domain/EntityType.ts"
import { Policy, type Rule } from "../permissions/Policy.ts"
import type { State } from "./OrganizationState.ts"
import { insertPolicy } from "./Policies.ts"
import starterPolicy from "./starter-policy.json" with { type: "json" }

const ADMIN = "admin"

/** Of a policy file, only what says whether a rule is the starter's. */
const RuleSchema = Schema.Struct({
  id: Schema.String,
  effect: Schema.Literal("allow"),
  role: Schema.Literal(ADMIN),
  action: Schema.Literal("read"),
  type: Schema.String,
  columns: Schema.Literal("*"),
  where: Schema.optionalKey(Schema.Never),
  notBefore: Schema.optionalKey(Schema.Never),
  notAfter: Schema.optionalKey(Schema.Never)
})
const isStarterRule = Schema.is(RuleSchema)

/** The policy with the new columns of a type for the admin, and for nobody else; undefined when the starter's rule isn't there. */
const withColumns = (policy: Policy, document: Document, type: EntityType, columns: ReadonlyArray<Column>) => {
  const rule = document.rules.find((one) => isStarterRule(one) && one.type === type.slug)
  if (rule === undefined) return undefined
  const keys = columns.map(({ key }) => key)
  return {
    document,
    policy: {
      ...policy,
      rules: policy.rules.map((one): Rule =>
        one.id === rule["id"] && one.columns !== "*" ? { ...one, columns: [...one.columns, ...keys] } : one
      )
    }
  }
}

/** The policy with a rule for a new type; undefined when the starter's rules for its own types aren't all there. */
const withType = (policy: Policy, document: Document, type: EntityType) => {
  const untouched = starterPolicy.rules
    .filter(({ role }) => role === ADMIN)
    .every((starter) => document.rules.some((one) => isStarterRule(one) && one.type === starter.type))
  if (!untouched) return undefined
  const taken = new Set(policy.rules.map(({ id }) => id))
  const name = `${ADMIN}-${type.slug}`
  const id = taken.has(name) ? `${name}-${type.key}` : name
  const rule = { id, effect: "allow", role: ADMIN, action: "read" } as const
  const columns = type.columns.map(({ key }) => key)
  return {
    document: { ...document, rules: [...document.rules, { ...rule, type: type.slug, columns: "*" }] },
    policy: {
      ...policy,
      rules: [...policy.rules, { ...rule, type: type.key, columns, where: { _tag: "Always" } } satisfies Rule]
    }
  }
}

interface Document {
  readonly rules: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** Shows a new type, or new columns of one, to the starter's admin, in the transaction that makes them. Says whether it did. */
export const showToAdmin = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  { catalog, policy }: State,
  type: EntityType,
  columns: ReadonlyArray<Column> | "all"
) {
  const [row] = yield* sql<{ document: string }>`
    SELECT p.document FROM max.organizations o JOIN max.policies p ON p.organization_id = o.organization_id
      AND p.version = o.policy_version WHERE o.organization_id = ${catalog.organization.id}`
  if (row === undefined) return false
  const document = JSON.parse(row.document) as Document
  const next = columns === "all" ? withType(policy, document, type) : withColumns(policy, document, type, columns)
  if (next === undefined) return false
  // A file that says the same is kept as its author wrote it.
  const text = next.document === document ? row.document : JSON.stringify(next.document, null, 2)
  yield* insertPolicy(sql, catalog.organization.id, text, next.policy, OPERATOR)
  return true
})
