/** Why a JWT isn't accepted, in words for administrators. */
import type { JwtFault } from "./jwt.ts"

export const JWT_FAULTS: Readonly<Record<JwtFault, string>> = {
  form: "It isn't a signed token (JWT) with an issuer and an audience.",
  algorithm: "It isn't signed in a way that Max accepts: RSA, ECDSA or EdDSA.",
  key: "The provider has no key with which it is signed.",
  signature: "Its signature doesn't fit the provider's key.",
  issuer: "Another issuer (iss) made it.",
  audience: "It is for another audience (aud).",
  several: "It is for several audiences that are trusted here, so it isn't clear whose it is.",
  expired: "It has expired. Paste a new one.",
  early: "It isn't valid yet: compare the clocks of the provider and of this server.",
  claims: "It lacks its expiry (exp) or its subject (sub), or one of its claims has the wrong form.",
  unreachable: "The provider's keys can't be read at their address."
}
