/** Declares the actions of a program for an organization, and runs what people confirm of them. */
import { Effect } from "effect"
import type { Organization } from "../../../domain/EntityType.ts"
import { isJsonObject } from "../../../domain/json.ts"
import { Actions } from "../../actions/Actions.ts"
import type { ActionDefinition } from "../../actions/defineAction.ts"
import { ChangeOutbox } from "./ChangeOutbox.ts"

const POLL = "500 millis"
/** Another process declares at the same time, or an administrator publishes: then the epoch has moved. */
const TIMES = 3

/** Whether a program without types gave definitions. */
export const isDefinitions = (given: unknown): given is ReadonlyArray<ActionDefinition> =>
  Array.isArray(given) && given.every((one) => isJsonObject(one) && typeof one["read"] === "function")

export const runActions = Effect.fnUntraced(function* (
  organization: Organization,
  definitions: ReadonlyArray<ActionDefinition>
) {
  const actions = yield* Actions
  const outbox = yield* ChangeOutbox
  yield* Effect.retry(actions.declare(organization, definitions), { times: TIMES })
  const runs = new Map(definitions.map((definition) => [definition.slug, definition]))
  const next = Effect.orElseSucceed(outbox.run(organization.id, runs), () => false)
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(next, (ran) => (ran ? Effect.void : Effect.sleep(POLL)))))
})
