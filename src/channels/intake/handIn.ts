/** Handing in the messages of webhooks and of the mailbox folder, as the integration's member. */
import { Effect } from "effect"
import { ConfigurationError, NotAdmitted } from "../../domain/errors.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { Env } from "../../env.ts"
import { Admission } from "../../services/access/Admission.ts"
import { OrganizationState } from "../../services/catalog/OrganizationState.ts"
import { admitNamed } from "../../services/members/admitNamed.ts"
import { IdentityResolver } from "../../services/members/IdentityResolver.ts"
import { type Message, takingIn } from "./takeIn.ts"

/** Admits the member anew for each message, and counts it against the rate limits. */
export const handingIn = Effect.gen(function* () {
  const { intakeAs, organization: slug } = yield* Env
  const admission = yield* Admission
  const identities = yield* IdentityResolver
  const states = yield* OrganizationState
  const takeIn = yield* takingIn
  return Effect.fnUntraced(function* (message: Message) {
    if (intakeAs === undefined) return yield* ConfigurationError.of(NO_MEMBER)
    const organization = yield* states.organization(slug)
    const principal = yield* Effect.provideService(admitNamed(organization, intakeAs), IdentityResolver, identities)
    if (principal === undefined) return yield* NotAdmitted.error
    yield* admission.count(principal)
    return yield* Effect.provideService(takeIn(organization, message), CurrentPrincipal, principal)
  })
})

export const NO_MEMBER = "MAX_INTAKE_AS: name the member that messages are handed in as."
