/** The operator's commands for organizations and members. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { printable } from "../../../domain/text.ts"
import { Env } from "../../../env.ts"
import { Credentials } from "../../../services/access/Credentials.ts"
import { issuerOf } from "../../../services/access/issuerOf.ts"
import { subjectKey } from "../../../services/access/jwt.ts"
import { WaysIn } from "../../../services/access/WaysIn.ts"
import { Mappings } from "../../../services/mapping/Mappings.ts"
import { Memberships } from "../../../services/members/Memberships.ts"
import { Organizations, type Settings, STARTER_GRANTS } from "../../../services/organizations/Organizations.ts"
import { currentOrganization, linkTo, max, memberOf, typedAttributes, UsageError } from "../context.ts"
import { argument, optional, pairs, required, toggle } from "../flags.ts"
import { columns, note, result } from "../output.ts"
import { link, unlink } from "./memberIdentifiers.ts"
import { invite } from "./memberInvite.ts"
import { sync } from "./memberSync.ts"

export const init = Command.make(
  "init",
  {
    country: required("country", "The country of phone numbers without a country code: two letters, such as US"),
    timeZone: required("time-zone", "The organization's time zone, such as America/New_York"),
    name: optional("name", "The organization's name; the slug by default")
  },
  Effect.fnUntraced(function* (input) {
    const { org } = yield* max
    const env = yield* Env
    const slug = Option.getOrElse(org, () => env.organization)
    if (slug === undefined) return yield* UsageError.of("Give the organization a slug: --org SLUG")
    const organizations = yield* Organizations
    const created = yield* organizations.create({
      slug,
      name: Option.getOrUndefined(input.name),
      country: input.country.toUpperCase(),
      timeZone: input.timeZone
    })
    yield* result({ slug: created.slug, country: created.country, timeZone: created.timeZone }, [
      `Created the organization ${created.slug}. Its policy grants:`,
      ...STARTER_GRANTS.map((line) => `  ${line}`),
      `Next: max import FILE --type people, then max member add EMAIL --role admin --create`
    ])
  })
).pipe(
  Command.withDescription("Create an organization with the starter policy"),
  Command.withExamples([
    { command: "max init --org atlas --country US --time-zone America/New_York", description: "A first organization" }
  ])
)

const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const organizations = yield* Organizations
    const all = yield* organizations.list
    const most = organizations.conversationDays
    yield* result(
      all.map(({ conversationDays, country, name, slug, timeZone }) => ({
        slug,
        name,
        country,
        timeZone,
        ...(conversationDays === undefined ? {} : { conversationDays })
      })),
      columns(
        all.map(({ conversationDays: days, country, name, slug, timeZone }) => [
          slug,
          name,
          country,
          timeZone,
          String(days === undefined || days > most ? most : days)
        ]),
        ["slug", "name", "country", "time zone", "conversation days"]
      )
    )
  })
).pipe(Command.withDescription("List the organizations"))

const key = Command.make(
  "key",
  {
    key: argument("key", "The organization's value in the organization column of your tables")
  },
  Effect.fnUntraced(function* (input) {
    const mappings = yield* Mappings
    const organization = yield* currentOrganization
    yield* mappings.setKey(organization, input.key)
    yield* result({ organization: organization.slug, key: input.key }, [
      `The key of ${organization.slug} in mapped tables is ${printable(input.key)}.`
    ])
  })
).pipe(Command.withDescription("Set the organization's key in mapped tables"))

const set = Command.make(
  "set",
  {
    name: optional("name", "The organization's name"),
    country: optional("country", "The country of phone numbers without a country code: two letters, such as US"),
    timeZone: optional("time-zone", "The organization's time zone, such as America/New_York"),
    conversationDays: Flag.Int("conversation-days").pipe(
      Flag.withDescription(
        "Days to keep an unused conversation, at most MAX_SESSION_DAYS; 0 for MAX_SESSION_DAYS itself"
      ),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ conversationDays, ...texts }) {
    const given = Object.entries(texts).flatMap(([setting, value]) =>
      Option.match(value, { onNone: () => [], onSome: (text) => [[setting, text] as const] })
    )
    if (given.length === 0 && Option.isNone(conversationDays))
      return yield* UsageError.of("Give --name, --country, --time-zone or --conversation-days.")
    const settings: Settings = {
      ...Object.fromEntries(given),
      ...Option.match(conversationDays, {
        onNone: () => ({}),
        onSome: (days) => ({ conversationDays: days === 0 ? null : days })
      })
    }
    const organizations = yield* Organizations
    const organization = yield* currentOrganization
    yield* organizations.change(organization, settings)
    yield* result({ organization: organization.slug, ...settings }, [`${organization.slug} is changed.`])
  })
).pipe(
  Command.withDescription("Change the organization's name, country, time zone or retention"),
  Command.withExamples([{ command: 'max org set --name "Atlas Ltd"', description: "The name that people see" }])
)

export const org = Command.make("org").pipe(
  Command.withDescription("Organizations"),
  Command.withSubcommands([list, set, key])
)

const role = Flag.String("role").pipe(Flag.withDescription("A role of the policy; may be repeated"), Flag.atLeast(1))

const add = Command.make(
  "add",
  {
    identifier: argument("identifier", "An e-mail address, a phone number, or id:ID for a person without either"),
    role,
    create: toggle("create", "Create the person when none has the identifier"),
    name: optional("name", "The name of a person that is created"),
    subject: optional(
      "subject",
      "The person's subject (sub) at your identity provider: its tokens with this subject admit them"
    ),
    issuer: optional("issuer", "The provider of the subject, when there are several (max idp list)"),
    attr: pairs("attr", "An attribute for the policy, name=value; may be repeated")
  },
  Effect.fnUntraced(function* (input) {
    const organization = yield* currentOrganization
    const attributes = yield* typedAttributes(input.attr)
    const members = yield* Memberships
    const { anchorId, created } = yield* members.add(organization, {
      identifier: input.identifier,
      roles: input.role,
      subject: Option.isNone(input.subject)
        ? undefined
        : subjectKey(yield* issuerOf(organization, Option.getOrUndefined(input.issuer)), input.subject.value),
      attributes,
      ...(input.create ? { create: { name: Option.getOrUndefined(input.name) } } : {})
    })
    yield* result({ entityId: anchorId, created, roles: input.role }, [
      `${input.identifier} is a member with the role ${input.role.join(", ")}${created ? "; a new person was created" : ""}.`
    ])
  })
).pipe(Command.withDescription("Add a member, identified by a verified e-mail address or phone number"))

const signInLink = Command.make(
  "sign-in",
  { who: argument("who", "A member's e-mail address or phone number") },
  Effect.fnUntraced(function* ({ who }) {
    const organization = yield* currentOrganization
    const credentials = yield* Credentials
    const { expiresAt, secret } = yield* credentials.createLink(organization, yield* memberOf(organization, who))
    const link = yield* linkTo(secret)
    yield* result({ link, expiresAt: expiresAt.toISOString() }, [link])
    yield* note("Shown only once. It signs the member in, once, within five minutes.")
  })
).pipe(Command.withDescription("Create a link that signs a member in"))

const signOut = Command.make(
  "sign-out",
  { who: argument("who", "A member's e-mail address or phone number") },
  Effect.fnUntraced(function* ({ who }) {
    const organization = yield* currentOrganization
    const ways = yield* WaysIn
    const { sessions } = yield* ways.signOut(organization, yield* memberOf(organization, who))
    yield* result({ who, sessions }, [
      `${who} is signed out: ${sessions} ${sessions === 1 ? "session" : "sessions"} ended.`
    ])
  })
).pipe(Command.withDescription("End all sessions of a member and unused sign-in links; tokens stay"))

const setRoles = Command.make(
  "roles",
  { who: argument("who", "A member's e-mail address or phone number"), role },
  Effect.fnUntraced(function* ({ role: roles, who }) {
    const organization = yield* currentOrganization
    const memberships = yield* Memberships
    yield* memberships.setRoles(organization, yield* memberOf(organization, who), roles)
    yield* result({ who, roles }, [`${who} has the role ${roles.join(", ")}, from the next request on.`])
  })
).pipe(Command.withDescription("Replace the roles of a member; attributes stay as they are"))

const setAttributes = Command.make(
  "attributes",
  {
    who: argument("who", "A member's e-mail address or phone number"),
    attr: pairs("attr", "An attribute for the policy, name=value; may be repeated, and without one the member has none")
  },
  Effect.fnUntraced(function* (input) {
    const attributes = yield* typedAttributes(input.attr)
    const organization = yield* currentOrganization
    const memberships = yield* Memberships
    yield* memberships.setAttributes(organization, yield* memberOf(organization, input.who), attributes)
    yield* result({ who: input.who, attributes }, [
      `${input.who} has ${
        Object.entries(attributes)
          .map(([name, value]) => `${name}=${value}`)
          .join(", ") || "no attributes"
      }, from the next request on.`
    ])
  })
).pipe(Command.withDescription("Replace the attributes of a member; roles stay as they are"))

const members = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const memberships = yield* Memberships
    const all = yield* memberships.list(yield* currentOrganization)
    yield* result(
      all,
      columns(
        all.map((each) => [
          each.name,
          each.identifiers.join(", "),
          each.roles.join(", "),
          [
            each.invited ? "invited" : each.suspended ? "suspended" : "active",
            ...Object.entries(each.attributes).map(([key, value]) => `${key}=${value}`)
          ].join(" ")
        ]),
        ["name", "identifiers", "roles", "state"]
      )
    )
  })
).pipe(Command.withDescription("List the members"))

const suspend = Command.make(
  "suspend",
  { identifier: Argument.String("identifier") },
  Effect.fnUntraced(function* (input) {
    const memberships = yield* Memberships
    yield* memberships.suspend(yield* currentOrganization, input.identifier)
    yield* result({ suspended: input.identifier }, [`${input.identifier} is suspended.`])
  })
).pipe(Command.withDescription("Suspend a member: access ends immediately"))

const resume = Command.make(
  "resume",
  { identifier: Argument.String("identifier") },
  Effect.fnUntraced(function* (input) {
    const memberships = yield* Memberships
    yield* memberships.resume(yield* currentOrganization, input.identifier)
    yield* result({ resumed: input.identifier }, [`${input.identifier} is active again.`])
  })
).pipe(Command.withDescription("Resume a suspended member, with the same roles"))

export const member = Command.make("member").pipe(
  Command.withDescription("Members and their roles"),
  Command.withSubcommands([
    add,
    invite,
    signInLink,
    signOut,
    setRoles,
    setAttributes,
    link,
    unlink,
    members,
    suspend,
    resume,
    sync
  ])
)
