/**
 * A turn of a conversation: who asks is found out in code, what may be spent is taken out of the day, a model answers
 * with the three tools, and what was said is kept. Whoever isn't admitted costs no model anything.
 */
import { type Cause, Context, Effect, Layer, Queue, Stream } from "effect"
import type { Tool } from "effect/ai"
import { createHash } from "node:crypto"
import type { Organization } from "../domain/EntityType.ts"
import type { Unavailable } from "../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../domain/Principal.ts"
import { shortReference } from "../domain/reference.ts"
import { Env } from "../env.ts"
import { EntityQueryService } from "../services/EntityQueryService.ts"
import { IdentityResolver } from "../services/members/IdentityResolver.ts"
import type { Identifier } from "../services/members/identifier.ts"
import { type OpenSession, Sessions } from "../services/conversations/Sessions.ts"
import { Spending } from "../services/conversations/Spending.ts"
import type { MaxToolkit } from "../tools/Toolkit.ts"
import { answer, type Spent, TurnFault } from "./loop.ts"
import { ModelStep } from "./ModelStep.ts"
import { MAX_FOCUS, prepare } from "./prepare.ts"
import { choicesIn, handleOf, presentedBy } from "./cards.ts"
import { MAX_TEXT_LENGTH, SENTENCES } from "./sentences.ts"
import type { Choice, TurnEvent } from "../wire/TurnEvent.ts"

export interface TurnInput {
  readonly organization: Organization
  /** How the person is known: a verified identifier, or the principal that a channel has authenticated. */
  readonly who: Identifier | Principal
  /** The conversation to go on with; somebody else's, an unknown one or none begins a new one. */
  readonly session?: string | undefined
  /** How many turns of it stay: the answer takes the place of those behind them. */
  readonly after?: number | undefined
  /** What the person wrote, or the handle of a choice that was offered. */
  readonly say: { readonly text: string } | { readonly choice: string }
  /** Keeps the answer together with what the channel writes of it: both, in one transaction, or neither. */
  readonly persist?: (keep: Effect.Effect<void, Unavailable>, answer: Answer) => Effect.Effect<void, Unavailable>
}

/** A whole answer that is about to be kept. */
interface Answer {
  readonly session: string
  readonly text: string
  readonly choices: ReadonlyArray<Choice>
}

type Events = Queue.Queue<TurnEvent, Cause.Done>

export class MaxAgent extends Context.Service<
  MaxAgent,
  {
    /** Who thinks, for greetings and reports. */
    readonly provider: string
    readonly model: string
    /** One turn. It always ends with `done` or `error`, and ends at once when nobody listens any more. */
    readonly turn: (input: TurnInput) => Stream.Stream<TurnEvent>
  }
>()("max/agents/MaxAgent") {
  static readonly layer = Layer.effect(
    MaxAgent,
    Effect.gen(function* () {
      const env = yield* Env
      const identities = yield* IdentityResolver
      const model = yield* ModelStep
      const queries = yield* EntityQueryService
      const sessions = yield* Sessions
      const spending = yield* Spending
      const handlers = yield* Effect.context<Tool.HandlersFor<typeof MaxToolkit.tools>>()

      const admit = ({ organization, who }: TurnInput) =>
        "kind" in who ? identities.admit(organization, who) : identities.readmit(who)

      /** Takes the turn out of the day's budget and books what it cost, however it ends. */
      const withinTheDay = <A, E, R>(
        { organization }: TurnInput,
        principal: Principal,
        spent: Spent,
        use: Effect.Effect<A, E, R>
      ) => {
        const owner = { organizationId: organization.id, anchorId: principal.anchorEntityId }
        const limits = { turns: env.dayTurns, tokens: env.dayTokens }
        return Effect.acquireUseRelease(
          spending.reserve(organization, model.provider === "basic" ? 0 : tokensOfTurn, limits),
          (reservation): Effect.Effect<A, E | TurnFault, R> =>
            reservation === undefined
              ? Effect.fail(new TurnFault({ reason: "Budget", message: SENTENCES.dayIsSpent }))
              : use,
          (reservation) =>
            reservation === undefined
              ? Effect.void
              : Effect.ignore(spending.settle(owner, reservation, { model: model.model, ...spent }))
        )
      }
      const tokensOfTurn = Math.min(env.turnTokens, env.dayTokens)

      const converse = Effect.fnUntraced(function* (
        input: TurnInput,
        principal: Principal,
        spent: Spent,
        reference: string,
        events: Events
      ) {
        const { organization } = input
        const owner = { organizationId: organization.id, anchorId: conversationOf(principal) }
        const goesOn = principal.anchorEntityId === "" ? undefined : input.session
        const session = yield* sessions.open(owner, goesOn, env.turnSeconds + LEASE_MARGIN, input.after)
        yield* Effect.annotateCurrentSpan("gen_ai.conversation.id", session.id)
        if (session.isNew) yield* sessions.removeOlderThan(organization.id, env.sessionDays)
        const asked = yield* wordsOf(input, session)
        const prepared = yield* prepare(organization, principal, session, asked)
        const text = yield* answer({ ...prepared, model, tokens: tokensOfTurn, spent, events }).pipe(
          Effect.provideService(CurrentPrincipal, principal)
        )
        const meant = prepared.sightings.presentedIn(text)
        const presented = presentedBy(text, meant, prepared)
        const choices = choicesIn(text, meant)
        const keep = session.save({
          asked,
          answered: text,
          epoch: principal.epoch,
          references: presented.slice(0, MAX_FOCUS),
          model: model.model,
          inputTokens: spent.inputTokens,
          outputTokens: spent.outputTokens,
          reference
        })
        yield* input.persist === undefined ? keep : input.persist(keep, { session: session.id, text, choices })
        if (choices.length > 0) yield* Queue.offer(events, { _tag: "matches", choices })
        return { session: session.id, text, presented }
      }, Effect.scoped)

      /** Fails with what the person is told, so that the trace of a turn without an answer is one that failed. */
      const run = Effect.fnUntraced(function* (input: TurnInput, events: Events) {
        const reference = shortReference((yield* Effect.orDie(Effect.currentSpan)).traceId)
        const spent: Spent = { steps: 0, inputTokens: 0, outputTokens: 0 }
        const { presented, session, text } = yield* Effect.gen(function* () {
          const { principal } = yield* admit(input)
          yield* checkWords(input)
          return yield* withinTheDay(input, principal, spent, converse(input, principal, spent, reference, events))
        }).pipe(
          Effect.timeoutOrElse({
            duration: env.turnSeconds * 1000,
            orElse: () => Effect.fail(new TurnFault({ reason: "Timeout", message: SENTENCES.tooSlow }))
          }),
          Effect.catchDefect((defect) =>
            // Its name only: a message could carry what a row says.
            Effect.logDebug(`A turn failed: ${defect instanceof Error ? defect.name : "not an error"}`).pipe(
              Effect.andThen(Effect.fail(unavailable))
            )
          ),
          Effect.mapError((error) => {
            if (error._tag === "TurnFault") return withReference(error, reference)
            return error._tag === "NotAdmitted"
              ? new TurnFault({ reason: "NotAdmitted", message: error.message })
              : withReference(unavailable, reference)
          }),
          Effect.ensuring(
            Effect.suspend(() =>
              Effect.annotateCurrentSpan({
                "gen_ai.usage.input_tokens": spent.inputTokens,
                "gen_ai.usage.output_tokens": spent.outputTokens,
                "max.steps": spent.steps
              })
            )
          )
        )
        yield* Queue.offer(events, {
          _tag: "done",
          session,
          text,
          references: presented,
          usage: { model: model.model, ...spent },
          reference
        })
      })

      return MaxAgent.of({
        provider: model.provider,
        model: model.model,
        turn: (input) =>
          Stream.callback<TurnEvent>((events) =>
            run(input, events).pipe(
              Effect.provideContext(handlers),
              Effect.provideService(EntityQueryService, queries),
              Effect.withSpan("invoke_agent max", {
                attributes: {
                  "gen_ai.operation.name": "invoke_agent",
                  "gen_ai.provider.name": model.provider,
                  "gen_ai.request.model": model.model,
                  "max.organization.id": String(input.organization.id)
                }
              }),
              Effect.catchTag("TurnFault", ({ message, reason, reference }) =>
                Queue.offer(events, {
                  _tag: "error",
                  reason,
                  message,
                  ...(reference === undefined ? {} : { reference })
                })
              ),
              Effect.andThen(Queue.end(events))
            )
          )
      })
    })
  )
}

/**
 * Whose conversations a principal's are. A host may vouch for one person with more today than tomorrow: what was said
 * with more is not told with less. Nobody in particular goes on with none.
 */
const conversationOf = ({ anchorEntityId, vouched }: Principal): string =>
  vouched === undefined
    ? anchorEntityId
    : `vouched:${createHash("sha256")
        .update(
          JSON.stringify([anchorEntityId, vouched.roles.toSorted(), Object.entries(vouched.attributes).toSorted()])
        )
        .digest("base64url")}`

/** Seconds that a lease outlives the longest turn. */
const LEASE_MARGIN = 10

const invalid = (message: string) => Effect.fail(new TurnFault({ reason: "InvalidInput", message }))

const checkWords = ({ say }: TurnInput) => {
  if ("choice" in say) return Effect.void
  if (written(say.text) === "") return invalid(SENTENCES.empty)
  return say.text.length > MAX_TEXT_LENGTH ? invalid(SENTENCES.tooLong) : Effect.void
}

/** What a person wrote, without what no database and no model can read. */
const written = (text: string): string =>
  text
    .replace(/\p{Cs}/gu, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "")
    .trim()

/** What the person said; a choice is said by its number, never by what a row says. */
const wordsOf = ({ say }: TurnInput, session: OpenSession): Effect.Effect<string, TurnFault> => {
  if ("text" in say) return Effect.succeed(written(say.text))
  const index = session.focus.findIndex((one) => handleOf(one) === say.choice)
  return index < 0 ? invalid(SENTENCES.noSuchChoice) : Effect.succeed(`number ${index + 1}`)
}

const unavailable = new TurnFault({ reason: "Unavailable", message: SENTENCES.unavailable })

/** Failures that somebody may have to look into end with the reference of the turn's trace. */
const withReference = (fault: TurnFault, reference: string): TurnFault =>
  fault.reason === "InvalidInput" || fault.reason === "Budget"
    ? fault
    : new TurnFault({ reason: fault.reason, message: `${fault.message} (ref ${reference})`, reference })
