/** Dispatches a sender's outbox, oldest first: a text waits until the one before it is accepted, refused or given up. */
import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../domain/errors.ts"
import type { Lease, LeaseLost } from "../../services/texting/SenderLeases.ts"
import { SmsCodes } from "../../services/texting/SmsCodes.ts"
import { type Outgoing, type Sent, SmsOutbox } from "../../services/texting/SmsOutbox.ts"
import { withCode } from "./codes.ts"
import type { Line } from "./Line.ts"

/** Attempts before a text is dead. */
const MAX_ATTEMPTS = 8

/** Seconds. */
const MAX_PAUSE = 900
const CHECK_AGAIN = 5

/** Exponential backoff by a factor of four, with jitter. */
const backOff = (seconds: number, attempts: number): number =>
  Math.min(seconds * 4 ** Math.max(0, attempts - 1), MAX_PAUSE) * (0.75 + Math.random() / 2)

const withBackOff = (sent: Sent, attempts: number): Sent =>
  sent._tag === "Later" || sent._tag === "Unknown" ? { ...sent, seconds: backOff(sent.seconds, attempts) } : sent

export class SmsDispatcher extends Context.Service<
  SmsDispatcher,
  {
    /** Sends the texts that are due. A stale answer is withdrawn, so that its question is answered again. */
    readonly sendDue: (lease: Lease, line: Line) => Effect.Effect<void, LeaseLost | Unavailable>
  }
>()("max/channels/sms/SmsDispatcher") {
  static readonly layer = Layer.effect(
    SmsDispatcher,
    Effect.gen(function* () {
      const codes = yield* SmsCodes
      const outbox = yield* SmsOutbox

      const addressed = ({ key }: Lease, line: Line, { body, id }: Outgoing) => ({
        from: line.phone,
        to: key.phone,
        body,
        reportTo: line.reportTo === undefined ? undefined : `${line.reportTo}/${id}`
      })

      /** Asks the provider for the unknown result of the last attempt. */
      const reconcile = Effect.fnUntraced(function* (lease: Lease, line: Line, text: Outgoing) {
        const found = yield* line.provider.find(addressed(lease, line, text), text.triedAt ?? new Date(), line)
        if (found === undefined) return "unknown"
        return (yield* outbox.adopt(lease, text.id, found)) ? "sent" : "not sent"
      })

      /** Handles one text; whether the next one may follow. */
      const dispatch = Effect.fnUntraced(function* (lease: Lease, line: Line, text: Outgoing) {
        const state = text.unknown ? yield* reconcile(lease, line, text) : "not sent"
        if (state === "sent") return true
        if (text.late || (state === "not sent" && text.attempts >= MAX_ATTEMPTS)) {
          yield* outbox.abandon(lease, text.id, "too late")
          return true
        }
        if (state === "unknown") {
          yield* outbox.settle(lease, text.id, {
            _tag: "Unknown",
            error: "unknown",
            seconds: backOff(CHECK_AGAIN, text.attempts)
          })
          return false
        }
        if (text.stale) {
          yield* outbox.withdraw(lease, text.id)
          return false
        }
        const { anchorId, changeId } = text
        const code = changeId === undefined ? "" : yield* codes.issue(lease, { anchorId, changeId })
        if (code === undefined) {
          yield* outbox.abandon(lease, text.id, "no code")
          return true
        }
        yield* outbox.begin(lease, text.id)
        const body = changeId === undefined ? text.body : withCode(text.body, code)
        const sent = yield* line.provider
          .send({ ...addressed(lease, line, text), body }, line)
          .pipe(Effect.withSpan("sms send", { kind: "producer", attributes: { "messaging.operation.name": "send" } }))
        yield* outbox.settle(lease, text.id, withBackOff(sent, text.attempts + 1))
        return sent._tag === "Accepted" || sent._tag === "Refused"
      })

      return SmsDispatcher.of({
        sendDue: Effect.fnUntraced(function* (lease, line) {
          for (;;) {
            const text = yield* outbox.next(lease)
            if (text === undefined || !text.due || !(yield* dispatch(lease, line, text))) return
          }
        })
      })
    })
  )
}
