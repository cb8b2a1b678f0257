/** The organization itself on the administrators' page: its name, country and time zone, and its mapped tables. */
import { Context, Effect, Layer } from "effect"
import type { NotAdmitted, NotAllowed, OperatorError, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import type * as Wire from "../../wire/admin/organization.ts"
import { Mappings } from "../mapping/Mappings.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { requirePower } from "../members/powers.ts"
import { Organizations } from "../organizations/Organizations.ts"

type Fault = NotAdmitted | NotAllowed | OperatorError | Unavailable

export class OrganizationSettings extends Context.Service<
  OrganizationSettings,
  {
    readonly show: (administrator: Principal) => Effect.Effect<Wire.OrganizationShown, Fault>
    /** Needs the power `policy`: conditions read the time zone, and identifiers without a country code the country. */
    readonly set: (administrator: Principal, change: Wire.SetOrganization) => Effect.Effect<void, Fault>
    /** The mapped types, and what has changed in the database since, as `max map diff` says it. */
    readonly mapped: (administrator: Principal) => Effect.Effect<Wire.Mapped, Fault>
  }
>()("max/services/OrganizationSettings") {
  static readonly layer = Layer.effect(
    OrganizationSettings,
    Effect.gen(function* () {
      const identities = yield* IdentityResolver
      const organizations = yield* Organizations
      const mappings = yield* Mappings

      return OrganizationSettings.of({
        show: Effect.fn("OrganizationSettings.show")(function* (administrator) {
          const { state } = yield* identities.readmit(administrator)
          const { country, name, slug, timeZone } = state.catalog.organization
          return { slug, name, country, timeZone }
        }),

        set: Effect.fn("OrganizationSettings.set")(function* (administrator, change) {
          const { principal, state } = yield* identities.readmit(administrator)
          yield* requirePower(state.policy, principal, "policy")
          yield* organizations.change(state.catalog.organization, change, principal)
        }),

        mapped: Effect.fn("OrganizationSettings.mapped")(function* (administrator) {
          const { state } = yield* identities.readmit(administrator)
          const { organization, types } = state.catalog
          const mapped = types.filter(({ mapping }) => mapping !== undefined)
          return {
            types: mapped.map(({ columns, pluralName, relation, slug }) => ({
              id: slug,
              name: pluralName,
              table: `${relation.schema}.${relation.table}`,
              columns: columns.length
            })),
            changes: mapped.length === 0 ? [] : yield* mappings.diff(organization)
          }
        })
      })
    })
  )
}
