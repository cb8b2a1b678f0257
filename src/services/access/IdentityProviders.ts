/**
 * The identity providers that an organization trusts: their signed JWTs admit its members. A pair of issuer and audience
 * belongs to one organization. A JWT proves a subject or a verified e-mail address; `Admission` finds the membership.
 */
import { Context, Effect, Layer } from "effect"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { NotAuthenticated, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { discoverKeys, isTrustedUrl } from "./discovery.ts"
import { loadJose, makeVerifyJwt, provenBy, type ProvenIdentity, type TrustedIssuer, unverifiedClaims } from "./jwt.ts"

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
      audience: string
    ) => Effect.Effect<void, OperatorError | Unavailable>
    /** Verifies a JWT; every invalid one is the same `NotAuthenticated`. */
    readonly verify: (jwt: string) => Effect.Effect<ProvenIdentity, NotAuthenticated | Unavailable>
  }
>()("max/services/IdentityProviders") {
  static readonly layer = Layer.effect(
    IdentityProviders,
    Effect.gen(function* () {
      const { admission, app } = yield* Database
      const verifyJwt = makeVerifyJwt()
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

        list: Effect.fn("IdentityProviders.list")((organization) =>
          Effect.map(
            orUnavailable(app<ProviderRow>`
              SELECT organization_id, issuer, audience, jwks_url, role_claim, sign_in_name, client_secret FROM max.identity_providers
              WHERE organization_id = ${organization.id} ORDER BY issuer, audience`),
            (rows) => rows.map(providerOf)
          )
        ),

        offered: Effect.map(
          orUnavailable(admission<ProviderRow>`/* max offered */
            SELECT p.organization_id, p.issuer, p.audience, p.jwks_url, p.role_claim, p.sign_in_name, p.client_secret
            FROM max.identity_providers p WHERE p.sign_in_name IS NOT NULL
              AND (SELECT count(*) FROM (SELECT 1 FROM max.organizations LIMIT 2) o) = 1
            ORDER BY p.sign_in_name, p.issuer, p.audience LIMIT 20`),
          (rows) => rows.map(providerOf)
        ),

        remove: Effect.fn("IdentityProviders.remove")(function* (organization, issuer, audience) {
          const removed = yield* Effect.gen(function* () {
            const rows = yield* app`DELETE FROM max.identity_providers WHERE organization_id = ${organization.id}
                  AND issuer = ${issuer} AND audience = ${audience} RETURNING 1`
            if (rows.length === 0) return false
            yield* raiseEpoch(app, organization.id, [
              { actor: OPERATOR, action: "provider.removed", subject: issuer, details: { audience } }
            ])
            return true
          }).pipe(app.withTransaction, orUnavailable)
          if (!removed) {
            return yield* OperatorError.of(
              "No provider has this issuer and audience. max idp list shows the providers."
            )
          }
        }),

        verify: Effect.fn("IdentityProviders.verify")(function* (jwt) {
          const jose = yield* loadJose
          const claims = unverifiedClaims(jose, jwt)
          if (claims === undefined) return yield* NotAuthenticated.error
          const rows = yield* orUnavailable(admission<ProviderRow & { epoch: bigint }>`/* max provider */
            SELECT p.organization_id, p.issuer, p.audience, p.jwks_url, p.role_claim, p.sign_in_name, p.client_secret, o.epoch FROM max.identity_providers p
            JOIN max.organizations o ON o.organization_id = p.organization_id
            WHERE p.issuer = ${claims.issuer} AND p.audience = ANY(${claims.audiences}::text[]) LIMIT 2`)
          const [row] = rows
          // A JWT for the audiences of two organizations is ambiguous.
          if (row === undefined || rows.length > 1) return yield* NotAuthenticated.error
          const provider = providerOf(row)
          const { payload } = yield* verifyJwt(jose, jwt, provider)
          return { organizationId: row.organization_id, epoch: row.epoch, ...provenBy(payload, provider) }
        })
      })
    })
  )
}

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
