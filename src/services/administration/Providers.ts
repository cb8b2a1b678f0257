/**
 * The identity providers of an organization on the administrators' page, over the service of `max idp`. A provider says who a
 * person is, and with a role claim what they may do: it is removed only by an administrator with every power.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { Database } from "../../database/Database.ts"
import type { NotAdmitted, NotAllowed, OperatorError, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { Power } from "../../permissions/Policy.ts"
import type * as Wire from "../../wire/admin/providers.ts"
import { boundMember } from "../access/boundMember.ts"
import { IdentityProviders, type Proven } from "../access/IdentityProviders.ts"
import type { JwtFault } from "../access/jwt.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { requirePower } from "../members/powers.ts"
import { makeRowEvaluator } from "../policies/rowEvaluator.ts"
import { makePeople, type Person } from "./people.ts"

type Fault = NotAdmitted | NotAllowed | OperatorError | Unavailable

export class Providers extends Context.Service<
  Providers,
  {
    readonly list: (administrator: Principal) => Effect.Effect<Wire.Providers, Fault>
    /** Whom a token would admit with which roles, or why it wouldn't. Nothing is stored. */
    readonly try: (administrator: Principal, tried: Wire.TryToken) => Effect.Effect<Wire.TriedToken, Fault>
    readonly remove: (administrator: Principal, provider: Wire.RemoveProvider) => Effect.Effect<void, Fault>
  }
>()("max/services/Providers") {
  static readonly layer = Layer.effect(
    Providers,
    Effect.gen(function* () {
      const { admission, app, search } = yield* Database
      const identities = yield* IdentityResolver
      const providers = yield* IdentityProviders
      const members = makePeople(app, makeRowEvaluator(search))

      /** The administrator as they are admitted now, with all of these powers. */
      const current = Effect.fnUntraced(function* (administrator: Principal, powers: ReadonlyArray<Power>) {
        const { principal, state } = yield* identities.readmit(administrator)
        for (const power of powers) yield* requirePower(state.policy, principal, power)
        return { principal, state, organization: state.catalog.organization }
      })

      return Providers.of({
        list: Effect.fn("Providers.list")(function* (administrator) {
          const { organization } = yield* current(administrator, ["members"])
          const listed = yield* providers.list(organization)
          return {
            providers: listed.map(({ audience, issuer, jwksUrl, roleClaim, signIn }) => ({
              issuer,
              audience,
              keys: jwksUrl,
              ...(roleClaim === undefined ? {} : { roleClaim }),
              ...(signIn === undefined ? {} : { signIn: signIn.name })
            }))
          }
        }),

        try: Effect.fn("Providers.try")(function* (administrator, { roleClaim, token, ...provider }) {
          const { organization, principal, state } = yield* current(administrator, ["members"])
          const proven = yield* providers.examine(organization, provider, Redacted.make(token.trim()), roleClaim)
          if (typeof proven === "string")
            return { accepted: false, reason: REASONS[proven], roles: [], unknownRoles: [] }
          const anchorId = yield* boundMember(admission, proven)
          const [person] = anchorId === undefined ? [] : yield* members(state, principal, anchorId)
          const roles = proven.claimedRoles ?? person?.roles ?? []
          const isKnown = (role: string) => Object.hasOwn(state.policy.roles, role)
          const reason = refusal(proven, person)
          return {
            accepted: reason === undefined,
            ...(reason === undefined ? {} : { reason }),
            ...(person === undefined
              ? {}
              : { member: { id: person.id, ...(person.name === "" ? {} : { name: person.name }) } }),
            rolesFrom: proven.claimedRoles === undefined ? "membership" : "token",
            roles: roles.filter(isKnown),
            unknownRoles: roles.filter((role) => !isKnown(role)),
            until: proven.expiresAt.toISOString()
          }
        }),

        remove: Effect.fn("Providers.remove")(function* (administrator, { audience, issuer }) {
          const { organization, principal } = yield* current(administrator, Power.literals)
          yield* providers.remove(organization, issuer, audience, principal)
        })
      })
    })
  )
}

const REASONS: Readonly<Record<JwtFault, string>> = {
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

/** Why a token that the provider signed admits no member. */
const refusal = ({ email }: Proven, person: Person | undefined): string | undefined => {
  if (person === undefined)
    return email === undefined
      ? "The provider signed it, but no member has its subject, and it has no e-mail address that the provider has verified."
      : "The provider signed it, but neither its subject nor its verified e-mail address is a member's."
  if (person.state === "active") return undefined
  return person.state === "invited"
    ? "This person is invited, and hasn't used the invitation yet."
    : "This person's membership is suspended."
}
