/** A process that sends what confirmed changes ask of other systems, until it is killed. Arguments: database URL and host. */
import { Effect, Layer, Redacted } from "effect"
import { Env } from "../../src/env.ts"
import { ConfiguredDatabase } from "../../src/layers.ts"
import { ChangeOutbox } from "../../src/services/changes/calls/ChangeOutbox.ts"

const [url = "", host = ""] = process.argv.slice(2)
const settings = { hosts: [host], secretOf: () => Effect.fail({ message: "no secrets" }) }
const Live = ChangeOutbox.layer(settings).pipe(
  Layer.provide(ConfiguredDatabase),
  Layer.provide(Env.layerOf({ databaseUrl: Redacted.make(url) }))
)

const main = Effect.gen(function* () {
  const outbox = yield* ChangeOutbox
  console.log("ready")
  const sender = Effect.forever(
    Effect.flatMap(
      Effect.orElseSucceed(outbox.deliver, () => false),
      (sent) => (sent ? Effect.void : Effect.sleep("5 millis"))
    )
  )
  yield* Effect.all([sender, sender], { concurrency: "unbounded" })
})

await Effect.runPromise(Effect.provide(main, Live))
