/**
 * Signing in at an identity provider with a browser: OpenID Connect's authorization code flow with PKCE, state and nonce. The
 * provider's ID token is then verified like any of its tokens, and admits the member that it is bound to.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { UNIDENTIFIED } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { NotAdmitted, NotAuthenticated, Unavailable } from "../../domain/errors.ts"
import { Refusals } from "../audit/Refusals.ts"
import { IdentityResolver } from "../members/IdentityResolver.ts"
import { boundMember } from "./boundMember.ts"
import { Credentials, type Issued } from "./Credentials.ts"
import { IdentityProviders, type OfferedProvider, providerId, SEALED } from "./IdentityProviders.ts"
import { configuredClient, loadClient } from "./openIdClient.ts"

/** What the browser keeps between leaving for the provider and coming back. */
const Pending = Schema.Struct({
  provider: Schema.String,
  state: Schema.String,
  nonce: Schema.String,
  verifier: Schema.String
})
const encodePending = Schema.encodeSync(Schema.fromJsonString(Pending))
const decodePending = Schema.decodeUnknownOption(Schema.fromJsonString(Pending))

type Failure = NotAuthenticated | NotAdmitted | Unavailable

export class ProviderSignIn extends Context.Service<
  ProviderSignIn,
  {
    /** The providers that the sign-in page offers. */
    readonly offered: Effect.Effect<ReadonlyArray<{ readonly id: string; readonly name: string }>, Unavailable>
    /** The provider's address to go to, and what the browser keeps until it is back. */
    readonly begin: (
      id: string,
      redirectUri: string
    ) => Effect.Effect<{ readonly url: string; readonly pending: string }, Failure>
    /** Exchanges the code that the provider sent for a session of the member. */
    readonly finish: (address: URL, pending: string, seconds: number) => Effect.Effect<Issued, Failure>
  }
>()("max/services/ProviderSignIn") {
  static readonly layer = (secretOf: (reference: string) => Effect.Effect<string, unknown>) =>
    Layer.effect(
      ProviderSignIn,
      Effect.gen(function* () {
        const { admission } = yield* Database
        const credentials = yield* Credentials
        const identities = yield* IdentityResolver
        const providers = yield* IdentityProviders
        const refusals = yield* Refusals

        const named = Effect.fnUntraced(function* (id: string) {
          const found = (yield* providers.offered).find((one) => providerId(one) === id)
          return found ?? (yield* NotAuthenticated.error)
        })

        const clientSecretOf = (provider: OfferedProvider, reference: string | undefined) =>
          reference === undefined
            ? Effect.succeed(undefined)
            : Effect.mapError(
                reference === SEALED ? providers.sealedSecret(provider) : secretOf(reference),
                () => Unavailable.error
              )

        /** The provider's configuration, read from its discovery document. */
        const configured = Effect.fnUntraced(function* (provider: OfferedProvider) {
          const secret = yield* clientSecretOf(provider, provider.signIn?.clientSecret)
          return yield* configuredClient(provider, secret, providers.fetchFor(provider))
        })

        return ProviderSignIn.of({
          offered: Effect.map(providers.offered, (all) =>
            all.map((one) => ({ id: providerId(one), name: one.signIn!.name }))
          ),

          begin: Effect.fn("ProviderSignIn.begin")(function* (id, redirectUri) {
            const client = yield* loadClient
            const config = yield* configured(yield* named(id))
            const kept = {
              provider: id,
              state: client.randomState(),
              nonce: client.randomNonce(),
              verifier: client.randomPKCECodeVerifier()
            }
            const challenge = yield* Effect.promise(() => client.calculatePKCECodeChallenge(kept.verifier))
            const url = client.buildAuthorizationUrl(config, {
              redirect_uri: redirectUri,
              scope: "openid email profile",
              state: kept.state,
              nonce: kept.nonce,
              code_challenge: challenge,
              code_challenge_method: "S256"
            })
            return { url: url.href, pending: Buffer.from(encodePending(kept)).toString("base64url") }
          }),

          finish: Effect.fn("ProviderSignIn.finish")(function* (address, text, seconds) {
            const pending = decodePending(Buffer.from(text, "base64url").toString())
            if (Option.isNone(pending)) return yield* NotAuthenticated.error
            const { nonce, provider, state, verifier } = pending.value
            const client = yield* loadClient
            const config = yield* configured(yield* named(provider))
            const tokens = yield* Effect.tryPromise({
              try: () =>
                client.authorizationCodeGrant(config, address, {
                  expectedState: state,
                  expectedNonce: nonce,
                  pkceCodeVerifier: verifier,
                  idTokenExpected: true
                }),
              // A refusal of the provider and a forged answer are the same; only a provider that can't be reached is not.
              catch: (error) => (isUnreachable(error) ? Unavailable.error : NotAuthenticated.error)
            })
            if (tokens.id_token === undefined) return yield* NotAuthenticated.error
            const identity = yield* providers.verify(tokens.id_token)
            const { claimedRoles, organizationId } = identity
            const anchorEntityId = yield* boundMember(admission, identity)
            if (anchorEntityId === undefined) {
              refusals.record({ organizationId, actor: UNIDENTIFIED, action: "admission.refused", subject: "provider" })
              return yield* NotAdmitted.error
            }
            // Refuses a suspended member before a session exists.
            yield* identities.readmit({ organizationId, anchorEntityId })
            return yield* credentials.beginSession(organizationId, anchorEntityId, { seconds, claimedRoles })
          })
        })
      })
    )
}

const isUnreachable = (error: unknown): boolean => {
  const { cause, code, name } = error as { readonly name?: string; readonly code?: string; readonly cause?: unknown }
  return name === "TimeoutError" || code === "OAUTH_TIMEOUT" || (error instanceof TypeError && cause !== undefined)
}
