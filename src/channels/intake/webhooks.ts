/**
 * Webhooks that hand in messages. The signature alone authenticates a request, and its time limits how long it is accepted. The response
 * tells nothing of the answer: a recorded request that is sent again gains nothing.
 */
import { Clock, Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { InvalidInput, Unavailable } from "../../domain/errors.ts"
import { Env } from "../../env.ts"
import { Intake } from "../../wire/intake.ts"
import { failure } from "../http/chat.ts"
import type { Route } from "../http/edge.ts"
import { problem, problemOf } from "../http/problems.ts"
import { handingIn } from "./handIn.ts"
import { isFromZendesk, isStandardSigned } from "./signatures.ts"

const ZENDESK = "/v1/intake/zendesk"
const SIGNED = "/v1/intake/signed"

export const INTAKE_ROUTES: ReadonlyArray<Route> = [ZENDESK, SIGNED].map((path) => ({ method: "POST", path }))

/** The one answer to every request whose signature is not verified. */
const NOT_SIGNED = problem("NotSigned", "Check the webhook's secret and the clocks of both systems.")

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Intake), { onExcessProperty: "error" })
const decodeTicket = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.Struct({ sourceId: Intake.fields.sourceId, from: Intake.fields.from, text: Schema.String })
  ),
  { onExcessProperty: "error" }
)
const INVALID = InvalidInput.of("The body is a JSON object with sourceId, from and text; a signed one has source, too.")

const handlers = Effect.gen(function* () {
  const { intakeSecret, intakeZendeskSecret } = yield* Env
  const handIn = yield* handingIn
  const signed =
    (
      secret: Redacted.Redacted<string> | undefined,
      isSigned: typeof isFromZendesk,
      read: (body: string) => Effect.Effect<typeof Intake.Type, unknown>
    ) =>
    (request: HttpServerRequest.HttpServerRequest) =>
      Effect.gen(function* () {
        const body = yield* Effect.mapError(request.text, () => Unavailable.error)
        const now = yield* Clock.currentTimeMillis
        if (secret === undefined || !isSigned(Redacted.value(secret), { body, headers: request.headers }, now))
          return NOT_SIGNED
        const outcome = yield* handIn(yield* Effect.mapError(read(body), () => INVALID))
        return "_tag" in outcome ? failure(outcome) : HttpServerResponse.jsonUnsafe({ known: outcome.known })
      }).pipe(
        Effect.catchTags({
          ConfigurationError: ({ message }) => Effect.as(Effect.logError(message), NOT_SIGNED),
          OperatorError: ({ message }) => Effect.as(Effect.logError(message), NOT_SIGNED)
        }),
        Effect.catch((error) => Effect.succeed(problemOf(error)))
      )
  return {
    zendesk: signed(intakeZendeskSecret, isFromZendesk, (body) =>
      Effect.map(decodeTicket(body), (ticket) => ({ source: "zendesk", ...ticket }))
    ),
    standard: signed(intakeSecret, isStandardSigned, decode)
  }
})

export const IntakeWebhooks = Layer.unwrap(
  Effect.map(handlers, ({ standard, zendesk }) =>
    Layer.mergeAll(HttpRouter.add("POST", ZENDESK, zendesk), HttpRouter.add("POST", SIGNED, standard))
  )
)
