/**
 * Keeps the starter policy's admin role seeing everything: types and columns from an import or a mapping are added to
 * its rules in the same transaction. An organization that has edited the starter rules is left alone.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { OPERATOR } from "../../database/audit.ts"
import { type EntityType, PEOPLE } from "../../domain/EntityType.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { insertPolicy } from "./policyVersions.ts"
import { STARTER_ADMIN, withoutRemovedColumns } from "./starterRules.ts"

interface Extended {
  readonly document: string
  readonly policy: Policy
}

type Json = Record<string, unknown>

/** What the starter admin may do with every type. */
const ACTIONS = ["read", "create", "update", "delete"] as const

/** Whether a rule of the file unconditionally allows the starter admin an action on a whole type. */
const allowsAll = (rule: unknown, action: string, slug: string): rule is Json & { readonly id: string } => {
  if (typeof rule !== "object" || rule === null) return false
  const json = rule as Json
  return (
    json["role"] === STARTER_ADMIN &&
    json["effect"] === "allow" &&
    json["action"] === action &&
    json["type"] === slug &&
    json["columns"] === "*" &&
    !["where", "becomes", "notBefore", "notAfter"].some((key) => key in json)
  )
}

/**
 * Extends the starter admin's rules to every column of these types; undefined when the organization has edited them.
 * Other rules keep their published meaning, including the expansion of "*".
 */
const extendAdmin = (
  document: string,
  policy: Policy,
  types: ReadonlyArray<EntityType>,
  catalog: ReadonlyArray<EntityType>
): Extended | undefined => {
  const file = JSON.parse(document) as Json & { readonly rules: ReadonlyArray<unknown> }
  const actions = ACTIONS.filter((action) => file.rules.some((rule) => allowsAll(rule, action, PEOPLE)))
  if (!actions.includes("read")) return undefined
  const updated = file.rules.flatMap((rule) => withoutRemovedColumns(rule, catalog))
  const rules = new Map(policy.rules.map((rule) => [rule.id, rule]))
  for (const [action, type] of actions.flatMap((action) => types.map((type) => [action, type] as const))) {
    const columns = action === "delete" ? ("*" as const) : type.columns.map((column) => column.key)
    const fileRule = updated.find((rule) => allowsAll(rule, action, type.slug))
    const existing = fileRule === undefined ? undefined : rules.get((fileRule as { readonly id: string }).id)
    if (existing !== undefined) {
      rules.set(existing.id, { ...existing, type: type.key, columns })
      continue
    }
    const wanted = action === "read" ? `admin-${type.slug}` : `admin-${action}-${type.slug}`
    let id = wanted
    for (let n = 2; rules.has(id); n++) id = `${wanted}-${n}`
    const rule = { id, effect: "allow", role: STARTER_ADMIN, action } as const
    rules.set(id, { ...rule, type: type.key, columns, where: { _tag: "Always" } })
    updated.push({ ...rule, type: type.slug, columns: "*" })
  }
  // An unchanged file keeps its author's formatting.
  const same = JSON.stringify(updated) === JSON.stringify(file.rules)
  return {
    document: same ? document : JSON.stringify({ ...file, rules: updated }, null, 2),
    policy: { ...policy, rules: [...rules.values()] }
  }
}

/** For each role, the columns of a type that no rule shows to it. */
export const hiddenFrom = (
  policy: Policy,
  type: EntityType
): ReadonlyArray<{ readonly role: string; readonly columns: ReadonlyArray<string> }> =>
  Object.entries(policy.roles).flatMap(([role, closure]) => {
    const shown = new Set(
      policy.rules
        .filter(
          (rule) =>
            rule.effect === "allow" && rule.action === "read" && rule.type === type.key && closure.includes(rule.role)
        )
        .flatMap((rule) => (rule.columns === "*" ? type.columns.map((column) => column.key) : rule.columns))
    )
    const columns = type.columns.filter((column) => !shown.has(column.key)).map((column) => column.slug)
    return columns.length === 0 ? [] : [{ role, columns }]
  })

/**
 * Publishes the policy extended for the starter admin, inside the transaction that adds these types. `catalog` is the
 * list of types after the transaction. Returns the new policy, or undefined when nothing was published.
 */
export const showToAdmin = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  policy: Policy,
  types: ReadonlyArray<EntityType>,
  catalog: ReadonlyArray<EntityType>,
  author: string = OPERATOR
) {
  const [row] = yield* sql<{ document: string }>`
    SELECT p.document FROM max.organizations o JOIN max.policies p ON p.organization_id = o.organization_id
      AND p.version = o.policy_version WHERE o.organization_id = ${organizationId}`
  const extended = row && extendAdmin(row.document, policy, types, catalog)
  if (extended === undefined) return undefined
  yield* insertPolicy(sql, organizationId, extended.document, extended.policy, author)
  return extended.policy
})
