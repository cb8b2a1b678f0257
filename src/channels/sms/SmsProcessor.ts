/**
 * Processes one leased sender: merges the waiting messages, admits the sender, asks the agent, and dispatches the texts
 * in order. Every step commits before the next one begins, so another process can continue after a crash.
 */
import { Context, Effect, Fiber, Layer, Schedule, Stream } from "effect"
import { createHash } from "node:crypto"
import { type Answer, MaxAgent } from "../../agents/MaxAgent.ts"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import { Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { Changes } from "../../services/changes/Changes.ts"
import { SIMULATION, SmsAdmission } from "../../services/texting/SmsAdmission.ts"
import { type Lease, LeaseLost, type Sender, SenderLeases } from "../../services/texting/SenderLeases.ts"
import { SmsCodes } from "../../services/texting/SmsCodes.ts"
import { type Outcome, type SenderPatch, SmsInbox, type WaitingMessage } from "../../services/texting/SmsInbox.ts"
import { SmsOutbox } from "../../services/texting/SmsOutbox.ts"
import { SmsSettings } from "../../services/texting/SmsSettings.ts"
import { changeText, draftsIn } from "./changeText.ts"
import { codeIn, type CodeMessage, REDACTED } from "./codes.ts"
import { chosenHandle, type Draft, newTexts, textOf } from "./composing.ts"
import { decideByCode, VIA } from "./confirming.ts"
import { keywordOf } from "./keywords.ts"
import { largestOf } from "./largest.ts"
import { type Line, SmsTiming } from "./Line.ts"
import { SmsDispatcher } from "./SmsDispatcher.ts"
import { greeting, notAdmitted, NOTICES } from "./notices.ts"
import { traced } from "./traced.ts"

/** Identical exchanges in a row before the sender is taken for an auto-responder and gets no more answers. */
const MAX_EXCHANGES = 3
/** Attempts at a message before it counts as one that crashes its process. */
const MAX_ATTEMPTS = 5
/** Seconds before a sender is claimed again after the database was unavailable or processing failed. */
const PAUSE = 10

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32)

type TurnError = Extract<TurnEvent, { readonly _tag: "error" }>

export class SmsProcessor extends Context.Service<
  SmsProcessor,
  {
    /** Processes everything that is due for a sender and releases it; stops silently if the lease is lost. */
    readonly handle: (lease: Lease, line: Line) => Effect.Effect<void>
  }
>()("max/channels/sms/SmsProcessor") {
  static readonly layer = Layer.effect(
    SmsProcessor,
    Effect.gen(function* () {
      const admission = yield* SmsAdmission
      const changes = yield* Changes
      const codes = yield* SmsCodes
      const agent = yield* MaxAgent
      const inbox = yield* SmsInbox
      const leases = yield* SenderLeases
      const outbox = yield* SmsOutbox
      const dispatcher = yield* SmsDispatcher
      const settings = yield* SmsSettings
      const timing = yield* SmsTiming

      const converse = (lease: Lease, line: Line) => {
        const { organization } = line
        let sender: Sender = lease.sender

        const newText = newTexts(line, agent.provider)

        /** Stores the outcome of messages, the sender's state and the text in one transaction. */
        const conclude = (
          messages: ReadonlyArray<WaitingMessage>,
          outcome: Outcome,
          patch: SenderPatch = {},
          draft?: Draft,
          save: Effect.Effect<void, Unavailable> = Effect.void
        ) => {
          const reply = draft === undefined ? undefined : newText(messages, draft)
          const id = reply === undefined ? undefined : outbox.newId()
          // A code is erased with the outcome of its message, whatever that is.
          const erasing = Effect.forEach(
            messages.filter(({ body }) => codeIn(body) !== undefined),
            (message) => inbox.replaceBody(lease, message, REDACTED),
            { discard: true }
          )
          const saving = Effect.andThen(save, erasing)
          const next = reply === undefined ? patch : { ...patch, choices: reply.choices.map(({ handle }) => handle) }
          return inbox
            .finish({ ...lease, sender }, messages, outcome, {
              sender: next,
              textId: id,
              write: reply === undefined ? saving : Effect.andThen(saving, outbox.queue(lease, id!, reply.text))
            })
            .pipe(
              Effect.tap(() =>
                Effect.sync(() => {
                  sender = { ...sender, ...next }
                })
              )
            )
        }

        const refuse = Effect.fnUntraced(function* (messages: ReadonlyArray<WaitingMessage>) {
          const refused = yield* inbox.mayRefuse(lease, organization.timeZone)
          const { contact } = yield* settings.channel(organization.id)
          const text = notAdmitted(organization.name, contact)
          yield* conclude(messages, "refused", { refused }, refused ? { kind: "refusal", text } : undefined)
        })

        /** Applies an opt-out or opt-in keyword, which is never answered; whether the message is a question. */
        const isQuestion = Effect.fnUntraced(function* (message: WaitingMessage) {
          const keyword = keywordOf(message.body)
          if (keyword === undefined) return true
          const stopped = keyword === "stop" ? true : keyword === "start" ? false : sender.stopped
          yield* conclude([message], "keyword", { stopped })
          if (keyword === "stop") yield* outbox.cancel(lease)
          return false
        })

        const apologize = (messages: ReadonlyArray<WaitingMessage>, principal: Principal, greet: boolean) =>
          Effect.sleep(timing.apology * 1000).pipe(
            Effect.andThen(
              Effect.uninterruptible(
                outbox
                  .queueAlone(
                    lease,
                    newText(messages, { kind: "apology", text: NOTICES.apology, principal, greet }).text
                  )
                  .pipe(Effect.andThen(dispatcher.sendDue(lease, line)))
              )
            ),
            Effect.ignore
          )

        /** What an answer is sent as: a change that it drafted takes the place of the model's words. */
        const saidIn = Effect.fnUntraced(function* ({ events, text }: Answer, greet: boolean) {
          const drafts = draftsIn(events)
          if (drafts.length === 0) return { text: largestOf(text, events), greet }
          const byCode = !(yield* codes.isLocked(lease.key))
          const greeted = greet ? greeting(organization.name, agent.provider) : ""
          return { ...changeText(drafts, { byCode, greeting: greeted, publicUrl: line.publicUrl }), choices: [] }
        })

        const turn = Effect.fnUntraced(function* (
          messages: ReadonlyArray<WaitingMessage>,
          text: string,
          principal: Principal,
          identity: Partial<Sender>,
          changing: boolean
        ) {
          const { choices, session } = { ...sender, ...identity }
          const greet = session === undefined
          const handle = messages.length === 1 ? chosenHandle(text, choices) : undefined
          let failed: TurnError | undefined
          let lost = false
          const apology = yield* Effect.forkChild(apologize(messages, principal, greet))
          yield* agent
            .turn({
              organization,
              who: principal,
              session,
              say: handle === undefined ? { text } : { choice: handle },
              // A typed yes never confirms here: a forged sender could type it.
              ...(changing ? { changes: { via: VIA, confirms: false } } : {}),
              persist: Effect.fnUntraced(function* (save, answer) {
                const exchange = hashOf(text) + hashOf(answer.text)
                const exchanges = exchange === sender.exchange ? sender.exchanges + 1 : 1
                const { basis, choices } = answer
                const said = yield* saidIn(answer, greet)
                const draft = { kind: "answer", choices, principal, basis, ...said } as const
                const patch = { ...identity, session: answer.session, exchange, exchanges, heard: true }
                yield* Effect.catchTag(conclude(messages, "answered", patch, draft, save), "LeaseLost", () => {
                  lost = true
                  return Effect.fail(Unavailable.error)
                })
              })
            })
            .pipe(
              Stream.runForEach((event) =>
                Effect.sync(() => {
                  if (event._tag === "error") failed = event
                })
              ),
              Effect.ensuring(Fiber.interrupt(apology))
            )
          if (lost) return yield* new LeaseLost()
          if (failed?.reason === "NotAdmitted") return yield* refuse(messages)
          if (failed === undefined) return
          const notice = { kind: "notice", text: failed.message, principal, greet } as const
          yield* conclude(messages, "failed", { ...identity, heard: true }, notice)
        })

        const answer = Effect.fnUntraced(function* (
          messages: ReadonlyArray<WaitingMessage>,
          changing: boolean,
          code?: CodeMessage
        ) {
          const admitted = yield* admission.admit(organization, lease.key.phone)
          if (admitted._tag === "Refused") return yield* refuse(messages)
          const { principal } = admitted
          const anchorId = principal.anchorEntityId
          // A number that now belongs to another person starts a new conversation.
          const identity = anchorId === sender.anchorId ? {} : { anchorId, session: undefined, choices: [] }
          const text = textOf(messages)
          const repeated = sender.exchanges >= MAX_EXCHANGES && sender.exchange?.startsWith(hashOf(text)) === true
          if (repeated) return yield* conclude(messages, "repeated", { exchange: sender.exchange })
          const greet = { ...sender, ...identity }.session === undefined
          const notice = (outcome: Outcome, text: string) =>
            conclude(messages, outcome, { ...identity, heard: true }, { kind: "notice", text, principal, greet })
          const counted = line.limits === undefined ? "fits" : yield* inbox.countTurn(lease, line.limits.perHour)
          if (counted === "first") return yield* notice("limited", NOTICES.limited)
          if (counted === "over") return yield* conclude(messages, "limited", identity)
          if (messages.some(({ attempts }) => attempts > MAX_ATTEMPTS)) return yield* notice("failed", NOTICES.failed)
          if (text === "") return yield* notice("answered", NOTICES.textOnly)
          // A person who is only identified has no changes: an open channel trusts the sender's number.
          const may = changing && admitted.by === "membership"
          if (code === undefined) return yield* turn(messages, text, principal, identity, may)
          if (!may) return yield* notice("answered", NOTICES.wrongCode)
          const decided = decideByCode(code, lease.key, principal, line.publicUrl, { changes, codes })
          yield* decided.pipe(
            Effect.flatMap((said) => notice("answered", said)),
            Effect.catchTag("NotAdmitted", () => refuse(messages))
          )
        })

        const answerAll = Effect.fnUntraced(function* (taken: ReadonlyArray<WaitingMessage>) {
          const questions = yield* Effect.filter(taken, isQuestion)
          const late = questions.filter((one) => one.late)
          if (late.length > 0) yield* conclude(late, "late")
          const rest = questions.filter((one) => !one.late)
          if (rest.length === 0) return
          if (sender.stopped) return yield* conclude(rest, "stopped")
          const changing = line.phone !== SIMULATION && (yield* settings.channel(organization.id)).changes
          const codeOf = (one: WaitingMessage) => (changing ? codeIn(one.body) : undefined)
          for (const one of rest) {
            const code = codeOf(one)
            if (code !== undefined) yield* answer([one], changing, code)
          }
          const asked = rest.filter((one) => codeOf(one) === undefined)
          if (asked.length > 0) yield* answer(asked, changing)
        })

        return Effect.gen(function* () {
          const sendDue = traced(organization.id, "sms delivery", "send", dispatcher.sendDue(lease, line))
          yield* sendDue
          for (;;) {
            const taken = yield* traced(organization.id, "sms inbox", "receive", inbox.take(lease, line.merging))
            if (taken.length === 0) return
            yield* traced(organization.id, "sms turn", "process", answerAll(taken))
            yield* sendDue
          }
        })
      }

      /** Renews the lease until it is lost. */
      const keepLease = (lease: Lease) =>
        Effect.sleep((timing.lease * 1000) / 3).pipe(
          Effect.andThen(leases.renew(lease, timing.lease)),
          Effect.retry({ while: ({ _tag }) => _tag === "Unavailable", schedule: Schedule.spaced("1 second") }),
          Effect.withTracerEnabled(false),
          Effect.forever
        )

      return SmsProcessor.of({
        handle: (lease, line) => {
          let pause = 0
          return Effect.raceFirst(converse(lease, line), keepLease(lease)).pipe(
            Effect.catchTags({
              LeaseLost: () => Effect.void,
              Unavailable: () => Effect.sync(() => (pause = PAUSE))
            }),
            Effect.catchDefect((defect) => {
              pause = PAUSE
              // Only the defect's name: its message could contain what was said.
              return Effect.logError(
                `Processing of text messages failed: ${defect instanceof Error ? defect.name : "not an error"}`
              )
            }),
            Effect.ensuring(Effect.suspend(() => Effect.ignore(leases.release(lease, line.merging, pause)))),
            Effect.asVoid
          )
        }
      })
    })
  )
}
