/** Conversations over HTTP: a turn as a stream of its events, and what is kept of earlier ones, for whoever they belong to. */
import { Effect, Pull, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { TurnEvent } from "../../agents/TurnEvent.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { OrganizationState } from "../../services/OrganizationState.ts"
import { Sessions, type SessionSummary } from "../../services/Sessions.ts"
import { Api } from "./Api.ts"
import { problem, type ProblemName, problemOf, type PublicError } from "./problems.ts"
import { type Numbered, Turns } from "./Turns.ts"

type Response = HttpServerResponse.HttpServerResponse
type Failed = Extract<TurnEvent, { readonly _tag: "error" }>

const PROBLEM_OF: Readonly<Record<Failed["reason"], ProblemName>> = {
  NotAdmitted: "NotAdmitted",
  InvalidInput: "InvalidInput",
  Budget: "BudgetSpent",
  Model: "NoAnswer",
  Timeout: "NoAnswer",
  Stopped: "NoAnswer",
  Unavailable: "Unavailable"
}

const failure = ({ message, reason, reference }: Failed): Response =>
  problem(PROBLEM_OF[reason], message, {
    ...(reference === undefined ? {} : { reference }),
    ...(reason === "Unavailable" ? { headers: { "retry-after": "5" } } : {})
  })

const encoder = new TextEncoder()

const written = ({ event, number }: Numbered): Uint8Array =>
  encoder.encode(
    Sse.encoder.write({ _tag: "Event", id: String(number), event: event._tag, data: JSON.stringify(event) })
  )

/** While a model thinks, whatever stands between sees that the connection is alive. */
const STILL_HERE = Stream.tick("15 seconds").pipe(
  Stream.drop(1),
  Stream.map(() => encoder.encode(": still here\n\n"))
)

/** A turn's events after a number; a turn that fails before it has said anything is a problem. */
const respond = Effect.fnUntraced(function* (events: Stream.Stream<Numbered>, after: number) {
  const pull = yield* Stream.toPull(Stream.filter(events, ({ number }) => number > after))
  const first = yield* Pull.catchDone(pull, () => Effect.succeed([] as ReadonlyArray<Numbered>))
  const [one] = first
  if (one?.number === 1 && one.event._tag === "error") return failure(one.event)
  const all = Stream.concat(Stream.fromIterable(first), Stream.fromPull(Effect.succeed(pull)))
  return HttpServerResponse.stream(Stream.merge(Stream.map(all, written), STILL_HERE, { haltStrategy: "left" }), {
    contentType: "text/event-stream",
    headers: { "x-accel-buffering": "no" }
  })
})

const summaryOf = ({ createdAt, id, updatedAt }: SessionSummary) => ({ id, createdAt, updatedAt })

const notFound = (what: string) => problem("NotFound", `There is no ${what} of yours with this name.`)

const answered = <R>(effect: Effect.Effect<Response, PublicError, R>) =>
  Effect.catch(effect, (error) => Effect.succeed(problemOf(error)))

const currentOrganization = Effect.gen(function* () {
  const states = yield* OrganizationState
  return Effect.gen(function* () {
    const principal = yield* CurrentPrincipal
    const { state } = yield* states.read(principal.organizationId, { by: "nobody" })
    return { organization: state.catalog.organization, principal }
  })
})

export const Chat = HttpApiBuilder.group(
  Api,
  "chat",
  Effect.fnUntraced(function* (handlers) {
    const turns = yield* Turns
    const current = yield* currentOrganization
    return handlers.handleAll({
      say: ({ payload }) =>
        answered(
          Effect.gen(function* () {
            const { organization, principal } = yield* current
            const say = "text" in payload ? { text: payload.text } : { choice: payload.choice }
            const said = { organization, say, session: payload.conversation }
            return yield* respond(yield* turns.begin(principal, said, payload.turn), 0)
          })
        )
    })
  })
)

export const Conversations = HttpApiBuilder.group(
  Api,
  "conversations",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* Sessions
    const turns = yield* Turns
    const current = yield* currentOrganization
    return handlers.handleAll({
      resume: ({ headers, params }) =>
        Effect.gen(function* () {
          const events = yield* turns.find(yield* CurrentPrincipal, params.turn)
          return events === undefined ? notFound("turn") : yield* respond(events, headers["last-event-id"] ?? 0)
        }),
      stop: ({ params }) =>
        Effect.gen(function* () {
          const found = yield* turns.stop(yield* CurrentPrincipal, params.turn)
          return found ? HttpServerResponse.empty() : notFound("turn")
        }),
      list: () =>
        answered(
          Effect.gen(function* () {
            const { organization, principal } = yield* current
            const found = yield* sessions.list(organization, principal.anchorEntityId)
            const conversations = found.map((session) => ({ ...summaryOf(session), turns: session.turns }))
            return HttpServerResponse.jsonUnsafe({ conversations })
          })
        ),
      get: ({ params }) =>
        answered(
          Effect.gen(function* () {
            const { organization, principal } = yield* current
            const found = yield* sessions.show(organization, params.id, principal.anchorEntityId)
            return HttpServerResponse.jsonUnsafe({
              ...summaryOf(found.session),
              // What was said under another policy may say what can't be seen any more.
              turns: found.turns.map(({ answered: text, asked, at, epoch, reference, references }) => ({
                asked,
                at,
                reference,
                ...(epoch === principal.epoch ? { answered: text, references } : {})
              }))
            })
          }).pipe(Effect.catchTag("OperatorError", () => Effect.succeed(notFound("conversation"))))
        ),
      remove: ({ params }) =>
        answered(
          Effect.gen(function* () {
            const { organization, principal } = yield* current
            yield* sessions.remove(organization, params.id, principal.anchorEntityId)
            return HttpServerResponse.empty()
          }).pipe(Effect.catchTag("OperatorError", () => Effect.succeed(notFound("conversation"))))
        )
    })
  })
)
