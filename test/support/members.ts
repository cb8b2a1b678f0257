/** Members with tokens, for tests of remote access. */
import { Effect } from "effect"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { Credentials, type Scope } from "../../src/services/access/Credentials.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Policies } from "../../src/services/policies/Policies.ts"

/** Creates a person with a membership and a token. */
export const memberWithToken = Effect.fnUntraced(function* (
  organization: Organization,
  email: string,
  roles: ReadonlyArray<string>,
  scopes: ReadonlyArray<Scope> = ["tools"]
) {
  const members = yield* Memberships
  const credentials = yield* Credentials
  const { anchorId } = yield* members.add(organization, { identifier: email, roles, create: {} })
  const { id, secret } = yield* credentials.createToken(organization, { anchorId, name: email, scopes, days: 1 })
  return { anchorId, id, token: secret }
})

/** A token of a member, Theo, whose role has these powers. */
export const helperWith = Effect.fnUntraced(function* (organization: Organization, administers: ReadonlyArray<string>) {
  const policies = yield* Policies
  const file = JSON.parse((yield* policies.current(organization)).document) as { readonly roles: object }
  const roles = { ...file.roles, helper: { inherits: ["member"], administers } }
  yield* policies.publish(organization, JSON.stringify({ ...file, roles }), "operator")
  const { token } = yield* memberWithToken(organization, "theo@atlas.example", ["helper"], ["admin"])
  return token
})

/** The key of the basis under which a member's stored answers are shown now. */
export const basisKeyOf = Effect.fnUntraced(function* (organization: Organization, email: string) {
  const identities = yield* IdentityResolver
  const queries = yield* EntityQueryService
  const { principal } = yield* identities.admit(organization, { kind: "email", key: email })
  const { key } = yield* Effect.provideService(
    queries.basis({ organizationId: organization.id }),
    CurrentPrincipal,
    principal
  )
  return key
})
