/** `max model`: what an organization sets about its model, as administrators do on the page Model. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { readReference } from "../../../env.ts"
import { ModelSettings } from "../../../services/models/ModelSettings.ts"
import { currentOrganization, UsageError } from "../context.ts"
import { optional, toggle } from "../flags.ts"
import { result } from "../output.ts"

export const show = Command.make(
  "show",
  {},
  Effect.fnUntraced(function* () {
    const models = yield* ModelSettings
    const organization = yield* currentOrganization
    const { configured, defaultModel, ...most } = models.limits
    const { dayTokens, dayTurns, model } = yield* models.plan(organization.id)
    const key = yield* models.key(organization)
    const answers = configured?.provider ?? (key === undefined ? "basic" : (model ?? defaultModel))
    yield* result(
      {
        answers,
        configured: configured?.provider ?? null,
        key: key ?? null,
        model: model ?? null,
        dayTurns: dayTurns ?? null,
        dayTokens: dayTokens ?? null
      },
      [
        configured !== undefined
          ? `The operator's provider answers: ${configured.provider}.`
          : key === undefined
            ? "Basic mode answers: there is no key."
            : key.opens
              ? `${answers} answers, with the organization's key.`
              : "The organization's key doesn't open on this machine: max model key",
        `A day has at most ${dayTurns ?? most.dayTurns} questions and ${dayTokens ?? most.dayTokens} tokens.`
      ]
    )
  })
).pipe(Command.withDescription("Show which model answers, and the day's budget; never the key"))

export const key = Command.make(
  "key",
  {
    from: Flag.String("from").pipe(
      Flag.withDescription("A reference to the key: env:NAME or file:/path"),
      Flag.withDefault("env:ANTHROPIC_KEY")
    )
  },
  Effect.fnUntraced(function* ({ from }) {
    const { secret } = yield* readReference("--from", from)
    const models = yield* ModelSettings
    yield* models.setKey(yield* currentOrganization, { secret })
    yield* result({ set: true }, ["Anthropic took the key. It is sealed, and answers the next question."])
  })
).pipe(Command.withDescription("Try a key with Anthropic, and seal it for this organization"))

export const removeKey = Command.make(
  "remove-key",
  {},
  Effect.fnUntraced(function* () {
    const models = yield* ModelSettings
    yield* models.removeKey(yield* currentOrganization)
    yield* result({ removed: true }, ["The key is removed: basic mode answers the next question."])
  })
).pipe(Command.withDescription("Remove the organization's key"))

export const set = Command.make(
  "set",
  {
    name: optional("name", "The model, such as claude-haiku-5-5; the organization needs a key of its own"),
    dayTurns: Flag.Int("day-turns").pipe(Flag.withDescription("The maximum questions per day"), Flag.optional),
    dayTokens: Flag.Int("day-tokens").pipe(Flag.withDescription("The maximum tokens per day"), Flag.optional),
    reset: toggle("reset", "Go back to the default model and the operator's limits")
  },
  Effect.fnUntraced(function* (input) {
    const model = Option.getOrUndefined(input.name)
    const dayTurns = Option.getOrUndefined(input.dayTurns)
    const dayTokens = Option.getOrUndefined(input.dayTokens)
    if (!input.reset && model === undefined && dayTurns === undefined && dayTokens === undefined)
      return yield* UsageError.of("Say what to set: --name, --day-turns, --day-tokens or --reset.")
    const models = yield* ModelSettings
    const unset = input.reset ? null : undefined
    yield* models.set(yield* currentOrganization, {
      model: model ?? unset,
      dayTurns: dayTurns ?? unset,
      dayTokens: dayTokens ?? unset
    })
    yield* result({ set: true }, ["Set, from the next question on."])
  })
).pipe(Command.withDescription("Set the organization's model, and a day's budget within the operator's"))
