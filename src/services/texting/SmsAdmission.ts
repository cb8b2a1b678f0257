/**
 * Admission by phone number. A number proves a person if it is a verified identifier of an active membership, or if the
 * channel is open and exactly one person in the data has it. A number that the data assigns to another person as well is
 * shared and proves nothing; a number that has been silent for 180 days is dormant and must be proved again.
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import type { NotAdmitted, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { Vouched } from "../../domain/Vouched.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { SmsSettings } from "./SmsSettings.ts"

/** Days of silence after which a number may have a new owner. */
export const DORMANT_DAYS = 180

/** The line of simulated messages; its traffic does not count for dormancy or the log. */
export const SIMULATION = "simulation"

export type SmsAdmitted =
  | { readonly _tag: "Admitted"; readonly principal: Principal; readonly by: "membership" | "opened channel" }
  /** The reason is for operators; the sender gets the same notice for all of them. */
  | { readonly _tag: "Refused"; readonly why: "no access" | "shared" | "dormant" }

const refused = (why: Extract<SmsAdmitted, { _tag: "Refused" }>["why"]): SmsAdmitted => ({ _tag: "Refused", why })

export class SmsAdmission extends Context.Service<
  SmsAdmission,
  {
    /** Admits the sender with this number, in E.164. */
    readonly admit: (organization: Organization, phone: string) => Effect.Effect<SmsAdmitted, Unavailable>
    /** Entity ids of the people who have the number, admitted or not. */
    readonly identify: (
      organization: Organization,
      phone: string
    ) => Effect.Effect<ReadonlyArray<string>, NotAdmitted | Unavailable>
  }
>()("max/services/SmsAdmission") {
  static readonly layer = Layer.effect(
    SmsAdmission,
    Effect.gen(function* () {
      const { app } = yield* Database
      const identities = yield* IdentityResolver
      const settings = yield* SmsSettings

      const isDormant = Effect.fnUntraced(function* (organizationId: bigint, phone: string, anchorId: string) {
        const [row] = yield* orUnavailable(app<{ dormant: boolean | null }>`
          SELECT coalesce(
            (SELECT max(s.heard_at) FROM max.sms_senders s WHERE s.organization_id = ${organizationId} AND s.phone = ${phone}
              AND s.anchor_id = ${anchorId} AND s.line <> ${SIMULATION}),
            (SELECT i.verified_at FROM max.identifiers i WHERE i.organization_id = ${organizationId} AND i.kind = 'phone'
              AND i.key = ${phone} AND i.anchor_id = ${anchorId})) < now() - make_interval(days => ${DORMANT_DAYS}::int) AS dormant`)
        return row?.dormant === true
      })

      /** Admits the one person with the number to an open channel, unless that person is suspended. */
      const asGuest = (organization: Organization, phone: string, role: string) =>
        identities.vouch(
          organization,
          new Vouched({ organization: organization.slug, subject: { phone }, roles: [role] })
        )

      const orUndefined = <A>(admitted: Effect.Effect<A, NotAdmitted | Unavailable>) =>
        Effect.catchTag(admitted, "NotAdmitted", () => Effect.undefined)

      return SmsAdmission.of({
        identify: (organization, phone) => identities.identify(organization, { kind: "phone", key: phone }),

        admit: Effect.fn("SmsAdmission.admit")(function* (organization, phone) {
          const people = (yield* orUndefined(identities.identify(organization, { kind: "phone", key: phone }))) ?? []
          const member = yield* orUndefined(identities.admit(organization, { kind: "phone", key: phone }))
          const { openRole } = yield* settings.channel(organization.id)
          const guest =
            member === undefined && openRole !== undefined && people.length === 1
              ? yield* orUndefined(asGuest(organization, phone, openRole))
              : undefined
          const principal = (member ?? guest)?.principal
          if (principal === undefined) return refused(people.length > 1 ? "shared" : "no access")
          if (people.some((id) => id !== principal.anchorEntityId)) return refused("shared")
          if (yield* isDormant(organization.id, phone, principal.anchorEntityId)) return refused("dormant")
          return { _tag: "Admitted", principal, by: member === undefined ? "opened channel" : "membership" }
        })
      })
    })
  )
}
