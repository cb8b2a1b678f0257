/** Verifies JWTs of trusted identity providers. */
import { Data, Effect } from "effect"
import type { JWTPayload, JWTVerifyGetKey } from "jose"
import { Unavailable } from "../../domain/errors.ts"
import { emailKey } from "../../domain/keys.ts"
import type { GuardedFetch } from "../network/guardedFetch.ts"

/** An issuer whose JWTs for one audience are trusted. */
export interface TrustedIssuer {
  readonly issuer: string
  readonly audience: string
  readonly jwksUrl: string
  /** The claim that carries roles, with dots for nested objects; without it the membership's roles apply. */
  readonly roleClaim?: string
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

/** Imported for the first JWT only: it costs start-up time. */
export const loadJose = Effect.promise(() => import("jose"))
type Jose = Effect.Success<typeof loadJose>

/** The issuer and audiences that a JWT claims, used only to find the key for its verification. */
export const unverifiedClaims = ({ decodeJwt }: Jose, jwt: string) => {
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

/** Why a JWT isn't accepted. An administrator who tries one is told; a caller with one isn't. */
export type JwtFault =
  | "form"
  | "algorithm"
  | "key"
  | "signature"
  | "issuer"
  | "audience"
  | "several"
  | "expired"
  | "early"
  | "claims"
  | "unreachable"

export class RejectedJwt extends Data.TaggedError("RejectedJwt")<{ readonly fault: JwtFault }> {}

const KEY_SET_ERRORS: ReadonlyArray<string> = ["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"]

const FAULTS: Readonly<Record<string, JwtFault>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: "algorithm",
  ERR_JOSE_NOT_SUPPORTED: "algorithm",
  ERR_JWKS_NO_MATCHING_KEY: "key",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "key",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "signature",
  ERR_JWT_EXPIRED: "expired"
}
const CLAIM_FAULTS: Readonly<Record<string, JwtFault>> = { iss: "issuer", aud: "audience", nbf: "early" }

/** An invalid JWT is rejected; failing to fetch the provider's keys is `Unavailable`. */
const verificationError = ({ errors }: Jose, error: unknown): RejectedJwt | Unavailable => {
  if (!(error instanceof errors.JOSEError) || KEY_SET_ERRORS.includes(error.code)) return Unavailable.error
  const fault =
    error instanceof errors.JWTClaimValidationFailed && error.reason === "check_failed"
      ? CLAIM_FAULTS[error.claim]
      : error instanceof errors.JWTClaimValidationFailed
        ? "claims"
        : FAULTS[error.code]
  return new RejectedJwt({ fault: fault ?? "form" })
}

/** Microsoft Entra, in each of its clouds. Its tokens have no `email_verified`. */
const ENTRA = /^https:\/\/login\.(microsoftonline\.com|microsoftonline\.us|partner\.microsoftonline\.cn)\//

/**
 * Whether the provider vouches for the e-mail address. In Entra any administrator of a tenant can write any address into an account;
 * the optional claim `xms_edov` says that its domain is verified.
 */
const isVerified = (payload: JWTPayload, issuer: string): boolean =>
  payload["email_verified"] === undefined && ENTRA.test(issuer)
    ? [true, 1, "1", "true"].some((value) => value === payload["xms_edov"])
    : payload["email_verified"] === true

/** What a verified payload says about its subject. */
export const provenBy = (
  payload: JWTPayload,
  { issuer, roleClaim }: TrustedIssuer
): Omit<ProvenIdentity, "organizationId" | "epoch"> => ({
  subject: isStorable(payload.sub) ? subjectKey(issuer, payload.sub) : undefined,
  email: isVerified(payload, issuer) && isStorable(payload["email"]) ? emailKey(payload["email"]) : undefined,
  ...(roleClaim === undefined ? {} : { claimedRoles: rolesAt(payload, roleClaim) }),
  expiresAt: new Date(Math.min((payload.exp ?? 0) * 1000, LATEST))
})

/** The latest time that a Date can have. */
const LATEST = 8_640_000_000_000_000

/** A text that a member's identifier can be: Postgres stores no NUL character. */
const isStorable = (claim: unknown): claim is string =>
  typeof claim === "string" && claim !== "" && !claim.includes("\u0000")

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

/** A verifier that keeps the providers' keys. `fetchFor`: how a provider's addresses are asked, if not by `fetch`. */
export const makeVerifyJwt = <Provider extends TrustedIssuer>(
  fetchFor: (provider: Provider) => GuardedFetch | undefined
) => {
  const keySets = new Map<string, JWTVerifyGetKey>()

  /** Keys are fetched on demand and cached for ten minutes; an unknown key id refetches at most every 30 seconds. */
  const keysOf = ({ createRemoteJWKSet, customFetch }: Jose, provider: Provider): JWTVerifyGetKey => {
    const ask = fetchFor(provider)
    // What one provider may ask, another may not. Issuers contain no space.
    const place = ask === undefined ? provider.jwksUrl : `${provider.issuer} ${provider.jwksUrl}`
    const cached = keySets.get(place)
    if (cached !== undefined) return cached
    const keys = createRemoteJWKSet(new URL(provider.jwksUrl), {
      cooldownDuration: 30_000,
      timeoutDuration: 5000,
      ...(ask === undefined ? {} : { [customFetch]: ask })
    })
    if (keySets.size >= MAX_KEY_SETS) keySets.clear()
    keySets.set(place, keys)
    return keys
  }

  return (jose: Jose, jwt: string, provider: Provider) =>
    Effect.tryPromise({
      try: () =>
        jose.jwtVerify(jwt, keysOf(jose, provider), {
          issuer: provider.issuer,
          audience: provider.audience,
          algorithms: ALGORITHMS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          requiredClaims: ["exp", "sub"]
        }),
      catch: (error) => verificationError(jose, error)
    })
}
