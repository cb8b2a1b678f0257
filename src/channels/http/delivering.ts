/**
 * While the server runs, it sends what confirmed changes ask of other systems, and tells of changes that wait for another person.
 * Several processes may: each leases what it sends.
 */
import { Effect, Layer } from "effect"
import type { Unavailable } from "../../domain/errors.ts"
import { Env } from "../../env.ts"
import { ApproverWebhook } from "../../services/changes/calls/ApproverWebhook.ts"
import { ChangeOutbox } from "../../services/changes/calls/ChangeOutbox.ts"

/** Calls at a time, so that a slow service doesn't hold up the others. */
const SENDERS = 4
const POLL = "500 millis"

export const Delivering = Layer.effectDiscard(
  Effect.gen(function* () {
    const outbox = yield* ChangeOutbox
    const webhooks = yield* ApproverWebhook
    const { publicUrl } = yield* Env
    const sending = (deliver: Effect.Effect<boolean, Unavailable>) =>
      Effect.orElseSucceed(deliver, () => false).pipe(
        Effect.flatMap((sent) => (sent ? Effect.void : Effect.sleep(POLL))),
        Effect.forever,
        Effect.forkScoped
      )
    for (let number = 0; number < SENDERS; number++) {
      yield* sending(outbox.deliver)
      if (publicUrl !== undefined) yield* sending(webhooks.deliver(`${publicUrl}/inbox/`))
    }
  })
)
