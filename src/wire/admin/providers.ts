/** The identity providers whose tokens admit members, and what a pasted token would do. */
import { Schema } from "effect"
import { anyTextUpTo, Strings, textUpTo, Timestamp } from "../scalars.ts"

const { optionalKey } = Schema

const pair = { issuer: textUpTo(500), audience: textUpTo(500) }

/** A person, by id, and by name if the administrator may see it. */
const Named = Schema.Struct({
  id: Schema.String,
  name: optionalKey(Schema.String.annotate({ description: "If the administrator may see it." }))
})

const Provider = Schema.Struct({
  issuer: Schema.String,
  audience: Schema.String,
  keys: Schema.String.annotate({ description: "The address of its public keys." }),
  roleClaim: optionalKey(Schema.String),
  signIn: optionalKey(Schema.String.annotate({ description: "Its name on the sign-in page." })),
  clientSecret: optionalKey(
    Schema.Literals(["none", "sealed", "operator"]).annotate({
      description: "With signIn: whether the client has a secret, and who keeps it; never the secret."
    })
  ),
  addedBy: optionalKey(
    Named.annotate({ description: "The administrator who added it; without it, an operator's command." })
  )
})

export const Providers = Schema.Struct({ providers: Schema.Array(Provider) })
export type Providers = typeof Providers.Encoded

/** Each field's rules are the service's, so that a problem is said at its field. */
export const AddProvider = Schema.Struct({
  issuer: anyTextUpTo(2000).annotate({ description: "The issuer (iss claim) of its tokens: an https URL." }),
  audience: anyTextUpTo(2000).annotate({ description: "The audience (aud claim) of its tokens." }),
  roleClaim: optionalKey(
    anyTextUpTo(2000).annotate({ description: "The claim with roles, which then replace the membership's." })
  ),
  signIn: optionalKey(
    anyTextUpTo(2000).annotate({
      description: "The name of the button on the sign-in page. The audience is then the client's id."
    })
  ),
  clientSecret: optionalKey(
    anyTextUpTo(2000).annotate({ description: "The secret of the client, which is sealed and never shown again." })
  ),
  token: anyTextUpTo(20_000).annotate({ description: "A token of your own that the provider has signed." })
})
export type AddProvider = typeof AddProvider.Encoded

export const RemoveProvider = Schema.Struct(pair)
export type RemoveProvider = typeof RemoveProvider.Encoded

export const SetProviderSecret = Schema.Struct({
  ...pair,
  clientSecret: anyTextUpTo(2000).annotate({
    description: "The new secret of the client, which the provider is asked about, and which is then sealed."
  })
})
export type SetProviderSecret = typeof SetProviderSecret.Encoded

export const TryToken = Schema.Struct({
  ...pair,
  token: textUpTo(20_000),
  roleClaim: optionalKey(textUpTo(200).annotate({ description: "To see what another claim would give." }))
})
export type TryToken = typeof TryToken.Encoded

export const TriedToken = Schema.Struct({
  accepted: Schema.Boolean,
  reason: optionalKey(Schema.String.annotate({ description: "Why it isn't accepted." })),
  member: optionalKey(Named),
  rolesFrom: optionalKey(Schema.Literals(["membership", "token"])),
  roles: Strings,
  unknownRoles: Strings.annotate({
    description: "Roles of the token that the policy doesn't have: they give nothing."
  }),
  until: optionalKey(Timestamp)
})
export type TriedToken = typeof TriedToken.Encoded
