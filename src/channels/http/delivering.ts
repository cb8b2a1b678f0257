/** While the server runs, it sends what confirmed changes ask of other systems. Several processes may: each leases a call. */
import { Effect, Layer } from "effect"
import { ChangeOutbox } from "../../services/changes/calls/ChangeOutbox.ts"

/** Calls at a time, so that a slow service doesn't hold up the others. */
const SENDERS = 4
const POLL = "500 millis"

export const Delivering = Layer.effectDiscard(
  Effect.gen(function* () {
    const outbox = yield* ChangeOutbox
    const next = Effect.orElseSucceed(outbox.deliver, () => false)
    const sender = Effect.forever(Effect.flatMap(next, (sent) => (sent ? Effect.void : Effect.sleep(POLL))))
    for (let number = 0; number < SENDERS; number++) yield* Effect.forkScoped(sender)
  })
)
