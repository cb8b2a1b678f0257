/**
 * The admin of the policy that every organization begins with sees everything: what an import or a mapping brings, too,
 * in the transaction that brings it. That holds for as long as the rule that says so is there as it was: whoever changed
 * it decides alone.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { OPERATOR } from "../../database/audit.ts"
import { type EntityType, PEOPLE } from "../../domain/EntityType.ts"
import type { Policy, Rule } from "../../permissions/Policy.ts"
import { insertPolicy } from "./Policies.ts"
import starterPolicy from "./starter-policy.json" with { type: "json" }

/** The role that every organization begins with, and that sees everything. */
const ADMIN = "admin"

interface Extended {
  readonly document: string
  readonly policy: Policy
}

type Json = Record<string, unknown>

/** Whether a rule of the file shows all of a type to the starter admin, without a condition. */
const showsAll = (rule: unknown, slug: string): rule is Json & { readonly id: string } => {
  if (typeof rule !== "object" || rule === null) return false
  const one = rule as Json
  return (
    one["role"] === ADMIN &&
    one["effect"] === "allow" &&
    one["action"] === "read" &&
    one["type"] === slug &&
    one["columns"] === "*" &&
    !("where" in one || "notBefore" in one || "notAfter" in one)
  )
}

/**
 * The policy with every column of these types shown to the starter admin; undefined when the organization has no such
 * role any more. Other rules stay what they were when they were published, "*" included.
 */
const extendAdmin = (
  document: string,
  policy: Policy,
  types: ReadonlyArray<EntityType>,
  catalog: ReadonlyArray<EntityType>
): Extended | undefined => {
  const file = JSON.parse(document) as Json & { readonly rules: ReadonlyArray<unknown> }
  if (!file.rules.some((rule) => showsAll(rule, PEOPLE))) return undefined
  const written = file.rules.flatMap((rule) => stillSaid(rule, catalog))
  const rules = new Map(policy.rules.map((rule) => [rule.id, rule]))
  for (const type of types) {
    const columns = type.columns.map((column) => column.key)
    const found = written.find((rule) => showsAll(rule, type.slug))
    const known = found === undefined ? undefined : rules.get((found as { readonly id: string }).id)
    if (known !== undefined) {
      rules.set(known.id, { ...known, type: type.key, columns })
      continue
    }
    let id = `admin-${type.slug}`
    for (let n = 2; rules.has(id); n++) id = `admin-${type.slug}-${n}`
    const added: Rule = {
      id,
      effect: "allow",
      role: ADMIN,
      action: "read",
      type: type.key,
      columns,
      where: { _tag: "Always" }
    }
    rules.set(id, added)
    written.push({ id, effect: "allow", role: ADMIN, action: "read", type: type.slug, columns: "*" })
  }
  // A file that says the same is kept as its author wrote it.
  const same = JSON.stringify(written) === JSON.stringify(file.rules)
  return {
    document: same ? document : JSON.stringify({ ...file, rules: written }, null, 2),
    policy: { ...policy, rules: [...rules.values()] }
  }
}

const STARTER = new Set(starterPolicy.rules.map((rule) => JSON.stringify(rule)))

/**
 * A rule of the starter policy without the columns that its type, mapped now, doesn't have: they showed nothing any
 * more, and the file couldn't be published again. What a person wrote stays as it is.
 */
const stillSaid = (rule: unknown, catalog: ReadonlyArray<EntityType>): ReadonlyArray<unknown> => {
  if (!STARTER.has(JSON.stringify(rule))) return [rule]
  const { columns, where, ...rest } = rule as Json
  const type = catalog.find(({ slug }) => slug === rest["type"])
  const known = (slug: string) => slug === "id" || type?.columns.some((column) => column.slug === slug) === true
  const shown = Array.isArray(columns) ? columns.filter(known) : columns
  if (where === undefined) return [{ ...rest, columns: shown }]
  const any = (where as { readonly any: ReadonlyArray<Json> }).any.filter((part) => Object.keys(part).every(known))
  return any.length === 0 ? [] : [{ ...rest, columns: shown, where: { any } }]
}

/** For each other role, the columns of a type that no rule shows it. */
export const hiddenFrom = (
  policy: Policy,
  type: EntityType
): ReadonlyArray<{ readonly role: string; readonly columns: ReadonlyArray<string> }> =>
  Object.entries(policy.roles).flatMap(([role, held]) => {
    const shown = new Set(
      policy.rules
        .filter(
          (rule) =>
            rule.effect === "allow" && rule.action === "read" && rule.type === type.key && held.includes(rule.role)
        )
        .flatMap((rule) => (rule.columns === "*" ? type.columns.map((column) => column.key) : rule.columns))
    )
    const columns = type.columns.filter((column) => !shown.has(column.key)).map((column) => column.slug)
    return columns.length === 0 ? [] : [{ role, columns }]
  })

/**
 * Publishes the policy with all columns of these types shown to the starter's admin, in the transaction that brings
 * them; `catalog` are all types as they will be. The policy as it is then, or undefined where nothing is to be shown.
 */
export const showToAdmin = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  policy: Policy,
  types: ReadonlyArray<EntityType>,
  catalog: ReadonlyArray<EntityType>
) {
  const [row] = yield* sql<{ document: string }>`
    SELECT p.document FROM max.organizations o JOIN max.policies p ON p.organization_id = o.organization_id
      AND p.version = o.policy_version WHERE o.organization_id = ${organizationId}`
  const extended = row && extendAdmin(row.document, policy, types, catalog)
  if (extended === undefined) return undefined
  yield* insertPolicy(sql, organizationId, extended.document, extended.policy, OPERATOR)
  return extended.policy
})
