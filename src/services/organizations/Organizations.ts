/** Organizations, and the starter policy of each. */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Database } from "../../database/Database.ts"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import { isClosed } from "../../database/moves.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { printable } from "../../domain/text.ts"
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

/** What of an organization can be changed later. */
const NAMES = ["name", "country", "timeZone", "conversationDays"] as const
export interface Settings {
  readonly name?: string | undefined
  readonly country?: string | undefined
  readonly timeZone?: string | undefined
  /** Null: as long as the operator keeps conversations. */
  readonly conversationDays?: number | null | undefined
}

/** An error names the flag where a command gives the setting. */
const checkSettings = Effect.fnUntraced(function* (
  { conversationDays: days, country, name, timeZone }: Settings,
  most: number,
  hasFlags: boolean
) {
  if (days !== undefined && days !== null && !(Number.isInteger(days) && days >= 1 && days <= most))
    return yield* OperatorError.of(
      `Conversations are kept from 1 to ${most} ${most === 1 ? "day" : "days"}, the operator's time.`
    )
  if (name !== undefined && (name.trim() === "" || name.length > 100 || printable(name) !== name))
    return yield* OperatorError.of("A name has 1 to 100 characters, on one line.")
  if (country !== undefined && !isSupportedCountry(country))
    return yield* OperatorError.of(
      `The country is two letters (ISO 3166), such as US or DE${hasFlags ? ": --country US" : "."}`
    )
  if (timeZone !== undefined && !isTimeZone(timeZone))
    return yield* OperatorError.of(
      `The time zone is an IANA name${hasFlags ? ": --time-zone America/New_York" : ", such as America/New_York."}`
    )
})

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
    /** After so many days without use a conversation is deleted, as the operator has it; an organization can have fewer. */
    readonly conversationDays: number
    /** Changes its name, country, time zone or retention; by an operator, or by the given administrator. */
    readonly change: (
      organization: Organization,
      settings: Settings,
      administrator?: Principal
    ) => Effect.Effect<void, OperatorError | Unavailable>
  }
>()("max/services/Organizations") {
  static readonly layer = ({ conversationDays }: { readonly conversationDays: number }) =>
    Layer.effect(
      Organizations,
      Effect.gen(function* () {
        const { app, search } = yield* Database
        const policies = yield* Policies
        return Organizations.of({
          conversationDays,

          create: Effect.fn("Organizations.create")(function* (input) {
            if (!/^[a-z][a-z0-9-]{0,62}$/.test(input.slug)) {
              return yield* OperatorError.of("A slug is lower-case letters, digits and -, beginning with a letter.")
            }
            yield* checkSettings(input, conversationDays, true)
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

          change: Effect.fn("Organizations.change")(function* (organization, settings, administrator) {
            yield* checkSettings(settings, conversationDays, administrator === undefined)
            yield* Effect.gen(function* () {
              const epoch = yield* holdEpoch(app, organization.id)
              if (administrator !== undefined && administrator.epoch !== epoch)
                return yield* OperatorError.of("Something else changed this organization at the same time. Try again.")
              const [stored] = yield* app<OrganizationRow>`
              SELECT organization_id, slug, name, country, time_zone, external_key, conversation_days FROM max.organizations
              WHERE organization_id = ${organization.id}`
              const before = { conversationDays: null, ...organizationOf(stored!) }
              const changed = NAMES.filter((name) => settings[name] !== undefined && settings[name] !== before[name])
              if (changed.length === 0) return
              const after = { ...before, ...Object.fromEntries(changed.map((name) => [name, settings[name]!])) }
              yield* app`UPDATE max.organizations SET name = ${after.name}, country = ${after.country},
              time_zone = ${after.timeZone}, conversation_days = ${after.conversationDays}::int WHERE organization_id = ${organization.id}`
              const parts = (of: Settings) => Object.fromEntries(changed.map((name) => [name, of[name]]))
              yield* raiseEpoch(app, organization.id, [
                {
                  actor: administrator?.anchorEntityId ?? OPERATOR,
                  action: "organization.changed",
                  subject: organization.slug,
                  details: { ...parts(after), before: parts(before) }
                }
              ])
            }).pipe(app.withTransaction, orUnavailable)
          }),

          list: Effect.map(
            orUnavailable(search<OrganizationRow>`
            SELECT organization_id, slug, name, country, time_zone, external_key, conversation_days FROM max.organizations o
            WHERE NOT ${search.literal(isClosed("o.organization_id"))} ORDER BY slug`),
            (rows) => rows.map(organizationOf)
          )
        })
      })
    )
}
