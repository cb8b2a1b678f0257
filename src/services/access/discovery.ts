/** Where an identity provider's keys are (OpenID Connect Discovery), and which URLs are trusted. */
import { Effect, Option, Schema } from "effect"
import { OperatorError } from "../../domain/errors.ts"

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** An absolute https URL without credentials; http only for loopback. */
export const isTrustedUrl = (text: string): boolean => {
  if (/\s/.test(text) || text.length > 500 || !URL.canParse(text)) return false
  const { hostname, password, protocol, username } = new URL(text)
  return (
    username === "" && password === "" && (protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname)))
  )
}

const decodeDiscovery = Schema.decodeUnknownOption(Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String }))

/** Reads the key set's URL from the provider's discovery document (OpenID Connect Discovery). */
export const discoverKeys = (
  issuer: string,
  ask: (url: string, options: { readonly redirect: "error"; readonly signal: AbortSignal }) => Promise<Response> = fetch
): Effect.Effect<string, OperatorError> => {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`
  const failed = (reason: string) => OperatorError.of(`${url} ${reason}. Pass the URL of the keys: --jwks-url URL`)
  return Effect.tryPromise({
    try: async () => {
      const response = await ask(url, { redirect: "error", signal: AbortSignal.timeout(5000) })
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
