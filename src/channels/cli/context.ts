/** Shared flags of all commands (`--org`, `--as`, `--json`) and the organization and principal that they select. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { readAttributes } from "../../domain/attributes.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { InvalidInput, OperatorError } from "../../domain/errors.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { quoted } from "../../domain/text.ts"
import { Env } from "../../env.ts"
import { admitNamed } from "../../services/members/admitNamed.ts"
import { Memberships } from "../../services/members/Memberships.ts"
import { OrganizationState } from "../../services/catalog/OrganizationState.ts"
import { optional, toggle } from "./flags.ts"

/** Invalid command-line usage: exit code 2. */
export class UsageError extends InvalidInput {}

export const max = Command.make("max").pipe(
  Command.withSharedFlags({
    org: optional("org", "Organization slug; optional when there is only one [MAX_ORG]"),
    as: optional("as", "Member to act as, by e-mail address, phone number or id:ID [MAX_AS]"),
    config: optional("config", "A JSON file with settings, which the environment overrides [MAX_CONFIG]"),
    json: toggle("json", "Print one JSON document")
  }),
  Command.withDescription("Ask about your organization and get what you may see, from its Postgres.")
)

export const wantsJson = Effect.map(max, ({ json }) => json)

/** The organization selected by `--org`, MAX_ORG or, when there is only one, by default. */
export const currentOrganization = Effect.gen(function* () {
  const { org } = yield* max
  const env = yield* Env
  const states = yield* OrganizationState
  return yield* states.organization(Option.getOrElse(org, () => env.organization))
})

/** The identifier of the member that the command acts as. Every read requires one. */
export const memberIdentifier = Effect.gen(function* () {
  const { as } = yield* max
  const env = yield* Env
  const who = Option.getOrElse(as, () => env.as)
  if (who !== undefined) return who
  return yield* UsageError.of("Name a member: --as EMAIL-OR-PHONE (max member list shows the members)")
})

/** The admitted principal of `--as`. */
export const currentPrincipal = Effect.gen(function* () {
  const who = yield* memberIdentifier
  const organization = yield* currentOrganization
  return (
    (yield* admitNamed(organization, who)) ??
    (yield* UsageError.of(`--as takes an e-mail address, a phone number or id:ID; ${quoted(who)} is none of them.`))
  )
})

/** Members' names by anchor. */
export const memberNames = Effect.gen(function* () {
  const memberships = yield* Memberships
  const members = yield* memberships.list(yield* currentOrganization)
  return new Map(members.map(({ anchorId, name }) => [anchorId, name]))
})

/** The anchor id of the member with this identifier. */
export const memberOf = Effect.fnUntraced(function* (organization: Organization, who: string) {
  const principal = yield* admitNamed(organization, who).pipe(
    Effect.catchTag("NotAdmitted", () =>
      Effect.fail(OperatorError.of(`No member has ${quoted(who)}. max member list shows the members.`))
    )
  )
  return (
    principal?.anchorEntityId ??
    (yield* OperatorError.of(`${quoted(who)} is no e-mail address, phone number or id:ID.`))
  )
})

/** Runs an effect as the principal of `--as`. */
export const asPrincipal = <A, E, R>(use: (organizationId: bigint) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(currentPrincipal, (principal) =>
    Effect.provideService(use(principal.organizationId), CurrentPrincipal, principal)
  )

/** Parses `key=value` pairs: `true`, `false` and decimal numbers become typed values, anything else stays text. */
export const typedAttributes = (pairs: Readonly<Record<string, string>>) => {
  const attributes = readAttributes(pairs)
  return typeof attributes === "string" ? Effect.fail(OperatorError.of(attributes)) : Effect.succeed(attributes)
}

/** The address of a link: the public one, or that of max serve on this machine. */
export const linkTo = Effect.fnUntraced(function* (code: string) {
  const { httpHost, httpPort, publicUrl } = yield* Env
  return `${publicUrl ?? `http://${httpHost}:${httpPort}`}/sign-in#${code}`
})
