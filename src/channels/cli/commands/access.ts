/** Commands for remote access: tokens for programs, and the identity providers that an organization trusts. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { type InvalidInput, OperatorError } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"
import { readReference } from "../../../env.ts"
import { Credentials, type Scope, SCOPES } from "../../../services/access/Credentials.ts"
import { IdentityProviders } from "../../../services/access/IdentityProviders.ts"
import { Passkeys } from "../../../services/access/Passkeys.ts"
import { currentOrganization, memberNames, memberOf, UsageError } from "../context.ts"
import { argument, optional, required, toggle } from "../flags.ts"
import { columns, listing, note, result } from "../output.ts"

const day = (date: Date): string => date.toISOString().slice(0, 10)

/** The scopes of repeated or comma-separated flags. */
const readScopes = (texts: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Scope>, UsageError> => {
  const words = [...new Set(texts.flatMap((text) => text.split(",")).map((word) => word.trim()))]
  const unknown = words.find((word) => !SCOPES.includes(word as Scope))
  return unknown === undefined
    ? Effect.succeed(words as ReadonlyArray<Scope>)
    : Effect.fail(UsageError.of(`There is no scope ${quoted(unknown)}. Scopes are: ${SCOPES.join(", ")}.`))
}

const create = Command.make(
  "create",
  {
    who: argument("who", "A member's e-mail address or phone number"),
    name: required("name", "The token's purpose, shown in the list"),
    scope: required("scope", `What it may be used for, comma-separated: ${SCOPES.join(", ")}; tools by default`).pipe(
      Flag.atLeast(0)
    ),
    days: Flag.Int("days").pipe(Flag.withDescription("Days until it expires"), Flag.withDefault(90))
  },
  Effect.fnUntraced(function* (input) {
    const organization = yield* currentOrganization
    const credentials = yield* Credentials
    const scopes = input.scope.length === 0 ? (["tools"] as const) : yield* readScopes(input.scope)
    const { expiresAt, id, secret } = yield* credentials.createToken(organization, {
      anchorId: yield* memberOf(organization, input.who),
      name: input.name,
      scopes,
      days: input.days
    })
    yield* result({ id, token: secret, scopes, expiresAt: expiresAt.toISOString() }, [secret])
    yield* note(
      `Shown only once. Valid for ${scopes.join(", ")} until ${day(expiresAt)}. To revoke it: max token revoke ${id}`
    )
  })
).pipe(
  Command.withDescription("Create a token with which a program acts for a member"),
  Command.withExamples([
    { command: 'max token create ada@example.com --name "nightly report"', description: "For the three tools" },
    {
      command: 'max token create ada@example.com --name "sync" --scope changes',
      description: "To propose changes, which Ada confirms"
    }
  ])
)

const tokens = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const organization = yield* currentOrganization
    const credentials = yield* Credentials
    const listed = yield* credentials.tokens(organization)
    const names = yield* memberNames
    yield* result(
      listed.map(({ anchorId, ...token }) => ({ ...token, person: names.get(anchorId) ?? "", entityId: anchorId })),
      listed.length === 0
        ? ["There is no token yet."]
        : columns(
            listed.map((token) => [
              token.id,
              token.name,
              names.get(token.anchorId) ?? "",
              token.scopes.join(", "),
              day(token.expiresAt),
              token.state
            ]),
            ["id", "name", "person", "scopes", "until", "state"]
          )
    )
  })
).pipe(Command.withDescription("List the tokens, never their secrets"))

const revoke = Command.make(
  "revoke",
  { id: argument("id", "A token's id, as max token list shows it") },
  Effect.fnUntraced(function* ({ id }) {
    const credentials = yield* Credentials
    yield* credentials.revokeToken(yield* currentOrganization, id)
    yield* result({ revoked: id }, ["The token is revoked in every process."])
  })
).pipe(Command.withDescription("Revoke a token with immediate effect"))

export const token = Command.make("token").pipe(
  Command.withDescription("Tokens with which programs act for members"),
  Command.withSubcommands([create, tokens, revoke])
)

const passkeys = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const service = yield* Passkeys
    const listed = yield* service.all(yield* currentOrganization)
    const names = yield* memberNames
    yield* result(
      listed.map(({ anchorId, ...passkey }) => ({ ...passkey, person: names.get(anchorId) ?? "", entityId: anchorId })),
      listed.length === 0
        ? ["There is no passkey yet. People add them on the page /account."]
        : columns(
            listed.map(({ anchorId, createdAt, id, name, usedAt }) => [
              id,
              name,
              names.get(anchorId) ?? "",
              day(createdAt),
              usedAt === null ? "" : day(usedAt)
            ]),
            ["id", "name", "person", "added", "last used"]
          )
    )
  })
).pipe(Command.withDescription("List the passkeys of all members"))

const endPasskey = Command.make(
  "remove",
  { id: argument("id", "A passkey's id, as max passkey list shows it") },
  Effect.fnUntraced(function* ({ id }) {
    const service = yield* Passkeys
    yield* service.end(yield* currentOrganization, id)
    yield* result({ removed: id }, ["The passkey no longer signs in. Sessions that it began last until they expire."])
  })
).pipe(Command.withDescription("End a passkey, such as that of a lost device"))

export const passkey = Command.make("passkey").pipe(
  Command.withDescription("Passkeys with which members sign in; they add them on the page /account"),
  Command.withSubcommands([passkeys, endPasskey])
)

const issuer = required("issuer", "The issuer (iss claim) of its tokens: an https URL")
const audience = required("audience", "The audience (aud claim) of its tokens; use one for Max alone")

/** The problem of a field, at the flag that sets it. */
const atFlag = ({ message, problems: [problem] = [] }: InvalidInput) =>
  problem === undefined
    ? message
    : `--${problem.field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: ${problem.message}`

const add = Command.make(
  "add",
  {
    issuer,
    audience,
    jwksUrl: optional("jwks-url", "The URL of its keys; read from the issuer's discovery document by default"),
    roleClaim: optional(
      "role-claim",
      "The claim that carries roles, such as realm_access.roles; they replace the membership's roles"
    ),
    signIn: optional(
      "sign-in",
      "Offer it on the sign-in page under this name, such as Google; the audience is then the client's id"
    ),
    clientSecret: optional("client-secret", "With --sign-in: the client's secret, as env:NAME or file:/path"),
    seal: toggle("seal", "Seal the client's secret, as the page does, instead of keeping the reference")
  },
  Effect.fnUntraced(function* (input) {
    const providers = yield* IdentityProviders
    const read = Option.isSome(input.clientSecret)
      ? yield* readReference("--client-secret", input.clientSecret.value)
      : undefined
    const provider = yield* providers
      .add(yield* currentOrganization, {
        issuer: input.issuer,
        audience: input.audience,
        jwksUrl: Option.getOrUndefined(input.jwksUrl),
        roleClaim: Option.getOrUndefined(input.roleClaim),
        ...(Option.isSome(input.signIn)
          ? {
              signIn: {
                name: input.signIn.value,
                ...(read === undefined ? {} : { clientSecret: input.seal ? read.secret : read.reference })
              }
            }
          : {})
      })
      .pipe(Effect.catchTag("InvalidInput", (error) => OperatorError.of(atFlag(error))))
    yield* result(provider, [`Tokens of ${provider.issuer} for ${provider.audience} are trusted now.`])
    yield* note(
      "They admit members whose e-mail address the provider has verified, or whose subject is bound with max member add --subject."
    )
  })
).pipe(Command.withDescription("Trust an identity provider's tokens (JWT)"))

const providers = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const service = yield* IdentityProviders
    const listed = yield* service.list(yield* currentOrganization)
    yield* listing(
      listed,
      "There is no identity provider yet.",
      (provider) => [
        provider.issuer,
        provider.audience,
        provider.jwksUrl,
        provider.roleClaim ?? "from the membership",
        provider.addedBy ?? "operator"
      ],
      ["issuer", "audience", "keys", "roles", "added by"]
    )
  })
).pipe(Command.withDescription("List the identity providers"))

const secret = Command.make(
  "secret",
  {
    issuer,
    audience,
    clientSecret: required("client-secret", "The client's new secret, as env:NAME or file:/path"),
    seal: toggle("seal", "Seal the secret, as the page does, instead of keeping the reference")
  },
  Effect.fnUntraced(function* (input) {
    const service = yield* IdentityProviders
    const { reference, secret: read } = yield* readReference("--client-secret", input.clientSecret)
    yield* service
      .replaceSecret(yield* currentOrganization, input, { secret: read, ...(input.seal ? {} : { reference }) })
      .pipe(Effect.catchTag("InvalidInput", (error) => OperatorError.of(atFlag(error))))
    yield* result({ issuer: input.issuer, audience: input.audience }, [
      "The provider takes the new secret, which counts from the next sign-in on."
    ])
  })
).pipe(Command.withDescription("Replace the client's secret, if the provider takes the new one"))

const remove = Command.make(
  "remove",
  { issuer, audience },
  Effect.fnUntraced(function* (input) {
    const service = yield* IdentityProviders
    yield* service.remove(yield* currentOrganization, input.issuer, input.audience)
    yield* result({ removed: input.issuer }, ["Its tokens are no longer accepted."])
  })
).pipe(Command.withDescription("Stop trusting an identity provider with immediate effect"))

export const idp = Command.make("idp").pipe(
  Command.withDescription("Identity providers whose tokens admit members"),
  Command.withSubcommands([add, providers, secret, remove])
)
