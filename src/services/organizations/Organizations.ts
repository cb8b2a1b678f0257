/** Organizations, and the starter policy of each. */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Database } from "../../database/Database.ts"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { orUnavailable } from "../../database/execute.ts"
import { isClosed } from "../../database/moves.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { nextId } from "../../domain/ids.ts"
import { type PolicyDocument, printPolicy } from "../../permissions/policyDocument.ts"
import { isSupportedCountry } from "../../domain/keys.ts"
import { isTimeZone } from "../../domain/values.ts"
import { type OrganizationRow, organizationOf } from "../catalog/OrganizationState.ts"
import { Policies } from "../policies/Policies.ts"
import starterPolicy from "../policies/starter-policy.json" with { type: "json" }

export interface NewOrganization {
  readonly slug: string
  readonly name?: string | undefined
  readonly country: string
  readonly timeZone: string
  readonly externalKey?: string | undefined
}

/** The grants of the starter policy, as text. */
export const STARTER_GRANTS = [
  "admin   sees everything.",
  "member  sees the name, status, company and owner of all people; phone and e-mail of its own record and of the people it owns;",
  "        all companies; the meetings that it owns or attends."
] as const

/** Stores an organization, and records it; false if its slug is taken. Call it in a transaction. */
export const insertOrganization = (
  sql: PgClient.PgClient,
  { country, externalKey, id, name, slug, timeZone }: Organization
): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.gen(function* () {
    const rows = yield* sql`
      INSERT INTO max.organizations (organization_id, slug, name, country, time_zone, external_key)
      VALUES (${id}, ${slug}, ${name}, ${country}, ${timeZone}, ${externalKey ?? null})
      ON CONFLICT (slug) DO NOTHING RETURNING organization_id`
    if (rows.length === 0) return false
    yield* appendAudit(sql, id, "changes", [{ actor: OPERATOR, action: "organization.created", subject: slug }])
    return true
  })

/** The file of the policy of new organizations. */
export const starterText = printPolicy(starterPolicy as PolicyDocument)

export class Organizations extends Context.Service<
  Organizations,
  {
    /** Creates an organization with the starter policy. */
    readonly create: (input: NewOrganization) => Effect.Effect<Organization, OperatorError | NotAdmitted | Unavailable>
    readonly list: Effect.Effect<ReadonlyArray<Organization>, Unavailable>
  }
>()("max/services/Organizations") {
  static readonly layer = Layer.effect(
    Organizations,
    Effect.gen(function* () {
      const { app, search } = yield* Database
      const policies = yield* Policies
      return Organizations.of({
        create: Effect.fn("Organizations.create")(function* (input) {
          if (!/^[a-z][a-z0-9-]{0,62}$/.test(input.slug)) {
            return yield* OperatorError.of("A slug is lower-case letters, digits and -, beginning with a letter.")
          }
          if (!isSupportedCountry(input.country)) {
            return yield* OperatorError.of("The country is two letters (ISO 3166), such as US or DE: --country US")
          }
          if (!isTimeZone(input.timeZone)) {
            return yield* OperatorError.of("The time zone is an IANA name: --time-zone America/New_York")
          }
          const organization: Organization = {
            id: nextId(),
            slug: input.slug,
            name: input.name ?? input.slug,
            country: input.country,
            timeZone: input.timeZone,
            ...(input.externalKey === undefined ? {} : { externalKey: input.externalKey })
          }
          const created = yield* insertOrganization(app, organization).pipe(app.withTransaction, orUnavailable)
          if (!created) {
            return yield* OperatorError.of(`The organization "${input.slug}" already exists: max org list`)
          }
          yield* policies.publish(organization, starterText, OPERATOR)
          return organization
        }),
        list: Effect.map(
          orUnavailable(search<OrganizationRow>`
            SELECT organization_id, slug, name, country, time_zone, external_key FROM max.organizations o
            WHERE NOT ${search.literal(isClosed("o.organization_id"))} ORDER BY slug`),
          (rows) => rows.map(organizationOf)
        )
      })
    })
  )
}
