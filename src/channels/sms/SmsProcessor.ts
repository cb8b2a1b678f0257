/**
 * One sender at a time: what was written is merged, whoever wrote is found out, the agent answers, and what it says goes
 * out in order. Every step is written down before the next one begins, so that whoever takes over after a crash goes on
 * where the last one was.
 */
import { Context, Effect, Fiber, Layer, Schedule, Stream } from "effect"
import { createHash } from "node:crypto"
import { MaxAgent } from "../../agents/MaxAgent.ts"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import { Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { SmsAdmission } from "../../services/texting/SmsAdmission.ts"
import {
  type Lease,
  LeaseLost,
  type Outcome,
  type Sender,
  SmsInbox,
  type Waiting
} from "../../services/texting/SmsInbox.ts"
import { SmsOutbox, type TextKind } from "../../services/texting/SmsOutbox.ts"
import { SmsSettings } from "../../services/texting/SmsSettings.ts"
import { keywordOf } from "./keywords.ts"
import { type Line, SmsTiming } from "./Line.ts"
import { shapeReply } from "./shapeReply.ts"
import { SmsDispatcher } from "./SmsDispatcher.ts"
import { greeting, notAdmitted, SENTENCES } from "./notices.ts"

/** Identical exchanges after which nothing is said any more: two machines would never stop. */
const MAX_EXCHANGES = 3
/** A message that five processes have died over isn't tried by a sixth. */
const MAX_ATTEMPTS = 5
/** Seconds until somebody looks again when the database or the settings stood in the way. */
const PAUSE = 10

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32)

/** What the messages say together. */
const wordsOf = (messages: ReadonlyArray<Waiting>): string =>
  messages
    .map(({ body }) => body.trim())
    .filter((body) => body !== "")
    .join("\n")

/** The choice that a bare number means. */
const chosen = (text: string, choices: ReadonlyArray<string>): string | undefined => {
  const number = /^#?(\d{1,2})[.)]?$/.exec(text)?.[1]
  return number === undefined ? undefined : choices[Number(number) - 1]
}

type Failed = Extract<TurnEvent, { readonly _tag: "error" }>

export class SmsProcessor extends Context.Service<
  SmsProcessor,
  {
    /** Does everything that is due for a sender and gives it back; ends without a word when the lease is lost. */
    readonly handle: (lease: Lease, line: Line) => Effect.Effect<void>
  }
>()("max/channels/sms/SmsProcessor") {
  static readonly layer = Layer.effect(
    SmsProcessor,
    Effect.gen(function* () {
      const admission = yield* SmsAdmission
      const agent = yield* MaxAgent
      const inbox = yield* SmsInbox
      const outbox = yield* SmsOutbox
      const dispatcher = yield* SmsDispatcher
      const settings = yield* SmsSettings
      const times = yield* SmsTiming

      const converse = (lease: Lease, line: Line) => {
        const { organization } = line
        let sender: Sender = lease.sender
        const held = (): Lease => ({ ...lease, sender })

        interface Saying {
          readonly kind: TextKind
          readonly text: string
          readonly choices?: Parameters<typeof shapeReply>[1]
          readonly principal?: Principal
          readonly greet?: boolean
        }

        const shape = ({ choices, greet, text }: Saying) =>
          shapeReply(text, choices, greet === true ? greeting(organization.name, agent.provider) : "")

        const newText = (messages: ReadonlyArray<Waiting>, saying: Saying) => {
          const { body, choices, segments } = shape(saying)
          return {
            choices,
            text: {
              body,
              segments,
              kind: saying.kind,
              messageId: messages[0]!.id,
              anchorId: saying.principal?.anchorEntityId ?? "",
              epoch: saying.principal?.epoch ?? 0n,
              within: line.limits && { segments: line.limits.segmentsPerDay, timeZone: organization.timeZone }
            }
          }
        }

        /** Writes what became of messages and what is said about it, at once. */
        const conclude = (
          messages: ReadonlyArray<Waiting>,
          outcome: Outcome,
          patch: Partial<Sender> & { readonly heard?: boolean; readonly refused?: boolean } = {},
          saying?: Saying,
          keep: Effect.Effect<void, Unavailable> = Effect.void
        ) => {
          const made = saying === undefined ? undefined : newText(messages, saying)
          const id = made === undefined ? undefined : outbox.newId()
          const next = made === undefined ? patch : { ...patch, choices: made.choices.map(({ handle }) => handle) }
          return inbox
            .finish(held(), messages, outcome, {
              sender: next,
              textId: id,
              write: made === undefined ? keep : Effect.andThen(keep, outbox.queue(lease, id!, made.text))
            })
            .pipe(
              Effect.tap(() =>
                Effect.sync(() => {
                  sender = { ...sender, ...next }
                })
              )
            )
        }

        const refuse = Effect.fnUntraced(function* (messages: ReadonlyArray<Waiting>) {
          const refused = yield* inbox.mayRefuse(lease, organization.timeZone)
          const { contact } = yield* settings.channel(organization.id)
          const text = notAdmitted(organization.name, contact)
          yield* conclude(messages, "refused", { refused }, refused ? { kind: "refusal", text } : undefined)
        })

        /** The carrier's own words change whether anything may be said, and are never answered. */
        const heed = Effect.fnUntraced(function* (message: Waiting) {
          const keyword = keywordOf(message.body)
          if (keyword === undefined) return true
          const stopped = keyword === "stop" ? true : keyword === "start" ? false : sender.stopped
          yield* conclude([message], "keyword", { stopped })
          if (keyword === "stop") yield* outbox.cancel(lease)
          return false
        })

        const apologize = (messages: ReadonlyArray<Waiting>, principal: Principal, greet: boolean) =>
          Effect.sleep(times.apology * 1000).pipe(
            Effect.andThen(
              Effect.uninterruptible(
                outbox
                  .queueAlone(
                    lease,
                    newText(messages, { kind: "apology", text: SENTENCES.apology, principal, greet }).text
                  )
                  .pipe(Effect.andThen(dispatcher.sendDue(lease, line)))
              )
            ),
            Effect.ignore
          )

        const turn = Effect.fnUntraced(function* (
          messages: ReadonlyArray<Waiting>,
          text: string,
          principal: Principal,
          as: Partial<Sender>
        ) {
          const { choices, session } = { ...sender, ...as }
          const greet = session === undefined
          const handle = messages.length === 1 ? chosen(text, choices) : undefined
          let failed: Failed | undefined
          let lost = false
          const apology = yield* Effect.forkChild(apologize(messages, principal, greet))
          yield* agent
            .turn({
              organization,
              who: principal,
              session,
              say: handle === undefined ? { text } : { choice: handle },
              persist: (keep, answer) => {
                const exchange = hashOf(text) + hashOf(answer.text)
                const exchanges = exchange === sender.exchange ? sender.exchanges + 1 : 1
                const said = { kind: "answer", text: answer.text, choices: answer.choices, principal, greet } as const
                const patch = { ...as, session: answer.session, exchange, exchanges, heard: true }
                return Effect.catchTag(conclude(messages, "answered", patch, said, keep), "LeaseLost", () => {
                  lost = true
                  return Effect.fail(Unavailable.error)
                })
              }
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
          yield* conclude(messages, "failed", { ...as, heard: true }, notice)
        })

        const answer = Effect.fnUntraced(function* (messages: ReadonlyArray<Waiting>) {
          const admitted = yield* admission.admit(organization, lease.key.phone)
          if (admitted._tag === "Refused") return yield* refuse(messages)
          const { principal } = admitted
          const anchorId = principal.anchorEntityId
          // Another person by the same number begins with nothing.
          const as = anchorId === sender.anchorId ? {} : { anchorId, session: undefined, choices: [] }
          const text = wordsOf(messages)
          const repeated = sender.exchanges >= MAX_EXCHANGES && sender.exchange?.startsWith(hashOf(text)) === true
          if (repeated) return yield* conclude(messages, "repeated", { exchange: sender.exchange })
          const greet = { ...sender, ...as }.session === undefined
          const notice = (outcome: Outcome, said: string) =>
            conclude(messages, outcome, { ...as, heard: true }, { kind: "notice", text: said, principal, greet })
          const counted = line.limits === undefined ? "fits" : yield* inbox.count(lease, line.limits.perHour)
          if (counted === "first") return yield* notice("limited", SENTENCES.limited)
          if (counted === "over") return yield* conclude(messages, "limited", as)
          if (messages.some(({ attempts }) => attempts > MAX_ATTEMPTS)) return yield* notice("failed", SENTENCES.failed)
          if (text === "") return yield* notice("answered", SENTENCES.wordsOnly)
          yield* turn(messages, text, principal, as)
        })

        const answerAll = Effect.fnUntraced(function* (taken: ReadonlyArray<Waiting>) {
          const questions = yield* Effect.filter(taken, heed)
          const late = questions.filter((one) => one.late)
          if (late.length > 0) yield* conclude(late, "late")
          const rest = questions.filter((one) => !one.late)
          if (rest.length === 0) return
          if (sender.stopped) return yield* conclude(rest, "stopped")
          yield* answer(rest)
        })

        return Effect.gen(function* () {
          yield* dispatcher.sendDue(lease, line)
          for (;;) {
            const taken = yield* inbox.take(lease, line.merging)
            if (taken.length === 0) return
            yield* answerAll(taken).pipe(
              Effect.withSpan("sms turn", {
                root: true,
                kind: "consumer",
                attributes: {
                  "max.channel": "sms",
                  "messaging.operation.name": "process",
                  "max.organization.id": String(organization.id)
                }
              })
            )
            yield* dispatcher.sendDue(lease, line)
          }
        })
      }

      /** Never ends by itself: a lease that isn't kept fails. */
      const keep = (lease: Lease) =>
        Effect.sleep((times.lease * 1000) / 3).pipe(
          Effect.andThen(inbox.renew(lease, times.lease)),
          Effect.retry({ while: ({ _tag }) => _tag === "Unavailable", schedule: Schedule.spaced("1 second") }),
          Effect.withTracerEnabled(false),
          Effect.forever
        )

      return SmsProcessor.of({
        handle: (lease, line) => {
          let pause = 0
          return Effect.raceFirst(converse(lease, line), keep(lease)).pipe(
            Effect.catchTags({
              LeaseLost: () => Effect.void,
              Unavailable: () => Effect.sync(() => (pause = PAUSE))
            }),
            Effect.catchDefect((defect) => {
              pause = PAUSE
              // Its name only: a message could carry what was said.
              return Effect.logError(`Text messages: ${defect instanceof Error ? defect.name : "not an error"}`)
            }),
            Effect.ensuring(Effect.suspend(() => Effect.ignore(inbox.release(lease, line.merging, pause)))),
            Effect.asVoid
          )
        }
      })
    })
  )
}
