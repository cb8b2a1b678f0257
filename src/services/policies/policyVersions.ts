/** Puts a policy in force as the next version, inside the transaction of what publishes it. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { raiseEpoch } from "../../database/epoch.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { Policy } from "../../permissions/Policy.ts"
import { requireApprover, requireHolder } from "../members/holders.ts"

const encodePolicy = Schema.encodeSync(Policy)

/** Inserts a policy as the organization's next version and puts it in force. Runs inside the caller's transaction. */
export const insertPolicy = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  text: string,
  policy: Policy,
  author: string,
  details: Readonly<Record<string, unknown>> = {}
) {
  const sha256 = createHash("sha256").update(text).digest("hex")
  const [row] = yield* sql<{ version: number }>`
    INSERT INTO max.policies (organization_id, version, document, rules, sha256, author)
    SELECT ${organizationId}, coalesce(max(version), 0) + 1, ${text}, ${sql.json(encodePolicy(policy))},
      ${sha256}, ${author}
    FROM max.policies WHERE organization_id = ${organizationId} RETURNING version`
  yield* sql`UPDATE max.organizations SET policy_version = ${row!.version} WHERE organization_id = ${organizationId}`
  yield* raiseEpoch(sql, organizationId, [
    { actor: author, action: "policy.published", subject: String(row!.version), details: { sha256, ...details } }
  ])
  return row!.version
})

/** Fails unless active members could still change the policy in the browser. */
export const requireGovernable = (app: PgClient.PgClient, organization: Organization, policy: Policy) =>
  Effect.andThen(requireHolder(app, organization, policy, "policy"), requireApprover(app, organization, policy))

export const requireVersion = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  wanted: number
) {
  const [row] = yield* sql<{ version: number | null }>`
    SELECT policy_version AS version FROM max.organizations WHERE organization_id = ${organizationId}`
  if (row?.version === wanted) return
  return yield* OperatorError.withCommand(
    `Version ${row?.version ?? 0} is in force, not ${wanted}: another policy has been published.`,
    `To see what changed: max policy diff ${wanted}`
  )
})
