/** `max sms`: an organization's numbers, its open channel, and the log of text messages. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { masked, quoted } from "../../../domain/text.ts"
import { isoTimestamp } from "../../../domain/values.ts"
import { Env, readReference } from "../../../env.ts"
import { SmsLog } from "../../../services/texting/SmsLog.ts"
import { type SmsChannel, SmsSettings } from "../../../services/texting/SmsSettings.ts"
import { TestTexts } from "../../../services/texting/TestTexts.ts"
import { TWILIO_PATH } from "../../../domain/Sms.ts"
import { currentOrganization, memberOf, UsageError } from "../context.ts"
import { argument, optional, required, toggle } from "../flags.ts"
import { columns, dim, listing, note, result } from "../output.ts"

const number = argument("number", "One of your numbers, such as +15125550100")
const memberNumber = argument("number", "The person's number, such as +15125550142")

const webhookAt = Effect.map(Env, ({ publicUrl }) =>
  publicUrl === undefined ? undefined : `${publicUrl}${TWILIO_PATH}`
)

export const addNumber = Command.make(
  "add-number",
  {
    number,
    account: required("account", "The number's Twilio account: AC…"),
    token: Flag.String("token").pipe(
      Flag.withDescription("A reference to the account's auth token: env:NAME or file:/path"),
      Flag.withDefault("env:TWILIO_AUTH_TOKEN")
    ),
    seal: toggle("seal", "Try the token with Twilio and seal it, as the page does, instead of keeping the reference")
  },
  Effect.fnUntraced(function* (input) {
    if (!/^AC[0-9a-f]{32}$/i.test(input.account)) {
      return yield* UsageError.of(
        `--account is AC and 32 digits, as Twilio's console shows it, and ${quoted(input.account)} isn't.`
      )
    }
    const { reference, secret } = yield* readReference("--token", input.token)
    if (input.seal) {
      const { twilioUrl } = yield* Env
      const { tryTwilioAccount } = yield* Effect.promise(() => import("../../sms/twilio.ts"))
      yield* tryTwilioAccount(twilioUrl, input.account, secret)
    }
    const settings = yield* SmsSettings
    const organization = yield* currentOrganization
    const { phone } = yield* settings.addNumber(organization, {
      phone: input.number,
      provider: "twilio",
      account: input.account,
      secret: input.seal ? { secret } : reference
    })
    const webhook = yield* webhookAt
    yield* result({ number: phone, organization: organization.slug, webhook: webhook ?? null }, [
      `${phone} belongs to ${organization.name}.`
    ])
    yield* note(
      webhook === undefined
        ? "Set MAX_PUBLIC_URL to the address at which Twilio reaches max serve: without it, every webhook is refused."
        : `At Twilio, "a message comes in" for this number is: POST ${webhook}`
    )
    if ((yield* settings.channel(organization.id)).contact === undefined) {
      yield* note(
        'People without access are told to ask an administrator. max sms contact "Jo, 512-555-0199" names another contact.'
      )
    }
  })
).pipe(
  Command.withDescription("Answer text messages to a Twilio number"),
  Command.withExamples([
    {
      command: "max sms add-number +15125550100 --account AC… --token file:/run/secrets/twilio",
      description: "The token is read from the file; only the path is stored"
    }
  ])
)

export const removeNumber = Command.make(
  "remove-number",
  { number },
  Effect.fnUntraced(function* (input) {
    const settings = yield* SmsSettings
    yield* settings.removeNumber(yield* currentOrganization, input.number)
    yield* result({ removed: input.number }, ["Messages to this number are no longer answered."])
  })
).pipe(Command.withDescription("Stop answering messages to a number, immediately"))

export const numbers = Command.make(
  "numbers",
  {},
  Effect.fnUntraced(function* () {
    const settings = yield* SmsSettings
    const organization = yield* currentOrganization
    const found = yield* settings.numbers(organization)
    const channel = yield* settings.channel(organization.id)
    const { changes, contact, openRole, tellsApprovers } = channel
    const switches = { changes: changes ? "once" : "off", tellApprovers: tellsApprovers }
    yield* result({ numbers: found, contact: contact ?? null, openedWithRole: openRole ?? null, ...switches }, [
      ...(found.length === 0
        ? ["There is no number yet: max sms add-number"]
        : columns(
            found.map(({ account, phone, provider, secret }) => [phone, provider, `${account.slice(0, 6)}…`, secret]),
            ["number", "provider", "account", "token"]
          )),
      dim(
        channel.openRole === undefined
          ? "Closed: members are answered; everyone else gets the notice to ask for access."
          : `Open: a person identified by their number is admitted as ${channel.openRole}.`
      ),
      ...switchLines(channel).map(dim)
    ])
  })
).pipe(Command.withDescription("List the numbers and the state of the channel"))

export const contact = Command.make(
  "contact",
  {
    contact: argument("contact", 'Such as "Jo at the front desk, 512-555-0199"')
  },
  Effect.fnUntraced(function* (input) {
    const settings = yield* SmsSettings
    yield* settings.setContact(yield* currentOrganization, input.contact)
    yield* result({ contact: input.contact }, [`People without access are told to ask ${input.contact}.`])
  })
).pipe(Command.withDescription("Set the contact that the notice to people without access names"))

const ON_OFF = ["on", "off"] as const

export const set = Command.make(
  "set",
  {
    changes: Flag.Literals("changes", ["once", "off"]).pipe(
      Flag.withDescription("once: members confirm changes at level once by OK and a code"),
      Flag.optional
    ),
    tellApprovers: Flag.Literals("tell-approvers", ON_OFF).pipe(
      Flag.withDescription("Whether approvers get a text with the link to a change that waits for them"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    const settings = yield* SmsSettings
    const changes = Option.map(input.changes, (value) => value === "once")
    const tellsApprovers = Option.map(input.tellApprovers, (value) => value === "on")
    if (Option.isNone(changes) && Option.isNone(tellsApprovers)) {
      return yield* UsageError.of("Say what to set: --changes once|off, --tell-approvers on|off.")
    }
    const now = yield* settings.set(yield* currentOrganization, {
      ...(Option.isSome(changes) ? { changes: changes.value } : {}),
      ...(Option.isSome(tellsApprovers) ? { tellsApprovers: tellsApprovers.value } : {})
    })
    yield* result({ changes: now.changes ? "once" : "off", tellApprovers: now.tellsApprovers }, switchLines(now))
    if (Option.contains(changes, true)) for (const line of CODE_RISK) yield* note(line)
  })
).pipe(
  Command.withDescription("Switch changes by text on or off"),
  Command.withExamples([
    { command: "max sms set --changes once", description: "Members confirm single changes with OK and a code" }
  ])
)

const switchLines = ({ changes, tellsApprovers }: SmsChannel): ReadonlyArray<string> => [
  changes
    ? "Changes: members confirm a change at level once with OK and the code of its text."
    : "Changes: none are proposed or confirmed by text.",
  tellsApprovers
    ? "Approvers: a text with the link tells them of a change that waits for them."
    : "Approvers: no text tells them of a change that waits for them."
]

const CODE_RISK = [
  "A person who holds a member's phone, or reads its texts, confirms as that member. Changes that delete, that change",
  "more than 10 rows or that need another person are never confirmed by text."
]

const RISK = [
  "A sender who can forge the number of one of your people is taken for that person. Carriers make that hard, but",
  "not impossible. Give the role no more than you would say on the phone to a caller whose number you recognize.",
  "max sms close takes effect immediately."
]

export const open = Command.make(
  "open",
  {
    role: required("role", "The policy's role for people without a membership")
  },
  Effect.fnUntraced(function* ({ role }) {
    const settings = yield* SmsSettings
    yield* settings.open(yield* currentOrganization, role)
    yield* result({ opened: role }, [
      `A sender whose number belongs to exactly one of your people is admitted as ${role}, from the next message on.`
    ])
    for (const line of RISK) yield* note(line)
  })
).pipe(Command.withDescription("Admit every sender whose number identifies one of your people"))

export const close = Command.make(
  "close",
  {},
  Effect.fnUntraced(function* () {
    const settings = yield* SmsSettings
    yield* settings.close(yield* currentOrganization)
    yield* result({ opened: null }, ["Only members are admitted, from the next message on."])
  })
).pipe(Command.withDescription("Admit members only"))

export const prove = Command.make(
  "prove",
  { number: memberNumber },
  Effect.fnUntraced(function* (input) {
    const settings = yield* SmsSettings
    yield* settings.prove(yield* currentOrganization, input.number)
    yield* result({ proved: masked(input.number) }, ["The number is proved: it admits the person again."])
  })
).pipe(Command.withDescription("Prove a number that has been silent for 180 days: it still belongs to that person"))

export const test = Command.make(
  "test",
  {
    toMember: required("to-member", "The member's e-mail address, or id:ID; the text goes to their linked number"),
    line: optional("line", "One of your numbers; without it, the only one")
  },
  Effect.fnUntraced(function* (input) {
    const organization = yield* currentOrganization
    const anchorId = yield* memberOf(organization, input.toMember)
    const tests = yield* TestTexts
    const queued = yield* tests.queue(organization, { anchorId, line: Option.getOrUndefined(input.line) })
    yield* result(queued, [`A text from ${queued.line} to ${queued.to} is queued.`])
    yield* note("max serve sends it, and max sms log shows how far it came.")
  })
).pipe(
  Command.withDescription("Send one text to a member's own number, to see that a line works"),
  Command.withExamples([
    { command: "max sms test --to-member ada@example.com", description: "From the only number, one a minute" }
  ])
)

const MAX_ENTRIES = 1000
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z?$/

export const log = Command.make(
  "log",
  {
    limit: Flag.Int("limit").pipe(Flag.withDescription("The maximum number of entries"), Flag.withDefault(50)),
    before: optional("before", "Only entries older than this time, in the log's format"),
    bodies: toggle("bodies", "Include message texts")
  },
  Effect.fnUntraced(function* (input) {
    if (input.limit < 1 || input.limit > MAX_ENTRIES) {
      return yield* UsageError.of(`--limit must be an integer from 1 to ${MAX_ENTRIES}.`)
    }
    const before = Option.getOrUndefined(input.before)
    if (before !== undefined && !(TIME.test(before) && isoTimestamp(before) !== undefined)) {
      return yield* UsageError.of("--before is a time in UTC, such as 2026-11-22T09:30:00Z.")
    }
    const logs = yield* SmsLog
    const found = yield* logs.list(yield* currentOrganization, { limit: input.limit, before, bodies: input.bodies })
    yield* listing(
      found,
      dim("There are no messages yet."),
      ({ at, body, direction, error, kind, number, person, segments, state }) => [
        at.slice(0, 19).replace("T", " "),
        direction,
        number,
        person?.name ?? "",
        error === undefined ? state : `${state} (${error})`,
        kind === undefined ? "" : `${kind}, ${segments}`,
        ...(input.bodies ? [body ?? ""] : [])
      ],
      ["time (UTC)", "", "number", "person", "state", "text, segments", ...(input.bodies ? ["body"] : [])]
    )
  })
).pipe(Command.withDescription("Show messages and texts with their state, newest first; numbers are masked"))
