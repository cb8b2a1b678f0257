/** Max as a client of an identity provider: the library, a provider's configuration, and whether it takes a client's secret. */
import { Effect, Redacted } from "effect"
import { type InvalidInput, Unavailable } from "../../domain/errors.ts"
import type { GuardedFetch } from "../network/guardedFetch.ts"
import { providerProblem } from "./newProvider.ts"

/** Where a provider leads back to, below the public address. */
export const CALLBACK_PATH = "/v1/session/callback"

const TIMEOUT_SECONDS = 5

/** Imported when it is first needed. */
export const loadClient = Effect.promise(() => import("openid-client"))

interface Client {
  readonly issuer: string
  readonly audience: string
}

/** The provider's configuration, read from its discovery document; `ask` in place of `fetch`. */
export const configuredClient = Effect.fnUntraced(function* (
  { audience, issuer }: Client,
  secret: string | undefined,
  ask: GuardedFetch | undefined
) {
  const client = yield* loadClient
  return yield* Effect.tryPromise({
    try: () =>
      client.discovery(new URL(issuer), audience, secret, secret === undefined ? client.None() : undefined, {
        timeout: TIMEOUT_SECONDS,
        ...(ask === undefined ? {} : { [client.customFetch]: ask }),
        ...(issuer.startsWith("http:") ? { execute: [client.allowInsecureRequests] } : {})
      }),
    catch: () => Unavailable.error
  })
})

const unanswered = providerProblem(
  "clientSecret",
  "the provider didn't say whether it takes this secret, so nothing is changed."
)

/**
 * Fails unless the provider takes the secret. The client presents a code that no provider has given out: it is authenticated
 * first (RFC 6749, 4.1.3), and told `invalid_grant` only after that. Any other answer counts as a refusal.
 */
export const tryClientSecret = Effect.fnUntraced(function* (
  of: Client,
  secret: Redacted.Redacted<string>,
  ask: GuardedFetch | undefined,
  redirectUri: string | undefined
): Effect.fn.Return<void, InvalidInput> {
  const client = yield* loadClient
  const config = yield* Effect.mapError(configuredClient(of, Redacted.value(secret), ask), () => unanswered)
  const presented = {
    code: client.randomState(),
    code_verifier: client.randomPKCECodeVerifier(),
    ...(redirectUri === undefined ? {} : { redirect_uri: redirectUri })
  }
  const { error } = yield* Effect.promise(() =>
    client.genericGrantRequest(config, "authorization_code", presented).then(
      (): Refusal => ({}),
      (refused: unknown) => refused as Refusal
    )
  )
  if (error === "invalid_grant") return
  if (error === "invalid_client")
    return yield* providerProblem("clientSecret", "the provider refuses this secret, so nothing is changed.")
  return yield* unanswered
})

interface Refusal {
  readonly error?: string
}
