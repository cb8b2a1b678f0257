/**
 * Twilio's webhooks: messages and delivery reports. The signature alone authenticates a request, over the configured
 * public URL and never the host that the request names. A message is acknowledged before it is processed.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Unavailable } from "../../domain/errors.ts"
import { SmsInbox } from "../../services/texting/SmsInbox.ts"
import { SmsOutbox } from "../../services/texting/SmsOutbox.ts"
import type { Route } from "../http/edge.ts"
import { problem, problemOf } from "../http/problems.ts"
import { TWILIO_PATH } from "../../domain/Sms.ts"
import { type Line, Lines, SmsTiming, TWILIO_STATUS_PATH } from "./Line.ts"
import { E164 } from "./Provider.ts"
import { SmsWorker } from "./SmsWorker.ts"

export const SMS_ROUTES: ReadonlyArray<Route> = [
  { method: "POST", path: TWILIO_PATH, takes: "form" },
  { method: "POST", path: `${TWILIO_STATUS_PATH}/:text`, takes: "form" }
]

/** An empty TwiML response: replies go out through the Messages API. */
const ACKNOWLEDGED = HttpServerResponse.text("<Response/>", { contentType: "text/xml" })

/** The one answer to every request whose signature is not verified. */
const NOT_SIGNED = problem("NotSigned", "Check the number's webhook address, MAX_PUBLIC_URL and the account's token.")

const handlers = Effect.gen(function* () {
  const inbox = yield* SmsInbox
  const lines = yield* Lines
  const outbox = yield* SmsOutbox
  const worker = yield* SmsWorker
  const { merging } = yield* SmsTiming

  /** Calls `use` with the parameters of a request, after verifying it for the line whose number is the parameter `ours`. */
  const signed =
    (ours: "To" | "From", use: (params: URLSearchParams, line: Line) => Effect.Effect<unknown, Unavailable>) =>
    (request: HttpServerRequest.HttpServerRequest) =>
      Effect.gen(function* () {
        const params = new URLSearchParams(yield* request.text)
        const number = params.get(ours) ?? ""
        const line = E164.test(number) ? yield* lines.of(number) : undefined
        if (line === undefined || lines.publicUrl === undefined) return NOT_SIGNED
        const url = `${lines.publicUrl}${request.url}`
        const signature = request.headers["x-twilio-signature"]
        if (!line.provider.verify({ url, signature, params }, line)) return NOT_SIGNED
        yield* use(params, line)
        return ACKNOWLEDGED
      }).pipe(
        Effect.catchTags({
          ConfigurationError: ({ message }) => Effect.as(Effect.logError(message), NOT_SIGNED),
          Unavailable: (error) => Effect.succeed(problemOf(error))
        })
      )

  return {
    receive: signed(
      "To",
      Effect.fnUntraced(function* (params, { organization, provider }) {
        const message = provider.parse(params)
        if (message === undefined) return
        if (yield* inbox.receive(organization.id, message, merging)) yield* worker.wakeIn(merging.quiet)
      })
    ),
    report: (request: HttpServerRequest.HttpServerRequest) =>
      signed("From", (params, { organization, provider }) => {
        const reported = provider.status(params)
        const id = request.url.slice(TWILIO_STATUS_PATH.length + 1).split(/[?#]/, 1)[0]!
        return reported === undefined ? Effect.void : outbox.report(organization.id, id, reported)
      })(request)
  }
})

export const Sms = Layer.unwrap(
  Effect.map(handlers, ({ receive, report }) =>
    Layer.mergeAll(
      HttpRouter.add("POST", TWILIO_PATH, receive),
      HttpRouter.add("POST", `${TWILIO_STATUS_PATH}/:text`, report)
    )
  )
).pipe(Layer.provide(SmsWorker.live))
