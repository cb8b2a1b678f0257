/** The identity providers whose tokens admit members, and what a pasted token would do. */
import { Schema } from "effect"
import { Strings, textUpTo, Timestamp } from "../scalars.ts"

const { optionalKey } = Schema

const pair = { issuer: textUpTo(500), audience: textUpTo(500) }

const Provider = Schema.Struct({
  issuer: Schema.String,
  audience: Schema.String,
  keys: Schema.String.annotate({ description: "The address of its public keys." }),
  roleClaim: optionalKey(Schema.String),
  signIn: optionalKey(Schema.String.annotate({ description: "Its name on the sign-in page." }))
})

export const Providers = Schema.Struct({ providers: Schema.Array(Provider) })
export type Providers = typeof Providers.Encoded

export const RemoveProvider = Schema.Struct(pair)
export type RemoveProvider = typeof RemoveProvider.Encoded

export const TryToken = Schema.Struct({
  ...pair,
  token: textUpTo(20_000),
  roleClaim: optionalKey(textUpTo(200).annotate({ description: "To see what another claim would give." }))
})
export type TryToken = typeof TryToken.Encoded

export const TriedToken = Schema.Struct({
  accepted: Schema.Boolean,
  reason: optionalKey(Schema.String.annotate({ description: "Why it isn't accepted." })),
  member: optionalKey(
    Schema.Struct({
      id: Schema.String,
      name: optionalKey(Schema.String.annotate({ description: "If the administrator may see it." }))
    })
  ),
  rolesFrom: optionalKey(Schema.Literals(["membership", "token"])),
  roles: Strings,
  unknownRoles: Strings.annotate({
    description: "Roles of the token that the policy doesn't have: they give nothing."
  }),
  until: optionalKey(Timestamp)
})
export type TriedToken = typeof TriedToken.Encoded
