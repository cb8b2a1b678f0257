/**
 * The identity providers that an organization trusts: their signed JWTs admit its members. A pair of issuer and audience
 * belongs to one organization. A JWT proves a subject or a verified e-mail address; `Admission` finds the membership.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { NotAuthenticated, OperatorError, type Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import { lockEpochFor } from "../members/suspension.ts"
import { discoverKeys, isTrustedUrl } from "./discovery.ts"
import {
  type JwtFault,
  loadJose,
  makeVerifyJwt,
  provenBy,
  type ProvenIdentity,
  type TrustedIssuer,
  unverifiedClaims
} from "./jwt.ts"

export interface IdentityProvider extends TrustedIssuer {
  /** With it, people sign in at the provider from Max's sign-in page. The audience is then the client's id. */
  readonly signIn?: ProviderSignIn
}

interface ProviderSignIn {
  /** The name on the button, such as Google. */
  readonly name: string
  /** A reference to the client's secret: env:NAME or file:/path. Without it the client is public (PKCE alone). */
  readonly clientSecret?: string
}

export type Proven = Omit<ProvenIdentity, "epoch">

export class IdentityProviders extends Context.Service<
  IdentityProviders,
  {
    /** Trusts a provider; without `jwksUrl` its discovery document is read. */
    readonly add: (
      organization: Organization,
      provider: Omit<IdentityProvider, "jwksUrl"> & { readonly jwksUrl?: string | undefined }
    ) => Effect.Effect<IdentityProvider, OperatorError | Unavailable>
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<IdentityProvider>, Unavailable>
    /** The providers that the sign-in page offers: those of the only organization, none where there are several. */
    readonly offered: Effect.Effect<ReadonlyArray<IdentityProvider>, Unavailable>
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
  static readonly layer = Layer.effect(
    IdentityProviders,
    Effect.gen(function* () {
      const { admission, app } = yield* Database
      const verifyJwt = makeVerifyJwt()

      const list = Effect.fn("IdentityProviders.list")((organization: Organization) =>
        Effect.map(
          orUnavailable(app<ProviderRow>`
            SELECT organization_id, issuer, audience, jwks_url, role_claim, sign_in_name, client_secret FROM max.identity_providers
            WHERE organization_id = ${organization.id} ORDER BY issuer, audience`),
          (rows) => rows.map(providerOf)
        )
      )

      /** The provider that a JWT's claims name; undefined also if they name several, such as those of two organizations. */
      const named = Effect.fnUntraced(function* (claims: {
        readonly issuer: string
        readonly audiences: ReadonlyArray<string>
      }) {
        const rows = yield* orUnavailable(admission<ProviderRow & { epoch: bigint }>`/* max provider */
          SELECT p.organization_id, p.issuer, p.audience, p.jwks_url, p.role_claim, p.sign_in_name, p.client_secret, o.epoch FROM max.identity_providers p
          JOIN max.organizations o ON o.organization_id = p.organization_id
          WHERE p.issuer = ${claims.issuer} AND p.audience = ANY(${claims.audiences}::text[]) LIMIT 2`)
        return rows.length === 1 ? rows[0] : undefined
      })

      return IdentityProviders.of({
        add: Effect.fn("IdentityProviders.add")(function* (
          organization,
          { audience, issuer, roleClaim, signIn, ...options }
        ) {
          for (const [option, url] of [
            ["--issuer", issuer],
            ["--jwks-url", options.jwksUrl ?? issuer]
          ] as const) {
            if (!isTrustedUrl(url)) {
              return yield* OperatorError.of(`${option} must be an https URL; ${quoted(url)} isn't.`)
            }
          }
          if (audience.trim() === "" || audience.length > 500) {
            return yield* OperatorError.of(
              "--audience must have 1 to 500 characters: the aud claim of the provider's tokens."
            )
          }
          const jwksUrl = options.jwksUrl ?? (yield* discoverKeys(issuer))
          const provider: IdentityProvider = {
            issuer,
            audience,
            jwksUrl,
            ...(roleClaim === undefined ? {} : { roleClaim }),
            ...(signIn === undefined ? {} : { signIn })
          }
          if (signIn !== undefined && (signIn.name.trim() === "" || signIn.name.length > 50)) {
            return yield* OperatorError.of("--sign-in must have 1 to 50 characters: the name on the button.")
          }
          if (signIn?.clientSecret !== undefined && !/^(env|file):./.test(signIn.clientSecret)) {
            return yield* OperatorError.of("--client-secret must be a reference, env:NAME or file:/path: it is stored.")
          }
          const added = yield* Effect.gen(function* () {
            const rows = yield* app`
                  INSERT INTO max.identity_providers (organization_id, issuer, audience, jwks_url, role_claim, sign_in_name, client_secret)
                  VALUES (${organization.id}, ${issuer}, ${audience}, ${jwksUrl}, ${roleClaim ?? null},
                    ${signIn?.name ?? null}, ${signIn?.clientSecret ?? null})
                  ON CONFLICT DO NOTHING RETURNING 1`
            if (rows.length === 0) return false
            yield* appendAudit(app, organization.id, "changes", [
              { actor: OPERATOR, action: "provider.added", subject: issuer, details: { ...provider } }
            ])
            return true
          }).pipe(app.withTransaction, orUnavailable)
          if (!added) {
            return yield* OperatorError.of(
              "This issuer and audience already belong to an organization. max idp list shows this one's."
            )
          }
          return provider
        }),

        list,

        offered: Effect.map(
          orUnavailable(admission<ProviderRow>`/* max offered */
            SELECT p.organization_id, p.issuer, p.audience, p.jwks_url, p.role_claim, p.sign_in_name, p.client_secret
            FROM max.identity_providers p WHERE p.sign_in_name IS NOT NULL
              AND (SELECT count(*) FROM (SELECT 1 FROM max.organizations LIMIT 2) o) = 1
            ORDER BY p.sign_in_name, p.issuer, p.audience LIMIT 20`),
          (rows) => rows.map(providerOf)
        ),

        remove: Effect.fn("IdentityProviders.remove")(function* (organization, issuer, audience, administrator) {
          const removed = yield* Effect.gen(function* () {
            yield* lockEpochFor(app, organization, administrator)
            const rows = yield* app`DELETE FROM max.identity_providers WHERE organization_id = ${organization.id}
                  AND issuer = ${issuer} AND audience = ${audience} RETURNING 1`
            if (rows.length === 0) return false
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

        examine: Effect.fn("IdentityProviders.examine")(function* (organization, { audience, issuer }, jwt, roleClaim) {
          const provider = (yield* list(organization)).find((one) => one.issuer === issuer && one.audience === audience)
          if (provider === undefined) return yield* unknownProvider
          const jose = yield* loadJose
          const text = Redacted.value(jwt)
          const claims = unverifiedClaims(jose, text)
          if (claims === undefined) return "form"
          if (claims.issuer !== issuer) return "issuer"
          if (!claims.audiences.includes(audience)) return "audience"
          const verified = yield* verifyJwt(jose, text, provider).pipe(
            Effect.catch((error) => Effect.succeed(error._tag === "RejectedJwt" ? error.fault : "unreachable"))
          )
          if (typeof verified === "string") return verified
          // Only its signer learns whether another audience of it is trusted, perhaps by another organization.
          if ((yield* named(claims)) === undefined) return "several"
          const read = roleClaim === undefined ? provider : { ...provider, roleClaim }
          return { organizationId: organization.id, ...provenBy(verified.payload, read) }
        }),

        verify: Effect.fn("IdentityProviders.verify")(function* (jwt) {
          const jose = yield* loadJose
          const claims = unverifiedClaims(jose, jwt)
          if (claims === undefined) return yield* NotAuthenticated.error
          const row = yield* named(claims)
          if (row === undefined) return yield* NotAuthenticated.error
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
      })
})
