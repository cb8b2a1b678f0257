/** Looks for senders on whom something is due, as long as the server runs; several servers share the work. */
import { Cause, Context, Effect, Layer, Queue, Schedule } from "effect"
import { Env } from "../../env.ts"
import { type Lease, SmsInbox } from "../../services/texting/SmsInbox.ts"
import { SmsOutbox } from "../../services/texting/SmsOutbox.ts"
import { Lines, SmsTiming } from "./Line.ts"
import { SmsDispatcher } from "./SmsDispatcher.ts"
import { SmsProcessor } from "./SmsProcessor.ts"

/** Senders that one process answers at the same time. */
const MAX_AT_ONCE = 16
/** Seconds until somebody looks again at a sender whose line can't be used as it is. */
const PAUSE = 60

export class SmsWorker extends Context.Service<
  SmsWorker,
  {
    /** Says that something will be due in so many seconds. */
    readonly nudge: (seconds: number) => Effect.Effect<void>
  }
>()("max/channels/sms/SmsWorker") {
  static readonly layer = Layer.effect(
    SmsWorker,
    Effect.gen(function* () {
      const inbox = yield* SmsInbox
      const lines = yield* Lines
      const outbox = yield* SmsOutbox
      const processor = yield* SmsProcessor
      const times = yield* SmsTiming
      const { sessionDays } = yield* Env
      const scope = yield* Effect.scope
      const woken = yield* Queue.sliding<void>(1)
      const wake = Effect.asVoid(Queue.offer(woken, undefined))
      let running = 0

      const handle = (lease: Lease) =>
        lines.of(lease.key.line).pipe(
          Effect.flatMap((line) =>
            line === undefined ? inbox.release(lease, times.merging, PAUSE) : processor.handle(lease, line)
          ),
          Effect.catchTags({
            ConfigurationError: ({ message }) =>
              Effect.andThen(Effect.logError(message), Effect.ignore(inbox.release(lease, times.merging, PAUSE))),
            Unavailable: () => Effect.ignore(inbox.release(lease, times.merging, PAUSE))
          }),
          Effect.ensuring(
            Effect.andThen(
              Effect.sync(() => (running -= 1)),
              wake
            )
          )
        )

      /** Takes what there is; whether there may be more. */
      const look = Effect.gen(function* () {
        const free = MAX_AT_ONCE - running
        if (free === 0) return false
        const leases = yield* Effect.withTracerEnabled(inbox.claim(free, times.lease), false)
        running += leases.length
        for (const lease of leases) yield* Effect.forkIn(handle(lease), scope)
        return leases.length > 0
      }).pipe(
        Effect.uninterruptible,
        // The database comes back, and with it everything that is due.
        Effect.catchCause((cause) => (Cause.hasInterrupts(cause) ? Effect.failCause(cause) : Effect.succeed(false)))
      )

      const loop = Effect.flatMap(look, (more) =>
        more ? Effect.void : Effect.timeoutOption(Queue.take(woken), times.poll * 1000)
      ).pipe(Effect.forever)

      yield* Effect.forkScoped(loop)
      yield* Effect.forkScoped(
        Effect.ignore(Effect.withTracerEnabled(outbox.prune(sessionDays), false)).pipe(
          Effect.repeat(Schedule.spaced("1 hour"))
        )
      )

      return SmsWorker.of({
        // A little later, so that what is due then is due on the database's clock, too.
        nudge: (seconds) => Effect.asVoid(Effect.forkIn(Effect.andThen(Effect.sleep(seconds * 1000 + 20), wake), scope))
      })
    })
  )

  /** The worker with all that only it and the webhooks need. */
  static readonly live = SmsWorker.layer.pipe(
    Layer.provide(SmsProcessor.layer),
    Layer.provide(SmsDispatcher.layer),
    Layer.provideMerge(Lines.layer)
  )
}
