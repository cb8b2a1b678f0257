/** `max sms simulate`: the answer to a text message, without sending it. */
import { Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import { phoneKey } from "../../../domain/keys.ts"
import { printable, quoted } from "../../../domain/text.ts"
import { SmsDispatcher } from "../../sms/SmsDispatcher.ts"
import { type Simulated, simulateMessage } from "../../sms/simulateMessage.ts"
import { SmsProcessor } from "../../sms/SmsProcessor.ts"
import { currentOrganization, UsageError } from "../context.ts"
import { required } from "../flags.ts"
import { dim, note, result } from "../output.ts"

/** Why no text would be sent, by outcome. */
const SILENCE: Partial<Record<Simulated["outcome"], string>> = {
  refused: "Nothing: this number already got today's notice that it has no access.",
  keyword: "Nothing: the carrier answers this keyword itself.",
  stopped: "Nothing: this number has opted out with STOP. START opts in again.",
  repeated: "Nothing: the same question has had the same answer three times in a row."
}

const REFUSED = {
  "no access": "it has no access",
  shared: "it has no access, because several people share it",
  dormant: "it has no access, because it was silent for 180 days; max sms prove restores it"
} as const

const lines = ({ outcome, texts }: Simulated): ReadonlyArray<string> =>
  texts.length === 0
    ? [SILENCE[outcome] ?? "Nothing."]
    : texts.flatMap(({ body, count, encoding }) => [
        ...body.split("\n").map(printable),
        dim(`${body.length} characters, ${count === 1 ? "1 segment" : `${count} segments`}, ${encoding}`)
      ])

const who = ({ admitted, identified, refused }: Simulated): string => {
  const names = identified.map(({ name }) => printable(name)).join(" and ")
  const whose = names === "" ? "an unknown number" : `the number of ${names}`
  const access = refused === undefined ? `admitted by ${admitted}` : REFUSED[refused]
  return `This is ${whose}: ${access}.`
}

export const simulate = Command.make(
  "simulate",
  {
    from: required("from", "The sender's number"),
    text: Argument.String("text").pipe(Argument.withDescription("The message"), Argument.variadic({ min: 1 }))
  },
  Effect.fnUntraced(
    function* (input) {
      const organization = yield* currentOrganization
      const phone = phoneKey(input.from, organization.country)
      if (phone === undefined) {
        return yield* UsageError.of(`--from must be a phone number without an extension; ${quoted(input.from)} is not.`)
      }
      const simulated = yield* simulateMessage(organization, phone, input.text.join(" "))
      const { admitted = null, refused = null, texts, ...rest } = simulated
      const document = {
        from: phone,
        ...rest,
        admitted,
        refused,
        texts: texts.map(({ body, count, encoding }) => ({ body, characters: body.length, encoding, segments: count }))
      }
      yield* result(document, lines(simulated))
      yield* note(who(simulated))
    },
    Effect.provide(SmsProcessor.layer.pipe(Layer.provide(SmsDispatcher.layer)))
  )
).pipe(
  Command.withDescription("Simulate a message from a number, and show the texts in answer"),
  Command.withExamples([
    { command: 'max sms simulate --from +15125550142 "who is Taylor Jackson?"', description: "Nothing is sent" }
  ])
)
