/** Chooses the model by configuration, and loads only that provider's library. */
import { Effect, Layer } from "effect"
import { ConfigurationError } from "../domain/errors.ts"
import { Env } from "../env.ts"
import { BasicStep } from "./basic/BasicStep.ts"
import type { ModelStep } from "./ModelStep.ts"

export const DEFAULT_MODEL = "claude-haiku-5-5"

/** An optional peer dependency of the library. The command line has it built in. */
const MISSING = ConfigurationError.of("The provider anthropic needs its library: npm install @anthropic-ai/sdk")

/** The configured provider; by default Anthropic if there is a key for it, otherwise basic mode. */
export const configuredModel: Layer.Layer<ModelStep, ConfigurationError, Env> = Layer.unwrap(
  Effect.gen(function* () {
    const env = yield* Env
    const provider = env.provider ?? (env.anthropicKey === undefined ? "basic" : "anthropic")
    switch (provider) {
      case "basic":
        return BasicStep
      case "anthropic": {
        const { anthropicKey: key, anthropicUrl: url } = env
        if (key === undefined) {
          return yield* ConfigurationError.of("MAX_PROVIDER is anthropic: set ANTHROPIC_API_KEY as well.")
        }
        const { anthropicStep } = yield* Effect.tryPromise({
          try: () => import("./providers/AnthropicStep.ts"),
          catch: () => MISSING
        })
        return anthropicStep({ key, url, model: env.model ?? DEFAULT_MODEL })
      }
      default: {
        const { axStep } = yield* Effect.promise(() => import("./providers/AxStep.ts"))
        return axStep({ provider, key: env.axKey, url: env.axUrl, model: env.model })
      }
    }
  })
)
