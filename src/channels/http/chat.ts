/** Chat over HTTP: a turn as a stream of its events, and the caller's stored conversations. */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { MaxAgent } from "../../agents/MaxAgent.ts"
import { choicesIn } from "../../agents/cards.ts"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import { welcome } from "../../agents/welcome.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import * as Telemetry from "../../observability/Telemetry.ts"
import { OrganizationState } from "../../services/catalog/OrganizationState.ts"
import { Conversations as ConversationStore } from "../../services/conversations/Conversations.ts"
import { EntityQueryService } from "../../services/EntityQueryService.ts"
import type { NamedTurns, Welcome } from "../../wire/chat.ts"
import type { Conversation, ConversationPage } from "../../wire/conversations.ts"
import { Api } from "./Api.ts"
import { CurrentCaller } from "./authenticate.ts"
import { json } from "./json.ts"
import type { ProblemName } from "../../wire/problems.ts"
import { FAILED_TURN, orProblem, problem } from "./problems.ts"
import type { Listener } from "./Listener.ts"
import { isFirst } from "./Turn.ts"
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

export const failure = ({ message, reason, reference }: Failed): Response =>
  problem(PROBLEM_OF[reason], message, reference === undefined ? {} : { reference })

/** Streams the events of a turn; a turn whose first event is an error is answered with its problem. */
const respond = Effect.fnUntraced(function* (listener: Listener) {
  const first = yield* listener.peek()
  if (first !== undefined && isFirst(first) && first.event._tag === "error") {
    yield* Telemetry.recordCause(FAILED_TURN)
    return failure(first.event)
  }
  return HttpServerResponse.stream(Stream.fromPull(Effect.succeed(listener.pull())), {
    contentType: "text/event-stream",
    headers: { "x-accel-buffering": "no" }
  })
})

const ownerOf = ({ anchorEntityId, organizationId }: Principal) => ({ organizationId, anchorId: anchorEntityId })

/** Conversations or turns of a page, by default. */
const PAGE_SIZE = 100

const notFound = (kind: string) => problem("NotFound", `You have no ${kind} with this name.`)

export const currentOrganization = Effect.gen(function* () {
  const states = yield* OrganizationState
  return Effect.gen(function* () {
    const principal = yield* CurrentPrincipal
    const { state } = yield* states.read(principal.organizationId, { by: "none" })
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
        orProblem(
          Effect.gen(function* () {
            const { organization } = yield* current
            const suggestions = yield* welcome(organization).pipe(Effect.provideService(EntityQueryService, queries))
            const mode = (yield* agent.providerFor(organization)) === "basic" ? "basic" : "model"
            return json<Welcome>({ ...suggestions, mode })
          })
        ),
      say: ({ payload }) =>
        orProblem(
          Effect.gen(function* () {
            const { organization } = yield* current
            const say = "text" in payload ? { text: payload.text } : { choice: payload.choice }
            const message = { organization, say, session: payload.conversation, after: payload.after }
            return yield* respond(yield* turns.begin(yield* CurrentCaller, message, payload.turn))
          })
        )
    })
  })
)

export const Conversations = HttpApiBuilder.group(
  Api,
  "conversations",
  Effect.fnUntraced(function* (handlers) {
    const queries = yield* EntityQueryService
    const store = yield* ConversationStore
    const turns = yield* Turns
    const current = yield* currentOrganization
    return handlers.handleAll({
      resume: ({ headers, params }) =>
        orProblem(
          Effect.gen(function* () {
            const { organization } = yield* current
            const caller = yield* CurrentCaller
            const listener = yield* turns.find(caller, organization, params.turn, headers["last-event-id"] ?? 0)
            return listener === undefined ? notFound("turn") : yield* respond(listener)
          })
        ),
      stop: ({ params }) =>
        orProblem(
          Effect.gen(function* () {
            const stopped = yield* turns.stop(yield* CurrentPrincipal, params.turn)
            return stopped ? HttpServerResponse.empty() : notFound("turn")
          })
        ),
      held: () =>
        orProblem(Effect.map(Effect.flatMap(CurrentPrincipal, turns.held), (turns) => json<NamedTurns>({ turns }))),
      list: ({ query: { limit = PAGE_SIZE, ...query } }) =>
        orProblem(
          Effect.gen(function* () {
            const owner = ownerOf(yield* CurrentPrincipal)
            return json<ConversationPage>(yield* store.list(owner, { ...query, limit }))
          })
        ),
      get: ({ params, query: { before, limit = PAGE_SIZE } }) =>
        orProblem(
          Effect.gen(function* () {
            const principal = yield* CurrentPrincipal
            const basis = yield* queries.basis(principal)
            const found = yield* store.show(ownerOf(principal), params.id, basis, { before, limit })
            if (found === undefined) return notFound("conversation")
            const { conversation } = found
            return json<Conversation>({
              ...conversation,
              turns: found.turns.map((turn) => ({
                ...turn,
                ...(turn.answered !== undefined && turn.position === conversation.turns
                  ? { choices: choicesIn(turn.answered, turn.references ?? []) }
                  : {})
              }))
            })
          })
        ),
      remove: ({ params }) =>
        orProblem(
          Effect.gen(function* () {
            const removed = yield* store.remove(ownerOf(yield* CurrentPrincipal), params.id)
            return removed ? HttpServerResponse.empty() : notFound("conversation")
          })
        )
    })
  })
)
