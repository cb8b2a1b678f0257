/** `max serve` with millisecond timing: a process for tests to kill. */
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { Http } from "../../../src/channels/http/server.ts"
import { SmsTiming } from "../../../src/channels/sms/Line.ts"
import { Env } from "../../../src/env.ts"
import { Agent, ConfiguredDatabase, Services } from "../../../src/layers.ts"
import { ToolHandlers } from "../../../src/tools/handlers.ts"

const Server = Http.pipe(
  Layer.provideMerge(Agent),
  Layer.provideMerge(ToolHandlers),
  Layer.provideMerge(Services),
  Layer.provideMerge(ConfiguredDatabase),
  Layer.provideMerge(Env.layer),
  Layer.provideMerge(
    Layer.succeed(SmsTiming, { merging: { quiet: 0.03, most: 0.1 }, apology: 60, lease: 30, poll: 0.05, sending: 2 })
  )
)

Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const { address } = Context.get(yield* Layer.build(Server), HttpServer.HttpServer)
      process.stdout.write(`${HttpServer.formatAddress(address)}\n`)
      return yield* Effect.never
    })
  )
).catch((error: unknown) => {
  console.error(error)
  process.exit(1)
})
