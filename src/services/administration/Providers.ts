/**
 * The identity providers of an organization on the administrators' page, over the service of `max idp`. A provider says who a
 * person is, and with a role claim what they may do: it is added and removed only by an administrator with every power.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { Database } from "../../database/Database.ts"
import type { InvalidInput, NotAdmitted, NotAllowed, OperatorError, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { Power } from "../../permissions/Policy.ts"
import type * as Wire from "../../wire/admin/providers.ts"
import { boundMember } from "../access/boundMember.ts"
import { IdentityProviders, type Proven, SEALED } from "../access/IdentityProviders.ts"
import type { JwtFault } from "../access/jwt.ts"
import { JWT_FAULTS } from "../access/jwtFaults.ts"
import { type NewProvider, providerProblem } from "../access/newProvider.ts"
import type { State } from "../catalog/OrganizationState.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { requirePower } from "../members/powers.ts"
import { makeRowEvaluator } from "../policies/rowEvaluator.ts"
import { makePeople, type Person } from "./people.ts"

type Fault = InvalidInput | NotAdmitted | NotAllowed | OperatorError | Unavailable

export class Providers extends Context.Service<
  Providers,
  {
    readonly list: (administrator: Principal) => Effect.Effect<Wire.Providers, Fault>
    /** Whom a token would admit with which roles, or why it wouldn't. Nothing is stored. */
    readonly try: (administrator: Principal, tried: Wire.TryToken) => Effect.Effect<Wire.TriedToken, Fault>
    /** What a token would do at a provider that isn't trusted yet. Nothing is stored. */
    readonly tryNew: (administrator: Principal, provider: Wire.AddProvider) => Effect.Effect<Wire.TriedToken, Fault>
    /** Trusts a provider, if it has signed the token. */
    readonly add: (administrator: Principal, provider: Wire.AddProvider) => Effect.Effect<void, Fault>
    /** Replaces the secret of a provider's client, if the provider takes the new one. */
    readonly replaceSecret: (administrator: Principal, change: Wire.SetProviderSecret) => Effect.Effect<void, Fault>
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

      /** Whom a token would admit with which roles, or why it wouldn't. */
      const outcome = Effect.fnUntraced(function* (
        state: State,
        principal: Principal,
        proven: Proven | JwtFault
      ): Effect.fn.Return<Wire.TriedToken, Unavailable> {
        if (typeof proven === "string")
          return { accepted: false, reason: JWT_FAULTS[proven], roles: [], unknownRoles: [] }
        const anchorId = yield* boundMember(admission, proven)
        const [person] = anchorId === undefined ? [] : yield* members(state, principal, anchorId)
        const roles = proven.claimedRoles ?? person?.roles ?? []
        const isKnown = (role: string) => Object.hasOwn(state.policy.roles, role)
        const reason = refusal(proven, person)
        return {
          accepted: reason === undefined,
          ...(reason === undefined ? {} : { reason }),
          ...(person === undefined ? {} : { member: shown(person) }),
          rolesFrom: proven.claimedRoles === undefined ? "membership" : "token",
          roles: roles.filter(isKnown),
          unknownRoles: roles.filter((role) => !isKnown(role)),
          until: proven.expiresAt.toISOString()
        }
      })

      return Providers.of({
        list: Effect.fn("Providers.list")(function* (administrator) {
          const { organization, principal, state } = yield* current(administrator, ["members"])
          const listed = yield* providers.list(organization)
          const names = new Map<string, Shown>()
          for (const id of new Set(listed.flatMap(({ addedBy }) => addedBy ?? [])))
            for (const person of yield* members(state, principal, id)) names.set(id, shown(person))
          return {
            providers: listed.map(({ addedBy, audience, issuer, jwksUrl, roleClaim, signIn }) => ({
              issuer,
              audience,
              keys: jwksUrl,
              ...(roleClaim === undefined ? {} : { roleClaim }),
              ...(signIn === undefined ? {} : { signIn: signIn.name, clientSecret: keptOf(signIn.clientSecret) }),
              ...(addedBy === undefined ? {} : { addedBy: names.get(addedBy) ?? { id: addedBy } })
            }))
          }
        }),

        try: Effect.fn("Providers.try")(function* (administrator, { roleClaim, token, ...provider }) {
          const { organization, principal, state } = yield* current(administrator, ["members"])
          const proven = yield* providers.examine(organization, provider, Redacted.make(token.trim()), roleClaim)
          return yield* outcome(state, principal, proven)
        }),

        tryNew: Effect.fn("Providers.tryNew")(function* (administrator, tried) {
          const { organization, principal, state } = yield* current(administrator, Power.literals)
          const { provider, token } = yield* newProviderOf(tried)
          const proven = yield* providers.rehearse(organization, provider, { administrator: principal, token })
          return yield* outcome(state, principal, proven)
        }),

        add: Effect.fn("Providers.add")(function* (administrator, added) {
          const { organization, principal } = yield* current(administrator, Power.literals)
          const { provider, token } = yield* newProviderOf(added)
          yield* providers.add(organization, provider, { administrator: principal, token })
        }),

        replaceSecret: Effect.fn("Providers.replaceSecret")(function* (administrator, { clientSecret, ...provider }) {
          const { organization, principal } = yield* current(administrator, Power.literals)
          yield* providers.replaceSecret(organization, provider, { secret: Redacted.make(clientSecret) }, principal)
        }),

        remove: Effect.fn("Providers.remove")(function* (administrator, { audience, issuer }) {
          const { organization, principal } = yield* current(administrator, Power.literals)
          yield* providers.remove(organization, issuer, audience, principal)
        })
      })
    })
  )
}

/** Where the secret of a client is. */
const keptOf = (reference: string | undefined) =>
  reference === undefined ? "none" : reference === SEALED ? "sealed" : "operator"

type Shown = NonNullable<Wire.TriedToken["member"]>

const shown = ({ id, name }: Person): Shown => ({ id, ...(name === "" ? {} : { name }) })

/** A secret without a name for the sign-in page would never be used. */
const newProviderOf = ({ clientSecret, signIn, token, ...rest }: Wire.AddProvider) =>
  signIn === undefined && clientSecret !== undefined
    ? Effect.fail(providerProblem("signIn", "a client's secret needs a name on the sign-in page."))
    : Effect.succeed({
        token: Redacted.make(token.trim()),
        provider: {
          ...rest,
          ...(signIn === undefined
            ? {}
            : {
                signIn: {
                  name: signIn,
                  ...(clientSecret === undefined ? {} : { clientSecret: Redacted.make(clientSecret) })
                }
              })
        } satisfies NewProvider
      })

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
