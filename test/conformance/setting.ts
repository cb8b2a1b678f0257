/** Organizations of memory behind the real services: how the tests of this folder publish, admit and ask. */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import type { Organization as StoredOrganization } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import type { Principal } from "../../src/domain/Principal.ts"
import { IdentityResolver } from "../../src/services/IdentityResolver.ts"
import { Organizations } from "../../src/services/Organizations.ts"
import { Policies } from "../../src/services/Policies.ts"
import { loadOrganization, makeDealTables, registerDeals } from "./load.ts"
import type { Caller, PolicyJson } from "./oracle.ts"
import type { Organization } from "./world.ts"

export interface Place {
  readonly organization: Organization
  readonly stored: StoredOrganization
}

/** Makes the organizations, each with its rows and with the type `deals`. */
export const makePlaces = Effect.fnUntraced(function* (all: ReadonlyArray<Organization>) {
  const { owner } = yield* Database
  const organizations = yield* Organizations
  yield* makeDealTables(owner)
  const places: Array<Place> = []
  for (const organization of all) {
    const stored = yield* organizations.create(organization)
    yield* registerDeals(owner, stored.id)
    yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${stored.id}`
    yield* loadOrganization(owner, organization, stored.id)
    places.push({ organization, stored })
  }
  return places
})

/**
 * Publishes the policy, makes the caller a member and admits it. The membership is written past `Memberships.add`,
 * which takes no anchor and asks for an identifier that the hostile rows needn't have.
 */
export const admit = Effect.fnUntraced(function* (place: Place, policy: PolicyJson, caller: Caller) {
  const { owner } = yield* Database
  const policies = yield* Policies
  const identities = yield* IdentityResolver
  const organizationId = place.stored.id
  const anchor = encodeId(caller.me)
  yield* policies.publish(place.stored, JSON.stringify(policy), "test")
  yield* owner`
    INSERT INTO max.memberships (organization_id, anchor_id, roles, attributes)
    VALUES (${organizationId}, ${anchor}, ${caller.roles}::text[], ${owner.json(caller.attributes)})
    ON CONFLICT (organization_id, anchor_id) DO UPDATE SET roles = excluded.roles, attributes = excluded.attributes`
  yield* owner`
    INSERT INTO max.identifiers (organization_id, kind, key, anchor_id)
    VALUES (${organizationId}, 'email', ${`member-${anchor}@max.test`}, ${anchor}) ON CONFLICT DO NOTHING`
  yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organizationId}`
  const { principal } = yield* identities.admit(place.stored, { kind: "email", key: `member-${anchor}@max.test` })
  return principal satisfies Principal
})
