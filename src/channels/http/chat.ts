/** Conversations over HTTP: a turn as a stream of its events, and what is kept of earlier ones, for whoever they belong to. */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { MaxAgent } from "../../agents/MaxAgent.ts"
import { choicesIn } from "../../agents/cards.ts"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import { welcome } from "../../agents/welcome.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import { OrganizationState } from "../../services/catalog/OrganizationState.ts"
import { Conversations as Kept } from "../../services/conversations/Conversations.ts"
import { EntityQueryService } from "../../services/EntityQueryService.ts"
import { Api } from "./Api.ts"
import type { ProblemName } from "../../wire/problems.ts"
import { problem, problemOf, type PublicError } from "./problems.ts"
import type { Listener } from "./Listener.ts"
import { Turns } from "./Turns.ts"

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

/** What a listener hears; a turn that fails before it has said anything is a problem. */
const respond = Effect.fnUntraced(function* (listener: Listener) {
  const first = yield* listener.next()
  if (first?.number === 1 && first.event._tag === "error") return failure(first.event)
  return HttpServerResponse.stream(Stream.fromPull(Effect.succeed(listener.pull())), {
    contentType: "text/event-stream",
    headers: { "x-accel-buffering": "no" }
  })
})

const ownerOf = ({ anchorEntityId, organizationId }: Principal) => ({ organizationId, anchorId: anchorEntityId })

/** Conversations and turns of a page, when it isn't said how many. */
const PAGE = 100

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
    const agent = yield* MaxAgent
    const queries = yield* EntityQueryService
    const turns = yield* Turns
    const current = yield* currentOrganization
    return handlers.handleAll({
      welcome: () =>
        answered(
          Effect.gen(function* () {
            const { organization } = yield* current
            const found = yield* welcome(organization).pipe(Effect.provideService(EntityQueryService, queries))
            const mode = agent.provider === "basic" ? "basic" : "model"
            return HttpServerResponse.jsonUnsafe({ ...found, mode })
          })
        ),
      say: ({ payload }) =>
        answered(
          Effect.gen(function* () {
            const { organization, principal } = yield* current
            const say = "text" in payload ? { text: payload.text } : { choice: payload.choice }
            const said = { organization, say, session: payload.conversation, after: payload.after }
            return yield* respond(yield* turns.begin(principal, said, payload.turn))
          })
        )
    })
  })
)

export const Conversations = HttpApiBuilder.group(
  Api,
  "conversations",
  Effect.fnUntraced(function* (handlers) {
    const kept = yield* Kept
    const turns = yield* Turns
    return handlers.handleAll({
      resume: ({ headers, params }) =>
        Effect.gen(function* () {
          const listener = yield* turns.find(yield* CurrentPrincipal, params.turn, headers["last-event-id"] ?? 0)
          return listener === undefined ? notFound("turn") : yield* respond(listener)
        }),
      stop: ({ params }) =>
        Effect.gen(function* () {
          const found = yield* turns.stop(yield* CurrentPrincipal, params.turn)
          return found ? HttpServerResponse.empty() : notFound("turn")
        }),
      held: () =>
        Effect.map(CurrentPrincipal, (principal) => HttpServerResponse.jsonUnsafe({ turns: turns.held(principal) })),
      list: ({ query: { limit = PAGE, ...query } }) =>
        answered(
          Effect.gen(function* () {
            const owner = ownerOf(yield* CurrentPrincipal)
            return HttpServerResponse.jsonUnsafe(yield* kept.list(owner, { ...query, limit }))
          })
        ),
      get: ({ params, query: { before, limit = PAGE } }) =>
        answered(
          Effect.gen(function* () {
            const principal = yield* CurrentPrincipal
            const found = yield* kept.show(ownerOf(principal), params.id, { before, limit })
            if (found === undefined) return notFound("conversation")
            const { conversation } = found
            return HttpServerResponse.jsonUnsafe({
              ...conversation,
              // What was said under another policy may say what can't be seen any more.
              turns: found.turns.map(({ answered: text, epoch, references, ...turn }) => ({
                ...turn,
                ...(epoch === principal.epoch ? { answered: text, references } : {}),
                ...(epoch === principal.epoch && turn.position === conversation.turns
                  ? { choices: choicesIn(text, references) }
                  : {})
              }))
            })
          })
        ),
      remove: ({ params }) =>
        answered(
          Effect.gen(function* () {
            const removed = yield* kept.remove(ownerOf(yield* CurrentPrincipal), params.id)
            return removed ? HttpServerResponse.empty() : notFound("conversation")
          })
        )
    })
  })
)
