/** Policy versions: immutable, and published in one transaction with the epoch that puts them in force. */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import { Database } from "../database/Database.ts"
import { holdEpoch, raiseEpoch } from "../database/epoch.ts"
import { orUnavailable } from "../database/read.ts"
import type { Catalog, Organization } from "../domain/EntityType.ts"
import { NotAdmitted, OperatorError, Unavailable } from "../domain/errors.ts"
import { Policy, problemText, readPolicy } from "../permissions/Policy.ts"
import { OrganizationState } from "./OrganizationState.ts"

export interface Published {
  readonly version: number
  readonly policy: Policy
}

/** Reads a policy file for a catalog, or fails with everything that is wrong with it. */
const parsePolicy = (text: string, catalog: Catalog): Effect.Effect<Policy, OperatorError> => {
  const reading = readPolicy(text, catalog)
  return "policy" in reading
    ? Effect.succeed(reading.policy)
    : Effect.fail(
        new OperatorError({
          message: `The policy isn't published: ${reading.problems.length} problem${reading.problems.length === 1 ? "" : "s"}.`,
          details: reading.problems.map(problemText)
        })
      )
}

const encodePolicy = Schema.encodeSync(Policy)

/** Writes a policy as the organization's next version and puts it in force; for use inside a transaction. */
export const insertPolicy = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: bigint,
  text: string,
  policy: Policy,
  author: string
) {
  const sha256 = createHash("sha256").update(text).digest("hex")
  const [row] = yield* sql<{ version: number }>`
    INSERT INTO max.policies (organization_id, version, document, rules, sha256, author)
    SELECT ${organizationId}, coalesce(max(version), 0) + 1, ${text}, ${sql.json(encodePolicy(policy))},
      ${sha256}, ${author}
    FROM max.policies WHERE organization_id = ${organizationId} RETURNING version`
  yield* sql`UPDATE max.organizations SET policy_version = ${row!.version} WHERE organization_id = ${organizationId}`
  yield* raiseEpoch(sql, organizationId, [
    { actor: author, action: "policy.published", subject: String(row!.version), details: { sha256 } }
  ])
  return row!.version
})

export class Policies extends Context.Service<
  Policies,
  {
    /** The policy in force, as its author wrote it. */
    readonly current: (
      organization: Organization
    ) => Effect.Effect<{ readonly version: number; readonly document: string }, OperatorError | Unavailable>
    /** Checks a policy file against the catalog and puts it in force, or leaves the old one in force. */
    readonly publish: (
      organization: Organization,
      text: string,
      author: string
    ) => Effect.Effect<Published, OperatorError | NotAdmitted | Unavailable>
  }
>()("max/services/Policies") {
  static readonly layer = Layer.effect(
    Policies,
    Effect.gen(function* () {
      const { app, search } = yield* Database
      const states = yield* OrganizationState
      return Policies.of({
        current: Effect.fn("Policies.current")(function* (organization) {
          const [row] = yield* orUnavailable(search<{ version: number; document: string }>`
            SELECT p.version, p.document FROM max.organizations o
            JOIN max.policies p ON p.organization_id = o.organization_id AND p.version = o.policy_version
            WHERE o.organization_id = ${organization.id}`)
          return row ?? (yield* new OperatorError({ message: "There is no policy yet: nobody sees anything." }))
        }),

        publish: Effect.fn("Policies.publish")(function* (organization, text, author) {
          const {
            state: { catalog }
          } = yield* states.read(organization.id, { by: "nobody" })
          const policy = yield* parsePolicy(text, catalog)
          const version = yield* orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                return (yield* holdEpoch(app, organization.id)) === catalog.epoch
                  ? yield* insertPolicy(app, organization.id, text, policy, author)
                  : undefined
              })
            )
          )
          return version === undefined
            ? yield* new OperatorError({
                message: "Something else changed this organization at the same time. Publish again."
              })
            : { version, policy }
        })
      })
    })
  )
}
