/** WebAuthn, by a library that is loaded for the first passkey: what a browser needs, and whether its answer is valid. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { InvalidInput } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { CHALLENGE_SECONDS } from "./passkeyChallenge.ts"

/** The site that passkeys are bound to (the relying party): `id` is its host name. */
export interface Site {
  readonly id: string
  readonly origin: string
}

/** Decides about the challenge of an answer, in base64url. */
type IsChallenge = (challenge: string) => boolean

/** What the authenticator keeps and Max stores: the public key, in COSE. */
interface StoredKey {
  readonly credential: Buffer
  readonly publicKey: Uint8Array
  readonly counter: number
}

const ORGANIZATION_BYTES = 8

/** What the authenticator stores about the person: the organization, and an opaque mark. */
const userHandle = ({ anchorEntityId, organizationId }: Principal) => {
  const organization = Buffer.alloc(ORGANIZATION_BYTES)
  organization.writeBigInt64BE(organizationId)
  const mark = createHash("sha256").update(`max passkey ${organizationId} ${anchorEntityId}`).digest().subarray(0, 24)
  return new Uint8Array(Buffer.concat([organization, mark]))
}

/** The organization in a user handle. It only selects where to look: the signature must fit the key that is stored there. */
const organizationOf = (handle: unknown): bigint | undefined => {
  const bytes = typeof handle === "string" ? Buffer.from(handle, "base64url") : undefined
  return bytes === undefined || bytes.length < ORGANIZATION_BYTES ? undefined : bytes.readBigInt64BE()
}

export const creationOptions = (
  site: Site,
  {
    challenge,
    known,
    label,
    principal
  }: {
    readonly challenge: Buffer
    readonly known: ReadonlyArray<Uint8Array>
    /** The name that the device shows beside the passkey. */
    readonly label: string
    readonly principal: Principal
  }
): Effect.Effect<object> =>
  Effect.flatMap(loadWebAuthn, ({ generateRegistrationOptions }) =>
    Effect.promise(() =>
      generateRegistrationOptions({
        rpName: "Max",
        rpID: site.id,
        userID: userHandle(principal),
        userName: label,
        userDisplayName: label,
        challenge: new Uint8Array(challenge),
        timeout: CHALLENGE_SECONDS * 1000,
        attestationType: "none",
        excludeCredentials: known.map((credential) => ({ id: Buffer.from(credential).toString("base64url") })),
        authenticatorSelection: { residentKey: "required", userVerification: "required" }
      })
    )
  )

export const requestOptions = (site: Site, challenge: Buffer): Effect.Effect<object> =>
  Effect.flatMap(loadWebAuthn, ({ generateAuthenticationOptions }) =>
    Effect.promise(() =>
      generateAuthenticationOptions({
        rpID: site.id,
        challenge: new Uint8Array(challenge),
        timeout: CHALLENGE_SECONDS * 1000,
        userVerification: "required"
      })
    )
  )

const UNVERIFIED = new InvalidInput({ message: "This passkey can't be verified. Try again." })

/** The key of a passkey that a browser made for this site and challenge. */
export const verifyMade = Effect.fnUntraced(function* (site: Site, given: object, isChallenge: IsChallenge) {
  const { verifyRegistrationResponse } = yield* loadWebAuthn
  const { registrationInfo } = yield* Effect.tryPromise({
    try: () =>
      verifyRegistrationResponse({
        response: given as RegistrationResponseJSON,
        expectedChallenge: isChallenge,
        expectedOrigin: site.origin,
        expectedRPID: site.id,
        requireUserVerification: true
      }),
    catch: () => UNVERIFIED
  })
  if (registrationInfo === undefined) return yield* UNVERIFIED
  const { counter, id, publicKey } = registrationInfo.credential
  return { credential: Buffer.from(id, "base64url"), publicKey, counter } satisfies StoredKey
})

/** The new counter, if the answer is signed with this key for this site and challenge; undefined otherwise. */
export const verifyAnswer = (site: Site, given: object, publicKey: Uint8Array, isChallenge: IsChallenge) =>
  Effect.flatMap(loadWebAuthn, ({ verifyAuthenticationResponse }) =>
    Effect.promise(async () => {
      const response = given as AuthenticationResponseJSON
      try {
        const { authenticationInfo, verified } = await verifyAuthenticationResponse({
          response,
          expectedChallenge: isChallenge,
          expectedOrigin: site.origin,
          expectedRPID: site.id,
          requireUserVerification: true,
          // 0: the counter is compared in the statement that stores it.
          credential: { id: response.id, publicKey: new Uint8Array(publicKey), counter: 0 }
        })
        return verified ? authenticationInfo.newCounter : undefined
      } catch {
        return undefined
      }
    })
  )

/** The credential and the organization that an answer names; undefined if it names none. */
export const namedIn = (
  given: object
): { readonly organizationId: bigint; readonly credential: Buffer } | undefined => {
  const { id, response } = given as { readonly id?: unknown; readonly response?: { readonly userHandle?: unknown } }
  const organizationId = organizationOf(response?.userHandle)
  return organizationId === undefined || typeof id !== "string"
    ? undefined
    : { organizationId, credential: Buffer.from(id, "base64url") }
}

type WebAuthn = typeof import("@simplewebauthn/server")
type RegistrationResponseJSON = Parameters<WebAuthn["verifyRegistrationResponse"]>[0]["response"]
type AuthenticationResponseJSON = Parameters<WebAuthn["verifyAuthenticationResponse"]>[0]["response"]

/** Imported for the first passkey only. */
const loadWebAuthn = Effect.promise(() => import("@simplewebauthn/server"))
