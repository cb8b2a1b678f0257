/** The member that an operator names, by e-mail address, phone number or id:ID. */
import { Effect } from "effect"
import type { Organization } from "../../domain/EntityType.ts"
import { NotAdmitted } from "../../domain/errors.ts"
import { IdentityResolver } from "./IdentityResolver.ts"
import { readIdentifier, readPersonId } from "./identifier.ts"

/** The admitted member; undefined if the text names none. */
export const admitNamed = Effect.fnUntraced(function* (organization: Organization, who: string) {
  const identities = yield* IdentityResolver
  const id = readPersonId(who)
  if (id !== undefined) {
    const anchorEntityId = yield* identities.byId(organization, id)
    if (anchorEntityId === undefined) return yield* NotAdmitted.error
    return (yield* identities.readmit({ organizationId: organization.id, anchorEntityId })).principal
  }
  const identifier = readIdentifier(who, organization)
  return identifier && (yield* identities.admit(organization, identifier)).principal
})
