/**
 * The identity providers that an organization trusts: their signed JWTs admit its members. A pair of issuer and audience
 * belongs to one organization. A JWT proves a subject or a verified e-mail address; `Admission` finds the membership.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { JWTPayload, JWTVerifyGetKey } from "jose"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { raiseEpoch } from "../../database/epoch.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { NotAuthenticated, OperatorError, Unavailable } from "../../domain/errors.ts"
import { emailKey } from "../../domain/keys.ts"
import { quoted } from "../../domain/text.ts"

export interface IdentityProvider {
  readonly issuer: string
  readonly audience: string
  readonly jwksUrl: string
  /** The claim that carries roles, with dots for nested objects; without it the membership's roles apply. */
  readonly roleClaim?: string
  /** With it, people sign in at the provider from Max's sign-in page. The audience is then the client's id. */
  readonly signIn?: ProviderSignIn
}

interface ProviderSignIn {
  /** The name on the button, such as Google. */
  readonly name: string
  /** A reference to the client's secret: env:NAME or file:/path. Without it the client is public (PKCE alone). */
  readonly clientSecret?: string
}

/** The identity that a verified JWT proves. */
export interface ProvenIdentity {
  readonly organizationId: bigint
  /** The key of the `subject` identifier. */
  readonly subject: string | undefined
  /** The key of the `email` identifier, if the provider has verified it. */
  readonly email: string | undefined
  /** The roles of the configured claim, possibly none; undefined without a configured claim. */
  readonly claimedRoles?: ReadonlyArray<string>
  readonly expiresAt: Date
  /** The organization's epoch, read together with the provider. */
  readonly epoch: bigint
}

/** Asymmetric algorithms only: with an HMAC algorithm, a provider's public key would become a shared secret. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
const CLOCK_TOLERANCE_SECONDS = 30
const MAX_KEY_SETS = 100

/** The identifier key of a subject. Issuers contain no space, so the key is unique per pair. */
export const subjectKey = (issuer: string, subject: string): string => `${issuer} ${subject}`

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** An absolute https URL without credentials; http only for loopback. */
const isTrustedUrl = (text: string): boolean => {
  if (/\s/.test(text) || text.length > 500 || !URL.canParse(text)) return false
  const { hostname, password, protocol, username } = new URL(text)
  return (
    username === "" && password === "" && (protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname)))
  )
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
      const keySets = new Map<string, JWTVerifyGetKey>()

      /** Keys are fetched on demand and cached for ten minutes; an unknown key id refetches at most every 30 seconds. */
      const keysAt = ({ createRemoteJWKSet }: Jose, url: string): JWTVerifyGetKey => {
        const cached = keySets.get(url)
        if (cached !== undefined) return cached
        const keys = createRemoteJWKSet(new URL(url), { cooldownDuration: 30_000, timeoutDuration: 5000 })
        if (keySets.size >= MAX_KEY_SETS) keySets.clear()
        keySets.set(url, keys)
        return keys
      }

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
          const jwksUrl = options.jwksUrl ?? (yield* discover(issuer))
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
          const payload = yield* Effect.tryPromise({
            try: () =>
              jose.jwtVerify(jwt, keysAt(jose, provider.jwksUrl), {
                issuer: provider.issuer,
                audience: provider.audience,
                algorithms: ALGORITHMS,
                clockTolerance: CLOCK_TOLERANCE_SECONDS,
                requiredClaims: ["exp", "sub"]
              }),
            catch: (error) => verificationError(jose, error)
          })
          return identityOf(payload.payload, row, provider)
        })
      })
    })
  )
}

/** Imported for the first JWT only: it costs start-up time. */
const loadJose = Effect.promise(() => import("jose"))
type Jose = Effect.Success<typeof loadJose>

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

/** The issuer and audiences that a JWT claims, used only to find the key for its verification. */
const unverifiedClaims = ({ decodeJwt }: Jose, jwt: string) => {
  try {
    const { aud, iss } = decodeJwt(jwt)
    const audiences = typeof aud === "string" ? [aud] : aud
    return typeof iss === "string" && Array.isArray(audiences) && audiences.every((one) => typeof one === "string")
      ? { issuer: iss, audiences: audiences.slice(0, 20) }
      : undefined
  } catch {
    return undefined
  }
}

const KEY_SET_ERRORS: ReadonlyArray<string> = ["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"]

/** An invalid JWT is `NotAuthenticated`; failing to fetch the provider's keys is `Unavailable`. */
const verificationError = ({ errors }: Jose, error: unknown): NotAuthenticated | Unavailable =>
  error instanceof errors.JOSEError && !KEY_SET_ERRORS.includes(error.code) ? NotAuthenticated.error : Unavailable.error

const identityOf = (
  payload: JWTPayload,
  row: { readonly organization_id: bigint; readonly epoch: bigint },
  { issuer, roleClaim }: IdentityProvider
): ProvenIdentity => ({
  organizationId: row.organization_id,
  epoch: row.epoch,
  subject: payload.sub === undefined || payload.sub === "" ? undefined : subjectKey(issuer, payload.sub),
  email:
    payload["email_verified"] === true && typeof payload["email"] === "string" ? emailKey(payload["email"]) : undefined,
  ...(roleClaim === undefined ? {} : { claimedRoles: rolesAt(payload, roleClaim) }),
  expiresAt: new Date((payload.exp ?? 0) * 1000)
})

/** The roles of a claim: an array, or a string separated by spaces. The claim's own name may contain dots (a URL). */
const rolesAt = (payload: JWTPayload, claim: string): ReadonlyArray<string> => {
  const own = (value: unknown, key: string): unknown =>
    typeof value === "object" && value !== null && Object.hasOwn(value, key)
      ? (value as Record<string, unknown>)[key]
      : undefined
  const value = own(payload, claim) ?? claim.split(".").reduce<unknown>(own, payload)
  const texts = typeof value === "string" ? value.split(/\s+/) : Array.isArray(value) ? value : []
  return [...new Set(texts.filter((text): text is string => typeof text === "string" && text !== ""))]
}

const decodeDiscovery = Schema.decodeUnknownOption(Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String }))

/** Reads the key set's URL from the provider's discovery document (OpenID Connect Discovery). */
const discover = (issuer: string): Effect.Effect<string, OperatorError> => {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`
  const failed = (reason: string) => OperatorError.of(`${url} ${reason}. Pass the URL of the keys: --jwks-url URL`)
  return Effect.tryPromise({
    try: async () => {
      const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(5000) })
      return response.ok ? decodeDiscovery(await response.json()) : Option.none()
    },
    catch: () => failed("can't be read")
  }).pipe(
    Effect.flatMap((document) =>
      Option.isSome(document) && document.value.issuer === issuer && isTrustedUrl(document.value.jwks_uri)
        ? Effect.succeed(document.value.jwks_uri)
        : Effect.fail(failed("doesn't describe this issuer"))
    )
  )
}
