/** Which steps after the first run have been taken, as the database tells: no step is stored. */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import type { NotAdmitted, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { SetupSteps } from "../../wire/admin/setup.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { isBeyondStarter } from "../policies/starterRules.ts"

export class Checklist extends Context.Service<
  Checklist,
  {
    readonly steps: (organization: Organization) => Effect.Effect<SetupSteps, NotAdmitted | Unavailable>
    readonly stepsFor: (administrator: Principal) => Effect.Effect<SetupSteps, NotAdmitted | Unavailable>
  }
>()("max/services/Checklist") {
  static readonly layer = Layer.effect(
    Checklist,
    Effect.gen(function* () {
      const { app } = yield* Database
      const identities = yield* IdentityResolver
      const states = yield* OrganizationState

      const steps = Effect.fnUntraced(function* ({ id }: Organization) {
        const { state } = yield* states.read(id, { by: "none" })
        const [row] = yield* orUnavailable(app<{
          passkey: boolean
          imported: boolean
          people: boolean
          answer: boolean
          document: string | null
        }>`SELECT
          EXISTS (SELECT FROM max.passkeys WHERE organization_id = o.organization_id) AS passkey,
          EXISTS (SELECT FROM max.audit_log WHERE organization_id = o.organization_id AND chain = 'changes'
            AND action = 'data.imported') AS imported,
          (SELECT count(*) FROM max.memberships WHERE organization_id = o.organization_id) > 1 AS people,
          EXISTS (SELECT FROM max.usage WHERE organization_id = o.organization_id AND answered > 0) AS answer,
          (SELECT document FROM max.policies p WHERE p.organization_id = o.organization_id
            AND p.version = o.policy_version) AS document
          FROM max.organizations o WHERE o.organization_id = ${id}`)
        const { answer, document, imported, passkey, people } = row!
        return {
          passkey,
          data: imported || state.catalog.types.some(({ mapping }) => mapping !== undefined),
          policy: document !== null && isBeyondStarter(document),
          people,
          answer
        }
      })

      return Checklist.of({
        steps: Effect.fn("Checklist.steps")(steps),
        stepsFor: Effect.fn("Checklist.stepsFor")(function* (administrator) {
          return yield* steps((yield* identities.readmit(administrator)).state.catalog.organization)
        })
      })
    })
  )
}
