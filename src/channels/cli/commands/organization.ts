/** Organizations and members: an operator's commands. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Organization } from "../../../domain/EntityType.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { printable } from "../../../domain/text.ts"
import { IdentityProviders, subjectKey } from "../../../services/access/IdentityProviders.ts"
import { Mappings } from "../../../services/mapping/Mappings.ts"
import { Memberships } from "../../../services/members/Memberships.ts"
import { Organizations, STARTER_GRANTS } from "../../../services/organizations/Organizations.ts"
import { currentOrganization, max, typedAttributes, UsageError, wantsJson } from "../context.ts"
import { columns, result } from "../output.ts"
import { sync } from "./memberSync.ts"

export const init = Command.make(
  "init",
  {
    country: Flag.String("country").pipe(
      Flag.withDescription("Two letters, such as US: how phone numbers without a country are read")
    ),
    timeZone: Flag.String("time-zone").pipe(Flag.withDescription("Such as America/New_York: what today is")),
    name: Flag.String("name").pipe(
      Flag.withDescription("What the organization is called; the slug by default"),
      Flag.optional
    )
  },
  (input) =>
    Effect.gen(function* () {
      const { org } = yield* max
      if (Option.isNone(org))
        return yield* new UsageError({ message: "Say how the organization is called in commands: --org SLUG" })
      const organizations = yield* Organizations
      const made = yield* organizations.create({
        slug: org.value,
        name: Option.getOrUndefined(input.name),
        country: input.country.toUpperCase(),
        timeZone: input.timeZone
      })
      yield* result(yield* wantsJson, { slug: made.slug, country: made.country, timeZone: made.timeZone }, [
        `The organization ${made.slug} is there. Its policy grants:`,
        ...STARTER_GRANTS.map((line) => `  ${line}`),
        `Next: max import FILE --type people, then max member add EMAIL --role admin --create`
      ])
    })
).pipe(
  Command.withDescription("Make an organization with a starter policy"),
  Command.withExamples([
    { command: "max init --org atlas --country US --time-zone America/New_York", description: "A first organization" }
  ])
)

const list = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const organizations = yield* Organizations
    const found = yield* organizations.list
    yield* result(
      yield* wantsJson,
      found.map(({ country, name, slug, timeZone }) => ({ slug, name, country, timeZone })),
      columns(
        found.map(({ country, name, slug, timeZone }) => [slug, name, country, timeZone]),
        ["slug", "name", "country", "time zone"]
      )
    )
  })
).pipe(Command.withDescription("List the organizations"))

const key = Command.make(
  "key",
  {
    key: Argument.String("key").pipe(Argument.withDescription("What the organization column of your tables has for it"))
  },
  (input) =>
    Effect.gen(function* () {
      const mappings = yield* Mappings
      const organization = yield* currentOrganization
      yield* mappings.setKey(organization, input.key)
      yield* result(yield* wantsJson, { organization: organization.slug, key: input.key }, [
        `Mapped tables call ${organization.slug} ${printable(input.key)}.`
      ])
    })
).pipe(Command.withDescription("Say what mapped tables call the organization: its id in them"))

export const org = Command.make("org").pipe(
  Command.withDescription("Organizations"),
  Command.withSubcommands([list, key])
)

const role = Flag.String("role").pipe(Flag.withDescription("A role of the policy; may be repeated"), Flag.atLeast(1))

/** The issuer whose subjects are meant: the one named, or the only one there is. */
const issuerOf = Effect.fnUntraced(function* (organization: Organization, named: Option.Option<string>) {
  const providers = yield* IdentityProviders
  const issuers = [...new Set((yield* providers.list(organization)).map(({ issuer }) => issuer))]
  const issuer = Option.getOrElse(named, () => (issuers.length === 1 ? issuers[0] : undefined))
  return issuer !== undefined && issuers.includes(issuer)
    ? issuer
    : yield* new OperatorError({
        message:
          issuers.length === 0
            ? "There is no identity provider yet: max idp add --issuer URL --audience TEXT"
            : `Say which identity provider: --issuer ${issuers.join(" or --issuer ")}`
      })
})

const add = Command.make(
  "add",
  {
    identifier: Argument.String("identifier").pipe(Argument.withDescription("An e-mail address or phone number")),
    role,
    create: Flag.Boolean("create").pipe(
      Flag.withDescription("Make the person when nobody has the identifier"),
      Flag.withDefault(false)
    ),
    name: Flag.String("name").pipe(Flag.withDescription("The name of a person that is made"), Flag.optional),
    subject: Flag.String("subject").pipe(
      Flag.withDescription("What your identity provider calls the person (sub): lets in whoever it says that is"),
      Flag.optional
    ),
    issuer: Flag.String("issuer").pipe(
      Flag.withDescription("Which provider says so, when there are several (max idp list)"),
      Flag.optional
    ),
    attr: Flag.KeyValuePair("attr").pipe(
      Flag.withDescription("An attribute for the policy, name=value; may be repeated"),
      Flag.withDefault({})
    )
  },
  (input) =>
    Effect.gen(function* () {
      const organization = yield* currentOrganization
      const attributes = yield* typedAttributes(input.attr)
      const members = yield* Memberships
      const { anchorId, created } = yield* members.add(organization, {
        identifier: input.identifier,
        roles: input.role,
        subject: Option.isNone(input.subject)
          ? undefined
          : subjectKey(yield* issuerOf(organization, input.issuer), input.subject.value),
        attributes,
        ...(input.create ? { create: { name: Option.getOrUndefined(input.name) } } : {})
      })
      yield* result(yield* wantsJson, { entityId: anchorId, created, roles: input.role }, [
        `${input.identifier} may come in as ${input.role.join(", ")}${created ? "; a new person was made" : ""}.`
      ])
    })
).pipe(Command.withDescription("Let a person in, known by a verified e-mail address or phone number"))

const members = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const memberships = yield* Memberships
    const found = yield* memberships.list(yield* currentOrganization)
    yield* result(
      yield* wantsJson,
      found,
      columns(
        found.map((member) => [
          member.name,
          member.identifiers.join(", "),
          member.roles.join(", "),
          [
            member.suspended ? "suspended" : "active",
            ...Object.entries(member.attributes).map(([key, value]) => `${key}=${value}`)
          ].join(" ")
        ]),
        ["name", "identifiers", "roles", "state"]
      )
    )
  })
).pipe(Command.withDescription("List who may come in"))

const suspend = Command.make("suspend", { identifier: Argument.String("identifier") }, (input) =>
  Effect.gen(function* () {
    const memberships = yield* Memberships
    yield* memberships.suspend(yield* currentOrganization, input.identifier)
    yield* result(yield* wantsJson, { suspended: input.identifier }, [`${input.identifier} may no longer come in.`])
  })
).pipe(Command.withDescription("End a person's access at once"))

const resume = Command.make("resume", { identifier: Argument.String("identifier") }, (input) =>
  Effect.gen(function* () {
    const memberships = yield* Memberships
    yield* memberships.resume(yield* currentOrganization, input.identifier)
    yield* result(yield* wantsJson, { resumed: input.identifier }, [`${input.identifier} may come in again.`])
  })
).pipe(Command.withDescription("Let a suspended person in again, with the same roles"))

export const member = Command.make("member").pipe(
  Command.withDescription("Who may come in, with which roles"),
  Command.withSubcommands([add, members, suspend, resume, sync])
)
