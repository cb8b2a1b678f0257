/** The layer of `OwnModels`: keys of organizations count where the operator has configured no provider. */
import { Effect, Layer, Stream } from "effect"
import { Env } from "../env.ts"
import { MODEL_KEY, ModelSettings } from "../services/models/ModelSettings.ts"
import { Secrets } from "../services/secrets/Secrets.ts"
import { ModelFailure, type ModelStep } from "./ModelStep.ts"
import { keeping, OwnModels } from "./OwnModels.ts"

type Step = ModelStep["Service"]

/** Stands for a key that doesn't open: no other model answers in its place, because that would go unnoticed. */
const unusable = (model: string): Step => ({
  provider: "anthropic",
  model,
  stream: () => Stream.fail(new ModelFailure({ reason: "Refused" }))
})

export const ownModels = Layer.effect(
  OwnModels,
  Effect.gen(function* () {
    const { anthropicUrl: url, dayTokens, dayTurns } = yield* Env
    const settings = yield* ModelSettings
    const secrets = yield* Secrets
    const { limits } = settings
    const library = yield* Effect.cached(Effect.promise(() => import("./providers/AnthropicStep.ts")))
    let stepOf: ReturnType<typeof keeping> | undefined
    return (organization) =>
      Effect.gen(function* () {
        const plan = yield* settings.plan(organization.id)
        const budget = {
          dayTurns: Math.min(dayTurns, plan.dayTurns ?? dayTurns),
          dayTokens: Math.min(dayTokens, plan.dayTokens ?? dayTokens)
        }
        if (!plan.hasKey || limits.configured !== undefined) return { step: undefined, ...budget }
        const model = plan.model ?? limits.defaultModel
        const key = yield* secrets
          .read(organization, MODEL_KEY)
          .pipe(Effect.catchTag("OperatorError", () => Effect.succeed("unusable" as const)))
        if (key === undefined) return { step: undefined, ...budget }
        if (key === "unusable") return { step: unusable(model), ...budget }
        const { anthropicClient } = yield* library
        stepOf ??= keeping((secret, of) => anthropicClient({ key: secret, url, model: of }))
        return { step: stepOf(organization.id, key.version, key.secret, model), ...budget }
      })
  })
)
