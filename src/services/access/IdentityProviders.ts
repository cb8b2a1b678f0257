/**
 * The identity providers that an organization trusts: their signed JWTs admit its members. A pair of issuer and audience
 * belongs to one organization. A JWT proves a subject or a verified e-mail address; `Admission` finds the membership.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { createHash } from "node:crypto"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { type InvalidInput, NotAuthenticated, OperatorError, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { type OrganizationRow, organizationOf } from "../catalog/OrganizationState.ts"
import { lockEpochFor } from "../members/suspension.ts"
import { type GuardedFetch, guardedFetch } from "../network/guardedFetch.ts"
import { isListed } from "../network/hosts.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { discoverKeys } from "./discovery.ts"
import {
  type JwtFault,
  loadJose,
  makeVerifyJwt,
  provenBy,
  type ProvenIdentity,
  type TrustedIssuer,
  unverifiedClaims
} from "./jwt.ts"
import { JWT_FAULTS } from "./jwtFaults.ts"
import { checkNewProvider, type NewProvider, providerProblem, unreadable } from "./newProvider.ts"
import { tryClientSecret } from "./openIdClient.ts"

export interface IdentityProvider extends TrustedIssuer {
  /** With it, people sign in at the provider from Max's sign-in page. The audience is then the client's id. */
  readonly signIn?: ProviderSignIn
  /** The id of the administrator who added it; undefined: an operator's command did. */
  readonly addedBy?: string
}

/** A provider of the sign-in page, and whose it is. */
export interface OfferedProvider extends IdentityProvider {
  readonly organization: Organization
}

interface ProviderSignIn {
  /** The name on the button, such as Google. */
  readonly name: string
  /** A reference to the client's secret: env:NAME, file:/path, or `SEALED`. Without it the client is public (PKCE alone). */
  readonly clientSecret?: string
}

/** In place of a reference: the client's secret is among the organization's sealed ones. */
export const SEALED = "sealed"

/** An opaque name of a provider, for addresses. */
export const providerId = ({ audience, issuer }: Pick<IdentityProvider, "issuer" | "audience">): string =>
  createHash("sha256")
    .update(JSON.stringify([issuer, audience]))
    .digest("base64url")
    .slice(0, 16)

/** The name of its client's secret among the sealed ones. */
const secretName = (provider: Pick<IdentityProvider, "issuer" | "audience">) => `provider ${providerId(provider)}`

/** A client's secret, and the reference to keep of it; without a reference it is sealed. */
export interface NewClientSecret {
  readonly secret: Redacted.Redacted<string>
  readonly reference?: string
}

/** An administrator, and a token of theirs that the provider has signed. */
export interface Vouched {
  readonly administrator: Principal
  readonly token: Redacted.Redacted<string>
}

export type Proven = Omit<ProvenIdentity, "epoch">

export class IdentityProviders extends Context.Service<
  IdentityProviders,
  {
    /** Trusts a provider. One of an administrator only with a token that it has signed, which is verified here. */
    readonly add: (
      organization: Organization,
      provider: NewProvider,
      by?: Vouched
    ) => Effect.Effect<IdentityProvider, InvalidInput | OperatorError | Unavailable>
    /** What an administrator's token proves at a provider that isn't trusted yet. Stores nothing. */
    readonly rehearse: (
      organization: Organization,
      provider: NewProvider,
      by: Vouched
    ) => Effect.Effect<Proven | JwtFault, InvalidInput | OperatorError | Unavailable>
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<IdentityProvider>, Unavailable>
    /** The providers that the sign-in page offers: those of the only organization, none where there are several. */
    readonly offered: Effect.Effect<ReadonlyArray<OfferedProvider>, Unavailable>
    /** How its addresses are asked, if not by `fetch`: an administrator's provider must not lead into private networks. */
    readonly fetchFor: (provider: Pick<IdentityProvider, "issuer" | "addedBy">) => GuardedFetch | undefined
    /** The sealed secret of its client. */
    readonly sealedSecret: (provider: OfferedProvider) => Effect.Effect<string, OperatorError | Unavailable>
    /** Replaces the secret of a provider's client, if the provider takes the new one, and forgets the old one. */
    readonly replaceSecret: (
      organization: Organization,
      provider: Pick<IdentityProvider, "issuer" | "audience">,
      given: NewClientSecret,
      administrator?: Principal
    ) => Effect.Effect<void, InvalidInput | OperatorError | Unavailable>
    /** Stops trusting a provider with immediate effect in every process. */
    readonly remove: (
      organization: Organization,
      issuer: string,
      audience: string,
      administrator?: Principal
    ) => Effect.Effect<void, OperatorError | Unavailable>
    /** What a JWT proves at a provider, or why it isn't accepted. Stores nothing. `roleClaim` counts instead of the provider's. */
    readonly examine: (
      organization: Organization,
      provider: Pick<IdentityProvider, "issuer" | "audience">,
      jwt: Redacted.Redacted<string>,
      roleClaim?: string
    ) => Effect.Effect<Proven | JwtFault, OperatorError | Unavailable>
    /** Verifies a JWT; every invalid one is the same `NotAuthenticated`. */
    readonly verify: (jwt: string) => Effect.Effect<ProvenIdentity, NotAuthenticated | Unavailable>
  }
>()("max/services/IdentityProviders") {
  /** `hosts`: private ones that the operator lists. `redirectUri`: where providers lead back to, if it is known. */
  static readonly layer = ({
    hosts,
    redirectUri
  }: {
    readonly hosts: ReadonlyArray<string>
    readonly redirectUri?: string | undefined
  }) =>
    Layer.effect(
      IdentityProviders,
      Effect.gen(function* () {
        const { admission, app } = yield* Database
        const secrets = yield* Secrets

        // A listed host counts for its own issuer: another one's description can't lead to it.
        const fetchFor = ({ addedBy, issuer }: Pick<IdentityProvider, "issuer" | "addedBy">) =>
          addedBy === undefined ? undefined : guardedFetch(hosts.filter((host) => isListed(new URL(issuer), [host])))

        const verifyJwt = makeVerifyJwt<IdentityProvider>(fetchFor)

        const list = Effect.fn("IdentityProviders.list")((organization: Organization) =>
          Effect.map(
            orUnavailable(app<ProviderRow>`
            SELECT organization_id, issuer, audience, jwks_url, role_claim, sign_in_name, client_secret, added_by
            FROM max.identity_providers WHERE organization_id = ${organization.id} ORDER BY issuer, audience`),
            (rows) => rows.map(providerOf)
          )
        )

        const trusted = Effect.fnUntraced(function* (
          organization: Organization,
          { audience, issuer }: Pick<IdentityProvider, "issuer" | "audience">
        ) {
          const all = yield* list(organization)
          return all.find((one) => one.issuer === issuer && one.audience === audience) ?? (yield* unknownProvider)
        })

        /** The providers that a JWT's claims name, at most two. Several, such as those of two organizations, name none. */
        const named = (claims: { readonly issuer: string; readonly audiences: ReadonlyArray<string> }) =>
          orUnavailable(admission<ProviderRow & { epoch: bigint }>`/* max provider */
          SELECT p.organization_id, p.issuer, p.audience, p.jwks_url, p.role_claim, p.sign_in_name, p.client_secret, p.added_by, o.epoch
          FROM max.identity_providers p JOIN max.organizations o ON o.organization_id = p.organization_id
          WHERE p.issuer = ${claims.issuer} AND p.audience = ANY(${claims.audiences}::text[]) LIMIT 2`)

        /** What a JWT proves at a provider, whether it is trusted or new. */
        const examined = Effect.fnUntraced(function* (
          organization: Organization,
          provider: IdentityProvider,
          jwt: Redacted.Redacted<string>,
          verify: typeof verifyJwt,
          isNew: boolean
        ) {
          const { audience, issuer } = provider
          const jose = yield* loadJose
          const text = Redacted.value(jwt)
          const claims = unverifiedClaims(jose, text)
          if (claims === undefined) return "form"
          if (claims.issuer !== issuer) return "issuer"
          if (!claims.audiences.includes(audience)) return "audience"
          const verified = yield* verify(jose, text, provider).pipe(
            Effect.catch((error) => Effect.succeed(error._tag === "RejectedJwt" ? error.fault : "unreachable"))
          )
          if (typeof verified === "string") return isNew && verified === "unreachable" ? yield* unreadable : verified
          // Only its signer learns whether another audience of it is trusted, perhaps by another organization.
          const rows = yield* named(claims)
          if (isNew && rows.some((row) => row.audience === audience)) return yield* taken
          if (rows.length !== (isNew ? 0 : 1)) return "several"
          return { organizationId: organization.id, ...provenBy(verified.payload, provider) }
        })

        const sealable = (organization: Organization, secret: Redacted.Redacted<string>) =>
          Effect.mapError(secrets.take(organization, { secret }), ({ message }) =>
            providerProblem("clientSecret", message)
          )

        /** A new provider with the address of its keys. */
        const described = Effect.fnUntraced(function* (
          organization: Organization,
          given: NewProvider,
          administrator: Principal | undefined
        ): Effect.fn.Return<IdentityProvider, InvalidInput | OperatorError> {
          yield* checkNewProvider(given, administrator !== undefined)
          const { audience, issuer, roleClaim, signIn } = given
          const clientSecret = signIn?.clientSecret
          if (Redacted.isRedacted(clientSecret)) yield* sealable(organization, clientSecret)
          const by = administrator === undefined ? {} : { addedBy: administrator.anchorEntityId }
          const ask = fetchFor({ issuer, ...by })
          const discovered = discoverKeys(issuer, ask)
          const jwksUrl =
            given.jwksUrl ?? (yield* ask === undefined ? discovered : Effect.mapError(discovered, () => unreadable))
          return {
            issuer,
            audience,
            jwksUrl,
            ...(roleClaim === undefined ? {} : { roleClaim }),
            ...(signIn === undefined
              ? {}
              : {
                  signIn: {
                    name: signIn.name,
                    ...(clientSecret === undefined
                      ? {}
                      : { clientSecret: Redacted.isRedacted(clientSecret) ? SEALED : clientSecret })
                  }
                }),
            ...by
          }
        })

        /** With keys that are read for this once. */
        const rehearsed = (organization: Organization, provider: IdentityProvider, token: Redacted.Redacted<string>) =>
          examined(organization, provider, token, makeVerifyJwt<IdentityProvider>(fetchFor), true)

        return IdentityProviders.of({
          add: Effect.fn("IdentityProviders.add")(function* (organization, given, by) {
            const provider = yield* described(organization, given, by?.administrator)
            if (by !== undefined) {
              const proven = yield* rehearsed(organization, provider, by.token)
              if (typeof proven === "string") return yield* providerProblem("token", JWT_FAULTS[proven])
            }
            const { addedBy, ...details } = provider
            const { audience, issuer, jwksUrl, roleClaim, signIn } = details
            const secret = given.signIn?.clientSecret
            const actor = addedBy ?? OPERATOR
            const added = yield* Effect.gen(function* () {
              yield* lockEpochFor(app, organization, by?.administrator)
              const rows = yield* app`
                  INSERT INTO max.identity_providers
                    (organization_id, issuer, audience, jwks_url, role_claim, sign_in_name, client_secret, added_by)
                  VALUES (${organization.id}, ${issuer}, ${audience}, ${jwksUrl}, ${roleClaim ?? null},
                    ${signIn?.name ?? null}, ${signIn?.clientSecret ?? null}, ${addedBy ?? null})
                  ON CONFLICT DO NOTHING RETURNING 1`
              if (rows.length === 0) return false
              if (Redacted.isRedacted(secret)) yield* secrets.put(organization, secretName(provider), { secret }, actor)
              // A token that named one provider can name two from now on.
              yield* raiseEpoch(app, organization.id, [{ actor, action: "provider.added", subject: issuer, details }])
              return true
            }).pipe(app.withTransaction, orUnavailable)
            return added ? provider : yield* taken
          }),

          rehearse: Effect.fn("IdentityProviders.rehearse")(function* (organization, given, { administrator, token }) {
            return yield* rehearsed(organization, yield* described(organization, given, administrator), token)
          }),

          list,
          fetchFor,

          sealedSecret: Effect.fn("IdentityProviders.sealedSecret")(function* ({ organization, ...provider }) {
            const found = yield* secrets.read(organization, secretName(provider))
            return found === undefined ? yield* Unavailable.error : Redacted.value(found.secret)
          }),

          offered: Effect.map(
            orUnavailable(admission<ProviderRow & OrganizationRow>`/* max offered */
            SELECT p.issuer, p.audience, p.jwks_url, p.role_claim, p.sign_in_name, p.client_secret, p.added_by,
              o.organization_id, o.slug, o.name, o.country, o.time_zone, o.external_key
            FROM max.identity_providers p JOIN max.organizations o ON o.organization_id = p.organization_id
            WHERE p.sign_in_name IS NOT NULL AND (SELECT count(*) FROM (SELECT 1 FROM max.organizations LIMIT 2) o) = 1
            ORDER BY p.sign_in_name, p.issuer, p.audience LIMIT 20`),
            (rows) => rows.map((row) => ({ ...providerOf(row), organization: organizationOf(row) }))
          ),

          replaceSecret: Effect.fn("IdentityProviders.replaceSecret")(function* (
            organization,
            named,
            { reference, secret: given },
            administrator
          ) {
            const provider = yield* trusted(organization, named)
            if (provider.signIn === undefined) return yield* noClient
            const secret = yield* reference === undefined ? sealable(organization, given) : Effect.succeed(given)
            yield* tryClientSecret(provider, secret, fetchFor(provider), redirectUri)
            const { audience, issuer } = provider
            const actor = administrator?.anchorEntityId ?? OPERATOR
            const kept = reference ?? SEALED
            const replaced = yield* Effect.gen(function* () {
              yield* lockEpochFor(app, organization, administrator)
              const rows = yield* app`UPDATE max.identity_providers SET client_secret = ${kept}
                  WHERE organization_id = ${organization.id} AND issuer = ${issuer} AND audience = ${audience}
                  AND sign_in_name IS NOT NULL RETURNING 1`
              if (rows.length === 0) return false
              yield* reference === undefined
                ? secrets.put(organization, secretName(provider), { secret }, actor)
                : secrets.remove(organization, secretName(provider))
              yield* appendAudit(app, organization.id, "changes", [
                { actor, action: "provider.secret-set", subject: issuer, details: { audience, clientSecret: kept } }
              ])
              return true
            }).pipe(app.withTransaction, orUnavailable)
            if (!replaced) return yield* unknownProvider
          }),

          remove: Effect.fn("IdentityProviders.remove")(function* (organization, issuer, audience, administrator) {
            const removed = yield* Effect.gen(function* () {
              yield* lockEpochFor(app, organization, administrator)
              const rows = yield* app`DELETE FROM max.identity_providers WHERE organization_id = ${organization.id}
                  AND issuer = ${issuer} AND audience = ${audience} RETURNING 1`
              if (rows.length === 0) return false
              yield* secrets.remove(organization, secretName({ issuer, audience }))
              yield* raiseEpoch(app, organization.id, [
                {
                  actor: administrator?.anchorEntityId ?? OPERATOR,
                  action: "provider.removed",
                  subject: issuer,
                  details: { audience }
                }
              ])
              return true
            }).pipe(app.withTransaction, orUnavailable)
            if (!removed) return yield* unknownProvider
          }),

          examine: Effect.fn("IdentityProviders.examine")(
            function* (organization, named, jwt, roleClaim) {
              const provider = yield* trusted(organization, named)
              const read = roleClaim === undefined ? provider : { ...provider, roleClaim }
              return yield* examined(organization, read, jwt, verifyJwt, false)
            },
            // Only of a new provider.
            Effect.catchTag("InvalidInput", Effect.die)
          ),

          verify: Effect.fn("IdentityProviders.verify")(function* (jwt) {
            const jose = yield* loadJose
            const claims = unverifiedClaims(jose, jwt)
            if (claims === undefined) return yield* NotAuthenticated.error
            const [row, second] = yield* named(claims)
            if (row === undefined || second !== undefined) return yield* NotAuthenticated.error
            const provider = providerOf(row)
            const { payload } = yield* Effect.catchTag(
              verifyJwt(jose, jwt, provider),
              "RejectedJwt",
              () => NotAuthenticated.error
            )
            return { organizationId: row.organization_id, epoch: row.epoch, ...provenBy(payload, provider) }
          })
        })
      })
    )
}

const taken = providerProblem("issuer", "with this audience it already belongs to an organization.")

const noClient = OperatorError.of("People don't sign in with this provider, so its client has no secret.")

const unknownProvider = OperatorError.withCommand(
  "No provider has this issuer and audience.",
  "max idp list shows the providers."
)

interface ProviderRow {
  readonly organization_id: bigint
  readonly issuer: string
  readonly audience: string
  readonly jwks_url: string
  readonly role_claim: string | null
  readonly sign_in_name: string | null
  readonly client_secret: string | null
  readonly added_by: string | null
}

const providerOf = (row: ProviderRow): IdentityProvider => ({
  issuer: row.issuer,
  audience: row.audience,
  jwksUrl: row.jwks_url,
  ...(row.role_claim === null ? {} : { roleClaim: row.role_claim }),
  ...(row.sign_in_name === null
    ? {}
    : {
        signIn: {
          name: row.sign_in_name,
          ...(row.client_secret === null ? {} : { clientSecret: row.client_secret })
        }
      }),
  ...(row.added_by === null ? {} : { addedBy: row.added_by })
})
