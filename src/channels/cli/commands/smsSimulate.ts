/** A text message as if it had come in, all the way to what would be sent. Nothing leaves this machine by a carrier. */
import { Effect, Layer, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { randomBytes } from "node:crypto"
import { OperatorError } from "../../../domain/errors.ts"
import { phoneKey } from "../../../domain/keys.ts"
import { quoted } from "../../../domain/text.ts"
import { SIMULATION, SmsAdmission } from "../../../services/SmsAdmission.ts"
import { SmsInbox } from "../../../services/SmsInbox.ts"
import { SmsLog } from "../../../services/SmsLog.ts"
import { segmentsOf } from "../../sms/gsm.ts"
import { makeLoopback } from "../../sms/loopback.ts"
import { Sending } from "../../sms/Sending.ts"
import { Texting } from "../../sms/Texting.ts"
import { currentOrganization, UsageError, wantsJson } from "../context.ts"
import { columns, dim, note, result } from "../output.ts"

const AT_ONCE = { quiet: 0, most: 0 }
const LEASE_SECONDS = 30

/** Why nothing would be sent. */
const SILENCE: Readonly<Record<string, string>> = {
  refused: "This number was told today already that it has no access.",
  keyword: "This word is the carrier's: it answers by itself.",
  stopped: "This number has said stop.",
  repeated: "The same question has had the same answer three times in a row: nothing more is said.",
  limited: "This number has asked too often in this hour."
}

const REFUSED = {
  "no access": "no access",
  shared: "no access, because it isn't one person's alone",
  dormant: "no access, because nothing was heard of it for 180 days; max sms prove vouches for it"
} as const

export const simulate = Command.make(
  "simulate",
  {
    from: Flag.String("from").pipe(Flag.withDescription("The number that the message would come from")),
    text: Argument.String("text").pipe(Argument.withDescription("What it would say"), Argument.variadic({ min: 1 }))
  },
  (input) =>
    Effect.gen(function* () {
      const organization = yield* currentOrganization
      const phone = phoneKey(input.from, organization.country)
      if (phone === undefined) {
        return yield* new UsageError({
          message: `--from is a phone number without an extension, and ${quoted(input.from)} isn't.`
        })
      }
      const admission = yield* SmsAdmission
      const inbox = yield* SmsInbox
      const log = yield* SmsLog
      const texting = yield* Texting
      const people = yield* admission.identify(organization, phone)
      const admitted = yield* admission.admit(organization, phone)
      const names = yield* log.names(organization, people)

      const provider = makeLoopback()
      const message = {
        provider: provider.name,
        id: randomBytes(16).toString("hex"),
        from: phone,
        to: SIMULATION,
        body: input.text.join(" "),
        media: 0,
        receivedAt: new Date()
      }
      yield* inbox.receive(organization.id, message, AT_ONCE)
      const key = { organizationId: organization.id, line: SIMULATION, phone }
      const lease = yield* inbox.claimOne(key, LEASE_SECONDS)
      if (lease === undefined) {
        return yield* new OperatorError({ message: "A message from this number is being simulated already." })
      }
      const line = {
        organization,
        phone: SIMULATION,
        provider,
        account: "",
        secret: Redacted.make(""),
        merging: AT_ONCE
      }
      yield* texting.handle(lease, line)
      const outcome = yield* inbox.outcomeOf(organization.id, message)
      if (outcome === undefined) {
        return yield* new OperatorError({ message: "There is no answer yet. Try again: the message is kept." })
      }

      const by = admitted._tag === "Admitted" ? admitted.by : undefined
      const texts = provider.sent.map(({ body }) => ({ body, characters: body.length, ...segmentsOf(body) }))
      const identified = people.map((id) => ({ id, name: names.get(id) ?? "" }))
      yield* result(
        yield* wantsJson,
        {
          from: phone,
          identified,
          admitted: by ?? null,
          refused: admitted._tag === "Refused" ? admitted.why : null,
          outcome,
          texts: texts.map(({ count, ...text }) => ({ ...text, segments: count }))
        },
        texts.length === 0
          ? [dim(SILENCE[outcome] ?? "Nothing would be sent.")]
          : texts.flatMap(({ body, characters, count, encoding }) => [
              ...body.split("\n").flatMap((one) => columns([[one]])),
              dim(`${characters} characters, ${count === 1 ? "1 segment" : `${count} segments`}, ${encoding}`)
            ])
      )
      const who = identified.length === 0 ? "nobody" : columns([[identified.map(({ name }) => name).join(", ")]])[0]!
      yield* note(
        `The number is ${who}'s: ${admitted._tag === "Admitted" ? `in by ${admitted.by}` : REFUSED[admitted.why]}.`
      )
    }).pipe(Effect.provide(Texting.layer.pipe(Layer.provide(Sending.layer))))
).pipe(
  Command.withDescription("Answer a message as if it had come from a number, and show what would be sent"),
  Command.withExamples([
    { command: 'max sms simulate --from +15125550142 "who is Taylor Jackson?"', description: "Nothing is sent" }
  ])
)
