/** The models that organizations pay for themselves, by keys of their own. */
import { Context, Effect, Redacted } from "effect"
import type { Organization } from "../domain/EntityType.ts"
import type { Unavailable } from "../domain/errors.ts"
import type { ModelStep } from "./ModelStep.ts"

type Step = ModelStep["Service"]

/** What answers an organization's questions, and how much of it per day. */
export interface OwnModel {
  /** Undefined: the configured model. */
  readonly step: Step | undefined
  readonly dayTurns: number
  readonly dayTokens: number
}

/** By default no organization has a model or a budget of its own. */
export const OwnModels = Context.Reference<
  ((organization: Organization) => Effect.Effect<OwnModel, Unavailable>) | undefined
>("max/agents/OwnModels", { defaultValue: () => undefined })

/** Clients are kept by key, so that connections are reused; the least recent ones end. */
const KEPT = 32

/** Keeps the last few of what `make` makes, by key. */
export const keeping = (make: (key: Redacted.Redacted<string>, model: string) => Step) => {
  const kept = new Map<string, Step>()
  return (organizationId: bigint, version: bigint, key: Redacted.Redacted<string>, model: string): Step => {
    const id = `${organizationId} ${version} ${model}`
    const step = kept.get(id) ?? make(key, model)
    kept.delete(id)
    kept.set(id, step)
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!)
    return step
  }
}
