/** The worker of a server: claims senders that are due and processes them concurrently. Several servers share the work. */
import { Cause, Context, Effect, Layer, Queue, Schedule } from "effect"
import { Env } from "../../env.ts"
import { ApproverTexts } from "../../services/texting/ApproverTexts.ts"
import { type Lease, SenderLeases } from "../../services/texting/SenderLeases.ts"
import { SmsOutbox } from "../../services/texting/SmsOutbox.ts"
import { Lines, SmsTiming } from "./Line.ts"
import { SmsDispatcher } from "./SmsDispatcher.ts"
import { SmsProcessor } from "./SmsProcessor.ts"

/** Senders that one process handles concurrently. */
const MAX_CONCURRENT = 16
/** Polls between two looks for changes of which no approver was told. */
const TELLING = 5
/** Seconds before a sender is claimed again whose line is missing or misconfigured. */
const PAUSE = 60

export class SmsWorker extends Context.Service<
  SmsWorker,
  {
    /** Wakes the worker in so many seconds, when a sender becomes due. */
    readonly wakeIn: (seconds: number) => Effect.Effect<void>
  }
>()("max/channels/sms/SmsWorker") {
  static readonly layer = Layer.effect(
    SmsWorker,
    Effect.gen(function* () {
      const leases = yield* SenderLeases
      const lines = yield* Lines
      const outbox = yield* SmsOutbox
      const processor = yield* SmsProcessor
      const timing = yield* SmsTiming
      const { publicUrl, sessionDays, smsSegments } = yield* Env
      const approvers = yield* ApproverTexts
      const scope = yield* Effect.scope
      const woken = yield* Queue.sliding<void>(1)
      const wake = Effect.asVoid(Queue.offer(woken, undefined))
      let running = 0

      const handle = (lease: Lease) =>
        lines.of(lease.key.line).pipe(
          Effect.flatMap((line) =>
            line === undefined ? leases.release(lease, timing.merging, PAUSE) : processor.handle(lease, line)
          ),
          Effect.catchTags({
            ConfigurationError: ({ message }) =>
              Effect.andThen(Effect.logError(message), Effect.ignore(leases.release(lease, timing.merging, PAUSE))),
            Unavailable: () => Effect.ignore(leases.release(lease, timing.merging, PAUSE))
          }),
          Effect.ensuring(
            Effect.andThen(
              Effect.sync(() => (running -= 1)),
              wake
            )
          )
        )

      /** Claims up to the free capacity; whether more senders may be due. */
      const claim = Effect.gen(function* () {
        const free = MAX_CONCURRENT - running
        if (free === 0) return false
        const claimed = yield* Effect.withTracerEnabled(leases.claimDue(free, timing.lease), false)
        running += claimed.length
        for (const lease of claimed) yield* Effect.forkIn(handle(lease), scope)
        return claimed.length > 0
      }).pipe(
        Effect.uninterruptible,
        // While the database is unavailable, poll again: what is due stays due.
        Effect.catchCause((cause) => (Cause.hasInterrupts(cause) ? Effect.failCause(cause) : Effect.succeed(false)))
      )

      const loop = Effect.flatMap(claim, (more) =>
        more ? Effect.void : Effect.timeoutOption(Queue.take(woken), timing.poll * 1000)
      ).pipe(Effect.forever)

      yield* Effect.forkScoped(loop)
      if (publicUrl !== undefined) {
        const telling = approvers.queue(`${publicUrl}/inbox/`, smsSegments)
        yield* Effect.forkScoped(
          Effect.ignore(Effect.withTracerEnabled(telling, false)).pipe(
            Effect.repeat(Schedule.spaced(timing.poll * TELLING * 1000))
          )
        )
      }
      yield* Effect.forkScoped(
        Effect.ignore(Effect.withTracerEnabled(outbox.prune(sessionDays), false)).pipe(
          Effect.repeat(Schedule.spaced("1 hour"))
        )
      )

      return SmsWorker.of({
        // 20 ms later, so that the sender is due on the database's clock, too.
        wakeIn: (seconds) =>
          Effect.asVoid(Effect.forkIn(Effect.andThen(Effect.sleep(seconds * 1000 + 20), wake), scope))
      })
    })
  )

  /** The worker with its processor and dispatcher, and the lines that webhooks use, too. */
  static readonly live = SmsWorker.layer.pipe(
    Layer.provide(SmsProcessor.layer),
    Layer.provide(SmsDispatcher.layer),
    Layer.provideMerge(Lines.layer)
  )
}
