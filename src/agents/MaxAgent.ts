/**
 * One turn of a conversation: admits the caller in code, reserves the turn's share of the day's budget, lets a model
 * answer with the three tools, and stores the answer. A caller who is not admitted never reaches the model.
 */
import { Context, Effect, Layer, Queue, Stream } from "effect"
import type { Tool } from "effect/ai"
import type { Basis } from "../domain/Basis.ts"
import type { Organization } from "../domain/EntityType.ts"
import type { Unavailable } from "../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../domain/Principal.ts"
import { shortReference } from "../domain/reference.ts"
import { today } from "../domain/today.ts"
import { Env } from "../env.ts"
import { reportFailure } from "../observability/failures.ts"
import * as Telemetry from "../observability/Telemetry.ts"
import { UnclearQuestions } from "../services/administration/UnclearQuestions.ts"
import { Changes } from "../services/changes/Changes.ts"
import { EntityQueryService } from "../services/EntityQueryService.ts"
import { IdentityResolver } from "../services/members/IdentityResolver.ts"
import type { Identifier } from "../services/members/identifier.ts"
import { Sessions } from "../services/conversations/Sessions.ts"
import { Spending } from "../services/conversations/Spending.ts"
import type { Drafts } from "../tools/ChangeTool.ts"
import type { MaxToolkit } from "../tools/Toolkit.ts"
import { EmittedEvents } from "./EmittedEvents.ts"
import { answer, type Spent } from "./loop.ts"
import { ModelStep } from "./ModelStep.ts"
import { type OwnModel, OwnModels } from "./OwnModels.ts"
import { Provenance } from "./guards/Provenance.ts"
import { MAX_FOCUS, prepare } from "./prepare.ts"
import { orTurnFault, RIGHTS_CHANGED } from "./TurnFault.ts"
import { TurnWork } from "./TurnWork.ts"
import { besideOf, choicesIn, presentedBy } from "./cards.ts"
import { type Changing, changesOf, draftEvents, openedBy } from "./changing.ts"
import { decideTyped } from "./confirming.ts"
import { conversationOwner } from "./conversationOwner.ts"
import { type Chosen, makeReserving } from "./reserving.ts"
import { questionOf, type Say, validate } from "./question.ts"
import { keepingUnclear } from "./withoutNames.ts"
import type { TurnContext } from "./turnContext.ts"
import type { Choice, TurnEvent } from "../wire/TurnEvent.ts"

export interface TurnInput {
  readonly organization: Organization
  /** The caller: a verified identifier, or the principal that the channel has authenticated. */
  readonly who: Identifier | Principal
  /** The conversation to continue. An unknown one, another person's or none begins a new conversation. */
  readonly session?: string | undefined
  /** The number of turns to keep: the answer replaces the turns after them. */
  readonly after?: number | undefined
  readonly say: Say
  /** Lets the turn propose changes; a channel sets it that can show them. */
  readonly changes?: Changing | undefined
  /** The token of the conversation's lease, for a channel that can end the lease of a process that died. */
  readonly lease?: string
  /** Stores the answer: runs `save` in one transaction with the channel's own writes. */
  readonly persist?: (save: Effect.Effect<void, Unavailable>, answer: Answer) => Effect.Effect<void, Unavailable>
}

/** A complete answer, before it is stored. */
export interface Answer {
  readonly session: string
  readonly text: string
  readonly choices: ReadonlyArray<Choice>
  /** What it was made from. */
  readonly basis: Basis
  /** All events of the turn, including the last. */
  readonly events: ReadonlyArray<TurnEvent>
}

export class MaxAgent extends Context.Service<
  MaxAgent,
  {
    /** The model's provider, for greetings and reports. */
    readonly provider: string
    readonly model: string
    /** The provider that answers an organization's questions. */
    readonly providerFor: (organization: Organization) => Effect.Effect<string, Unavailable>
    /** Runs one turn. The stream ends with `done` or `error`; interrupting it stops the turn. */
    readonly turn: (input: TurnInput) => Stream.Stream<TurnEvent>
  }
>()("max/agents/MaxAgent") {
  static readonly layer = Layer.effect(
    MaxAgent,
    Effect.gen(function* () {
      const env = yield* Env
      const changes = yield* Changes
      const identities = yield* IdentityResolver
      const configured = yield* ModelStep
      const limits = { dayTurns: env.dayTurns, dayTokens: env.dayTokens }
      const ownModels = yield* OwnModels
      const chosen = (organization: Organization) =>
        Effect.map(
          ownModels === undefined ? Effect.succeed<OwnModel>({ step: undefined, ...limits }) : ownModels(organization),
          ({ step, ...budget }) => ({ model: step ?? configured, ...budget })
        )
      const queries = yield* EntityQueryService
      const sessions = yield* Sessions
      const spending = yield* Spending
      const keepUnclear = keepingUnclear(yield* UnclearQuestions)
      const handlers = yield* Telemetry.outside(Effect.context<Tool.HandlersFor<typeof MaxToolkit.tools>>())

      const admit = ({ organization, who }: TurnInput) =>
        "kind" in who ? identities.admit(organization, who) : identities.readmit(who)

      const { tokensOf, withReservation } = makeReserving(spending, env.turnTokens)

      const converse = Effect.fnUntraced(function* (
        input: TurnInput,
        principal: Principal,
        { dayTokens, model }: Chosen,
        spent: Spent,
        work: TurnWork,
        reference: string,
        events: EmittedEvents
      ) {
        const { organization } = input
        const owner = { organizationId: organization.id, anchorId: conversationOwner(principal) }
        const continued = principal.anchorEntityId === "" ? undefined : input.session
        const { after, lease } = input
        const session = yield* sessions.open(owner, continued, env.turnSeconds + LEASE_MARGIN, { after, lease })
        yield* Effect.annotateCurrentSpan("gen_ai.conversation.id", session.id)
        if (session.isNew) yield* sessions.removeOlderThan(organization.id, env.sessionDays)
        const asked = yield* questionOf(input.say, session)
        const basis = yield* queries
          .basis({ organizationId: organization.id })
          .pipe(Effect.provideService(CurrentPrincipal, principal))
        const changing = input.after === undefined ? input.changes : undefined
        const decided = yield* decideTyped(changes, changing, principal, session, asked)
        const answering = Effect.gen(function* () {
          const locale = { country: organization.country, today: today(organization.timeZone) }
          const provenance = new Provenance(locale, principal.anchorEntityId, asked)
          // Basic mode reads the person's words alone; a model may be led by the text of a row.
          const isBasic = model.provider === "basic"
          const judge = isBasic ? passes : provenance.judge
          const { context, drafts } = yield* changesOf(changes, input.changes, principal, session, reference, judge)
          const prepared = yield* prepare(
            organization,
            principal,
            session,
            basis,
            asked,
            work,
            provenance,
            context,
            isBasic
          )
          prepared.grounding.deeds = {
            // Basic mode writes its own sentences, which claim nothing; only what it quotes could seem to.
            isApplied: () => isBasic || ((drafts?.changes.length ?? 0) === 0 && hasReceipt(context.drafts)),
            of: () => ({
              wide: provenance.asksForChange,
              drafted: newValues(drafts),
              names: drafts?.options.actions.map(({ action }) => action.name) ?? []
            })
          }
          const text = yield* answer({
            ...prepared,
            model,
            tokens: tokensOf(dayTokens),
            spent,
            work,
            events,
            drafts,
            waits: input.changes?.waits,
            provenance
          }).pipe(Effect.provideService(CurrentPrincipal, principal))
          return work.run(() => {
            const meant = prepared.sightings.presentedIn(text)
            const presented = presentedBy(text, meant, prepared)
            const beside = besideOf(text, meant, prepared.sightings)
            return { text, choices: choicesIn(text, meant), presented, beside, drafts, shown: openedBy(drafts) }
          })
        })
        if (decided !== undefined) yield* events.emit({ _tag: "delta", text: decided.text })
        const { beside, choices, drafts, presented, shown, text } =
          decided === undefined
            ? yield* answering
            : { ...decided, choices: [], presented: [], beside: {}, drafts: undefined }
        if (basis.expiresAt <= Date.now()) {
          yield* Telemetry.recordCause("rights changed")
          return yield* RIGHTS_CHANGED
        }
        const said = {
          asked,
          answered: text,
          epoch: principal.epoch,
          references: presented.slice(0, MAX_FOCUS),
          beside,
          model: model.model,
          inputTokens: spent.inputTokens,
          outputTokens: spent.outputTokens,
          reference
        }
        const { declined: _, ...usage } = { model: model.model, ...spent }
        const ended = { session: session.id, text, references: presented, usage, reference }
        const last: ReadonlyArray<TurnEvent> = [
          ...(choices.length === 0 ? [] : [{ _tag: "matches" as const, choices }]),
          ...(beside.figures ?? []).map((figures) => ({ _tag: "figures" as const, figures })),
          ...draftEvents(shown, drafts?.notes ?? []),
          { _tag: "done", ...ended, ...beside, ...(shown.length === 0 ? {} : { drafts: shown }), ...formOf(drafts) }
        ]
        const complete = { session: session.id, text, choices, basis, events: [...events.all, ...last] }
        const ids = (drafts?.changes ?? []).map(({ changeId }) => changeId)
        // A turn that replaces others withdraws what they drafted.
        const opens = ids.length > 0 || input.after !== undefined
        const { via } = input.changes ?? {}
        const opening = opens && via !== undefined ? changes.opening(principal, via, ids) : undefined
        const save = session.save(said, basis, opening)
        yield* input.persist === undefined ? save : input.persist(save, complete)
        return last
      }, Effect.scoped)

      /** Fails with the message for the person, so that the trace of a turn without an answer is marked as failed. */
      const run = Effect.fnUntraced(function* (input: TurnInput, events: EmittedEvents) {
        const { attributes, traceId } = yield* Effect.orDie(Effect.currentSpan)
        const reference = shortReference(traceId)
        // A terminal shows the message and its reference; a log line would only repeat them.
        const isTerminal = attributes.get("max.channel") === "cli"
        const spent: Spent = { steps: 0, inputTokens: 0, outputTokens: 0, declined: false }
        const work = new TurnWork(env.turnCpu)
        const deadline = Date.now() + env.turnSeconds * 1000
        const last = yield* Effect.gen(function* () {
          const { principal, state } = yield* admit(input)
          yield* validate(input.say)
          const own = yield* chosen(input.organization)
          yield* Effect.annotateCurrentSpan({
            "gen_ai.provider.name": own.model.provider,
            "gen_ai.request.model": own.model.model
          })
          const conversation = converse(input, principal, own, spent, work, reference, events)
          const last = yield* withReservation(input.organization, principal, own, spent, deadline, conversation)
          if (spent.declined && "text" in input.say) yield* keepUnclear(input.say.text, state.catalog)
          return last
        }).pipe(
          orTurnFault(env.turnSeconds, reference),
          // A fault with a reference is one that an administrator may have to investigate.
          Effect.tapError(({ reason, reference }) =>
            reference === undefined || isTerminal ? Effect.void : reportFailure("A turn failed", { reason })
          ),
          Effect.ensuring(
            Effect.suspend(() =>
              Effect.annotateCurrentSpan({
                "gen_ai.usage.input_tokens": spent.inputTokens,
                "gen_ai.usage.output_tokens": spent.outputTokens,
                "max.steps": spent.steps,
                "max.cpu_ms": Math.round(work.spent)
              })
            )
          )
        )
        for (const event of last) yield* events.emit(event)
      })

      return MaxAgent.of({
        provider: configured.provider,
        model: configured.model,
        providerFor: (organization) => Effect.map(chosen(organization), ({ model }) => model.provider),
        turn: (input) =>
          Stream.callback<TurnEvent>((queue) =>
            Telemetry.linkedTrace(
              "invoke_agent max",
              {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": configured.provider,
                "gen_ai.request.model": configured.model,
                "max.organization.id": String(input.organization.id)
              },
              run(input, new EmittedEvents(queue))
            ).pipe(
              Effect.provideContext(handlers),
              Effect.provideService(EntityQueryService, queries),
              Effect.catchTag("TurnFault", ({ message, reason, reference }) =>
                Queue.offer(queue, {
                  _tag: "error",
                  reason,
                  message,
                  ...(reference === undefined ? {} : { reference })
                })
              ),
              Effect.andThen(Queue.end(queue))
            )
          )
      })
    })
  )
}

/** Seconds by which a lease exceeds the turn's deadline. */
const LEASE_MARGIN = 10

/** Whether the conversation's latest change was applied. */
const hasReceipt = (told: TurnContext["drafts"] = []): boolean => told[0]?.startsWith("applied") === true

/** The form that asks for what an answer's requests lack. */
const formOf = (drafts: Drafts | undefined) => (drafts?.form === undefined ? {} : { form: drafts.form })

/** The values that an answer's drafts would set. */
const newValues = (drafts: Drafts | undefined): ReadonlyArray<string> =>
  (drafts?.changes ?? []).flatMap(({ preview }) =>
    preview.steps.flatMap(({ cells }) => cells.flatMap(({ becomes }) => (typeof becomes === "string" ? [becomes] : [])))
  )

const passes = () => ({ _tag: "Passes" }) as const
