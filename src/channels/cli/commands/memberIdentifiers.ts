/** Links and removes identifiers of members. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { WaysIn } from "../../../services/access/WaysIn.ts"
import { currentOrganization, memberOf, UsageError } from "../context.ts"
import { argument, optional } from "../flags.ts"
import { result } from "../output.ts"

const named = {
  who: argument("who", "A member's e-mail address or phone number, or id:ID"),
  identifier: Argument.String("identifier").pipe(
    Argument.withDescription("An e-mail address or phone number"),
    Argument.optional
  ),
  subject: optional("subject", "Instead: the person's subject (sub) at your identity provider"),
  issuer: optional("issuer", "The provider of the subject, when there are several (max idp list)")
}

const read = Effect.fnUntraced(function* (input: {
  readonly who: string
  readonly identifier: Option.Option<string>
  readonly subject: Option.Option<string>
  readonly issuer: Option.Option<string>
}) {
  const { identifier, issuer, subject } = input
  if (Option.isSome(identifier) === Option.isSome(subject))
    return yield* UsageError.of("Give either an e-mail address or phone number, or --subject.")
  const organization = yield* currentOrganization
  return {
    organization,
    anchorId: yield* memberOf(organization, input.who),
    identifier: Option.isSome(identifier)
      ? { identifier: identifier.value }
      : { subject: Option.getOrThrow(subject), issuer: Option.getOrUndefined(issuer) }
  }
})

export const link = Command.make(
  "link",
  named,
  Effect.fnUntraced(function* (input) {
    const { anchorId, identifier, organization } = yield* read(input)
    const ways = yield* WaysIn
    yield* ways.link(organization, anchorId, identifier)
    yield* result({ who: input.who, ...identifier }, [`The identifier admits ${input.who} from now on.`])
  })
).pipe(Command.withDescription("Let a member be identified by another e-mail address, phone number or subject"))

export const unlink = Command.make(
  "unlink",
  named,
  Effect.fnUntraced(function* (input) {
    const { anchorId, identifier, organization } = yield* read(input)
    const ways = yield* WaysIn
    const { left, sessions } = yield* ways.unlink(organization, anchorId, identifier)
    yield* result({ who: input.who, ...identifier, left, sessions }, [
      `The identifier admits no member any more, and ${sessions} ${sessions === 1 ? "session" : "sessions"} of the member ended.`,
      ...(left === 0
        ? ["The member has no identifier left: only a passkey, a token or your sign-in link admits them."]
        : [])
    ])
  })
).pipe(Command.withDescription("Remove an identifier of a member, and end their sessions"))
