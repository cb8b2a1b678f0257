/**
 * Identity providers that an organization believes: whose signed tokens let its members in. An issuer's audience belongs
 * to one organization. A token proves a subject or a verified e-mail address; whether that is a member is another thing.
 */
import { Context, Effect, Layer } from "effect"
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
  /** The claim that carries roles, with dots for objects inside objects; without it the membership's roles count. */
  readonly roleClaim?: string
}

/** What a verified token says of whoever sent it. */
export interface Proven {
  readonly organizationId: bigint
  /** The key of the `subject` identifier. */
  readonly subject: string | undefined
  /** The key of the `email` identifier, when the provider says that it verified it. */
  readonly email: string | undefined
  /** The roles of the claim, where one is configured: none when it carries none. */
  readonly claimedRoles?: ReadonlyArray<string>
  readonly expiresAt: Date
  /** The organization's epoch at the moment when the provider was found to be believed. */
  readonly epoch: bigint
}

/** Asymmetric only: a provider's public key must never be taken for a shared secret. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
const CLOCK_TOLERANCE_SECONDS = 30
const MAX_KEY_SETS = 100

/** How a provider's subject is kept: an issuer has no space, so that no two pairs come to the same text. */
export const subjectKey = (issuer: string, subject: string): string => `${issuer} ${subject}`

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** An absolute https URL as it was written; plain http only to this machine. */
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
    /** Believes a provider; without the address of its keys the provider is asked for it. */
    readonly add: (
      organization: Organization,
      provider: Omit<IdentityProvider, "jwksUrl"> & { readonly jwksUrl?: string | undefined }
    ) => Effect.Effect<IdentityProvider, OperatorError | Unavailable>
    readonly list: (organization: Organization) => Effect.Effect<ReadonlyArray<IdentityProvider>, Unavailable>
    /** Stops believing a provider at once, in every process. */
    readonly remove: (
      organization: Organization,
      issuer: string,
      audience: string
    ) => Effect.Effect<void, OperatorError | Unavailable>
    /** What a signed token proves; every reason why it proves nothing is the one `NotAuthenticated`. */
    readonly verify: (jwt: string) => Effect.Effect<Proven, NotAuthenticated | Unavailable>
  }
>()("max/services/IdentityProviders") {
  static readonly layer = Layer.effect(
    IdentityProviders,
    Effect.gen(function* () {
      const { admission, app } = yield* Database
      const keySets = new Map<string, JWTVerifyGetKey>()

      /** Fetched when needed, kept for ten minutes, asked again for an unknown key at most every thirty seconds. */
      const keysAt = ({ createRemoteJWKSet }: Jose, url: string): JWTVerifyGetKey => {
        const known = keySets.get(url)
        if (known !== undefined) return known
        const keys = createRemoteJWKSet(new URL(url), { cooldownDuration: 30_000, timeoutDuration: 5000 })
        if (keySets.size >= MAX_KEY_SETS) keySets.clear()
        keySets.set(url, keys)
        return keys
      }

      return IdentityProviders.of({
        add: Effect.fn("IdentityProviders.add")(function* (organization, { audience, issuer, roleClaim, ...given }) {
          for (const [what, url] of [
            ["--issuer", issuer],
            ["--jwks-url", given.jwksUrl ?? issuer]
          ] as const) {
            if (!isTrustedUrl(url)) {
              return yield* new OperatorError({ message: `${what} is an https URL, and ${quoted(url)} isn't.` })
            }
          }
          if (audience.trim() === "" || audience.length > 500) {
            return yield* new OperatorError({ message: "--audience is what the provider's tokens say they are for." })
          }
          const jwksUrl = given.jwksUrl ?? (yield* discover(issuer))
          const provider: IdentityProvider = {
            issuer,
            audience,
            jwksUrl,
            ...(roleClaim === undefined ? {} : { roleClaim })
          }
          const added = yield* orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                const rows = yield* app`
                  INSERT INTO max.identity_providers (organization_id, issuer, audience, jwks_url, role_claim)
                  VALUES (${organization.id}, ${issuer}, ${audience}, ${jwksUrl}, ${roleClaim ?? null})
                  ON CONFLICT DO NOTHING RETURNING 1`
                if (rows.length === 0) return false
                yield* appendAudit(app, organization.id, "changes", [
                  { actor: OPERATOR, action: "provider.added", subject: issuer, details: { ...provider } }
                ])
                return true
              })
            )
          )
          if (!added) {
            return yield* new OperatorError({
              message: "This issuer's audience belongs to an organization already. max idp list shows this one's."
            })
          }
          return provider
        }),

        list: Effect.fn("IdentityProviders.list")((organization) =>
          Effect.map(
            orUnavailable(app<ProviderRow>`
              SELECT organization_id, issuer, audience, jwks_url, role_claim FROM max.identity_providers
              WHERE organization_id = ${organization.id} ORDER BY issuer, audience`),
            (rows) => rows.map(providerOf)
          )
        ),

        remove: Effect.fn("IdentityProviders.remove")(function* (organization, issuer, audience) {
          const removed = yield* orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                const rows = yield* app`DELETE FROM max.identity_providers WHERE organization_id = ${organization.id}
                  AND issuer = ${issuer} AND audience = ${audience} RETURNING 1`
                if (rows.length === 0) return false
                yield* raiseEpoch(app, organization.id, [
                  { actor: OPERATOR, action: "provider.removed", subject: issuer, details: { audience } }
                ])
                return true
              })
            )
          )
          if (!removed) {
            return yield* new OperatorError({
              message: "There is no provider with this issuer and audience. max idp list shows them."
            })
          }
        }),

        verify: Effect.fn("IdentityProviders.verify")(function* (jwt) {
          const jose = yield* loaded
          const unproven = readUnproven(jose, jwt)
          if (unproven === undefined) return yield* NotAuthenticated.error
          const rows = yield* orUnavailable(admission<ProviderRow & { epoch: bigint }>`/* max provider */
            SELECT p.organization_id, p.issuer, p.audience, p.jwks_url, p.role_claim, o.epoch FROM max.identity_providers p
            JOIN max.organizations o ON o.organization_id = p.organization_id
            WHERE p.issuer = ${unproven.issuer} AND p.audience = ANY(${unproven.audiences}::text[]) LIMIT 2`)
          const [row] = rows
          // A token for the audiences of two organizations says nothing about which of them is meant.
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
            catch: (error) => whyNot(jose, error)
          })
          return provenBy(payload.payload, row, provider)
        })
      })
    })
  )
}

/** Loaded for the first signed token: a process that never sees one does without. */
const loaded = Effect.promise(() => import("jose"))
type Jose = Effect.Success<typeof loaded>

interface ProviderRow {
  readonly organization_id: bigint
  readonly issuer: string
  readonly audience: string
  readonly jwks_url: string
  readonly role_claim: string | null
}

const providerOf = (row: ProviderRow): IdentityProvider => ({
  issuer: row.issuer,
  audience: row.audience,
  jwksUrl: row.jwks_url,
  ...(row.role_claim === null ? {} : { roleClaim: row.role_claim })
})

/** Which provider a token says it is from: to find the key that it has to be signed with, nothing else. */
const readUnproven = ({ decodeJwt }: Jose, jwt: string) => {
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

const PROVIDERS_FAULT: ReadonlyArray<string> = ["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"]

/** A token that isn't good, or keys that can't be had right now: only the first is the caller's fault. */
const whyNot = ({ errors }: Jose, error: unknown): NotAuthenticated | Unavailable =>
  error instanceof errors.JOSEError && !PROVIDERS_FAULT.includes(error.code)
    ? NotAuthenticated.error
    : Unavailable.error

const provenBy = (
  payload: JWTPayload,
  row: { readonly organization_id: bigint; readonly epoch: bigint },
  { issuer, roleClaim }: IdentityProvider
): Proven => ({
  organizationId: row.organization_id,
  epoch: row.epoch,
  subject: payload.sub === undefined || payload.sub === "" ? undefined : subjectKey(issuer, payload.sub),
  email:
    payload["email_verified"] === true && typeof payload["email"] === "string" ? emailKey(payload["email"]) : undefined,
  ...(roleClaim === undefined ? {} : { claimedRoles: rolesAt(payload, roleClaim) }),
  expiresAt: new Date((payload.exp ?? 0) * 1000)
})

/** The texts at a claim: a list, or one text with spaces between. A claim's name may itself have dots (a URL). */
const rolesAt = (payload: JWTPayload, claim: string): ReadonlyArray<string> => {
  const own = (value: unknown, key: string): unknown =>
    typeof value === "object" && value !== null && Object.hasOwn(value, key)
      ? (value as Record<string, unknown>)[key]
      : undefined
  const found = own(payload, claim) ?? claim.split(".").reduce<unknown>(own, payload)
  const texts = typeof found === "string" ? found.split(/\s+/) : Array.isArray(found) ? found : []
  return [...new Set(texts.filter((text): text is string => typeof text === "string" && text !== ""))]
}

/** Where a provider says its keys are (OpenID Connect Discovery). */
const discover = (issuer: string): Effect.Effect<string, OperatorError> => {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`
  const failed = (why: string) =>
    new OperatorError({ message: `${url} ${why}. Say where the keys are: --jwks-url URL` })
  return Effect.tryPromise({
    try: async () => {
      const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(5000) })
      return response.ok ? ((await response.json()) as { issuer?: unknown; jwks_uri?: unknown }) : undefined
    },
    catch: () => failed("can't be read")
  }).pipe(
    Effect.flatMap((found) =>
      found?.issuer === issuer && typeof found.jwks_uri === "string" && isTrustedUrl(found.jwks_uri)
        ? Effect.succeed(found.jwks_uri)
        : Effect.fail(failed("doesn't describe this issuer"))
    )
  )
}
