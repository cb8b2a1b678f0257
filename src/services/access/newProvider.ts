/** A provider as a command or an administrator's page gives it: what each field must be, and the problem of one that isn't. */
import { Effect, Redacted } from "effect"
import { InvalidInput } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { isTrustedUrl } from "./discovery.ts"

export interface NewProvider {
  readonly issuer: string
  readonly audience: string
  /** The URL of its keys; without it, its discovery document is read. */
  readonly jwksUrl?: string | undefined
  readonly roleClaim?: string | undefined
  readonly signIn?: {
    readonly name: string
    /** A reference, env:NAME or file:/path, or the secret itself, which is sealed. */
    readonly clientSecret?: string | Redacted.Redacted<string>
  }
}

type Field = "issuer" | "jwksUrl" | "audience" | "roleClaim" | "signIn" | "clientSecret" | "token"

export const providerProblem = (field: Field, message: string): InvalidInput =>
  InvalidInput.of(`${field}: ${message}`, [{ field, message }])

/** One text for a host that may not be asked, one that doesn't answer, and one that answers something else. */
export const unreadable = providerProblem(
  "issuer",
  "Max can't read a provider there. Its description (OpenID Connect Discovery) and its keys must be at public https addresses, or at the host of an issuer that the operator lists in MAX_PRIVATE_HOSTS."
)

export const checkNewProvider = (
  { audience, issuer, jwksUrl, roleClaim, signIn }: NewProvider,
  isAdministrators: boolean
): Effect.Effect<void, InvalidInput> => {
  const notTrusted = (url: string) => `it must be an https URL of at most 500 characters; ${quoted(url)} isn't.`
  const wrong: ReadonlyArray<readonly [isWrong: boolean, field: Field, message: () => string]> = [
    [!isTrustedUrl(issuer), "issuer", () => notTrusted(issuer)],
    [isAdministrators && /[?#]/.test(issuer), "issuer", () => "an issuer has neither ? nor #."],
    [jwksUrl !== undefined && !isTrustedUrl(jwksUrl), "jwksUrl", () => notTrusted(jwksUrl!)],
    [
      !hasLength(audience, 500),
      "audience",
      () => "it must have 1 to 500 characters: the aud claim of the provider's tokens."
    ],
    [
      roleClaim !== undefined && !hasLength(roleClaim, 200),
      "roleClaim",
      () => "it must have 1 to 200 characters: the name of a claim."
    ],
    [
      signIn !== undefined && !hasLength(signIn.name, 50),
      "signIn",
      () => "it must have 1 to 50 characters: the name on the button."
    ],
    [
      typeof signIn?.clientSecret === "string" && !/^(env|file):./.test(signIn.clientSecret),
      "clientSecret",
      () => "it must be a reference, env:NAME or file:/path: it is stored."
    ]
  ]
  const found = wrong.find(([isWrong]) => isWrong)
  return found === undefined ? Effect.void : Effect.fail(providerProblem(found[1], found[2]()))
}

const hasLength = (text: string, most: number) => text.trim() !== "" && text.length <= most
