/** The identity provider that a subject belongs to: the one named, or the only one. */
import { Effect } from "effect"
import type { Organization } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { IdentityProviders } from "./IdentityProviders.ts"

export const issuerOf = Effect.fnUntraced(function* (organization: Organization, named: string | undefined) {
  const providers = yield* IdentityProviders
  const issuers = [...new Set((yield* providers.list(organization)).map(({ issuer }) => issuer))]
  const issuer = named ?? (issuers.length === 1 ? issuers[0] : undefined)
  if (issuer !== undefined && issuers.includes(issuer)) return issuer
  return yield* issuers.length === 0
    ? OperatorError.withCommand(
        "There is no identity provider yet.",
        "max idp add --issuer URL --audience TEXT adds one."
      )
    : OperatorError.withCommand(`Name the identity provider: ${issuers.join(" or ")}`, "--issuer URL names it.")
})
