/** What is queued for a sender goes out, oldest first; the next one never overtakes one that isn't through. */
import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../domain/errors.ts"
import type { Lease, LeaseLost } from "../../services/texting/SmsInbox.ts"
import { type Outgoing, type Sent, SmsOutbox } from "../../services/texting/SmsOutbox.ts"
import type { Line } from "./Line.ts"

/** After so many attempts a text is dead. */
const MAX_ATTEMPTS = 8

/** Seconds. */
const MAX_PAUSE = 900
const LOOK_AGAIN = 5

/** Four times longer from one attempt to the next, and never the same for many texts at once. */
const backOff = (seconds: number, attempts: number): number =>
  Math.min(seconds * 4 ** Math.max(0, attempts - 1), MAX_PAUSE) * (0.75 + Math.random() / 2)

const paused = (sent: Sent, attempts: number): Sent =>
  sent._tag === "Later" || sent._tag === "Unknown" ? { ...sent, seconds: backOff(sent.seconds, attempts) } : sent

export class SmsDispatcher extends Context.Service<
  SmsDispatcher,
  {
    /** Sends what is due; an answer that has become stale goes back to be asked again. */
    readonly sendDue: (lease: Lease, line: Line) => Effect.Effect<void, LeaseLost | Unavailable>
  }
>()("max/channels/sms/SmsDispatcher") {
  static readonly layer = Layer.effect(
    SmsDispatcher,
    Effect.gen(function* () {
      const outbox = yield* SmsOutbox

      const addressed = ({ key }: Lease, line: Line, { body, id }: Outgoing) => ({
        from: line.phone,
        to: key.phone,
        body,
        reportTo: line.reportTo === undefined ? undefined : `${line.reportTo}/${id}`
      })

      /** What came of the last attempt, where that isn't known: sent after all, not sent, or still not known. */
      const look = Effect.fnUntraced(function* (lease: Lease, line: Line, text: Outgoing) {
        const found = yield* line.provider.find(addressed(lease, line, text), text.triedAt ?? new Date(), line)
        if (found === undefined) return "unknown"
        return (yield* outbox.adopt(lease, text.id, found)) ? "sent" : "not sent"
      })

      /** Deals with one text; whether the next one may follow. */
      const deal = Effect.fnUntraced(function* (lease: Lease, line: Line, text: Outgoing) {
        const known = text.unsure ? yield* look(lease, line, text) : "not sent"
        if (known === "sent") return true
        if (text.late || (known === "not sent" && text.attempts >= MAX_ATTEMPTS)) {
          yield* outbox.abandon(lease, text.id, "too late")
          return true
        }
        if (known === "unknown") {
          yield* outbox.settle(lease, text.id, {
            _tag: "Unknown",
            error: "unknown",
            seconds: backOff(LOOK_AGAIN, text.attempts)
          })
          return false
        }
        if (text.stale) {
          yield* outbox.takeBack(lease, text.id)
          return false
        }
        yield* outbox.begin(lease, text.id)
        const sent = yield* line.provider
          .send(addressed(lease, line, text), line)
          .pipe(Effect.withSpan("sms send", { kind: "producer", attributes: { "messaging.operation.name": "send" } }))
        yield* outbox.settle(lease, text.id, paused(sent, text.attempts + 1))
        return sent._tag === "Accepted" || sent._tag === "Refused"
      })

      return SmsDispatcher.of({
        sendDue: Effect.fnUntraced(function* (lease, line) {
          for (;;) {
            const text = yield* outbox.next(lease)
            if (text === undefined || !text.due || !(yield* deal(lease, line, text))) return
          }
        })
      })
    })
  )
}
